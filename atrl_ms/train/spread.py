"""A large policy spread over NPUs by MindFormers: memory of the fullest device, and MindFormers' own settings.

Training of such a policy needs NPUs; this arithmetic and the settings need none (docs/scaling.md says what ran where).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atrl_ms.config import Config, ParallelConfig
from atrl_ms.errors import UserError
from atrl_ms.policy.config import ModelConfig
from atrl_ms.train.memory import Shape, Sharded, layer_activation_bytes, layers_in_flight, logits_bytes, state_bytes

GIB = 2**30
LEVELS: dict[str, Sharded] = {"none": "none", "level1": "os", "level2": "os+g", "level3": "os+g+p"}
SERVING_SHARE = 0.9  # of an NPU that a serving engine takes for weights and cache


@dataclass(frozen=True)
class Spread:
    """Memory of the fullest training NPU by what it holds, in bytes, and what else follows from the settings."""

    layout: str
    memory: dict[str, int]
    rows: int  # sequences of a micro-batch
    device_bytes: int
    settings: dict[str, Any]  # MindFormers' YAML sections
    serving: str

    def fits(self, total: int) -> bool:
        return total <= self.device_bytes

    def lines(self, total: int) -> list[str]:
        """What the plan says beside the memory."""
        free = (self.device_bytes - total) / GIB
        return [
            f"  {self.device_bytes / GIB:9.3f} GiB  there are: "
            + (f"{free:.1f} GiB stay free" if free >= 0 else f"DOES NOT FIT, {-free:.1f} GiB too much"),
            *([self.serving] if self.serving else []),
        ]


def spread_over_devices(config: Config, model: ModelConfig, parameters: int) -> Spread:
    """The plan of `config.parallel`.

    Raises:
        UserError: heads, layers or devices that cannot be divided as asked.
    """
    p = config.parallel
    check(p, model)
    data = p.devices // (p.tensor * p.pipeline)
    rows = max(1, config.train.micro_batch_tokens // config.agent.window)
    embedding = model.vocab_size * model.hidden_size
    ends = embedding if model.tie_word_embeddings else 2 * embedding
    layer = (parameters - ends) / model.num_hidden_layers
    # The first stage holds the embedding, the last one the head; without a pipeline one holds both.
    held = -(-model.num_hidden_layers // p.pipeline) * layer + (ends if p.pipeline == 1 else embedding)
    states = state_bytes(held / p.tensor, data, LEVELS[p.optimizer_level], gradient_bytes=4)
    shape = Shape(
        model.hidden_size,
        model.num_attention_heads,
        model.num_key_value_heads,
        model.head_dim,
        model.intermediate_size,
    )
    one = layer_activation_bytes(shape, config.agent.window, rows, p.tensor, p.sequence_parallel, p.recompute)
    micro_batches = micro_batches_of_a_rank(config, data, rows)
    memory = {name: round(size) for name, size in states.items()}
    flight = layers_in_flight(model.num_hidden_layers, p.pipeline, micro_batches)
    memory[f"activations: {flight} layers x {rows} x {config.agent.window} tokens"] = round(flight * one)
    if p.recompute != "none":
        whole = layer_activation_bytes(shape, config.agent.window, rows, p.tensor, p.sequence_parallel)
        memory["one layer while it is computed again"] = round(whole)
    memory["logits, softmax and gradient (float32)"] = round(
        logits_bytes(model.vocab_size, rows * config.agent.window, p.tensor)
    )
    memory["reserve: CANN, communication, fragmentation"] = round(p.reserve_gib * GIB)
    layout = f"{p.devices} ({data} data x {p.tensor} tensor x {p.pipeline} pipeline)"
    settings = mindformers_settings(p, data, rows, micro_batches)
    return Spread(layout, memory, rows, round(p.device_gib * GIB), settings, serving(config, model, parameters))


def check(p: ParallelConfig, model: ModelConfig) -> None:
    """Whether the model divides as asked."""
    if p.devices % (p.tensor * p.pipeline):
        raise UserError(f"parallel.devices {p.devices} is not a multiple of tensor {p.tensor} x pipeline {p.pipeline}")
    for name, count in (("attention heads", model.num_attention_heads), ("key/value heads", model.num_key_value_heads)):
        if count % p.tensor:
            raise UserError(f"parallel.tensor {p.tensor} does not divide the policy's {count} {name}")
        if p.serving_devices and count % p.serving_tensor:
            raise UserError(f"parallel.serving_tensor {p.serving_tensor} does not divide the policy's {count} {name}")
    if p.pipeline > model.num_hidden_layers:
        raise UserError(f"parallel.pipeline {p.pipeline} exceeds the policy's {model.num_hidden_layers} layers")
    if p.serving_devices % p.serving_tensor:
        raise UserError(f"parallel.serving_devices {p.serving_devices} is not a multiple of {p.serving_tensor}")


def micro_batches_of_a_rank(config: Config, data_ranks: int, rows: int) -> int:
    """Micro-batches of a step on one data rank when every session fills one window."""
    sessions = config.train.groups_per_step * config.train.group_size
    return max(1, -(-sessions // (data_ranks * rows)))


def serving(config: Config, model: ModelConfig, parameters: int) -> str:
    """What the serving engine's NPUs hold."""
    p = config.parallel
    if p.serving_devices == 0:
        return ""
    weights = 2 * parameters / p.serving_tensor
    token = 2 * 2 * model.num_hidden_layers * model.kv_size / p.serving_tensor
    room = SERVING_SHARE * p.device_gib * GIB - weights
    if room <= 0:
        return f"serving: {weights / GIB:.1f} GiB of weights DO NOT FIT an NPU; raise parallel.serving_tensor"
    replicas = p.serving_devices // p.serving_tensor
    contexts = int(room // (token * config.agent.window))
    return (
        f"serving on {p.serving_devices} NPUs: {replicas} replica(s) over {p.serving_tensor}, "
        f"{weights / GIB:.1f} GiB of weights each, caches for {contexts} contexts of "
        f"{config.agent.window} tokens a replica, {replicas * contexts} in all"
    )


def mindformers_settings(p: ParallelConfig, data: int, rows: int, micro_batches: int) -> dict[str, Any]:
    """The sections of a MindFormers YAML file that say the same."""
    return {
        "use_parallel": p.devices > 1,
        "runner_config": {"batch_size": rows},
        "parallel": {
            "parallel_mode": 1,  # semi-automatic: the layouts are the model's own
            "enable_parallel_optimizer": p.optimizer_level != "none",
            "parallel_optimizer_config": {
                "optimizer_level": "level1" if p.optimizer_level == "none" else p.optimizer_level,
                "optimizer_weight_shard_size": data,
            },
        },
        "parallel_config": {
            "data_parallel": data,
            "model_parallel": p.tensor,
            "pipeline_stage": p.pipeline,
            "micro_batch_num": max(p.pipeline, micro_batches),
            "use_seq_parallel": p.sequence_parallel and p.tensor > 1,
            "vocab_emb_dp": False,
        },
        "recompute_config": {
            "recompute": p.recompute == "full",
            "select_recompute": p.recompute == "selective",
            "parallel_optimizer_comm_recompute": p.optimizer_level == "level3",
            "mp_comm_recompute": True,
        },
    }
