"""Environments of platforms give the right plan or the right error; the command runs; storage survives being cut."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from atrl_ms.errors import UserError
from atrl_ms.launch import modelarts, storage
from atrl_ms.launch.hosts import split_hosts
from atrl_ms.launch.plan import Machine, Request, make_launch_plan

ROOT = Path(__file__).parents[1]
ADDRESSES = {
    "a": "10.0.0.1", "b": "10.0.0.2", "c": "10.0.0.3", "here": "10.0.0.2", "loop": "127.0.1.1", "n01": "10.1.0.1",
    "n02": "10.1.0.2", "n03": "10.1.0.3", "job-worker-0.job": "10.2.0.1", "job-worker-1.job": "10.2.0.2",
}  # fmt: skip
MA2 = {"MA_NUM_HOSTS": "2", "MA_NUM_GPUS": "8", "VC_WORKER_HOSTS": "job-worker-0.job,job-worker-1.job"}


def resolve(host):
    return host if host.count(".") == 3 else ADDRESSES.get(host)


def table(servers, devices=8, status="completed"):
    return json.dumps(
        {
            "status": status,
            "server_list": [
                {"server_id": s, "device": [{"device_id": str(d), "rank_id": str(d)} for d in range(devices)]}
                for s in servers
            ],
        }
    )


def group_table(servers, devices=8):
    instances = [
        {"pod_name": s, "server_id": s, "devices": [{"device_id": str(d)} for d in range(devices)]} for s in servers
    ]
    return json.dumps({"status": "completed", "group_list": [{"group_name": "job", "instance_list": instances}]})


def plan(environment=None, npus=0, busy=(), rank_table=None, addresses=("here", "10.0.0.2"), **request):
    machine = Machine(resolve, lambda port: port in busy, frozenset(addresses), npus, rank_table)
    return make_launch_plan(environment or {}, machine, Request(**request))


def per_npu(rank, **extra):
    return {"MA_NUM_HOSTS": "1", "MA_NUM_GPUS": "8", "RANK_ID": str(rank), "RANK_SIZE": "8", "DEVICE_ID": str(rank % 8),
            **extra}  # fmt: skip


# (arguments of plan, expected: mode, worker_num, local_worker_num, node_rank, master, devices)
GOOD = {
    "nothing set, CPU": ({}, ("msrun", 1, 1, 0, "127.0.0.1", 0)),
    "nothing set, CPU, 4 asked": ({"workers": 4}, ("msrun", 4, 4, 0, "127.0.0.1", 0)),
    "nothing set, 8 NPUs": ({"npus": 8}, ("msrun", 8, 8, 0, "127.0.0.1", 8)),
    "8 NPUs, 2 asked": ({"npus": 8, "workers": 2}, ("msrun", 2, 2, 0, "127.0.0.1", 2)),
    "8 NPUs, 3 visible": (
        {"npus": 8, "environment": {"ASCEND_RT_VISIBLE_DEVICES": "5,6,7"}}, ("msrun", 3, 3, 0, "127.0.0.1", 3),
    ),
    "nodes by name, this one found": ({"npus": 8, "nodes": "a,here"}, ("msrun", 16, 8, 1, "10.0.0.1", 8)),
    "nodes by address, this one found": ({"npus": 8, "nodes": "10.0.0.1,10.0.0.2,10.0.0.3"},
                                         ("msrun", 24, 8, 1, "10.0.0.1", 8)),
    "nodes with a given rank": ({"npus": 8, "nodes": "a,b,c", "node_rank": 2}, ("msrun", 24, 8, 2, "10.0.0.1", 8)),
    "nodes as a range": ({"npus": 4, "nodes": "n[01-03]", "node_rank": 0}, ("msrun", 12, 4, 0, "10.1.0.1", 4)),
    "--nodes beats the platform": ({"environment": MA2, "nodes": "a,b", "node_rank": 1},
                                   ("msrun", 16, 8, 1, "10.0.0.1", 0)),
    "ModelArts, one node": ({"npus": 8, "environment": {"MA_NUM_HOSTS": "1", "MA_NUM_GPUS": "8"}},
                            ("msrun", 8, 8, 0, "127.0.0.1", 8)),
    "ModelArts, two nodes, first": ({"npus": 8, "environment": {**MA2, "VC_TASK_INDEX": "0"}},
                                    ("msrun", 16, 8, 0, "10.2.0.1", 8)),
    "ModelArts, two nodes, second": ({"npus": 8, "environment": {**MA2, "VC_TASK_INDEX": "1"}},
                                     ("msrun", 16, 8, 1, "10.2.0.1", 8)),
    "ModelArts, hosts from the rank table": (
        {"npus": 8, "rank_table": table(["10.3.0.1", "10.3.0.2"]),
         "environment": {"MA_NUM_HOSTS": "2", "MA_NUM_GPUS": "8", "VC_TASK_INDEX": "1"}},
        ("msrun", 16, 8, 1, "10.3.0.1", 8),
    ),
    "ModelArts, rank table of groups": (
        {"npus": 8, "rank_table": group_table(["10.3.0.1"]), "environment": {"MA_NUM_HOSTS": "1"}},
        ("msrun", 8, 8, 0, "10.3.0.1", 8),
    ),
    "preset engine, one process per NPU": ({"npus": 8, "environment": per_npu(3)},
                                           ("worker", 8, 8, 0, "127.0.0.1", 1)),
    "preset engine, per NPU, second node": (
        {"npus": 8, "environment": {**MA2, "RANK_ID": "11", "RANK_SIZE": "16", "ASCEND_DEVICE_ID": "3"}},
        ("worker", 16, 8, 1, "10.2.0.1", 1),
    ),
    "preset engine with msrun, outside": (
        {"npus": 8, "environment": per_npu(0, MA_RUN_METHOD="msrun")}, ("msrun", 8, 8, 0, "127.0.0.1", 8),
    ),
    "preset engine with msrun, inside": (
        {"environment": {**MA2, "MS_ROLE": "MS_WORKER", "MS_WORKER_NUM": "16", "MS_SCHED_HOST": "10.2.0.1",
                         "MS_SCHED_PORT": "8118", "DEVICE_ID": "5"}},
        ("inside", 16, 1, 0, "10.2.0.1", 1),
    ),
    "SLURM, one node": ({"npus": 8, "environment": {"SLURM_JOB_NODELIST": "n02", "SLURM_NNODES": "1"}},
                        ("msrun", 8, 8, 0, "10.1.0.2", 8)),
    "SLURM, compressed list": (
        {"npus": 8, "environment": {"SLURM_JOB_NODELIST": "n[01-02],c", "SLURM_NNODES": "3", "SLURM_NODEID": "2"}},
        ("msrun", 24, 8, 2, "10.1.0.1", 8),
    ),
    "port in use elsewhere than on the master": ({"npus": 8, "nodes": "a,here", "busy": (8118,)},
                                                 ("msrun", 16, 8, 1, "10.0.0.1", 8)),
}  # fmt: skip

BAD = {
    "hosts missing": ({"environment": {"MA_NUM_HOSTS": "2", "MA_NUM_GPUS": "8"}}, "neither VC_WORKER_HOSTS nor"),
    "fewer hosts than promised": ({"environment": {**MA2, "MA_NUM_HOSTS": "3", "VC_TASK_INDEX": "0"}}, "2 hosts are"),
    "task index missing": ({"environment": MA2}, "VC_TASK_INDEX is not set"),
    "task index not a number": ({"environment": {**MA2, "VC_TASK_INDEX": "one"}}, "VC_TASK_INDEX is 'one'"),
    "task index too large": ({"environment": {**MA2, "VC_TASK_INDEX": "2"}}, "node rank 2"),
    "no NPU per host": ({"environment": {"MA_NUM_HOSTS": "1", "MA_NUM_GPUS": "0"}}, "MA_NUM_GPUS is 0"),
    "more processes than NPUs": ({"npus": 4, "environment": {"MA_NUM_GPUS": "8"}}, "only 4 NPUs"),
    "hostname without address": ({"nodes": "ghost,here"}, "host ghost has no address"),
    "master resolves to loopback": ({"nodes": "loop,here"}, "resolves to 127.0.1.1"),
    "port in use": ({"workers": 2, "busy": (8118,)}, "port 8118 of the master is in use"),
    "port of root": ({"workers": 2, "port": 80}, "--port 80"),
    "rank table disagrees on hosts": (
        {"rank_table": table(["10.3.0.1"]), "environment": {**MA2, "VC_TASK_INDEX": "0"}}, "they disagree"),
    "rank table disagrees on devices": (
        {"rank_table": table(["10.2.0.1", "10.2.0.2"], 4), "environment": {**MA2, "VC_TASK_INDEX": "0"}}, "4\\+4 dev"),
    "rank table not finished": (
        {"rank_table": table(["10.2.0.1"], status="initializing"), "environment": {"MA_NUM_HOSTS": "1"}}, "finished"),
    "rank table cut off": ({"rank_table": '{"status": "comp', "environment": {"MA_NUM_HOSTS": "1"}}, "not valid JSON"),
    "rank table of another form": ({"rank_table": '{"server_list": [{"ip": "x"}]}', "environment": {"MA_NUM_HOSTS":
                                   "1"}}, "unknown form"),
    "rank table empty": ({"rank_table": "{}", "environment": {"MA_NUM_HOSTS": "1"}}, "names no server"),
    "rank size disagrees": ({"environment": {**per_npu(0), "RANK_SIZE": "16"}}, "RANK_SIZE is 16"),
    "rank beyond the job": ({"environment": {**per_npu(0), "RANK_ID": "8"}}, "only 8 ranks"),
    "rank missing": ({"environment": {"MA_NUM_GPUS": "8", "ASCEND_DEVICE_ID": "0"}}, "RANK_ID is not set"),
    "port in use for rank 0": ({"environment": per_npu(0), "busy": (8118,)}, "port 8118"),
    "nodes without this one": ({"nodes": "a,c"}, "no entry is this machine"),
    "nodes with this one twice": ({"nodes": "b,here"}, "more than one entry"),
    "nodes repeated": ({"nodes": "a,a"}, "a is named twice"),
    "nodes with an empty entry": ({"nodes": "a,,b"}, "an entry is empty"),
    "nodes with open bracket": ({"nodes": "n[01-02"}, "brackets"),
    "nodes with a falling range": ({"nodes": "n[03-01]"}, "range '03-01'"),
    "node rank beyond the list": ({"nodes": "a,b", "node_rank": 5}, "node rank 5"),
    "SLURM without list": ({"environment": {"SLURM_NNODES": "2"}}, "SLURM_JOB_NODELIST is not"),
    "SLURM counts disagree": ({"environment": {"SLURM_NNODES": "3", "SLURM_JOB_NODELIST": "n[01-02]"}}, "names 2"),
    "SLURM with many tasks": (
        {"environment": {"SLURM_JOB_NODELIST": "n01", "SLURM_LOCALID": "3"}}, "--ntasks-per-node=1"),
    "SLURM without node id": ({"environment": {"SLURM_JOB_NODELIST": "n[01-02]"}}, "SLURM_NODEID is not set"),
    "visible devices unreadable": ({"npus": 8, "environment": {"ASCEND_RT_VISIBLE_DEVICES": "0,x"}}, "not a list"),
    "visible devices repeated": ({"npus": 8, "environment": {"ASCEND_RT_VISIBLE_DEVICES": "0,0"}}, "named twice"),
    "zero workers": ({"workers": 0}, "--workers 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_environment_gives_the_plan(name):
    arguments, expected = GOOD[name]
    p = plan(**arguments)
    got = (p.mode, p.worker_num, p.local_worker_num, p.node_rank, p.master_addr, len(p.device_ids))
    assert got == expected
    assert not any(key.startswith("MA_") for key in p.environment)
    assert p.worker_num == 1 or p.mode != "msrun" or "--worker_num=" + str(p.worker_num) in p.command("python", [])


@pytest.mark.parametrize("name", BAD)
def test_broken_environment_gives_one_clear_line(name):
    arguments, message = BAD[name]
    with pytest.raises(UserError, match=message) as error:
        plan(**arguments)
    assert "\n" not in str(error.value)


def test_a_process_per_npu_tells_mindspore_its_rank():
    environment = plan({**MA2, "RANK_ID": "11", "RANK_SIZE": "16", "DEVICE_ID": "3"}).environment
    assert environment["MS_NODE_ID"] == "11" and environment["MS_ROLE"] == "MS_WORKER"
    assert environment["MS_SCHED_HOST"] == "10.2.0.1" and environment["DEVICE_ID"] == "3"


def test_host_ranges_keep_zeros_and_may_be_nested():
    assert split_hosts("a,n[08-10,12]-ib", "x") == ["a", "n08-ib", "n09-ib", "n10-ib", "n12-ib"]
    assert split_hosts("r[1-2]n[0-1]", "x") == ["r1n0", "r1n1", "r2n0", "r2n1"]


def atrl(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "atrl_ms.cli", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_dry_run_prints_the_command_and_a_mistake_ends_with_code_2():
    done = atrl("launch", "configs/quickstart.yaml", "--workers", "2", "--port", "18755", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "--worker_num=2 --local_worker_num=2" in done.stdout and "train configs/quickstart.yaml" in done.stdout
    wrong = atrl("launch", "configs/quickstart.yaml", "--set", "train.stepz=1", "--dry-run")
    assert wrong.returncode == 2 and "train.stepz" in wrong.stderr and wrong.stderr.count("\n") == 1


# ---------------------------------------------------------------- ModelArts' boot file and storage


@pytest.fixture
def obs(tmp_path, monkeypatch):
    """A stand-in of moxing.file on a local directory: moxing exists on ModelArts only."""
    import shutil

    root = tmp_path / "obs"
    root.mkdir()

    def place(url):
        return root / url.removeprefix("obs://") if url.startswith("obs://") else Path(url)

    def copy(source, target):
        place(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place(source), place(target))

    module = types.ModuleType("moxing")
    module.file = types.SimpleNamespace(
        exists=lambda url: place(url).exists(),
        copy=copy,
        copy_parallel=lambda source, target: shutil.copytree(place(source), place(target), dirs_exist_ok=True),
        remove=lambda url: place(url).unlink(),
    )
    monkeypatch.setitem(sys.modules, "moxing", module)
    return root


def boot(capsys, tmp_path, *arguments):
    environment = {"ATRL_CACHE": str(tmp_path / "cache"), "MA_NUM_HOSTS": "1", "MA_NUM_GPUS": "1"}
    code = modelarts.main(["--config", str(ROOT / "configs/quickstart.yaml"), "--dry-run", *arguments], environment)
    return code, capsys.readouterr().out


def test_boot_file_honours_urls_and_ignores_what_the_platform_adds(capsys, tmp_path):
    data = tmp_path / "data"
    (data / "atrl_ms/assets/warm_start").mkdir(parents=True)
    code, out = boot(
        capsys, tmp_path, "--data_url", str(data), "--train_url", str(tmp_path / "out"), "--num_gpus", "8", "--port",
        "18756",
    )  # fmt: skip
    assert code == 0
    assert f"output_dir={tmp_path / 'out'}" in out and f"policy.checkpoint={data}/atrl_ms/assets/warm_start" in out
    assert "ignored arguments of the platform: --num_gpus 8" in out


def test_boot_file_continues_the_newest_unfinished_run(capsys, tmp_path):
    out_dir = tmp_path / "out"
    for stamp, files in {
        "20260101-000000": ["config.yaml", "checkpoints/step_000002/COMPLETE"],
        "20260102-000000": ["config.yaml", "checkpoints/step_000004/COMPLETE"],
        "20260103-000000": ["config.yaml", "checkpoints/step_000004/COMPLETE", "evaluation.json"],
        "20260104-000000": ["config.yaml"],
    }.items():
        for name in files:
            path = out_dir / f"quickstart-{stamp}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    _, out = boot(capsys, tmp_path, "--train_url", str(out_dir))
    assert f"--resume {out_dir}/quickstart-20260102-000000" in out


def test_remote_data_comes_through_moxing_once(capsys, tmp_path, obs):
    (obs / "bucket/data/atrl_ms/assets/warm_start").mkdir(parents=True)
    code, out = boot(capsys, tmp_path, "--data_url", "obs://bucket/data", "--train_url", "obs://bucket/runs")
    assert code == 0 and f"policy.checkpoint={tmp_path}/cache/atrl/data/atrl_ms/assets/warm_start" in out
    assert f"output_dir={tmp_path}/cache/atrl/runs" in out
    sys.modules["moxing"].file.copy_parallel = None  # a second process of the node would fail if it downloaded again
    assert storage.fetch("obs://bucket/data", tmp_path / "cache/atrl/data").is_dir()


def test_remote_data_without_moxing_is_one_clear_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "moxing", None)
    code, out = boot(capsys, tmp_path, "--data_url", "obs://bucket/data")
    assert code == 2 and "boot.py: obs://bucket/data: reading obs:// needs moxing" in out


def test_a_mirror_that_is_cut_never_shows_a_half_checkpoint_as_complete(tmp_path, obs):
    local = tmp_path / "runs"

    def write(step):
        directory = local / f"run/checkpoints/step_{step}"
        directory.mkdir(parents=True)
        for name in ("COMPLETE", "a.bin", "z.bin"):
            (directory / name).write_text(str(step))

    file, calls = sys.modules["moxing"].file, []
    copy, remove = file.copy, file.remove

    def limited(function):
        def call(*arguments):
            calls.append(arguments)
            if len(calls) > limit:
                raise ConnectionError("cut")
            return function(*arguments)

        return call

    file.copy, file.remove = limited(copy), limited(remove)
    mirror = storage.Mirror(local, "obs://bucket/runs")
    write(1)
    for limit in range(14):
        calls.clear()
        if limit == 7:
            write(2)
            for path in (local / "run/checkpoints/step_1").iterdir():
                path.unlink()
        with contextlib.suppress(ConnectionError):
            mirror.sync()
        for marker in (obs / "bucket").rglob("COMPLETE"):
            assert {p.name for p in marker.parent.iterdir()} == {"COMPLETE", "a.bin", "z.bin"}, limit
    assert {p.name for p in (obs / "bucket").rglob("step_*") if any(p.iterdir())} == {"step_2"}
