"""Tree-OPO in the common trainer: reasoning prefixes end to end, sessions that branch, and exact resumes."""

import asyncio
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml
from trainer_harness import make_config, make_parts

from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.cli import main
from atrl_ms.config import load_config
from atrl_ms.errors import UserError
from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import build_model
from atrl_ms.policy.weights import export_weights, load_checkpoint, save_checkpoint
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.run_dir import RunDir
from atrl_ms.tree.branch_trainer import BranchTrainer
from atrl_ms.tree.parts import build_reasoning_parts
from atrl_ms.tree.problems import is_held_out
from atrl_ms.tree.run import train_tree, with_statistics
from atrl_ms.types import Sample

# ---------------------------------------------------------------- sessions that branch


def branch_config(directory, estimator="expectation", **train):
    tree = {"source": "kernels", "estimator": estimator, "root_fraction": 0.34, "eta": 0.05, "success": 0.3}
    return make_config(
        directory,
        algorithm="tree_opo",
        tree=tree,
        agent={"max_turns": 3, "max_session_tokens": 600},
        train={"group_size": 6, "groups_per_step": 2, "steps": 2, **train},
        algo={"dynamic_sampling": False},
    )


@pytest.mark.parametrize("estimator", ["soft"])
def test_branch_training_resumes_to_the_same_weights(tmp_path, estimator):
    def weights_after(directory, stops):
        run = None
        for steps in stops:
            config = branch_config(directory, estimator, steps=steps, checkpoint_every=1)
            run = run or RunDir.create(config)
            parts = make_parts(config)
            statistics = NodeStatistics(decay=config.tree.decay)
            trainer = BranchTrainer(config, run, with_statistics(parts, statistics), statistics, progress=False)
            asyncio.run(trainer.run())
        latest = sorted(run.checkpoints.glob("step_*"))[-1]
        return export_weights(load_checkpoint(latest)[0]), read_metrics(run.metrics_file), statistics.to_json()

    whole, metrics, state = weights_after(tmp_path / "whole", [2])
    parted, again, state_again = weights_after(tmp_path / "parted", [1, 2])
    assert all(np.array_equal(whole[name], parted[name]) for name in whole)
    assert [m["staged"] for m in metrics] == [m["staged"] for m in again] and state == state_again
    if estimator == "soft":
        assert all(m["staged"]["constraints_met"] == 1.0 for m in metrics)


# ---------------------------------------------------------------- reasoning


@pytest.fixture(scope="module")
def reasoning(tmp_path_factory):
    pytest.importorskip("reasoning_gym", reason="the reasoning extra is not installed")
    directory = tmp_path_factory.mktemp("reasoning")
    config = ModelConfig(
        model_type="qwen3", vocab_size=258, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=128,
    )  # fmt: skip
    for name, seed in (("student", 1), ("teacher", 2)):
        save_checkpoint(build_model(config, seed), config, directory / name)
    data = {
        "algorithm": "tree_opo",
        "output_dir": str(directory / "runs"),
        "policy": {"checkpoint": str(directory / "student")},
        "algo": {"dynamic_sampling": False, "kl_coef": 0.1},
        "train": {"steps": 2, "groups_per_step": 2, "group_size": 4, "lr": 1e-3, "checkpoint_every": 1},
        "eval": {"sessions": 6},
        "tree": {
            "teacher": str(directory / "teacher"), "teacher_kl": True, "problems": 4, "held_out_problems": 6,
            "rollouts": 6, "max_new_tokens": 100, "wave": 2, "families": ["chain_sum"], "branching": 3, "window": 128,
        },
    }  # fmt: skip
    path = directory / "config.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


def test_reasoning_run_searches_trains_and_resumes_exactly(reasoning):
    tree = reasoning.parent / "tree"
    config = load_config(reasoning, [f"tree.directory={tree}"])
    whole = RunDir.create(config)
    before, after = train_tree(config, whole, progress=False)
    assert len(before) == len(after) == 6 and {s.task for s in before} == {s.task for s in after}
    metrics = read_metrics(whole.metrics_file)
    assert [m["step"] for m in metrics] == [1, 2] and all("constraints_met" in m["staged"] for m in metrics)
    # completions that run into the cap are masked, so the untrained policy's cap is long enough for some to end
    assert all(m["updates"] == m["step"] and m["trained_tokens"] > 0 for m in metrics)
    assert metrics[0]["kl"] > 0  # the teacher is another policy than the student
    parted = RunDir.create(config)
    # the reverse curriculum moves with step / steps: step 1 of 1 and of 2 are the same, so is step 2 of the resumed run
    train_tree(load_config(reasoning, [f"tree.directory={tree}", "train.steps=1"]), parted, progress=False)
    assert len(read_metrics(parted.metrics_file)) == 1
    _, again = train_tree(config, parted, progress=False)
    one, two = (export_weights(load_checkpoint(run.checkpoints / "step_000002")[0]) for run in (whole, parted))
    start = export_weights(load_checkpoint(config.policy.checkpoint)[0])
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert any(not np.array_equal(one[name], start[name]) for name in one)
    assert [s.best_candidate for s in after] == [s.best_candidate for s in again]


def test_tree_commands_build_resume_show_and_draw(reasoning, tmp_path, capsys):
    out = tmp_path / "tree"
    assert main(["tree", "build", str(reasoning), "--out", str(out), "--set", "tree.problems=3"]) == 0
    text = capsys.readouterr().out
    assert "3 problems" in text and "depth" in text
    journal = (out / "rollouts.jsonl").read_bytes()
    assert main(["tree", "build", str(reasoning), "--out", str(out), "--set", "tree.problems=3"]) == 0
    assert (out / "rollouts.jsonl").read_bytes() == journal
    assert main(["tree", "show", str(out)]) == 0
    assert "picture" in capsys.readouterr().out and (out / "tree.svg").read_text().lstrip().startswith("<?xml")
    assert main(["tree", "show", str(out), "--picture", str(tmp_path / "t.png")]) == 0
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    for bad in ([str(tmp_path)], [str(out), "--problem", "x"], [str(out), "--picture", "t.gif"]):
        assert main(["tree", "show", *bad]) == 2
        assert "\n" not in capsys.readouterr().err.strip()


@pytest.mark.slow
def test_killed_build_command_loses_and_repeats_no_rollout(reasoning, tmp_path):
    """The command itself, in a process of its own, killed at three moments; then finished and compared."""
    files = tmp_path / "problems.jsonl"
    questions = [q for q in (f"{k}+{k + 1}?" for k in range(40)) if not is_held_out(q + "\n")][:12]
    files.write_text(
        "".join(json.dumps({"question": q, "answer": f"#### {k}"}) + "\n" for k, q in enumerate(questions))
    )
    changes = [f"tree.problem_file={files}", "tree.problems=12", "tree.rollouts=20", "tree.problems_in_flight=3"]
    changes += ["tree.max_new_tokens=40", "engine.max_batch=4"]

    def command(out):
        return ["tree", "build", str(reasoning), "--out", str(out), "--set", *changes]

    out, whole = tmp_path / "killed", tmp_path / "whole"
    journal = out / "rollouts.jsonl"
    kept: list[bytes] = []
    for more in (1, 37, 90):
        process = subprocess.Popen(
            [sys.executable, "-m", "atrl_ms.cli", *command(out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < more):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        lines = journal.read_bytes().splitlines(keepends=True)
        assert lines[: len(kept)] == kept and more <= len(lines)
        kept = [line for line in lines if line.endswith(b"\n")]
        assert not (out / "nodes.jsonl").exists()  # killed before the end
    assert main(command(out)) == main(command(whole)) == 0
    final = journal.read_bytes().splitlines(keepends=True)
    assert final[: len(kept)] == kept and len(final) > len(kept)

    def by_rollout(lines):
        rows = [json.loads(line) for line in lines]
        keyed = {(r["problem"], r["index"]): (r["path"], r["seed"], r["tokens"], r["reward"]) for r in rows}
        assert len(keyed) == len(rows)
        return keyed

    assert by_rollout(final) == by_rollout((whole / "rollouts.jsonl").read_bytes().splitlines())
    assert (out / "nodes.jsonl").read_bytes() == (whole / "nodes.jsonl").read_bytes()


def test_changed_teacher_is_refused(reasoning, tmp_path):
    out = tmp_path / "tree"
    assert main(["tree", "build", str(reasoning), "--out", str(out), "--set", "tree.problems=1"]) == 0
    student = reasoning.parent / "student"
    changed = ["--set", "tree.problems=1", f"tree.teacher={student}"]
    assert main(["tree", "build", str(reasoning), "--out", str(out), *changed]) == 2


def test_sample_without_stop_is_a_failure(reasoning):
    """A completion that runs into the cap is not judged by whatever number stands in its last line."""
    from atrl_ms.tree.completions import ProblemJudge, complete
    from atrl_ms.tree.parts import training_problems
    from atrl_ms.tree.tokens import ByteTokenizer
    from atrl_ms.types import Task

    problem = training_problems(load_config(reasoning))[0]
    tokenizer = ByteTokenizer()

    class Says:
        def __init__(self, stop):
            self.stop = stop

        async def generate(self, request):
            ids = tokenizer.encode(problem.solution) + ([tokenizer.eos_id] if self.stop else [])
            return Sample(ids, [-1.0] * len(ids), "stop" if self.stop else "length", 0)

    judge = ProblemJudge([problem])
    task = Task(problem.name, problem.prompt)
    got = [
        asyncio.run(complete(task, [], 0, engine=Says(stop), tokenizer=tokenizer, judge=judge, temperature=1.0)).reward
        for stop in (True, False)
    ]
    assert got == [1.0, 0.0]


def test_problem_file_without_a_held_out_part_is_named(tmp_path):
    from atrl_ms.tree.parts import held_out_problems
    from atrl_ms.tree.problems import is_held_out

    question = next(f"q{k}" for k in range(50) if not is_held_out(f"q{k}\n"))
    path = tmp_path / "p.jsonl"
    path.write_text(f'{{"question": "{question}", "answer": "#### 1"}}\n')
    config = load_config("configs/tree_opo_reasoning.yaml", [f"tree.problem_file={path}"])
    with pytest.raises(UserError, match="held-out"):
        held_out_problems(config)


def test_the_committed_configuration_has_its_checkpoints_and_room_for_prompts():
    pytest.importorskip("reasoning_gym", reason="the reasoning extra is not installed")
    config = load_config("configs/tree_opo_reasoning.yaml", ["tree.problems=9", "tree.held_out_problems=9"])
    with build_reasoning_parts(config) as parts:
        student = {k: v.copy() for k, v in export_weights(parts.learner.model).items()}
        assert len(parts.train_tasks) == len(parts.held_out_tasks) == 9
    teacher = export_weights(load_checkpoint(config.tree.teacher)[0])
    assert teacher.keys() == student.keys() and any(not np.array_equal(teacher[k], student[k]) for k in student)
