"""Hugging Face checkpoints in and out: names, fused layout, sharded files, bf16 and fp16 storage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from mindspore import Tensor, nn, ops

from atrl_ms.errors import UserError
from atrl_ms.policy.config import ModelConfig, read_config
from atrl_ms.policy.model import Transformer, build_model, plain_weights

STORAGE = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}  # configuration -> safetensors
ITEM_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def fused_layout(config: ModelConfig) -> dict[str, list[tuple[str, int]]]:
    """Own parameter name -> Hugging Face names with their row counts, in the order they are stacked."""
    c = config
    q, kv, f, d = c.query_size, c.kv_size, c.intermediate_size, c.hidden_size
    layout = {"embedding": [("model.embed_tokens.weight", c.vocab_size)], "norm": [("model.norm.weight", d)]}
    if not c.tie_word_embeddings:
        layout["head"] = [("lm_head.weight", c.vocab_size)]
    for i in range(c.num_hidden_layers):
        own, hf = f"blocks.{i}", f"model.layers.{i}"
        attn, mlp = f"{hf}.self_attn", f"{hf}.mlp"
        qkv_rows = (("q", q), ("k", kv), ("v", kv))
        layout[f"{own}.norm1"] = [(f"{hf}.input_layernorm.weight", d)]
        layout[f"{own}.qkv"] = [(f"{attn}.{n}_proj.weight", rows) for n, rows in qkv_rows]
        layout[f"{own}.out"] = [(f"{attn}.o_proj.weight", d)]
        layout[f"{own}.norm2"] = [(f"{hf}.post_attention_layernorm.weight", d)]
        layout[f"{own}.gate_up"] = [(f"{mlp}.{n}_proj.weight", f) for n in ("gate", "up")]
        layout[f"{own}.down"] = [(f"{mlp}.down_proj.weight", d)]
        if c.qk_norm:
            layout[f"{own}.q_norm"] = [(f"{attn}.q_norm.weight", c.head_dim)]
            layout[f"{own}.k_norm"] = [(f"{attn}.k_norm.weight", c.head_dim)]
        if c.qkv_bias:
            layout[f"{own}.qkv_bias"] = [(f"{attn}.{n}_proj.bias", rows) for n, rows in qkv_rows]
        if c.output_bias:
            layout[f"{own}.out_bias"] = [(f"{attn}.o_proj.bias", d)]
        if c.mlp_bias:
            layout[f"{own}.gate_up_bias"] = [(f"{mlp}.{n}_proj.bias", f) for n in ("gate", "up")]
            layout[f"{own}.down_bias"] = [(f"{mlp}.down_proj.bias", d)]
    return layout


def export_weights(model: nn.Cell) -> dict[str, np.ndarray]:
    """Hugging Face names -> float32 arrays, adapters merged."""
    values = plain_weights(model)
    result = {}
    for own, parts in fused_layout(model.config).items():
        start = 0
        for name, rows in parts:
            result[name] = values[own][start : start + rows].copy()  # not a view of what training changes
            start += rows
    return result


def import_weights(model: nn.Cell, weights: dict[str, np.ndarray], origin: str = "checkpoint") -> None:
    """Copy Hugging Face arrays into `model`; adapters start from nothing again.

    Raises:
        UserError: a missing, unknown or wrongly shaped tensor (nothing has been changed then).
    """
    layout = fused_layout(model.config)
    parameters = {p.name: p for p in model.get_parameters()}
    expected = {name for parts in layout.values() for name, _ in parts}
    ignorable = {"lm_head.weight"} if model.config.tie_word_embeddings else set()  # some files repeat the tied weight
    ignorable |= {n for n in weights if n.endswith("rotary_emb.inv_freq")}
    missing, unknown = sorted(expected - set(weights)), sorted(set(weights) - expected - ignorable)
    if missing:
        raise UserError(f"{origin}: {len(missing)} tensors are missing, first {missing[0]}; does config.json match?")
    if unknown:
        raise UserError(f"{origin}: {len(unknown)} unknown tensors, first {unknown[0]}; does config.json match?")
    fused = {}
    for own, parts in layout.items():
        for name, rows in parts:
            wanted = (rows, *parameters[own].shape[1:])
            if tuple(weights[name].shape) != wanted:
                raise UserError(f"{origin}: {name} has shape {tuple(weights[name].shape)}, config.json asks {wanted}")
        fused[own] = np.concatenate([weights[name].astype(np.float32) for name, _ in parts])
    for own, value in fused.items():
        ops.assign(parameters[own], Tensor(value))  # in place: compiled graphs do not follow set_data
    for name, parameter in parameters.items():
        if name.endswith("_lora_b"):
            ops.assign(parameter, Tensor(np.zeros(parameter.shape, np.float32)))


def weight_files(directory: Path) -> list[Path]:
    """The safetensors files of a checkpoint: one file, or the shards of an index."""
    single, index = directory / "model.safetensors", directory / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if not index.is_file():
        raise UserError(f"{directory}: neither model.safetensors nor model.safetensors.index.json is there")
    try:
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise UserError(f"{index}: not a valid index of shards: {error!r}") from error
    for name in names:
        if not (directory / name).is_file():
            raise UserError(f"{index}: names shard {name}, which is not in {directory}")
    return [directory / name for name in names]


def read_tensors(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and float32 arrays of one safetensors file: header length (8 bytes), JSON header, data.

    Read here because numpy has no bfloat16, which the safetensors package needs for its numpy interface.
    """
    try:
        data = np.memmap(path, np.uint8, "r")
        start = 8 + int(data[:8].view(np.uint64)[0])
        header = json.loads(data[8:start].tobytes())
        header.pop("__metadata__", None)
    except (ValueError, IndexError, OSError, OverflowError) as error:
        raise UserError(f"{path}: not a readable safetensors file: {error}") from error
    for name, item in header.items():
        dtype = item["dtype"]
        if dtype not in ITEM_TYPES:
            raise UserError(f"{path}: {name} is stored as {dtype}; only F64, F32, F16 and BF16 weights are supported")
        begin, end = item["data_offsets"]
        if start + end > len(data):
            raise UserError(f"{path}: the file is truncated inside {name}; copy it again")
        raw = np.frombuffer(data[start + begin : start + end].tobytes(), ITEM_TYPES[dtype])
        if dtype == "BF16":  # the upper half of a float32
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        yield name, raw.astype(np.float32).reshape(item["shape"])


def write_tensors(path: Path, weights: dict[str, np.ndarray], dtype: str) -> None:
    """Write float32 arrays as one safetensors file in the storage type `dtype`."""
    chunks = {name: stored_bytes(value, dtype) for name, value in weights.items()}
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, chunk in chunks.items():
        span = [offset, offset + len(chunk)]
        header[name] = {"dtype": STORAGE[dtype], "shape": list(weights[name].shape), "data_offsets": span}
        offset += len(chunk)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the data start aligned
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.writelines(chunks.values())


def stored_bytes(value: np.ndarray, dtype: str) -> bytes:
    """float32 array -> bytes of the storage type, rounded to nearest even."""
    if dtype == "bfloat16":
        bits = value.view(np.uint32)
        rounded = bits + 0x7FFF + ((bits >> 16) & 1)
        return (rounded >> 16).astype(np.uint16).tobytes()
    return value.astype(dtype).tobytes()


def load_checkpoint(directory: str | Path) -> tuple[Transformer, ModelConfig]:
    """Build the model of a Hugging Face checkpoint directory in float32."""
    directory = Path(directory)
    config = read_config(directory)
    model = build_model(config)
    load_weights(model, directory)
    return model, config


def load_weights(model: nn.Cell, directory: str | Path) -> None:
    """Read the weights of a checkpoint directory into an existing model of the same architecture."""
    weights: dict[str, np.ndarray] = {}
    for path in weight_files(Path(directory)):
        weights.update(read_tensors(path))
    import_weights(model, weights, str(directory))


def save_checkpoint(
    model: nn.Cell,
    config: ModelConfig,
    directory: str | Path,
    dtype: str = "float32",
    max_shard_bytes: int = 5 * 2**30,
) -> None:
    """Write config.json and model.safetensors (or shards with an index) as transformers expects them.

    Args:
        dtype: storage type "float32", "bfloat16" or "float16".
        max_shard_bytes: a larger checkpoint is split into several files.
    """
    write_checkpoint(export_weights(model), config, directory, dtype, max_shard_bytes)


def write_checkpoint(
    weights: dict[str, np.ndarray],
    config: ModelConfig,
    directory: str | Path,
    dtype: str = "float32",
    max_shard_bytes: int = 5 * 2**30,
) -> None:
    """`save_checkpoint` for float32 arrays under Hugging Face names."""
    if dtype not in STORAGE:
        raise UserError(f"storage type {dtype!r} is not known; use one of {', '.join(STORAGE)}")
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    item_bytes = np.dtype(ITEM_TYPES[STORAGE[dtype]]).itemsize
    sizes = {name: value.size * item_bytes for name, value in weights.items()}
    shards = list(split_shards(sizes, max_shard_bytes))
    for stale in directory.glob("model*.safetensors*"):
        stale.unlink()
    weight_map = {}
    for number, shard in enumerate(shards, 1):
        name = "model.safetensors" if len(shards) == 1 else f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        write_tensors(directory / name, {key: weights[key] for key in shard}, dtype)
        weight_map.update(dict.fromkeys(shard, name))
    if len(shards) > 1:
        index = {"metadata": {"total_size": sum(sizes.values())}, "weight_map": weight_map}
        (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))
    text = json.dumps({**config.to_hf(), "torch_dtype": dtype}, indent=2)
    (directory / "config.json").write_text(text + "\n")


def split_shards(sizes: dict[str, int], limit: int) -> Iterator[list[str]]:
    """Group names in order so that no group exceeds `limit` bytes (a single larger array is a group)."""
    shard: list[str] = []
    total = 0
    for name, size in sizes.items():
        if shard and total + size > limit:
            yield shard
            shard, total = [], 0
        shard.append(name)
        total += size
    if shard:
        yield shard
