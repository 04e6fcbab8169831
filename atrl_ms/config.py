"""One typed, validated configuration for every command. Unknown keys are refused.

Each section belongs to one room; a field's description is its documentation (docs/configuration.md is generated).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from atrl_ms.errors import UserError


def asset(path: str) -> Path:
    """A path as given; one that is not there and names an asset of this package is found beside the package."""
    given = Path(path)
    own = Path(__file__).resolve().parent.parent / given
    return own if given.parts[:2] == ("atrl_ms", "assets") and not given.exists() and own.exists() else given


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values are checked on assignment."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)


Projection = Literal["qkv", "out", "gate_up", "down"]
PROJECTIONS: tuple[Projection, ...] = ("qkv", "out", "gate_up", "down")


class PolicyConfig(Section):
    """The policy network (atrl_ms/policy)."""

    backend: Literal["native", "mindformers"] = Field("native", description="which implementation of the transformer")
    checkpoint: str = Field("atrl_ms/assets/warm_start", description="directory with model.safetensors and config.json")
    lora_rank: int = Field(
        0, ge=0, description="rank of low-rank adapters, the only weights trained; 0 for all weights"
    )
    lora_alpha: float = Field(16.0, gt=0, description="an adapter's product is multiplied by lora_alpha / lora_rank")
    lora_targets: list[Projection] = Field(
        default_factory=lambda: list(PROJECTIONS), description="projections that get an adapter"
    )

    @model_validator(mode="after")
    def adapters_are_native(self) -> PolicyConfig:
        if self.lora_rank and self.backend != "native":
            raise ValueError("lora_rank needs backend native")
        if self.lora_rank and (not self.lora_targets or len(set(self.lora_targets)) < len(self.lora_targets)):
            raise ValueError("lora_targets must name at least one projection, each once")
        return self

    @property
    def directory(self) -> Path:
        """Where the checkpoint is."""
        return asset(self.checkpoint)


class EngineConfig(Section):
    """Sampling (atrl_ms/rollout)."""

    kind: Literal["native", "vllm", "sglang"] = Field("native", description="which engine samples")
    url: str = Field("", description="address of a serving engine")
    model: str = Field("", description="name under which vLLM serves the policy; empty for its first model")
    publish: str = Field(
        "",
        description="directory a serving engine reads new weights from; empty for a temporary one of this machine",
    )
    timeout: float = Field(600.0, gt=0, description="seconds that a serving engine may take for one reply")
    max_batch: int = Field(32, ge=1, description="sequences decoded together by the native engine")
    temperature: float = Field(0.8, ge=0, description="of training sessions")
    top_p: float = Field(1.0, gt=0, le=1, description="sample from the likeliest tokens of this probability")
    top_k: int = Field(0, ge=0, description="sample from so many likeliest tokens; 0 for all")


class AgentConfig(Section):
    """The session: turns, budgets, compaction (agent/)."""

    window: int = Field(512, ge=64, description="tokens that a context may never exceed")
    max_turns: int = Field(4, ge=1, description="replies of one session")
    max_reply_tokens: int = Field(192, ge=8, description="reserve for one reply")
    max_summary_tokens: int = Field(48, ge=8, description="own token budget of a compaction summary")
    max_compactions: int = Field(3, ge=0, description="times that a full window is compacted; 0 ends the session")
    max_session_tokens: int = Field(4096, ge=64, description="sampled and observed tokens of a whole session")
    max_seconds: float = Field(0.0, ge=0, description="time of a whole session; 0 for no limit")
    compaction: Literal["none", "truncate", "facts", "hybrid"] = Field(
        "hybrid", description="what survives a full window: nothing, last steps, facts of the harness, also notes"
    )
    keep_steps: int = Field(1, ge=0, description="raw last steps kept after a compaction")
    auto_verify: bool = Field(True, description="write_kernel and edit_kernel are verified at once")
    tool_format: Literal["fenced", "qwen"] = Field("fenced", description="how tool calls are written")
    instructions: Literal["short", "full"] = Field(
        "short", description="system message: one line for the embedded policy, the full rules for a general model"
    )
    knowledge_tokens: int = Field(64, ge=0, description="budget of the knowledge header; 0 turns it off")
    feedback_tokens: int = Field(64, ge=8, description="budget of one feedback message")
    stop_on_pass: bool = Field(True, description="end the session at the first passing kernel")

    @model_validator(mode="after")
    def window_holds_a_turn(self) -> AgentConfig:
        summary = self.max_summary_tokens if self.compaction == "hybrid" and self.max_compactions else 0
        turn = self.max_reply_tokens + self.feedback_tokens + summary
        if turn >= self.window:
            raise ValueError(
                f"window {self.window} has no room for a task beside one reply ({self.max_reply_tokens}), its feedback "
                f"({self.feedback_tokens}) and a summary ({summary}); raise window above {turn} plus the task"
            )
        return self


class SandboxConfig(Section):
    """The judge (sandbox/)."""

    workers: int = Field(2, ge=1, description="evaluations side by side")
    arch: str = Field("Ascend910B4", description="NPU that kernels are compiled for")
    cann: str = Field("9.0.0", description="version of CANN that the compiler works for")
    device: Literal["auto", "cpu", "npu"] = Field(
        "auto", description="where kernels run; 'auto' takes an NPU where there is one"
    )
    timeout: float = Field(20.0, gt=0, description="seconds for one evaluation")
    url: str = Field(
        "", description="address of a sandbox service (atrl serve), token in ATRL_TOKEN; empty for a local pool"
    )
    ray: str = Field("", description="address of a Ray cluster whose hosts run the workers; 'auto' finds one here")

    @model_validator(mode="after")
    def one_place(self) -> SandboxConfig:
        if self.url and self.ray:
            raise ValueError("url and ray exclude each other; give one")
        return self


class TasksConfig(Section):
    """Which tasks a run uses: the built-in suite or a benchmark on disk (sandbox/suite.py, sandbox/benchmarks)."""

    suite: str = Field(
        "builtin",
        description="'builtin', 'kernelbench', 'npukernelbench', 'multikernelbench', 'akg_lite', "
        "or a directory of KernelBench-style files; training on any but 'builtin' holds out every fifth task",
    )
    root: str = Field("", description="directory of a named benchmark on this machine")
    families: list[str] = Field(default_factory=list, description="operators of the built-in suite; empty for all")
    split: Literal["held_out", "train", "all"] = Field("held_out", description="part of the built-in suite to evaluate")
    levels: list[str] = Field(default_factory=list, description="levels of a benchmark to use; empty for all")
    select: list[str] = Field(default_factory=list, description="shell patterns of task names to use")
    limit: int = Field(0, ge=0, description="use at most so many tasks, spread over the set; 0 for all")
    max_elements: int = Field(300_000, ge=1, description="inputs and parameters of a benchmark's case at most")
    max_cases: int = Field(4, ge=1, description="cases used at most, smallest first, of a task that ships many")
    fit_seconds: int = Field(60, ge=1, description="seconds of computing to make one task of a benchmark fit")


class AlgoConfig(Section):
    """Advantage and loss (atrl_ms/algos)."""

    advantage: Literal["grpo", "rloo", "discounted", "togo", "atrl", "trloo"] = Field(
        "atrl", description="advantage estimator (docs/algorithms.md)"
    )
    atrl_w: float = Field(0.5, ge=0, le=1, description="weight of togo in atrl")
    gamma: float = Field(1.0, gt=0, le=1, description="discount between segments in togo, between turns in trloo")
    kappa: float = Field(0.5, gt=0, le=1, description="discount per remaining segment in discounted")
    loss: Literal["clip", "gspo", "cispo"] = Field("clip", description="surrogate: per token, per sequence, or CISPO")
    clip_low: float = Field(0.2, gt=0, lt=1, description="the ratio pi / pi_old is clipped at 1 - clip_low")
    clip_high: float = Field(0.28, gt=0, description="and at 1 + clip_high")
    dual_clip: float = Field(3.0, gt=1, description="bound of the ratio where the advantage is negative")
    tis_cap: float = Field(2.0, gt=0, description="cap of the truncated importance weight pi_old / mu")
    kl_coef: float = Field(0.0, ge=0, description="weight of the KL term to the policy at the start of the run")
    kl_kind: Literal["k1", "k2", "k3"] = Field("k2", description="estimator of the KL term; k2 has the right gradient")
    aggregation: Literal["token-mean", "rollout-mean", "seq-mean-token-mean", "constant"] = Field(
        "token-mean", description="how token losses are averaged (atrl_ms/algos/aggregation.py)"
    )
    constant_length: int = Field(1024, ge=1, description="tokens per rollout that aggregation 'constant' divides by")
    ratio_filter: float = Field(
        0.0, ge=0, description="drop a segment whose geometric-mean pi_old / mu leaves [1 - x, 1 + x]; 0 keeps all"
    )
    train_summaries: bool = Field(True, description="whether compaction summaries are in the loss")
    overlong_buffer: int = Field(0, ge=0, description="tokens over which the penalty of a long rollout grows; 0 is off")
    overlong_max_tokens: int = Field(4096, ge=1, description="sampled tokens at which the penalty reaches -1")
    dynamic_sampling: bool = Field(True, description="skip groups without variance and sample others")
    max_extra_groups: int = Field(4, ge=0, description="groups sampled at most, in one step, in place of skipped ones")


class TrainConfig(Section):
    """The RL loop (atrl_ms/train)."""

    steps: int = Field(30, ge=1, description="steps of a run: sessions, advantages, update")
    token_budget: int = Field(
        0, ge=0, description="end training with the step that reaches so many sampled tokens; 0 for no budget"
    )
    groups_per_step: int = Field(4, ge=1, description="tasks of one step")
    group_size: int = Field(8, ge=2, description="sessions of one task")
    optimizer: Literal["adamw", "muon"] = Field("adamw", description="optimizer; muon for the hidden matrices only")
    lr: float = Field(1e-4, gt=0, description="learning rate after the warm-up")
    warmup_steps: int = Field(2, ge=0, description="steps over which the learning rate rises")
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay")
    max_grad_norm: float = Field(1.0, gt=0, description="gradients are scaled down to this norm")
    updates_per_batch: int = Field(1, ge=1, description="optimizer steps on each batch of sessions")
    staleness: int = Field(
        0, ge=0, description="steps whose sessions may be played ahead of the step that trains; 0 is synchronous"
    )
    micro_batch_tokens: int = Field(8192, ge=64, description="token budget of one micro-batch")
    recompute: bool = Field(
        False, description="compute each layer again in the backward pass instead of keeping its activations"
    )
    checkpoint_every: int = Field(5, ge=1, description="steps between checkpoints")
    keep_checkpoints: int = Field(2, ge=1, description="checkpoints that are kept, the newest")
    audit_limit: float = Field(
        0.02, gt=0, description="largest mean difference of log-probabilities between engine and trainer before step 1"
    )
    outage_seconds: float = Field(600.0, ge=0, description="longest wait for a sandbox that is down")


class ParallelConfig(Section):
    """How a large policy is spread over NPUs: MindFormers' settings, for backend 'mindformers' (atrl plan)."""

    devices: int = Field(1, ge=1, description="NPUs that train; devices / (tensor * pipeline) are data ranks")
    tensor: int = Field(1, ge=1, description="NPUs that share each matrix")
    pipeline: int = Field(1, ge=1, description="stages that share the layers")
    sequence_parallel: bool = Field(True, description="what tensor ranks do not share is split over the sequence")
    optimizer_level: Literal["none", "level1", "level2", "level3"] = Field(
        "level1", description="sharded over data ranks: optimizer; also gradients; also weights"
    )
    recompute: Literal["none", "selective", "full"] = Field(
        "none", description="what the backward pass computes again: nothing, the attention core, whole layers"
    )
    device_gib: float = Field(64.0, gt=0, description="memory of an NPU")
    reserve_gib: float = Field(6.0, ge=0, description="of it for CANN, communication buffers and fragmentation")
    serving_devices: int = Field(0, ge=0, description="NPUs of the serving engine, beside those that train")
    serving_tensor: int = Field(1, ge=1, description="NPUs that share a replica of the serving engine")


class EvalConfig(Section):
    """Evaluation before and after training, and `atrl eval` (atrl_ms/evaluate)."""

    sessions: int = Field(64, ge=0, description="sessions on held-out tasks for each evaluation; 0 evaluates nothing")
    temperature: float = Field(0.6, ge=0, description="of evaluation sessions; 0 is greedy")
    policy: Literal["checkpoint", "endpoint", "kernels", "identity"] = Field(
        "checkpoint",
        description="who writes the kernels: policy.checkpoint, the model at eval.url, the files of eval.kernels, "
        "or the reference wrapped (a test of the judge: its verdict must be cheat)",
    )
    url: str = Field("", description="OpenAI-compatible address for 'endpoint'; the key is read from ATRL_API_KEY")
    model: str = Field("", description="which of the server's models; empty for the first")
    kernels: str = Field("", description="directory of ready kernels, one file per task and sample")
    missing: Literal["skip", "fail"] = Field("skip", description="tasks without a ready kernel: leave out, or failed")
    samples: int = Field(1, ge=1, description="samples per task")
    k: list[int] = Field(default_factory=lambda: [1, 5, 10], description="k of pass@k; those above samples are dropped")
    concurrent: int = Field(0, ge=0, description="samples in flight; 0 takes twice the sandbox workers or max_batch")
    tolerance: Literal["npu", "kernelbench"] = Field(
        "npu", description="rule of comparison: the NPU suites', or KernelBench's own (1e-4 fp32, 1e-2 half)"
    )


class WarmStartConfig(Section):
    """Demonstrations and supervised fine-tuning (atrl_ms/train/demos, atrl_ms/train/warm_start.py)."""

    bodies: int = Field(11, ge=1, description="training variants of each operator that are demonstrated; RL has more")
    shape_sets: int = Field(2, ge=1, description="shape sets demonstrated of each operator variant")
    faults_per_task: int = Field(5, ge=1, description="kinds of faults in the drafts of one task")
    loops: bool = Field(False, description="demonstrate kernels whose programs loop over several blocks or rows")
    sessions: int = Field(12000, ge=1, description="demonstration sessions")
    clean_draft: float = Field(0.35, ge=0, le=1, description="probability of a first draft without fault")
    two_faults: float = Field(0.3, ge=0, le=1, description="probability of a second fault in a faulty first draft")
    right_fix: float = Field(0.7, ge=0, le=1, description="probability that a fix addresses the feedback")
    edit: float = Field(0.75, ge=0, le=1, description="probability of an edit instead of a rewrite")
    vocab_size: int = Field(2048, ge=512, description="pieces of the tokenizer")
    hidden_size: int = Field(256, ge=32, description="width of the policy")
    layers: int = Field(4, ge=1, description="transformer blocks")
    heads: int = Field(4, ge=1, description="attention heads")
    kv_heads: int = Field(2, ge=1, description="heads of keys and values, shared by groups of heads")
    intermediate_size: int = Field(704, ge=32, description="width of the feed-forward layers")
    optimizer: Literal["adamw", "muon"] = Field("adamw", description="optimizer; muon for the hidden matrices only")
    lr: float = Field(2e-3, gt=0, description="highest learning rate")
    batch_tokens: int = Field(3072, ge=256, description="padded tokens of one step")
    minutes: float = Field(45.0, gt=0, description="stop after this many minutes of training")
    max_steps: int = Field(500, ge=1, description="stop after this step")
    schedule_steps: int = Field(1000, ge=1, description="length of the learning rate's cosine")


class TreeConfig(Section):
    """Tree-OPO: teacher search, staged curriculum, staged advantages (atrl_ms/tree, docs/tree_opo.md)."""

    source: Literal["reasoning", "kernels"] = Field(
        "reasoning", description="'reasoning': prefixes of a teacher's search; 'kernels': sessions branch at boundaries"
    )
    seed: int = Field(0, ge=0, description="of problems and search; the run's seed is that of training")
    teacher: str = Field("atrl_ms/assets/reasoning_teacher", description="checkpoint directory of the searching policy")
    directory: str = Field("", description="where the search is kept; empty for RUN_DIR/tree")
    families: list[str] = Field(
        default_factory=lambda: ["chain_sum", "simple_equations", "countdown"],
        description="problem families of the reasoning-gym package",
    )
    problem_file: str = Field("", description="GSM8K-format JSON Lines to use in place of generated families")
    problems: int = Field(96, ge=1, description="training problems that are searched")
    held_out_problems: int = Field(150, ge=1, description="problems of evaluations")
    rollouts: int = Field(16, ge=1, description="teacher rollouts per problem")
    max_depth: int = Field(5, ge=1, description="steps below the prompt that become nodes")
    branching: int = Field(5, ge=1, description="children of a node, and rollouts started at it")
    rule: Literal["uct", "puct"] = Field("uct", description="which child a rollout descends to")
    exploration: float = Field(1.4, ge=0, description="weight of the bonus for nodes visited rarely")
    temperature: float = Field(1.0, gt=0, description="of the teacher in the search")
    max_new_tokens: int = Field(64, ge=1, description="cap of one completion, of teacher and student")
    window: int = Field(256, ge=16, description="tokens of a prompt, its prefix and the completion together")
    wave: int = Field(4, ge=1, description="rollouts of one problem in flight together")
    problems_in_flight: int = Field(16, ge=1, description="problems searched side by side")
    prefixes: Literal["root", "uniform", "depth", "success"] = Field(
        "depth", description="how the prefixes of a group are drawn; 'root' gives ordinary groups from the prompt"
    )
    root_fraction: float = Field(0.25, ge=0, le=1, description="least share of a group that starts at the prompt")
    depth_bias: float = Field(1.0, ge=0, description="strength of the reverse curriculum of 'depth'")
    estimator: Literal[
        "group", "flat", "trace", "expectation", "optimistic", "pessimistic", "soft", "hard", "penalty"
    ] = Field("expectation", description="staged advantage; 'group' uses algo.advantage and ignores the tree")
    alpha: float = Field(0.5, ge=0, description="weight of V(p) in the heuristics")
    delta: float = Field(0.01, ge=0, description="margin of the order constraints")
    eta: float = Field(0.0, ge=0, description="a pair constraint needs r_j - r_i > eta")
    success: float = Field(1.0, gt=0, le=1, description="reward from which a completion is a success in triplets")
    penalty_c: float = Field(1.0, gt=0, description="weight of the norm in the penalty form")
    target: Literal["reward", "expectation"] = Field(
        "reward", description="what soft, hard and penalty project: centred rewards, or the expectation heuristic"
    )
    online: bool = Field(True, description="V(p) of 'expectation' from running leave-one-out statistics, not the group")
    decay: float = Field(0.98, gt=0, le=1, description="forgetting of the running statistics per group")
    teacher_kl: bool = Field(False, description="the KL term of algo.kl_coef is to the teacher, not to the start")


class Config(Section):
    """A whole run."""

    algorithm: Literal["atrl", "tree_opo"] = Field("atrl", description="agent sessions, or staged prefixes (tree)")
    name: str = Field("run", description="first part of the name of the run directory")
    seed: int = Field(0, description="everything that is drawn follows from it")
    output_dir: str = Field("runs", description="where run directories are made")
    policy: PolicyConfig = Field(default_factory=PolicyConfig)
    engine: EngineConfig = Field(default_factory=EngineConfig)
    agent: AgentConfig = Field(default_factory=AgentConfig)
    sandbox: SandboxConfig = Field(default_factory=SandboxConfig)
    tasks: TasksConfig = Field(default_factory=TasksConfig)
    algo: AlgoConfig = Field(default_factory=AlgoConfig)
    train: TrainConfig = Field(default_factory=TrainConfig)
    parallel: ParallelConfig = Field(default_factory=ParallelConfig)
    eval: EvalConfig = Field(default_factory=EvalConfig)
    warm_start: WarmStartConfig = Field(default_factory=WarmStartConfig)
    tree: TreeConfig = Field(default_factory=TreeConfig)

    @model_validator(mode="after")
    def reasoning_is_native(self) -> Config:
        policy, engine = self.policy, self.engine
        special = policy.backend != "native" or policy.lora_rank or engine.kind != "native" or self.train.recompute
        if self.algorithm == "tree_opo" and self.tree.source == "reasoning" and special:
            raise ValueError(
                "Tree-OPO on reasoning problems has only the native backend and engine, without adapters and recompute"
            )
        return self


def load_config(path: str | Path, overrides: list[str] | None = None) -> Config:
    """Read a YAML file, apply `key.sub=value` overrides, validate.

    Raises:
        UserError: missing file, bad YAML, unknown key, bad value; the message names file, key and remedy.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a YAML configuration, for example configs/quickstart.yaml")
    try:
        data = yaml.safe_load(path.read_text()) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}: the top level must be a mapping of sections")
    for item in overrides or []:
        apply_override(data, item)
    return validate(data, str(path))


def apply_override(data: dict[str, Any], item: str) -> None:
    """Set `section.key=value` in a nested mapping; the value is parsed as YAML."""
    key, separator, value = item.partition("=")
    if not separator or not key:
        raise UserError(f"--set {item}: expected key=value, for example train.lr=1e-4")
    *parents, leaf = key.split(".")
    node = data
    for parent in parents:
        child = node.setdefault(parent, {})
        if not isinstance(child, dict):
            raise UserError(f"--set {item}: {parent} is not a section")
        node = child
    try:
        node[leaf] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise UserError(f"--set {item}: the value is not valid YAML") from error


def validate(data: dict[str, Any], origin: str) -> Config:
    """Validate a mapping; every fault becomes part of one `UserError` line."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            key = ".".join(str(part) for part in fault["loc"])
            if fault["type"] == "extra_forbidden":
                faults.append(f"unknown key '{key}'{suggestion(fault['loc'])}")
            elif fault["type"] == "value_error":  # of a whole section, or of several: it names the keys itself
                faults.append(": ".join(filter(None, [key, fault["msg"].removeprefix("Value error, ")])))
            else:
                faults.append(f"{key}: {fault['msg']} (got {fault['input']!r})")
        raise UserError(f"{origin}: {'; '.join(faults)}") from error


def suggestion(location: tuple[int | str, ...]) -> str:
    """' (did you mean ...?)' for a misspelt key, or the list of keys of that section."""
    import difflib

    model: Any = Config
    for part in location[:-1]:
        model = model.model_fields[str(part)].annotation
    names = list(model.model_fields)
    close = difflib.get_close_matches(str(location[-1]), names, n=1)
    return f" (did you mean '{close[0]}'?)" if close else f" (known here: {', '.join(names)})"
