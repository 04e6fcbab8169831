"""The loop: resume without gap or double step, outages that poison nothing, NaN that stops, audit, dynamic sampling."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from trainer_harness import TASKS, make_config, make_parts, train

from atrl_ms.errors import UserError
from atrl_ms.evaluate.sessions import read_sessions
from atrl_ms.train import checkpoint
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.rl import Diverged, evaluation_jobs
from atrl_ms.train.rollouts import TaskSampler
from atrl_ms.train.run_dir import RunDir

TIMES = ("seconds", "tokens_per_s")


def numbers(run):
    """The metrics without wall-clock times, as (step, name, value)."""
    return [
        (record["step"], name, value)
        for record in read_metrics(run.metrics_file)
        for name, value in record.items()
        if name not in TIMES
    ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed")
    config = make_config(directory)
    run = RunDir.create(config)
    parts = make_parts(config)
    before, after = train(config, run, parts)
    return config, run, before, after, parts


def test_a_run_holds_everything_it_promises(undisturbed):
    config, run, before, after, _ = undisturbed
    records = read_metrics(run.metrics_file)
    assert [r["step"] for r in records] == [1, 2, 3, 4]
    assert len(before) == len(after) == config.eval.sessions
    assert [s.task for s in before] == [s.task for s in after]
    assert len(checkpoint.complete(run.checkpoints)) == config.train.keep_checkpoints
    assert list(run.tensorboard.iterdir()) and json.loads((run.path / "versions.json").read_text())["seed"] == 3
    for record in records:
        sessions = read_sessions(run.step_sessions(record["step"]))
        assert len(sessions) == record["sessions"]
        assert record["max_context"] <= config.agent.window
        assert record["solve_rate"] == np.mean([s.solved for s in sessions])
    assert sum(r["compactions"] for r in records) > 0


def test_the_first_update_on_a_batch_is_on_policy(undisturbed):
    for record in read_metrics(undisturbed[1].metrics_file):
        assert record["ratio"] == 1.0 and record["clipped"] == 0.0
        assert record["mismatch"] < 1e-4 and record["grad_norm"] > 0


def test_an_interrupted_run_continues_with_the_same_numbers(undisturbed, tmp_path):
    config, reference, *_ = undisturbed
    run = RunDir.create(make_config(tmp_path))
    parts = make_parts(config)
    generate = parts.engine.generate

    async def fail_later(request):
        if parts.engine.requests > 70:
            raise ConnectionError("pulled the plug")
        return await generate(request)

    parts.engine.generate = fail_later
    with pytest.raises(ConnectionError):
        train(config, run, parts)
    done = [r["step"] for r in read_metrics(run.metrics_file)]
    assert done and done[-1] < 4
    with run.metrics_file.open("a") as file:
        file.write('{"step": 99, "cut of')
    parts = make_parts(config)
    train(config, run, parts)
    assert numbers(run) == numbers(reference)
    total = parts.engine.requests
    train(config, run, parts)  # finished: nothing is played again
    assert parts.engine.requests == total


def test_kill_at_random_moments_leaves_no_gap_and_no_double_step(undisturbed, tmp_path):
    _, reference, *_ = undisturbed
    run = RunDir.create(make_config(tmp_path))
    command = [sys.executable, str(Path(__file__).with_name("trainer_harness.py")), str(run.path)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent.parent)}
    rng = np.random.default_rng(int(os.environ.get("ATRL_KILL_SEED", "0")))
    for _ in range(int(os.environ.get("ATRL_KILLS", "2"))):
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files_before = progress(run)
        while progress(run) <= files_before + rng.integers(0, 2) and process.poll() is None:
            time.sleep(0.02)
        time.sleep(float(rng.uniform(0, 0.3)))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, env=env, check=True, capture_output=True)
    assert numbers(run) == numbers(reference)


def progress(run):
    """Grows with every file of sessions and every checkpoint that is begun."""
    return len(list(run.sessions.iterdir())) + len(list(run.checkpoints.iterdir()))


def test_an_outage_pauses_and_changes_no_number(undisturbed, tmp_path):
    config, reference, *_ = undisturbed
    run, parts = RunDir.create(make_config(tmp_path)), make_parts(config)
    parts.judge.down = lambda call: 25 < call < 33 or call == 60
    train(config, run, parts)
    assert parts.judge.calls > undisturbed[4].judge.calls
    assert numbers(run) == numbers(reference)


def test_an_outage_that_does_not_end_stops_the_run_with_a_remedy(tmp_path):
    config = make_config(tmp_path, train={"outage_seconds": 0.0})
    parts = make_parts(config)
    parts.judge.down = lambda call: call > 30
    run = RunDir.create(config)
    with pytest.raises(UserError, match="--resume"):
        train(config, run, parts)
    assert all(s.finish != "infrastructure" for path in run.sessions.iterdir() for s in read_sessions(path))


def test_a_session_with_a_lasting_fault_leaves_the_statistics(tmp_path):
    config = make_config(tmp_path, train={"steps": 1}, eval={"sessions": 0})
    parts, run = make_parts(config), RunDir.create(config)
    verify = parts.judge.verify

    async def fails_for_one(task, candidate, *, seed=0):
        down = seed == faulty
        feedback = await verify(task, candidate, seed=seed)
        return type(feedback)("infrastructure_error", (), 0, 0, 0.0, None, "down") if down else feedback

    from atrl_ms.train.rollouts import TRAIN, derive_seed

    faulty = derive_seed(config.seed, TRAIN, 1, 0, 1)
    parts.judge.verify = fails_for_one
    train(config, run, parts)
    record = read_metrics(run.metrics_file)[0]
    assert record["infrastructure_faults"] == 1
    valid = [s for s in read_sessions(run.step_sessions(1)) if s.finish != "infrastructure"]
    assert record["solve_rate"] == np.mean([s.solved for s in valid])


def test_nan_stops_the_run_and_saves_the_batch(tmp_path):
    config = make_config(tmp_path, train={"steps": 3}, eval={"sessions": 0})
    run, parts = RunDir.create(config), make_parts(config)
    accumulate = parts.learner.accumulate

    def poisoned(batch, loss):
        if len(checkpoint.complete(run.checkpoints)) == 1:
            batch = {**batch, "adv": batch["adv"] * np.float32(np.nan)}
        return accumulate(batch, loss)

    parts.learner.accumulate = poisoned
    with pytest.raises(Diverged, match="failed_step_000002"):
        train(config, run, parts)
    with np.load(run.path / "failed_step_000002.npz") as saved:
        assert saved["0_ids"].ndim == 2 and (saved["0_weight"] > 0).any()
    assert [checkpoint.read_position(p).step for p in checkpoint.complete(run.checkpoints)] == [1]
    assert [r["step"] for r in read_metrics(run.metrics_file)] == [1]


def test_the_audit_stops_an_engine_that_holds_another_policy(tmp_path):
    config = make_config(tmp_path, eval={"sessions": 0})
    run, parts = RunDir.create(config), make_parts(config)
    generate = parts.engine.generate

    async def shifted(request):
        sample = await generate(request)
        return type(sample)(sample.token_ids, [x + 0.1 for x in sample.logprobs], sample.finish_reason, 0)

    parts.engine.generate = shifted
    with pytest.raises(UserError, match="audit_limit"):
        train(config, run, parts)
    assert read_metrics(run.metrics_file) == []


@pytest.mark.parametrize("dynamic, groups", [(True, 4), (False, 2)])
def test_groups_without_variance_are_replaced_only_with_dynamic_sampling(tmp_path, dynamic, groups):
    config = make_config(
        tmp_path,
        train={"steps": 1},
        eval={"sessions": 0},
        algo={"dynamic_sampling": dynamic, "max_extra_groups": 2},
    )
    run, parts = RunDir.create(config), make_parts(config)
    parts.judge.verify = same_answer
    train(config, run, parts)
    record = read_metrics(run.metrics_file)[0]
    assert record["groups"]["sampled"] == groups
    assert record["groups"]["trained"] == (0 if dynamic else 2)
    assert record["trained_tokens"] == 0 if dynamic else record["trained_tokens"] > 0


async def same_answer(task, candidate, *, seed=0):
    from agent_helpers import feedback

    return feedback(score=0.05)


def test_several_updates_on_a_batch_move_the_ratio(tmp_path):
    config = make_config(tmp_path, train={"steps": 1, "updates_per_batch": 3, "lr": 0.02}, eval={"sessions": 0})
    run = RunDir.create(config)
    train(config, run)
    record = read_metrics(run.metrics_file)[0]
    assert record["updates"] == 3 and record["ratio"] != 1.0


def test_a_token_budget_ends_the_run_with_the_step_that_spends_it(undisturbed, tmp_path):
    _, reference, *_ = undisturbed
    records = read_metrics(reference.metrics_file)
    budget = records[0]["sampled_tokens"] + 1
    run = RunDir.create(make_config(tmp_path, train={"token_budget": budget, "checkpoint_every": 3}))
    train(run.config(), run)
    assert numbers(run) == [row for row in numbers(reference) if row[0] <= 2]
    parts = make_parts(run.config())
    train(run.config(), run, parts)  # nothing is left to do
    assert parts.engine.requests == 0


def test_the_sampler_is_its_position():
    whole, first = TaskSampler(TASKS, seed=1), TaskSampler(TASKS, seed=1)
    names = [t.name for t in whole.draw(13)]
    start = [t.name for t in first.draw(7)]
    assert start + [t.name for t in TaskSampler(TASKS, 1, first.position).draw(6)] == names
    assert sorted(names[:5]) == sorted(t.name for t in TASKS)
    assert names != [t.name for t in TaskSampler(TASKS, seed=2).draw(13)]


def test_evaluation_spreads_over_tasks_and_repeats_for_every_seed():
    jobs, other = evaluation_jobs(TASKS, 12, seed=0), evaluation_jobs(TASKS, 12, seed=1)
    counts = [sum(job.task is task for job in jobs) for task in TASKS]
    assert max(counts) - min(counts) <= 1
    assert [j.task for j in jobs] == [j.task for j in other]
    assert not {j.seed for j in jobs} & {j.seed for j in other} and len({j.seed for j in jobs}) == 12
