"""`atrl eval`: no finished sample is lost or repeated, every number says what it refers to, times are not mixed."""

import asyncio
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from agent_helpers import feedback, write
from chat_server import Script, chat_server

from atrl_ms.cli import main
from atrl_ms.config import Config, load_config
from atrl_ms.errors import UserError
from atrl_ms.evaluate import evaluation
from atrl_ms.evaluate.eval_report import compare_runs, summarise, write_files
from atrl_ms.evaluate.evaluation import Evaluation, SampleLog
from atrl_ms.evaluate.writers import ReadyKernels, known_names, resolve
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Speedup, Task
from sandbox.benchmarks.entry import Entry

ROOT = Path(__file__).resolve().parent.parent

SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0) * SCALE
    x = tl.where(i < n, x, -float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(o_ptr + row * n + i, e / tl.sum(e, 0), mask=i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
"""

TASK = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x * {scale}, -1)


def get_inputs():
    return [torch.randn(19, 70) * 3]


def get_init_inputs():
    return []
"""


class Judge:
    """Answers by the kernel's text; counts. Stands where the pool stands."""

    def __init__(self, answers, before=None):
        self.answers, self.asked, self.before = answers, [], before

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def start(self):
        pass

    async def verify(self, task, candidate, *, seed=0):
        await asyncio.sleep(0.005)
        self.asked.append((task.name, candidate, seed))
        if self.before:
            self.before(len(self.asked))
        answer = self.answers[candidate.strip()]
        return answer.pop(0) if isinstance(answer, list) else answer


def passed(speedup=2.0, kind="modelled"):
    return replace(feedback("pass", 0.8, "pass: all cases pass"), speedup=Speedup(speedup, kind))


FAST, SLOW = passed(3.0), passed(0.7)
WRONG, LOST = feedback("wrong_output", 0.3), feedback("infrastructure_error", 0.0, "worker died")


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A folder with three tasks and kernels; `run(judge, **eval)` evaluates with a given judge."""
    for i, name in enumerate(("alpha", "beta", "gamma")):
        (tmp_path / "tasks").mkdir(exist_ok=True)
        (tmp_path / "tasks" / f"{name}.py").write_text(TASK.format(scale=i + 1))
    entries = [
        Entry(Task(name, TASK.format(scale=i)), level=str(1 + i // 2), category="soft") for i, name in enumerate("abcd")
    ]
    entries[3] = entries[3].excluded("too large: 9 elements")
    monkeypatch.setattr(evaluation, "find_entries", lambda config, run, progress: entries)
    kernels = tmp_path / "kernels"
    kernels.mkdir()

    class Bench:
        directory = tmp_path

        def put(self, **files):
            for name, text in files.items():
                (kernels / f"{name}.py").write_text(text)

        def config(self, **settings):
            section = {"policy": "kernels", "kernels": str(kernels), "samples": 2, "k": [1, 2], **settings}
            return Config(output_dir=str(tmp_path / "runs"), eval=section)

        def run(self, judge, run=None, **settings):
            config = self.config(**settings)
            monkeypatch.setattr(evaluation, "open_pool", lambda *_, **__: judge)
            run = run or RunDir.create(config)
            entries, records, label = Evaluation(config, run, progress=False).run()
            summary = summarise(config, entries, records, label)
            write_files(run, summary, records)
            return run, summary

    return Bench()


def files_of(run):
    return {n: (run.path / n).read_text() for n in ("scores.json", "scores.csv", "samples.csv", "report.html")}


# ---------------------------------------------------------------- resuming


def test_a_run_that_stopped_anywhere_ends_in_the_same_report_and_repeats_nothing(bench):
    bench.put(a="fast", b="wrong", c="slow", a_sample_1="wrong")
    answers = {"fast": FAST, "slow": SLOW, "wrong": WRONG}
    whole, _ = bench.run(Judge(answers), concurrent=1)

    class Stop(Exception):
        pass

    def stop_at(n):
        def stop(count):
            if count >= n:
                raise Stop

        return stop

    for n in (1, 2, 3, 4):
        broken = Judge(answers, stop_at(n))
        run = RunDir.create(bench.config(concurrent=1))
        with pytest.raises(Stop):
            bench.run(broken, run, concurrent=1)
        with (run.path / "samples.jsonl").open("a") as file:
            file.write('{"task": "a", "sam')  # a kill in the middle of a line
        again = Judge(answers)
        bench.run(again, run, concurrent=1)
        assert len(again.asked) == 4 - (n - 1)
        lines = (run.path / "samples.jsonl").read_text().splitlines()
        keys = Counter((json.loads(line)["task"], json.loads(line)["sample"]) for line in lines)
        assert set(keys.values()) == {1} and len(keys) == 4
        assert files_of(run) == files_of(whole)


def test_the_order_in_which_samples_finish_changes_nothing(bench):
    bench.put(a="fast", b="wrong", c="slow", a_sample_1="wrong")
    answers = {"fast": FAST, "slow": SLOW, "wrong": WRONG}
    one, _ = bench.run(Judge(answers), concurrent=1)
    log = (one.path / "samples.jsonl").read_text().splitlines()
    (one.path / "samples.jsonl").write_text("".join(line + "\n" for line in reversed(log)))
    before = files_of(one)
    bench.run(Judge(answers), one)
    assert files_of(one) == before


def test_faults_of_the_machine_are_tried_again_and_never_scored(bench):
    bench.put(a="fast", b="flaky", c="lost")
    run, summary = bench.run(Judge({"fast": FAST, "flaky": [LOST, FAST], "lost": LOST}))
    assert summary["about"]["infrastructure_faults"] == 1
    overall = summary["scores"][0]["measures"]
    assert overall["correct rate"]["value"] == 1.0  # of the two that were judged
    after = Judge({"fast": FAST, "flaky": FAST, "lost": WRONG})
    _, summary = bench.run(after, run)
    assert [name for name, *_ in after.asked] == ["c"]
    assert summary["about"]["infrastructure_faults"] == 0
    assert summary["scores"][0]["measures"]["correct rate"]["value"] == pytest.approx(2 / 3)


def test_a_line_that_is_no_record_is_named(tmp_path):
    (tmp_path / "samples.jsonl").write_text('{"task": "a", "sample": 0, "verdict": "pass"}\nnonsense\n')
    with pytest.raises(UserError, match=r"samples\.jsonl:2"):
        SampleLog(tmp_path / "samples.jsonl")


@pytest.mark.parametrize("change", ["seed=5", "eval.tolerance=kernelbench", "tasks.split=train"])
def test_a_continued_evaluation_cannot_become_another_one(bench, change, capsys):
    run = RunDir.create(bench.config())
    assert main(["eval", "--resume", str(run.path), "--set", change]) == 2
    assert f"cannot change {change.split('=')[0]}" in capsys.readouterr().err


def test_resuming_finds_the_newest_evaluation_with_the_same_settings(bench):
    from atrl_ms.commands.eval import newest

    first, other = bench.config(), bench.config(samples=1, tolerance="kernelbench")
    runs = [RunDir.create(first), RunDir.create(other)]
    for age, run in zip((20, 10), runs, strict=True):
        os.utime(run.config_file, (time.time() - age, time.time() - age))
    assert newest(first).path == runs[0].path and newest(other).path == runs[1].path
    assert newest(bench.config(missing="fail")).path == runs[1].path  # and is then refused, with the keys that differ


# ---------------------------------------------------------------- the real judge, killed


def test_a_killed_process_continues_on_the_real_judge(tmp_path):
    tasks, kernels = tmp_path / "tasks", tmp_path / "kernels"
    for folder in (tasks, kernels):
        folder.mkdir()
    for name, scale, shown in (("one", 1.0, 1.0), ("two", 2.0, 9.0)):
        (tasks / f"{name}.py").write_text(TASK.format(scale=scale))
        (kernels / f"{name}.py").write_text(SOFTMAX.replace("SCALE", str(shown)))
    (tasks / "three.py").write_text(TASK.format(scale=3.0))
    (kernels / "three.py").write_text(TASK.format(scale=3.0) + "\nclass ModelNew(Model):\n    pass\n")
    config = tmp_path / "eval.yaml"
    config.write_text(
        f"name: killed\noutput_dir: {tmp_path}/runs\nsandbox: {{workers: 1, timeout: 60}}\n"
        f"tasks: {{suite: {tasks}}}\neval: {{policy: kernels, kernels: {kernels}, concurrent: 1}}\n"
    )
    command = [sys.executable, "-m", "atrl_ms.cli", "eval", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    deadline, log = time.monotonic() + 240, None
    while time.monotonic() < deadline and process.poll() is None:
        log = next(iter(tmp_path.glob("runs/*/samples.jsonl")), None)
        if log is not None and log.stat().st_size:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert log is not None
    first = log.read_bytes()
    assert first.count(b"\n") >= 1
    assert main(["eval", str(config), "--resume"]) == 0
    assert log.read_bytes().startswith(first[: first.rfind(b"\n") + 1])
    summary = json.loads((log.parent / "scores.json").read_text())
    verdicts = {t["name"]: [r["verdict"] for r in t["samples"]] for t in summary["tasks"]}
    assert verdicts == {"one": ["pass"], "two": ["wrong_output"], "three": ["cheat"]}
    about = summary["about"]
    assert about["speed"] == "modelled" and "CPU" in about["device"] and "Ascend910B4" in about["device"]


@pytest.mark.slow
def test_a_policy_killed_at_random_moments_ends_in_the_report_of_an_undisturbed_run(tmp_path):
    config = tmp_path / "eval.yaml"
    settings = {
        "sandbox": {"workers": 1, "timeout": 60},
        "agent": {"max_turns": 1},
        "tasks": {"families": ["ew_unary", "softmax"], "limit": 3},
        "eval": {"policy": "checkpoint", "concurrent": 1, "samples": 1, "k": [1]},  # one at a time: the same batches
    }

    def start(name):
        settings.update(name=name, output_dir=str(tmp_path / name))
        config.write_text(yaml.safe_dump(settings))
        command = [sys.executable, "-m", "atrl_ms.cli", "eval", str(config), "--resume"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    begin = time.monotonic()
    whole = start("whole")
    assert whole.wait(timeout=600) == 0, whole.stderr.read()[-2000:]
    length = time.monotonic() - begin
    moments = random.Random(os.urandom(8))
    for _ in range(3):
        broken = start("broken")
        wait = moments.uniform(0.2, 1.0) * length
        try:
            broken.wait(timeout=wait)
        except subprocess.TimeoutExpired:
            os.kill(broken.pid, signal.SIGKILL)
        broken.communicate()
    last = start("broken")
    assert last.wait(timeout=600) == 0, last.stderr.read()[-2000:]
    runs = [next((tmp_path / name).glob("*/scores.json")).parent for name in ("whole", "broken")]
    assert len(list((tmp_path / "broken").iterdir())) == 1
    for file in ("scores.json", "scores.csv", "samples.csv", "report.html"):
        assert (runs[0] / file).read_bytes() == (runs[1] / file).read_bytes(), file
    lines = [json.loads(line) for line in (runs[1] / "samples.jsonl").read_text().splitlines()]
    assert len({record["task"] for record in lines}) == len(lines) == 3


# ---------------------------------------------------------------- what the numbers refer to


def test_every_row_names_set_cases_device_and_kind_of_time(bench):
    bench.put(a="fast", b="slow")
    run, summary = bench.run(Judge({"fast": FAST, "slow": SLOW}))
    rows = list(csv.DictReader((run.path / "scores.csv").open()))
    assert len(rows) == len(summary["scores"]) * len(summary["scores"][0]["measures"])
    for row in rows:
        assert all(row[key] for key in ("set", "policy", "cases", "device", "speed", "tasks"))
        assert row["speed"] == "modelled"
    left = {r["task"]: r["left_out_because"] for r in csv.DictReader((run.path / "samples.csv").open())}
    assert left["d"].startswith("too large") and left["c"] == "no kernel given"
    assert (summary["about"]["tasks_in_set"], summary["about"]["tasks_scored"]) == (4, 2)


def test_measured_and_modelled_times_never_share_a_number(bench):
    bench.put(a="modelled", b="measured")
    judge = Judge({"modelled": passed(8.0), "measured": passed(0.5, "measured")})
    _, summary = bench.run(judge, samples=1)
    overall = {s["speed"]: s["measures"] for s in summary["scores"] if s["group"] == "all"}
    assert set(overall) == {"modelled", "measured"}
    assert overall["modelled"]["geometric mean speedup"]["value"] == pytest.approx(8.0)
    assert overall["measured"]["geometric mean speedup"]["value"] == pytest.approx(0.5)


def test_missing_kernels_are_left_out_or_failed_as_asked(bench):
    bench.put(a="fast")
    _, skipped = bench.run(Judge({"fast": FAST}))
    _, failed = bench.run(Judge({"fast": FAST}), missing="fail")
    assert skipped["scores"][0]["measures"]["correct rate"]["value"] == 1.0
    assert skipped["about"]["tasks_without_kernel"] == 2
    assert failed["scores"][0]["measures"]["correct rate"]["value"] == pytest.approx(1 / 3)


def test_the_page_is_self_contained_and_escapes_kernels(bench):
    text = "# </pre><script>alert(1)</script>"
    bench.put(a=text, zebra="no task")
    run, _ = bench.run(Judge({text: FAST}))
    page = (run.path / "report.html").read_text()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "http://" not in page and "https://" not in page
    assert "zebra.py" in page and "too large: 9 elements" in page


# ---------------------------------------------------------------- names of kernel files


def test_files_find_their_task_under_any_of_its_names():
    task = Task("level1/19_ReLU", "")
    numbered = Entry(task, aliases=("level1/19", "level1_19", "1_19", "level_1_problem_19"))
    other = Entry(Task("level2/19_ReLU", ""), aliases=("level2/19", "2_19"))
    held = Entry(Task("softmax/held_out-00-1", ""))
    names = known_names([numbered, other, held])
    for stem in ("level1/19_ReLU", "level1_19_relu", "1_19", "level_1_problem_19_sample_0_kernel", "level1/019"):
        assert resolve(stem, names) == ("level1/19_ReLU", 0), stem
    assert resolve("level_1_problem_19_sample_3_kernel", names) == ("level1/19_ReLU", 3)
    assert resolve("1_19.2", names) == ("level1/19_ReLU", 2)
    assert resolve("19_ReLU", names) is None  # two tasks have it
    assert resolve("softmax_held_out-00-1", names) == ("softmax/held_out-00-1", 0)
    assert resolve("softmax/held_out-00-1.4", names) == ("softmax/held_out-00-1", 4)


def test_two_files_for_one_sample_and_none_at_all_are_refused(tmp_path):
    entries = [Entry(Task("a/b", ""))]
    with pytest.raises(UserError, match="not a directory"):
        ReadyKernels(tmp_path / "none", entries, 1, "skip")
    (tmp_path / "x.py").write_text("")
    with pytest.raises(UserError, match="no file is named after a task"):
        ReadyKernels(tmp_path, entries, 1, "skip")
    (tmp_path / "a_b.py").write_text("")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("")
    with pytest.raises(UserError, match="already sample 0 of a/b"):
        ReadyKernels(tmp_path, entries, 1, "skip")


# ---------------------------------------------------------------- models


def test_an_endpoint_is_judged_by_its_best_kernel_on_inputs_it_has_not_seen(bench):
    replies = iter([write("bad"), write("good")] * 3)
    judge = Judge({"bad": WRONG, "good": FAST})
    with chat_server(Script(lambda messages: next(replies))) as url:
        config = {"policy": "endpoint", "url": url, "samples": 1, "concurrent": 1}
        run, summary = bench.run(judge, **config)
    assert summary["scores"][0]["measures"]["correct rate"]["value"] == 1.0
    assert "small-model" in summary["about"]["policy"]
    for task in "abc":
        seeds = [seed for name, _, seed in judge.asked if name == task]
        assert len(seeds) == 3 and seeds[0] == seeds[1] != seeds[2]  # the last is the judgement that counts
    sessions = (run.sessions / "samples.jsonl").read_text().splitlines()
    assert [json.loads(s)["task"] for s in sessions] == ["a", "b", "c"]


def test_an_endpoint_that_is_away_stops_the_run_with_one_line(bench):
    with pytest.raises(UserError, match="cannot be reached"):
        bench.run(Judge({}), policy="endpoint", url="http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"eval\.url"):
        bench.run(Judge({}), policy="endpoint")


# ---------------------------------------------------------------- comparing


def test_comparison_pairs_tasks_and_refuses_what_cannot_be_compared(bench, capsys):
    bench.put(a="k1", b="k2", c="k3")
    first, one = bench.run(Judge({"k1": FAST, "k2": WRONG, "k3": WRONG}), samples=1)
    second, two = bench.run(Judge({"k1": SLOW, "k2": SLOW, "k3": WRONG}), samples=1)
    out = bench.directory / "diff.json"
    assert main(["eval", "--compare", str(first.path), str(second.path), "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "correct rate" in shown and "+33.3 points" in shown and "modelled" in shown
    found = json.loads(out.read_text())["differences"]
    assert found["correct rate"]["change"]["value"] == pytest.approx(1 / 3)
    assert found["geometric mean speedup"]["change"]["value"] == pytest.approx(0.7 / 3.0)

    other = json.loads(json.dumps(two))
    other["about"]["set"] = "another set"
    with pytest.raises(UserError, match="differ in their set"):
        compare_runs(one, other)
    changed = json.loads(json.dumps(two))
    for task in changed["tasks"]:
        task["source_sha256"] = "0"
    with pytest.raises(UserError, match="no task was judged in both"):
        compare_runs(one, changed)
    _, measured = bench.run(Judge({k: passed(2.0, "measured") for k in ("k1", "k2", "k3")}), samples=1)
    mixed = compare_runs(one, measured)["differences"]
    assert "correct rate" in mixed and not any(n.startswith(("fast_", "geometric")) for n in mixed)
    assert main(["eval", "--compare", str(first.path), str(bench.directory)]) == 2


def test_a_checkpoint_is_evaluated_in_the_session_it_was_trained_in(tmp_path):
    from atrl_ms.commands.eval import load_evaluation

    (tmp_path / "agent.yaml").write_text("window: 200\nmax_reply_tokens: 60\nkeep_steps: 0\nknowledge_tokens: 24\n")
    config = load_evaluation(
        ROOT / "configs" / "eval_builtin.yaml", [f"policy.checkpoint={tmp_path}", "agent.knowledge_tokens=0"]
    )
    agent = config.agent
    assert (agent.window, agent.max_reply_tokens, agent.keep_steps, agent.knowledge_tokens) == (200, 60, 0, 0)
    served = load_evaluation(ROOT / "configs" / "eval_builtin.yaml", ["eval.policy=endpoint"])
    assert served.agent == Config().agent


def test_example_configurations_are_valid():
    files = sorted((ROOT / "configs").glob("eval_*.yaml"))
    suites = {load_config(file).tasks.suite for file in files}
    assert suites == {
        "builtin", "kernelbench", "npukernelbench_a", "npukernelbench_b", "multikernelbench", "akg_lite"
    }  # fmt: skip
