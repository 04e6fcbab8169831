"""Step time, utilisation and bottleneck of 1 to 1,024 devices, by replaying the sessions of a measured run.

    python scripts/simulate_cluster.py RUN_DIR [--devices 1,2,4,...] [--scaling weak|strong] [--workers W]

Each device has an engine, W sandbox workers and a copy of the policy. Measured and replayed: tokens of every turn,
seconds of every evaluation (with its group, so that hard tasks stay together), seconds of updates against tokens.
Modelled: the engine serves B sequences at rate B / (B + K) of its full speed; speed and K are fitted on the first half
of the run's steps and judged on the second half, which is printed. Assumed, not measured: the all-reduce (--bandwidth
GB/s, --latency us) and, for staleness 1, that generation and update do not compete for the same cores.
"""

from __future__ import annotations

import argparse
import heapq
import math
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.evaluate.sessions import read_sessions
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.plan import parameter_count
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Session


@dataclass(frozen=True)
class Turn:
    """Tokens that the engine samples, then seconds of the sandbox (0: none)."""

    tokens: int
    judge: float


Replay = list[Turn]  # one session


@dataclass(frozen=True)
class Engine:
    """`speed` tokens/s with a full batch; at B sequences B / (B + half) of it; `batch` sequences at once."""

    speed: float
    half: float
    batch: int

    def rate(self, running: int) -> float:
        """Tokens per second of each running sequence."""
        return self.speed / (running + self.half)


@dataclass(frozen=True)
class Played:
    """A simulated round on one device."""

    seconds: float
    engine_busy: float  # seconds with at least one sequence running
    judge_busy: float  # worker seconds
    starved: float  # seconds in which nothing ran in the engine because all sessions were at the sandbox or queued


def play(sessions: list[Replay], engine: Engine, workers: int) -> Played:
    """Event by event: sessions share the engine equally; evaluations queue for workers, first come first served."""
    now = served = 0.0  # served: tokens that every running sequence has got so far
    running: list[tuple[float, int]] = []  # (value of `served` at which it is done, session)
    waiting = deque(range(len(sessions)))
    judging: list[tuple[float, int]] = []  # (time of the verdict, session)
    queue: deque[int] = deque()
    turn = [0] * len(sessions)
    busy = judged = starved = 0.0

    def judge(session: int) -> None:
        nonlocal judged
        seconds = sessions[session][turn[session]].judge
        judged += seconds
        heapq.heappush(judging, (now + seconds, session))

    def next_turn(session: int) -> None:
        turn[session] += 1
        if turn[session] < len(sessions[session]):
            waiting.append(session)

    while waiting or running or judging:
        while waiting and len(running) < engine.batch:
            session = waiting.popleft()
            heapq.heappush(running, (served + sessions[session][turn[session]].tokens, session))
        rate = engine.rate(len(running)) if running else 0.0
        token_end = now + (running[0][0] - served) / rate if running else math.inf
        judge_end = judging[0][0] if judging else math.inf
        step = min(token_end, judge_end) - now
        if running:
            busy += step
        else:
            starved += step
        served += rate * step
        now += step
        if token_end <= judge_end:
            _, session = heapq.heappop(running)
            if sessions[session][turn[session]].judge <= 0:
                next_turn(session)
            elif len(judging) < workers:
                judge(session)
            else:
                queue.append(session)
        else:
            _, session = heapq.heappop(judging)
            next_turn(session)
            if queue:
                judge(queue.popleft())
    return Played(now, busy, judged, starved)


# ---------------------------------------------------------------- what a run measured


@dataclass
class Measured:
    """A run as material for replay."""

    steps: list[list[list[Replay]]]  # steps of groups of sessions
    sample: list[float]  # seconds of each step's sampling
    update: list[float]
    rest: list[float]
    padded: list[int]
    group_size: int
    groups: int  # of a first round
    batch: int
    workers: int
    parameters: int

    @property
    def total(self) -> list[float]:
        return [a + b + c for a, b, c in zip(self.sample, self.update, self.rest, strict=True)]


def turns_of(session: Session) -> Replay:
    """Tokens and sandbox seconds of each turn; an answer that was known already cost nothing."""
    tokens: dict[int, int] = {}
    for segment in session.segments:
        for turn in segment.turns[segment.mask]:
            tokens[int(turn)] = tokens.get(int(turn), 0) + 1
    seconds: dict[int, float] = {}
    known: set[str] = set()
    for event in session.evaluations:
        if event.feedback is not None and event.candidate not in known:
            known.add(event.candidate)
            spent = sum(stage.seconds for stage in event.feedback.stages)
            seconds[event.turn] = seconds.get(event.turn, 0.0) + spent
    return [Turn(tokens[t], seconds.get(t, 0.0)) for t in sorted(tokens)]


def read_run(path: Path) -> Measured:
    """Everything that the simulation needs of a finished run of one process.

    Raises:
        UserError: too few steps, or a run of several ranks.
    """
    run = RunDir.open(path)
    config = run.config()
    records = [r for r in read_metrics(run.metrics_file) if run.step_sessions(r["step"]).is_file()]
    if len(records) < 4:
        raise UserError(f"{path}: {len(records)} finished steps with sessions; at least 4 are needed to fit and judge")
    if any(r.get("ranks", 1) != 1 for r in records) or config.train.staleness:
        raise UserError(f"{path}: measure a synchronous run of one process")
    steps = []
    for record in records:
        played = [turns_of(s) for s in read_sessions(run.step_sessions(record["step"]))]
        size = config.train.group_size
        steps.append([[r for r in played[i : i + size] if r] for i in range(0, len(played), size)])
    from atrl_ms.policy.config import read_config

    return Measured(
        steps=steps,
        sample=[r["seconds"]["sample"] for r in records],
        update=[r["seconds"]["update"] for r in records],
        rest=[r["seconds"]["write"] + r["seconds"]["weights"] for r in records],
        padded=[r.get("padded_tokens", 0) for r in records],
        group_size=config.train.group_size,
        groups=config.train.groups_per_step,
        batch=config.engine.max_batch,
        workers=config.sandbox.workers,
        parameters=parameter_count(read_config(Path(config.policy.checkpoint))),
    )


# ---------------------------------------------------------------- fitting


def rounds(groups: list[list[Replay]], first: int) -> list[list[list[Replay]]]:
    """The first round of a step's groups, and the one in place of groups without variance."""
    return [part for part in (groups[:first], groups[first:]) if part]


def sampling_seconds(m: Measured, groups: list[list[Replay]], engine: Engine, workers: int) -> float:
    """Simulated sampling of one measured step on one device."""
    return sum(play([s for g in part for s in g], engine, workers).seconds for part in rounds(groups, m.groups))


def fit_engine(m: Measured, steps: range) -> Engine:
    """Speed by bisection so that the total sampling time is that measured, for each of some K; the K of least error."""
    wanted = sum(m.sample[i] for i in steps)
    best: tuple[float, Engine] | None = None
    for half in (0.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        low, high = 1.0, 1e7
        for _ in range(24):
            middle = math.sqrt(low * high)
            seconds = sum(sampling_seconds(m, m.steps[i], Engine(middle, half, m.batch), m.workers) for i in steps)
            low, high = (middle, high) if seconds > wanted else (low, middle)
        engine = Engine(math.sqrt(low * high), half, m.batch)
        errors = [sampling_seconds(m, m.steps[i], engine, m.workers) - m.sample[i] for i in steps]
        error = float(np.square(errors).sum())
        if best is None or error < best[0]:
            best = error, engine
    assert best is not None
    return best[1]


def fit_update(m: Measured, steps: range) -> float:
    """Seconds of update per padded token; the first step of a process compiles and is left out."""
    used = [i for i in steps if i > 0]
    return sum(m.update[i] for i in used) / max(1, sum(m.padded[i] for i in used))


# ---------------------------------------------------------------- a cluster


@dataclass(frozen=True)
class Cluster:
    """What is asked of the simulation."""

    devices: int
    workers: int
    engine: Engine
    update_per_token: float
    rest: float
    reduce_seconds: float
    padded_per_group: float
    groups: int  # of a step over all devices


@dataclass(frozen=True)
class Step:
    """Means over simulated steps, in seconds and shares."""

    seconds: float
    staleness_1: float
    engine: float  # share of the step in which an engine decodes
    judge: float  # share of worker time in use
    bottleneck: str
    parts: dict[str, float]


def simulate(m: Measured, c: Cluster, steps: int, seed: int = 0) -> Step:
    """Draw measured groups, play them on the devices, update; synchronous, and with staleness 1."""
    rng = np.random.default_rng(seed)
    pool = [group for step in m.steps for group in step if group]
    extra = [max(0, len(step) - m.groups) / m.groups for step in m.steps]
    samples, updates, parts, engine_busy, judge_busy = [], [], [], 0.0, 0.0
    for _ in range(steps):
        counts = [c.groups, round(c.groups * float(rng.choice(extra)))]
        lasted, mean_busy, starved, total_groups = 0.0, 0.0, 0.0, 0
        for count in counts:
            if count == 0:
                continue
            total_groups += count
            played = []
            for device in range(c.devices):
                own = count * (device + 1) // c.devices - count * device // c.devices
                chosen = [pool[rng.integers(len(pool))] for _ in range(own)]
                played.append(play([s for g in chosen for s in g], c.engine, c.workers))
            slowest = max(played, key=lambda p: p.seconds)
            lasted += slowest.seconds
            starved += slowest.starved
            mean_busy += float(np.mean([p.seconds for p in played]))
            engine_busy += float(np.mean([p.engine_busy for p in played]))
            judge_busy += float(np.mean([p.judge_busy for p in played]))
        update = c.update_per_token * c.padded_per_group * total_groups / c.devices
        samples.append(lasted)
        updates.append(update + c.reduce_seconds + c.rest)
        parts.append(
            {
                "generation": mean_busy - starved,
                "sandbox": starved,
                "stragglers": lasted - mean_busy,
                "update": update,
                "communication": c.reduce_seconds,
                "other": c.rest,
            }
        )
    mean = {name: float(np.mean([p[name] for p in parts])) for name in parts[0]}
    total = float(np.mean(samples) + np.mean(updates))
    return Step(
        seconds=total,
        staleness_1=pipelined(samples, updates),
        engine=engine_busy / steps / total,
        judge=judge_busy / steps / total / c.workers,
        bottleneck=max(mean, key=lambda name: mean[name]),
        parts=mean,
    )


def pipelined(samples: list[float], updates: list[float]) -> float:
    """Seconds of a step when step t + 1 is played beside update t."""
    played, updated, before = 0.0, 0.0, 0.0  # ends of: sampling t, update t, update t - 1
    for sample, update in zip(samples, updates, strict=True):
        played = max(played, before) + sample
        before, updated = updated, max(updated, played) + update
    return updated / len(samples)


def reduce_seconds(devices: int, parameters: int, bandwidth: float, latency: float) -> float:
    """Ring all-reduce of float32 gradients: 2 (D - 1) / D of the bytes, 2 (D - 1) hops or a tree's 2 log2 D."""
    if devices == 1:
        return 0.0
    return 2 * (devices - 1) / devices * 4 * parameters / (bandwidth * 1e9) + 2 * math.log2(devices) * latency * 1e-6


def workers_needed(m: Measured, c: Cluster, steps: int) -> int:
    """Sandbox workers of a device from which on twice as many shorten the step by less than 5 %."""
    workers = c.workers
    while workers < 1024:
        here = simulate(m, Cluster(**{**vars(c), "workers": workers}), steps).seconds
        if simulate(m, Cluster(**{**vars(c), "workers": 2 * workers}), steps).seconds > 0.95 * here:
            return workers
        workers *= 2
    return workers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="directory of a finished, synchronous run of one process")
    parser.add_argument("--devices", default=",".join(str(2**i) for i in range(11)))
    parser.add_argument("--scaling", choices=("weak", "strong"), default="weak", help="groups per device, or in all")
    parser.add_argument("--workers", type=int, help="sandbox workers of a device (default: the run's)")
    parser.add_argument("--steps", type=int, default=4, help="simulated steps of each row")
    parser.add_argument("--bandwidth", type=float, default=25.0, help="GB/s between devices (assumed)")
    parser.add_argument("--latency", type=float, default=30.0, help="microseconds of a message (assumed)")
    args = parser.parse_args()
    try:
        m = read_run(args.run)
    except UserError as error:
        print(f"simulate_cluster: {error}", file=sys.stderr)
        return 2
    count = len(m.steps)
    fit, judged = range(count // 2), range(count // 2, count)
    engine, per_token = fit_engine(m, fit), fit_update(m, fit)
    rest = float(np.mean(m.rest))
    predicted = np.mean(
        [sampling_seconds(m, m.steps[i], engine, m.workers) + per_token * m.padded[i] + rest for i in judged]
    )
    measured = float(np.mean([m.total[i] for i in judged]))
    print(f"measured: {args.run}, {count} steps of {m.groups} groups of {m.group_size}, {m.workers} sandbox workers")
    print(f"fitted on steps 1-{len(fit)}: {engine.speed:.0f} tokens/s at full batch, K = {engine.half:.0f}")
    print(
        f"judged on steps {len(fit) + 1}-{count}: step time measured {measured:.2f} s, predicted {predicted:.2f} s "
        f"({100 * (predicted / measured - 1):+.1f} %)"
    )
    engine, per_token = fit_engine(m, range(count)), fit_update(m, range(count))
    groups_played = sum(len(step) for step in m.steps)
    padded = sum(m.padded) / groups_played
    print(f"\n{args.scaling} scaling; modelled, all-reduce assumed at {args.bandwidth:g} GB/s, {args.latency:g} us")
    print(f"{'devices':>7} {'step s':>8} {'staleness 1':>12} {'engine':>7} {'sandbox':>8}  {'bottleneck':<14}workers")
    for devices in (int(d) for d in args.devices.split(",")):
        cluster = Cluster(
            devices=devices,
            workers=args.workers or m.workers,
            engine=engine,
            update_per_token=per_token,
            rest=rest,
            reduce_seconds=reduce_seconds(devices, m.parameters, args.bandwidth, args.latency),
            padded_per_group=padded,
            groups=m.groups * devices if args.scaling == "weak" else m.groups,
        )
        row = simulate(m, cluster, args.steps)
        needed = workers_needed(m, cluster, args.steps) if devices <= 16 else None
        grow = "" if needed is None else f"{needed}" + ("" if needed == cluster.workers else " (grow)")
        print(
            f"{devices:>7} {row.seconds:>8.2f} {row.staleness_1:>12.2f} {row.engine:>7.0%} {row.judge:>8.0%}  "
            f"{row.bottleneck:<14}{grow}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
