"""The trusted side of an evaluation: static gate, recording, device, comparison, verdict.

Knows the reference, the seeds, inputs and expected outputs; runs no line of the candidate. Everything that comes back
from a child is checked before it is used, and a message that does not come is a failure.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from atrl_ms.errors import UserError
from atrl_ms.types import Stage, StepFeedback, Task, Verdict
from sandbox import checks, feedback, outcome, static_gate, tensors
from sandbox.checks import Failure
from sandbox.endings import Infrastructure, lost_recording, lost_replay
from sandbox.hidden import hidden_variants
from sandbox.isolation import Limits, Walls
from sandbox.options import Options
from sandbox.profile import measured
from sandbox.profile.stage import CallReport, Profile
from sandbox.profile.stage import judge as compare_with_eager
from sandbox.recording import InvalidRecording, validate, validate_header
from sandbox.replay import OVERTIME
from sandbox.task import Perturb, Prepared, prepare
from sandbox.toolchain import cache_root
from sandbox.verdict import score
from sandbox.zygote import Outcome, Zygote, ZygoteDied

PREPARED_TASKS = 64
RECORD_SHARE = 0.5  # of the timeout
MAX_CROWD = 5.0  # how much a busy machine may stretch wall-clock limits


@dataclass
class Progress:
    """What one evaluation has found so far."""

    begin: float
    stages: list[Stage] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    passed: int = 0
    total: int = 0
    reached: str = ""
    profile: Profile | None = None


class LocalJudge:
    """Judges candidates one at a time in this process; start several workers for more."""

    def __init__(self, options: Options, walls: Walls, zygote: Zygote) -> None:
        """`zygote` is the isolated process that records and replays; the judge owns it from now on."""
        self.options = options
        self.walls = walls
        tensors.skip_dynamo()
        self._zygotes: dict[bool, Zygote] = {False: zygote}
        self._prepared: OrderedDict[tuple[Any, ...], Prepared] = OrderedDict()
        self._variants: OrderedDict[tuple[Any, ...], list[Task]] = OrderedDict()
        zygote.wait_ready()

    def close(self) -> None:
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes.clear()

    def verify(self, task: Task, candidate: str, seed: int = 0) -> StepFeedback:
        """Judge one candidate.

        Raises:
            UserError: the task cannot be used.
        """
        progress = Progress(time.monotonic())
        progress.details["isolation"] = self.walls.name
        try:
            self._static(candidate, progress)
            prepared = self._task(task, seed)
            recording, blocks, prepared = self._record(task, candidate, seed, prepared, progress)
            progress.total = len(prepared.cases)
            self._device(candidate, prepared, recording, blocks, progress)
            if self.options.hidden_shapes and len(prepared.groups) == 1:
                self._hidden(task, candidate, seed, progress)
            return self._feedback("pass", progress, ["all cases pass"])
        except Failure as failure:
            if failure.stage not in [s.name for s in progress.stages if not s.ok]:
                seconds = time.monotonic() - progress.begin - sum(s.seconds for s in progress.stages)
                progress.stages.append(Stage(failure.stage, False, max(0.0, seconds), failure.lines[0][:300]))
            progress.details |= failure.details
            return self._feedback(failure.verdict, progress, failure.lines)
        except (Infrastructure, ZygoteDied, OSError) as error:
            self.close()
            progress.stages.append(Stage("infrastructure", False, 0.0, str(error)[:300]))
            return self._feedback("infrastructure_error", progress, [str(error)])

    def _static(self, candidate: str, progress: Progress) -> None:
        begin = time.monotonic()
        finding = static_gate.check(candidate)
        if finding is not None:
            raise Failure(finding.verdict, "static", [finding.message, *([finding.line] if finding.line else [])])
        progress.stages.append(Stage("static", True, time.monotonic() - begin))
        progress.reached = "static"

    def _task(self, task: Task, seed: int, *, perturb: Perturb = "each", fixed: tuple[int, ...] = ()) -> Prepared:
        key = (task.source, task.directory, seed, perturb, fixed)
        if key not in self._prepared:
            self._prepared[key] = prepare(task, seed, perturb=perturb, fixed=fixed)
            while len(self._prepared) > PREPARED_TASKS:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(key)
        return self._prepared[key]

    def _record(
        self, task: Task, candidate: str, seed: int, prepared: Prepared, progress: Progress
    ) -> tuple[dict[str, Any], list[memoryview], Prepared]:
        """Record every shape group and the first one again: calls look alike."""
        begin = time.monotonic()
        standins = [checks.stand_in(group, seed) for group in prepared.groups]
        header, blocks = self._recorded(candidate, prepared, standins, False, progress)
        perturb: Perturb = "each"
        if header["facts"].get("weights") == "seed" and prepared.moved:
            perturb = checks.perturbation(header, self._task(task, seed, perturb="alike"))
            prepared = self._task(task, seed, perturb=perturb)
        if header["reveal"] or header["reveal_params"]:
            checks.check_reveal(header["reveal"], prepared)
            progress.details["revealed_inputs"] = header["reveal"]
            free, prepared = prepared, self._task(task, seed, perturb=perturb, fixed=tuple(header["reveal"]))
            checks.check_revealed(free, prepared)
            standins = [
                checks.reveal(standin, case.inputs, header["reveal"])
                for standin, case in zip(standins, checks.first_cases(prepared), strict=True)
            ]
            header, blocks = self._recorded(candidate, prepared, standins, header["reveal_params"], progress)
        checks.check_recording(header)
        progress.details["launches"] = header["calls"][0]["launches"]
        progress.details["weights"] = header["facts"].get("weights")
        progress.stages.append(Stage("record", True, time.monotonic() - begin))
        return header, blocks, prepared

    def _recorded(
        self, candidate: str, prepared: Prepared, standins: list[Any], reveal_state: bool, progress: Progress
    ) -> tuple[dict[str, Any], list[memoryview]]:
        calls = [*standins, standins[0]]
        state = prepared.state if reveal_state else checks.stand_in_state(prepared.state)
        request = {
            "source": candidate,
            "init": tensors.pack(prepared.init),
            "weight_seed": prepared.weight_seed,
            "state": tensors.pack(state),
            "initial": prepared.initial,
            "training": prepared.training,
            "arch": self.options.arch,
            "groups": tensors.pack(calls),
        }
        limits = self._limits(self.options.timeout * RECORD_SHARE)
        ended = self._zygote(interpret=False).run("record", request, limits)
        header = ended.reply
        if header is None or "broken" in header:
            raise lost_recording(ended)
        inputs = [[t.untyped_storage().nbytes() for t in tensors.tree_tensors(group)] for group in calls]
        params = {k: v.untyped_storage().nbytes() for k, v in prepared.state.items()}
        try:
            validate_header(header)
            checks.check_stop(header)
            validate(header, len(ended.blocks), inputs, params)
        except (InvalidRecording, KeyError, TypeError, AttributeError) as error:
            raise Failure("cheat", "record", [f"the candidate corrupted the recording: {error}"]) from error
        return header, ended.blocks

    def _device(
        self,
        candidate: str,
        prepared: Prepared,
        recording: dict[str, Any],
        blocks: list[memoryview],
        progress: Progress,
    ) -> None:
        """Compile for Ascend, replay, compare."""
        begin = time.monotonic()
        early = outcome.structure_failure(recording, prepared)
        request = {
            "recording": {k: recording[k] for k in ("kernels", "sources", "buffers", "calls")},
            "blocks": [bytes(b) for b in blocks],
            "arch": self.options.arch,
            "cann": self.options.cann,
            "execute": early is None,
            "execution": self.options.execution,
            "device": self.options.device,
            "no_compiler": "bishengir" in self.options.hide,
            "profile": "off" if progress.details.get("hidden") else self.options.profile,
            "params": {k: checks.storage_bytes(v) for k, v in prepared.state.items()},
            "cases": [
                {"call": case.group, "inputs": [checks.storage_bytes(t) for t in tensors.tree_tensors(case.inputs)]}
                for case in prepared.cases
            ],
        }
        ended = self._zygote(interpret=False).run("device", request, self._limits(self._left(progress), replay=True))
        header = ended.reply
        if header is None or "broken" in header:
            raise self._lost_device(ended, progress)
        if "missing" in header:
            self._without_compiler(candidate, request, header, progress, prepared, early)
            return
        needed = [k for k in header["kernels"] if k["needed"]]
        if any(k["crashed"] for k in needed) and early is None:
            self._interpret(candidate, request, header["uses"], progress, probe=True)
        self._compiled(header, progress, begin)
        if early is not None:
            raise early
        begin = time.monotonic()
        progress.details["executor"] = "npu" if self.options.device == "npu" else "native"
        results, data = header, ended.blocks
        unsupported = [k for k in needed if k["unsupported"]]
        if unsupported:
            progress.details["executor"] = "interpreter"
            progress.details["not_native"] = f"{unsupported[0]['name']}: {unsupported[0]['unsupported']}"
            results, data = self._interpret(candidate, request, header["uses"], progress, probe=False)
        self._compare(results, data, recording, prepared, progress, begin)
        self._profile(header, prepared, progress)

    def _without_compiler(
        self,
        candidate: str,
        request: dict[str, Any],
        header: dict[str, Any],
        progress: Progress,
        prepared: Prepared,
        early: Failure | None,
    ) -> None:
        """No Ascend compiler on this machine: no compile verdict and no native run, but correctness still counts."""
        text = (
            f"not compiled for Ascend: {header['missing']}; kernels run in Triton's interpreter, speed is not modelled"
        )
        progress.details["losses"] = [text]
        progress.stages.append(Stage("compile", True, 0.0, text[:300]))
        progress.reached = "compile"
        if early is not None:
            raise early
        begin = time.monotonic()
        progress.details["executor"] = "interpreter"
        results, data = self._interpret(candidate, request, header["uses"], progress, probe=False)
        self._compare(results, data, request["recording"], prepared, progress, begin)

    def _compare(
        self,
        results: dict[str, Any],
        data: list[memoryview],
        recording: dict[str, Any],
        prepared: Prepared,
        progress: Progress,
        begin: float,
    ) -> None:
        """Judge the replayed cases."""
        failures, progress.passed = outcome.judge_cases(results, data, recording, prepared, self.options)
        if failures:
            lines = feedback.group([(f.details["case"], "; ".join(f.lines)) for f in failures], progress.total)
            details = {"failed_cases": [f.details["case"] for f in failures]}
            raise Failure(failures[0].verdict, "execute", lines, details)
        progress.stages.append(Stage("execute", True, time.monotonic() - begin, progress.details["executor"]))
        progress.reached = "execute"

    def _hidden(self, task: Task, candidate: str, seed: int, progress: Progress) -> None:
        """The same candidate at sizes that it was not shown.

        Wrong numbers, memory errors and cheating count; a kernel that refuses a size is only noted.
        """
        key = (task.source, task.directory)
        if key not in self._variants:
            self._variants[key] = hidden_variants(task)
            while len(self._variants) > PREPARED_TASKS:
                self._variants.popitem(last=False)
        for variant in self._variants[key]:
            trial = Progress(progress.begin, details={"hidden": True})
            try:
                prepared = self._task(variant, seed)
                recording, blocks, prepared = self._record(variant, candidate, seed, prepared, trial)
                trial.total = len(prepared.cases)
                self._device(candidate, prepared, recording, blocks, trial)
            except UserError:
                continue
            except Failure as failure:
                counts = failure.verdict in ("wrong_output", "cheat") or failure.stage == "execute"
                shapes = ", ".join(str(tuple(t.shape)) for t in tensors.tree_tensors(prepared.groups[0]))
                if counts:
                    progress.passed, progress.total = progress.passed + trial.passed, progress.total + trial.total
                    lines = [f"at another shape, inputs {shapes}: {failure.lines[0]}", *failure.lines[1:]]
                    raise Failure(failure.verdict, failure.stage, lines, failure.details) from failure
                progress.details.setdefault("hidden_refused", []).append(f"{shapes}: {failure.lines[0]}"[:200])
                continue
            progress.passed, progress.total = progress.passed + trial.passed, progress.total + trial.total

    def _profile(self, header: dict[str, Any], prepared: Prepared, progress: Progress) -> None:
        """Speedup over eager: modelled from the compiled kernels and from the reference's operations."""
        if header["notes"]:
            progress.details["notes"] = header["notes"]
        if "profile" not in header:
            return
        begin = time.monotonic()
        calls = [CallReport.from_json(call) for call in header["profile"]]
        profile = compare_with_eager(calls, prepared.aten, self.options.arch)
        if "measured" in header:
            hints = [] if profile is None else profile.feedback[1:]
            times = measured.from_json(header["measured"])
            profile = measured.judge(times, self._eager(prepared), calls, hints)
        if profile is None:
            return
        progress.profile = profile
        progress.details["profile"] = profile.to_json()
        seconds = header["profile_seconds"] + time.monotonic() - begin
        speed = profile.speedup
        progress.stages.append(Stage("profile", True, seconds, f"{speed.value:.2f}x eager ({speed.kind})"))

    def _eager(self, prepared: Prepared) -> list[float]:
        """Microseconds of eager PyTorch on the device for every group, measured once per task."""
        if prepared.eager_us is None:
            limits = self._limits(self.options.timeout, replay=True)
            reply = self._zygote(interpret=False).run("eager", prepared.eager_request(), limits).reply or {}
            if "us" not in reply:
                raise Infrastructure(f"eager PyTorch was not measured: {reply.get('broken', 'no answer')}")
            prepared.eager_us = reply["us"]
        return prepared.eager_us

    def _interpret(
        self, candidate: str, request: dict[str, Any], uses: list[int], progress: Progress, *, probe: bool
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Replay with Triton's interpreter; with `probe` only to see whether one program of each launch ends."""
        execution = min(self._left(progress), self.options.execution if probe else self.options.timeout)
        request = {**request, "source": candidate, "uses": uses, "probe": probe, "execution": execution}
        ended = self._zygote(interpret=True).run("interpret", request, self._limits(execution + 2.0, replay=True))
        header = ended.reply
        if ended.exit_code == OVERTIME or ended.timed_out:
            raise Failure("timeout", "execute", [f"a kernel did not finish within {execution:.0f} s (endless loop?)"])
        if probe:
            return {}, []
        if header is None or "broken" in header:
            raise self._lost_device(ended, progress)
        if "unsupported" in header:
            raise Infrastructure(f"neither native execution nor the interpreter can run this: {header['unsupported']}")
        return header, ended.blocks

    def _left(self, progress: Progress) -> float:
        """Seconds of the evaluation's budget, at least 2 for what is under way."""
        return max(2.0, self.options.timeout - (time.monotonic() - progress.begin))

    def _compiled(self, header: dict[str, Any], progress: Progress, begin: float) -> None:
        kernels = header["kernels"]
        progress.details["compiler"] = next((k["version"] for k in kernels if k["version"]), "")
        progress.details["kernels"] = [
            {"name": k["name"], "ok": k["error"] is None, **({"error": k["error"]["message"]} if k["error"] else {})}
            for k in kernels
        ]
        bad = [k for k in kernels if k["error"] and k["needed"]]
        if bad:
            error = bad[0]["error"]
            lines = [f"{bad[0]['name']}: {error['message']}", *([f"line {error['line']}"] if error["line"] else [])]
            raise Failure("compile_error", "compile", lines, {"compile_stage": error["stage"]})
        progress.stages.append(Stage("compile", True, time.monotonic() - begin, f"{len(kernels)} kernels"))
        progress.reached = "compile"

    def _limits(self, seconds: float, replay: bool = False) -> Limits:
        memory = self.options.memory * (20 if replay else 1)  # guard pages are address space only
        # Seconds are meant for a machine with time to spare: a crowded one grants proportionally more.
        crowd = min(MAX_CROWD, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))
        return Limits(seconds=seconds * crowd, memory=memory, scratch=self.options.scratch)

    def _zygote(self, *, interpret: bool) -> Zygote:
        if interpret not in self._zygotes:
            zygote = Zygote(self.walls, cache=str(cache_root()), interpret=interpret, npu=self.options.device == "npu")
            self._zygotes[interpret] = zygote
            zygote.wait_ready()
        return self._zygotes[interpret]

    def _lost_device(self, ended: Outcome, progress: Progress) -> Exception:
        error, compiled = lost_replay(ended, self.options.execution)
        if compiled:
            progress.reached = "compile"
        return error

    def _feedback(self, verdict: Verdict, progress: Progress, lines: list[str]) -> StepFeedback:
        stage = next((s.name for s in reversed(progress.stages) if not s.ok), "execute")
        profile = progress.profile if verdict == "pass" else None
        speedup = None if profile is None else profile.speedup
        value = score(
            verdict,
            reached=progress.reached,
            passed=progress.passed,
            total=progress.total,
            speedup=None if speedup is None else speedup.value,
            ladder=self.options.ladder,
        )
        progress.details["seconds"] = round(time.monotonic() - progress.begin, 4)
        if verdict == "pass":
            lines = [f"{progress.passed} of {progress.total} cases", *([] if profile is None else profile.feedback)]
        text = feedback.render(stage, verdict, lines, self.options.feedback_tokens)
        return StepFeedback(
            verdict, tuple(progress.stages), progress.passed, progress.total, value, speedup, text, progress.details
        )
