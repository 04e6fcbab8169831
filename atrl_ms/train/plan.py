"""`atrl plan` and `atrl train --dry-run`: what a configuration asks of machines, from config.json, without weights.

All numbers are arithmetic on the configuration: upper bounds, not measurements. Letters: P parameters, L layers,
D width, F feed-forward width, V vocabulary, T tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.policy.config import ModelConfig, read_config
from atrl_ms.policy.weights import fused_layout
from atrl_ms.train.batching import micro_batch_shapes
from atrl_ms.train.spread import GIB, Spread, spread_over_devices

FLOAT = 4  # bytes; the native backend computes in float32
SECONDS_PER_EVALUATION = 2.0  # assumption of the worker estimate: what the built-in suite takes on one CPU core


@dataclass(frozen=True)
class Plan:
    """Sizes that follow from a configuration."""

    parameters: int
    memory: dict[str, int]  # bytes on each device by what they hold
    sessions: int  # of a step without replacements
    tokens: int  # a session's sampled and observed tokens, at most
    evaluations: int  # of a step, at most
    shapes: list[tuple[int, int]]  # (rows, tokens) of full micro-batches
    spread: Spread | None = None  # of a policy that is spread over NPUs

    @property
    def total(self) -> int:
        return sum(self.memory.values())


def parameter_count(model: ModelConfig) -> int:
    """P: every stored tensor of the checkpoint, from the layout of its names."""
    widths = {
        "embedding": model.hidden_size,
        "head": model.hidden_size,
        "qkv": model.hidden_size,
        "out": model.query_size,
        "gate_up": model.hidden_size,
        "down": model.intermediate_size,
    }
    return sum(
        rows * widths.get(own.split(".")[-1], 1) for own, parts in fused_layout(model).items() for _, rows in parts
    )


def trained_count(config: Config, model: ModelConfig) -> int:
    """Parameters that get gradients: all, or those of the adapters."""
    if not config.policy.lora_rank:
        return parameter_count(model)
    d, q, kv, f = model.hidden_size, model.query_size, model.kv_size, model.intermediate_size
    sides = {"qkv": d + q + 2 * kv, "out": q + d, "gate_up": d + 2 * f, "down": f + d}  # inputs + outputs
    return config.policy.lora_rank * model.num_hidden_layers * sum(sides[t] for t in config.policy.lora_targets)


def activation_bytes(model: ModelConfig, shape: tuple[int, int]) -> int:
    """What the backward pass keeps of one micro-batch (B, T), without recompute.

    Per token and layer the inputs of the matrix products (about 4 D + 2 query + 2 key/value + 3 F), per layer the
    attention probabilities (B, H, T, T), and the logits three times (themselves, log-softmax, gradient).
    """
    rows, length = shape
    per_token = 4 * model.hidden_size + 2 * (model.query_size + model.kv_size) + 3 * model.intermediate_size
    attention = rows * model.num_attention_heads * length * length
    layers = model.num_hidden_layers * (rows * length * per_token + 2 * attention)
    return FLOAT * (layers + 3 * rows * length * model.vocab_size)


def make_plan(config: Config) -> Plan:
    """The plan of a run.

    Raises:
        UserError: no config.json in policy.checkpoint, or sizes that contradict each other.
    """
    model = read_config(config.policy.directory)
    agent, train, engine = config.agent, config.train, config.engine
    if agent.window > model.max_position_embeddings:
        raise UserError(f"agent.window {agent.window} exceeds the policy's {model.max_position_embeddings} positions")
    reserve = agent.max_reply_tokens + agent.feedback_tokens
    if reserve >= agent.window:
        raise UserError(
            f"agent.window {agent.window} is not larger than max_reply_tokens + feedback_tokens = {reserve}: "
            "no task would fit"
        )
    parameters, trained = parameter_count(model), trained_count(config, model)
    sessions = train.groups_per_step * train.group_size
    if config.policy.backend == "mindformers":
        spread = spread_over_devices(config, model, parameters)
        shapes = [(spread.rows, agent.window)]
        return Plan(
            parameters, spread.memory, sessions, agent.max_session_tokens, sessions * agent.max_turns, shapes, spread
        )
    shapes = micro_batch_shapes(agent.window, train.micro_batch_tokens)
    cache = 2 * model.num_hidden_layers * engine.max_batch * agent.window * model.kv_size
    moments = 1 if train.optimizer == "muon" else 2
    memory = {
        "parameters": FLOAT * parameters,
        "gradient sums": FLOAT * trained,
        "gradients of one micro-batch": FLOAT * trained,
        f"optimizer moments ({train.optimizer})": FLOAT * moments * trained,
        "activations of one micro-batch": max(activation_bytes(model, shape) for shape in shapes),
    }
    if engine.kind == "native":
        memory["engine: parameters in its own layout"] = FLOAT * parameters
        memory[f"engine: cache of {engine.max_batch} sequences"] = FLOAT * cache
    if config.algo.kl_coef > 0:
        memory["reference policy"] = FLOAT * 4 * parameters
    return Plan(parameters, memory, sessions, agent.max_session_tokens, sessions * agent.max_turns, shapes)


def format_plan(config: Config) -> str:
    """The plan as text."""
    plan = make_plan(config)
    train, agent = config.train, config.agent
    summaries = agent.max_compactions * agent.max_summary_tokens if agent.compaction == "hybrid" else 0
    sampled = min(plan.tokens, agent.max_turns * agent.max_reply_tokens + summaries)
    replaced = config.algo.max_extra_groups * train.group_size if config.algo.dynamic_sampling else 0
    if plan.spread is None:
        precision, where = "float32", "each device (whole copies; data parallel ranks add none)"
    else:
        precision, where = "bfloat16, float32 in the optimizer", f"each NPU of the fullest of {plan.spread.layout}"
    lines = [
        f"policy: {plan.parameters / 1e6:.1f} M parameters, {precision}, {config.policy.checkpoint}",
        f"memory of {where}:",
        *(f"  {size / GIB:9.3f} GiB  {name}" for name, size in plan.memory.items()),
        f"  {plan.total / GIB:9.3f} GiB  in all",
        *(plan.spread.lines(plan.total) if plan.spread else []),
        f"each of {train.steps} steps, at most:",
        f"  {plan.sessions} sessions ({train.groups_per_step} groups of {train.group_size})"
        + (f", and {replaced} in place of groups without variance" if replaced else ""),
        f"  {plan.sessions * sampled} sampled tokens ({sampled} a session), contexts up to {agent.window} tokens",
        f"  {plan.evaluations} kernels to judge",
        f"  {train.updates_per_batch} optimizer step(s), micro-batches of at most {train.micro_batch_tokens} tokens: "
        + ", ".join(f"{rows} x {length}" for rows, length in plan.shapes),
        "sandbox workers:",
        f"  {config.sandbox.workers} configured; at an assumed {SECONDS_PER_EVALUATION:.0f} s a kernel they need "
        f"{plan.evaluations * SECONDS_PER_EVALUATION / config.sandbox.workers:.0f} s for a step, "
        f"{-(-plan.evaluations * SECONDS_PER_EVALUATION // 60):.0f} would do it in a minute",
        f"evaluation: {config.eval.sessions} sessions before and after",
    ]
    return "\n".join(lines)
