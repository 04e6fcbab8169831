"""Architecture of a dense decoder-only transformer, read from and written to Hugging Face's config.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from atrl_ms.errors import UserError

Family = Literal["qwen3", "qwen2", "llama"]
ARCHITECTURES = {"qwen3": "Qwen3ForCausalLM", "qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}


@dataclass(frozen=True)
class ModelConfig:
    """Field names are those of config.json; `model_type` decides QK norm (qwen3) and biases (qwen2)."""

    model_type: Family = "qwen3"
    vocab_size: int = 1024
    hidden_size: int = 256
    intermediate_size: int = 768
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 64
    max_position_embeddings: int = 1024
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: dict[str, Any] | None = None
    tie_word_embeddings: bool = True
    attention_bias: bool = False  # llama only: bias on q, k, v and o
    mlp_bias: bool = False  # llama only
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = None
    pad_token_id: int | None = None

    @property
    def qk_norm(self) -> bool:
        return self.model_type == "qwen3"

    @property
    def qkv_bias(self) -> bool:
        return self.model_type == "qwen2" or self.attention_bias

    @property
    def output_bias(self) -> bool:
        return self.model_type != "qwen2" and self.attention_bias

    @property
    def heads_per_group(self) -> int:
        return self.num_attention_heads // self.num_key_value_heads

    @property
    def query_size(self) -> int:
        return self.num_attention_heads * self.head_dim

    @property
    def kv_size(self) -> int:
        return self.num_key_value_heads * self.head_dim

    def to_hf(self) -> dict[str, Any]:
        """The content of config.json, loadable by transformers' AutoModelForCausalLM."""
        data = asdict(self)
        return {
            "architectures": [ARCHITECTURES[self.model_type]],
            **data,
            "hidden_act": "silu",
            "torch_dtype": "float32",
            "use_cache": True,
        }

    @staticmethod
    def from_hf(data: dict[str, Any], origin: str = "config.json") -> ModelConfig:
        """Validate a config.json mapping.

        Raises:
            UserError: a family, activation or feature that this model does not implement, or a missing key.
        """
        family = data.get("model_type")
        if family not in ARCHITECTURES:
            raise UserError(f"{origin}: model_type {family!r} is not supported; known: {', '.join(ARCHITECTURES)}")
        if data.get("hidden_act", "silu") != "silu":
            raise UserError(f"{origin}: hidden_act {data['hidden_act']!r} is not supported; only silu")
        if data.get("use_sliding_window"):
            raise UserError(f"{origin}: use_sliding_window is not supported; set it to false")
        if data.get("quantization_config"):
            raise UserError(f"{origin}: quantised weights are not supported; export the model in fp32, bf16 or fp16")
        required = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
        missing = [key for key in required if key not in data]
        if missing:
            raise UserError(f"{origin}: missing {', '.join(missing)}")
        known = {field.name for field in fields(ModelConfig)}
        values = {key: value for key, value in data.items() if key in known}
        heads = data["num_attention_heads"]
        values["num_key_value_heads"] = data.get("num_key_value_heads") or heads
        values["head_dim"] = data.get("head_dim") or (128 if family == "qwen3" else data["hidden_size"] // heads)
        # The defaults of transformers' own configuration classes, for keys that older files leave out.
        values.setdefault("tie_word_embeddings", False)
        values.setdefault("max_position_embeddings", 2048 if family == "llama" else 32768)
        values["rope_theta"] = float(data.get("rope_theta") or 10000.0)
        config = ModelConfig(**values)
        config.check(origin)
        return config

    def check(self, origin: str = "model configuration") -> None:
        """Raise UserError when sizes contradict each other."""
        if self.num_attention_heads % self.num_key_value_heads:
            raise UserError(
                f"{origin}: num_attention_heads {self.num_attention_heads} is not a multiple of "
                f"num_key_value_heads {self.num_key_value_heads}"
            )
        if self.head_dim % 2:
            raise UserError(f"{origin}: head_dim {self.head_dim} must be even for rotary embeddings")
        if self.attention_bias and self.model_type == "qwen2":
            raise UserError(f"{origin}: attention_bias is not a key of qwen2, whose q, k and v always have biases")
        if rope_kind(self.rope_scaling) not in ("default", "linear", "llama3"):
            raise UserError(
                f"{origin}: rope_scaling {self.rope_scaling} is not supported; known: default, linear, llama3"
            )


def rope_kind(scaling: dict[str, Any] | None) -> str:
    """Name of the rotary scaling; the key is `rope_type`, in older files `type`."""
    return "default" if not scaling else str(scaling.get("rope_type", scaling.get("type", "default")))


def inverse_frequencies(config: ModelConfig) -> np.ndarray:
    """Rotary frequencies (head_dim / 2,) float64, with linear or Llama 3 scaling (Llama 3.1's published rule)."""
    freq = config.rope_theta ** (-np.arange(0, config.head_dim, 2, dtype=np.float64) / config.head_dim)
    scaling = config.rope_scaling or {}
    kind = rope_kind(scaling)
    if kind == "linear":
        return freq / float(scaling["factor"])
    if kind == "llama3":
        factor, low, high = (float(scaling[k]) for k in ("factor", "low_freq_factor", "high_freq_factor"))
        original = float(scaling["original_max_position_embeddings"])
        wavelength = 2 * np.pi / freq
        # 0 below the low-frequency bound (fully scaled), 1 above the high one (unscaled), linear between.
        keep = np.clip((original / wavelength - low) / (high - low), 0.0, 1.0)
        return freq * keep + freq / factor * (1 - keep)
    return freq


def rope_tables(config: ModelConfig, positions: int) -> tuple[np.ndarray, np.ndarray]:
    """cos and signed sin, each (positions, head_dim) float32.

    rope(x) = x * cos + swap(x) * sin with swap exchanging the halves of a head; the sign of rotate-half is in sin.
    """
    # transformers computes the angles in float32; the same here, so that long contexts agree.
    freq = inverse_frequencies(config).astype(np.float32)
    angle = np.arange(positions, dtype=np.float32)[:, None] * freq[None, :]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([cos, cos], 1), np.concatenate([-sin, sin], 1)


def read_config(directory: str | Path) -> ModelConfig:
    """Read `directory`/config.json."""
    path = Path(directory) / "config.json"
    if not path.is_file():
        raise UserError(f"{path}: no such file; a checkpoint directory holds config.json and model.safetensors")
    try:
        data = json.loads(path.read_text())
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON: {error}") from error
    return ModelConfig.from_hf(data, str(path))
