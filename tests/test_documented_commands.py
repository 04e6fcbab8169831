"""Every command of README and docs/ runs: as it stands, made shorter, or it is listed with the reason why not here."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chat_server import Script, chat_server

from scripts.config_reference import PAGE, page

ROOT = Path(__file__).resolve().parent.parent

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    tl.store(out_ptr + row * columns + i, x * 2.0 + 1.0, mask=i < columns)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
"""
MODEL = "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2 + 1\n\n"
TASK = f"{MODEL}\ndef get_inputs():\n    return [torch.randn(19, 70)]\n\n\ndef get_init_inputs():\n    return []\n"
ROWS = "import torch\n\n\ndef get_inputs(param, device=None):\n    return [torch.randn(eval(param['shape']))]\n\n\n"
INIT = "def get_init_inputs(param, device=None):\n    return []\n"

# What makes a command short enough for a test; the first entry that its beginning fits.
SHORTER = {
    "atrl train configs/quickstart.yaml --set tasks.suite=my_tasks --dry-run": "",
    "atrl eval configs/eval_builtin.yaml --set tasks.suite=my_tasks": "sandbox.workers=1",
    "atrl eval configs/eval_builtin.yaml --set eval.policy=kernels": "tasks.families=[softmax] tasks.limit=1",
    "atrl eval configs/eval_builtin.yaml --set name=header": "tasks.limit=1 agent.max_turns=1",
    "atrl eval configs/eval_builtin.yaml --resume": "--set tasks.limit=1 eval.samples=1 agent.max_turns=1",
    "atrl eval configs/eval_builtin.yaml": "--set tasks.limit=1 eval.samples=1 agent.max_turns=1",
    "atrl eval configs/eval_kernelbench.yaml": "tasks.limit=1 agent.max_turns=1",
    "atrl tasks check --benchmark": "--workers 1 --limit 1",
    "atrl tree build": "--set tree.problems=2 tree.rollouts=4 tree.families=[chain_sum]",
    "atrl train configs/tree_opo_reasoning.yaml": "--set tree.problems=2 tree.rollouts=4 tree.families=[chain_sum] "
    "tree.held_out_problems=2 eval.sessions=2 train.steps=1 train.groups_per_step=1",
    "atrl solve task.py --turns 4": "--turns 1",
    "atrl solve": "--turns 1",
}
# Commands that no test runs, each with its reason.
NOT_HERE = {
    "bash scripts/quickstart.sh": "the whole main job; its parts are tested one by one",
    "bash scripts/test.sh": "it is what runs this test",
    "atrl train configs/quickstart.yaml --set algo.advantage=grpo --set name=grpo": "minutes; tests/test_train_loop.py",
    "atrl train --resume runs/grpo-*": "continues the run above; tests/test_train_loop.py",
    "atrl report runs/quickstart-* runs/grpo-*": "of the runs above; tests/test_report.py",
    "atrl warmstart configs/warm_start.yaml": "an hour; tests/test_demonstrations.py",
    "atrl serve --port 8321 --workers 2": "runs until it is stopped; tests/test_sandbox_service.py",
    "atrl kb check --new": "compiles kernels and rewrites kb/facts/checked.json; tests/test_kb_facts.py",
    "atrl launch configs/quickstart.yaml --workers 2": "a whole run; tests/test_launch_plan.py",
    "atrl launch --resume runs/quickstart-... --workers 4": "continues such a run",
    "atrl launch CONFIG --nodes 10.0.0.1,10.0.0.2": "needs two machines",
    "atrl launch CONFIG --nodes node[01-04] --node-rank 2": "needs four machines",
    "srun --ntasks-per-node=1 atrl launch CONFIG": "needs SLURM",
    "python scripts/modelarts/boot.py --config configs/qwen3_8b_a2.yaml --data_url obs://bucket/data/ "
    "--train_url obs://bucket/runs/": "needs ModelArts",
    "atrl plan CONFIG --settings mindformers.yaml": "CONFIG stands for a reader's own; see the plans before it",
    "vllm serve checkpoints/Qwen3-8B --logprobs-mode processed_logprobs": "needs vLLM and a large checkpoint",
    "atrl train CONFIG --set engine.kind=vllm engine.url=http://10.0.0.9:8000": "needs a serving engine",
    "ATRL_TOKEN=... atrl serve --host 0.0.0.0 --workers 32": "runs until it is stopped; tests/test_sandbox_service.py",
    "ATRL_TOKEN=... atrl train CONFIG --set sandbox.url=http://10.0.0.7:8321 sandbox.workers=32": "needs a service",
    "pip install 'atrl_ms[ray]'": "installs packages",
    "ray start --head --port 6379": "starts a cluster; tests/test_sandbox_ray.py",
    "ray start --address 10.0.0.1:6379": "needs another machine",
    "atrl train CONFIG --set sandbox.ray=10.0.0.1:6379 sandbox.workers=64": "needs a cluster",
    "atrl train CONFIG --set train.staleness=1": "a whole run; tests/test_train_parallel.py",
    "python scripts/simulate_cluster.py runs/quickstart-...": "of a finished run",
    "python scripts/soak_sandbox.py --count 1000": "an hour; tests/test_sandbox_walls.py",
    "python scripts/mutate_candidates.py --count 2000": "an hour; tests/test_verify_cases.py",
    "python scripts/bench_sandbox.py --count 120 --baseline 12 --warm 40": "measures; nothing to pass or fail",
}


def documented() -> list[str]:
    """Commands of the shell blocks in the order in which they are read, without comments, each once."""
    found: list[str] = []
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for block in re.findall(r"^```(?:bash|sh)\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                command = " ".join(re.sub(r"(^|\s)#.*", "", line).split())
                if command and command not in found:
                    found.append(command)
    return found


def shortened(command: str) -> str:
    addition = next((more for start, more in SHORTER.items() if command.startswith(start)), "")
    return f"{command} {addition}".strip()


def test_the_configuration_reference_is_current():
    assert PAGE.read_text() == page(), "run: python scripts/config_reference.py --write"


def test_every_key_says_what_it_means():
    assert not re.findall(r"^\| `([\w.]+)` .*\| None \|$", page(), re.MULTILINE)


def test_the_lists_of_commands_name_nothing_that_is_gone():
    commands = documented()
    assert set(NOT_HERE) <= set(commands)
    for start in SHORTER:
        assert any(command.startswith(start) for command in commands), start


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A directory in which a reader of the documentation works: clones, kernels, tasks of their own, a server."""
    desk = tmp_path_factory.mktemp("desk")
    shutil.copytree(ROOT / "configs", desk / "configs")
    clone = desk / "KernelBench" / "KernelBench"
    operator = desk / "NPUKernelBench" / "tasks" / "level1" / "Math" / "Twice" / "validation"
    reference = desk / "MultiKernelBench" / "reference" / "npukernelbench_level0"
    files = {
        desk / "kernel.py": KERNEL,
        desk / "my_tasks" / "scale.py": TASK,
        desk / "my_tasks" / "more.py": TASK.replace("x * 2", "x * 3"),
        desk / "DIR" / "softmax_held_out-00-0.py": KERNEL,
        desk / "DIR" / "1_1.py": KERNEL,
        desk / "tests" / "kernelbench_kernels" / "1_1.py": KERNEL,
        clone / "level1" / "1_Scale.py": TASK,
        clone / "level1" / "2_Scale.py": TASK,
        clone / "level2" / "1_Scale.py": TASK,
        operator / "module.py": MODEL,
        operator / "prepare_inputs.py": ROWS + INIT,
        operator / "test_cases.csv": "case_id;shape\n0;[40, 50]\n",
        reference / "1_scale.py": TASK,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = desk / "bin" / "atrl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m atrl_ms.cli "$@"\n')
    command.chmod(0o755)
    return desk


@pytest.mark.slow
def test_documented_commands_run(desk):
    env = {**os.environ, "PATH": f"{desk / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    commands = [command for command in documented() if command not in NOT_HERE]
    assert len(commands) > 15
    with chat_server(Script(lambda messages: f"```write_kernel\n{KERNEL}```")) as url:
        for command in commands:
            text = shortened(command).replace("http://localhost:8000", url)
            done = subprocess.run(
                ["bash", "-c", text], cwd=desk, env=env, capture_output=True, text=True, timeout=600, check=False
            )
            told = f"$ {text}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            assert "Traceback" not in done.stderr, told
            # Verdicts of kernels are answers, not failures; 2 is a command that the program does not understand.
            assert done.returncode in (0, 1), told
            print(told)
            keep_evaluations(desk)


def keep_evaluations(desk: Path) -> None:
    """runs/A and runs/B of the documentation are the first evaluation."""
    finished = sorted(desk.glob("runs/*-2*/scores.json"), key=lambda p: p.stat().st_mtime)
    for name in "AB" if finished else "":
        link = desk / "runs" / name
        if not link.exists():
            link.symlink_to(finished[0].parent.name)
