"""Benchmark loaders: every file is read or has a reason, sizes and cases fit, no file of a benchmark crashes us."""

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrl_ms.cli import main
from atrl_ms.config import TasksConfig
from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.benchmarks.entry import Entry, materialise
from sandbox.benchmarks.load import find_benchmark, fit_all, fitted_entries
from sandbox.benchmarks.npukernelbench import read_cases
from sandbox.benchmarks.results import FitLog
from sandbox.benchmarks.rewrite import Plan, halved, positional, resized, smaller, versions
from sandbox.benchmarks.select import narrow

HEAD = "import torch\nimport torch.nn as nn\n"


def task_text(forward: str, inputs: str, constants: str = "", init: str = "", forward_args: str = "x") -> str:
    names, _, body = init.partition("|")
    build = f"    def __init__(self, {names}):\n        super().__init__()\n        {body}\n" if init else ""
    return (
        f"{HEAD}\nclass Model(nn.Module):\n{build}    def forward(self, {forward_args}):\n        return {forward}\n\n"
        f"{constants}\n\ndef get_inputs():\n    return [{inputs}]\n\ndef get_init_inputs():\n    return [{names}]\n"
    )


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ---------------------------------------------------------------- sizes


@given(st.integers(0, 10**7), st.sampled_from([128, 64, 48, 32, 24, 16]), st.integers(0, 64))
def test_halving_stops_at_the_cap_or_at_the_floor(value, cap, floor):
    small = halved(value, cap, floor)
    assert small <= value
    assert small <= cap or (small + 1) // 2 < floor
    assert small == value or small >= floor
    assert small >= min(value, cap // 2)  # never halved once more than needed


def test_sizes_inside_tuples_shrink_and_other_values_stay():
    assert smaller((4096, (3, 512), True, 2.5, "same"), 64) == (64, (3, 64), True, 2.5, "same")


def test_sizes_computed_from_others_follow_them_unless_asked_otherwise():
    source = "rows = 4096 * 2\nwidth = rows // 4\nkernel = 3\nheight = depth = 1000\neps = 1e-5\n"
    values: dict = {}
    exec(source, values)
    follow, own = ({}, {})
    exec(resized(source, values, Plan(64)), follow)
    exec(resized(source, values, Plan(64, derived=True)), own)
    assert (follow["rows"], follow["width"]) == (64, 16)
    assert (own["rows"], own["width"]) == (64, 64)
    assert follow["kernel"] == 3 and follow["height"] == follow["depth"] == 63 and follow["eps"] == 1e-5


def test_channels_of_a_group_normalisation_keep_four_per_group():
    source = "batch = 512\nchannels = 512\nnum_groups = 16\ndef get_init_inputs():\n    return [channels, num_groups]\n"
    values: dict = {}
    exec(source, values)
    small: dict = {}
    exec(resized(source, values, Plan(16)), small)
    assert small["num_groups"] == 16
    assert small["channels"] == 64
    assert small["batch"] == 16


def test_groups_that_follow_from_channels_do_not_keep_them_large():
    source = "in_channels = 128\ngroups = in_channels\ndef get_init_inputs():\n    return [in_channels, groups]\n"
    small: dict = {}
    exec(resized(source, {"in_channels": 128, "groups": 128}, Plan(16)), small)
    assert small["in_channels"] == small["groups"] == 16


def test_statements_that_share_a_line_are_all_made_smaller():
    source = "é = 'x'; depth = 512; height = width = 640; kernel = 3\nshape = (\n    2048,\n    7,\n)\n"
    values: dict = {}
    exec(source, values)
    small: dict = {}
    exec(resized(source, values, Plan(64)), small)
    assert {n: small[n] for n in ("depth", "height", "width", "kernel", "shape")} == {
        "depth": 64, "height": 40, "width": 40, "kernel": 3, "shape": (64, 7)
    }  # fmt: skip


def test_batches_shrink_before_images_and_proportions_can_be_kept():
    source = "batch_size = 64\nfeatures = 512\nnum_groups = 64\nkernel = 5\n"
    values: dict = {}
    exec(source, values)
    batch, even = {}, {}
    exec(resized(source, values, Plan(128, batch=4)), batch)
    exec(resized(source, values, Plan(halvings=3)), even)
    assert (batch["batch_size"], batch["features"]) == (4, 128)
    assert {n: even[n] for n in values if n in source} == {
        "batch_size": 8, "features": 64, "num_groups": 8, "kernel": 5
    }  # fmt: skip
    texts = [text for _, text in versions(source, values)]
    assert len(texts) == len(set(texts)) and source not in texts


def test_keyword_only_arguments_become_positional_in_order():
    text = positional("class Model:\n    def forward(self, x, *, scale=2.0, shift=None):\n        return x\n")
    forward = ast.parse(text).body[0].body[0]
    assert [a.arg for a in forward.args.args] == ["self", "x", "scale", "shift"] and not forward.args.kwonlyargs
    namespace: dict = {}
    exec(text, namespace)
    assert namespace["Model"]().forward(1, 3.0, 4) == 1


# ---------------------------------------------------------------- KernelBench


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A folder in KernelBench's layout with one file of every kind."""
    root = tmp_path_factory.mktemp("bench") / "clone"
    level1, level2 = root / "KernelBench" / "level1", root / "KernelBench" / "level2"
    write(level1 / "1_Double.py", task_text("x * 2", "torch.randn(N, N)", "N = 2048 * 2"))
    write(level1 / "2_Small.py", task_text("torch.softmax(x, -1)", "torch.randn(17, 33)"))
    write(level1 / "3_Zero.py", task_text("x * 0", "torch.randn(64, 64)"))
    write(level1 / "4_Npu.py", HEAD + "import torch_npu\n" + task_text("torch_npu.npu_thing(x)", "torch.randn(4)"))
    write(level1 / "5_Broken.py", "def (")
    write(level1 / "6_Fails.py", task_text("x @ x", "torch.randn(3, 5)"))
    write(level1 / "7_Fixed.py", task_text("x + 1", "torch.randn(3000, 3000)"))
    write(level1 / "8_Exit.py", "raise SystemExit(3)\n")
    write(level1 / "9_Latin.py", "")
    (level1 / "9_Latin.py").write_bytes(b"# \xff\xfe\n")
    write(level1 / "10_Dies.py", HEAD + "import os\nos.kill(os.getpid(), 9)\n")
    write(
        level2 / "1_Linear.py",
        task_text(
            "torch.relu(self.linear(x))",
            "torch.randn(batch, wide)",
            "batch, wide = 1024, 8192\nout_features = wide",
            "wide, out_features|self.linear = nn.Linear(wide, out_features)",
        ),
    )
    return root


@pytest.fixture(scope="module")
def fitted(bench):
    entries = fitted_entries(TasksConfig(suite="kernelbench", root=str(bench)), workers=1, progress=False)
    return {entry.name: entry for entry in entries}


def test_every_file_is_fitted_or_has_its_own_reason(fitted):
    assert len(fitted) == 11
    reasons = {name.split("/")[1]: entry.skip for name, entry in fitted.items() if entry.skip}
    assert set(reasons) == {"3_Zero", "4_Npu", "5_Broken", "6_Fails", "7_Fixed", "8_Exit", "9_Latin", "10_Dies"}
    assert reasons["3_Zero"].startswith("task_invalid: ") and "zeros" in reasons["3_Zero"]
    assert "torch_npu" in reasons["4_Npu"]
    assert "not valid Python" in reasons["5_Broken"]
    assert "cannot be multiplied" in reasons["6_Fails"]
    assert reasons["7_Fixed"].startswith("too large: 9000000 elements")
    assert "signal 9" in reasons["10_Dies"]


def test_fitted_tasks_are_small_and_say_what_was_changed(fitted):
    assert fitted["level1/2_Small"].cases == "as shipped"
    double, linear = fitted["level1/1_Double"], fitted["level2/1_Linear"]
    assert double.cases == "sizes capped at 128" and "N = 128" in double.task.source
    assert 0 < linear.elements <= 300_000 and "capped" in linear.cases
    assert (double.level, linear.level, linear.category) == ("1", "2", "matrix product")


def test_the_command_counts_what_was_read(bench, capsys):
    assert main(["tasks", "check", "--benchmark", "kernelbench", "--root", str(bench), "--level", "2"]) == 0
    out = capsys.readouterr().out
    assert "1 tasks read, 1 runnable here (0 of them task_invalid), 0 excluded" in out


def test_a_check_that_stopped_goes_on_where_it_was(bench, tmp_path, capsys):
    file = tmp_path / "results.jsonl"
    command = ["tasks", "check", "--benchmark", "kernelbench", "--root", str(bench), "--results", str(file)]
    assert main([*command, "--only", "level1/[23]_*"]) == 0
    first = file.read_bytes()
    assert first.count(b"\n") == 2
    file.write_bytes(first + b'{"key": "cut of')
    seen = []
    config = TasksConfig(suite="kernelbench", root=str(bench), select=["level1/*"], limit=4)
    entries = fitted_entries(config, workers=1, progress=False, on_done=lambda e: seen.append(e.name), results=file)
    data = file.read_bytes()
    assert data.startswith(first) and b"cut of" not in data
    names = [json.loads(line)["entry"]["task"]["name"] for line in data.splitlines()]
    assert len(names) == len(set(names)) and {e.name for e in entries} == set(seen)
    again = fitted_entries(config, workers=1, progress=False, results=file)
    assert again == entries and file.read_bytes() == data


def test_a_changed_task_or_limit_is_prepared_again(tmp_path):
    entry = Entry(Task("a", "text"))
    log = FitLog(tmp_path / "r.jsonl", {"max_elements": 5})
    log.add(entry, entry.excluded("because"))
    log.close()
    same, other = (FitLog(tmp_path / "r.jsonl", {"max_elements": n}) for n in (5, 6))
    assert same.find(entry) == entry.excluded("because")
    assert same.find(Entry(Task("a", "other text"))) is None and other.find(entry) is None
    (tmp_path / "notes.txt").write_text("shopping\n")
    with pytest.raises(UserError, match="not a line of prepared tasks"):
        FitLog(tmp_path / "notes.txt", {})


def test_slow_and_huge_tasks_are_excluded_before_they_take_the_machine(tmp_path):
    slow = "import torch\nwhile True: pass\n"
    # On the meta device its data-dependent size cannot be known; as written it would take 40 TB.
    huge = task_text("x * 2", "torch.rand(int(torch.ones(1).item()) * 10**13)")
    # Endless at its own size; the reference swallows what it can.
    endless = task_text("wait(x)", "torch.rand(n, 9)", "n = 100").replace(
        "class Model", "def wait(x):\n    while len(x) > 60:\n        try:\n            x + 1\n"
        "        except Exception:\n            pass\n    return x * 2\n\n\nclass Model"
    )  # fmt: skip
    fixed = [Entry(Task("slow", slow)), Entry(Task("huge", huge)), Entry(Task("endless", endless))]
    fixed.append(Entry(Task("wide", task_text("x[:, None] * x", "torch.rand(3000)"))))
    by_name = {e.name: e for e in fit_all(fixed, {"seconds": 8}, workers=1)}
    assert "too slow" in by_name["slow"].skip
    assert by_name["huge"].skip == "too large: a tensor of 10000000000000 elements"
    assert by_name["wide"].skip == "too large: 9000000 elements of outputs"
    assert by_name["endless"].skip == "" and by_name["endless"].cases == "sizes capped at 64"


def test_a_killed_check_leaves_no_process_that_goes_on_computing(tmp_path):
    write(tmp_path / "t" / "endless.py", f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
          "while True: pass\n\nclass Model: pass\ndef get_inputs(): return []\n")  # fmt: skip
    command = [sys.executable, "-m", "atrl_ms.cli", "tasks", "check", "--benchmark", str(tmp_path / "t")]
    check = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text())
    check.kill()
    check.wait()
    fork = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    wait_for(lambda: not fork.exists() or fork.read_text().split()[2] == "Z")


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_wrong_names_and_roots_are_the_users_to_correct(tmp_path):
    with pytest.raises(UserError, match="known: builtin, kernelbench"):
        find_benchmark("kernelbanch", tmp_path)
    with pytest.raises(UserError, match=r"tasks\.root or --root"):
        find_benchmark("kernelbench", "")
    for name in ("kernelbench", "npukernelbench_a", "npukernelbench_b", "multikernelbench", "akg_lite"):
        with pytest.raises(UserError, match="no "):
            find_benchmark(name, tmp_path)


def test_levels_patterns_and_limits_narrow_a_set(bench):
    entries = find_benchmark("kernelbench", bench)
    assert [e.name for e in entries[:2]] == ["level1/1_Double", "level1/2_Small"]  # by number, not by text
    assert {e.level for e in narrow(entries, TasksConfig(levels=["2"]))} == {"2"}
    assert [e.name for e in narrow(entries, TasksConfig(select=["*/2_*"]))] == ["level1/2_Small"]
    assert {e.level for e in narrow(entries, TasksConfig(limit=11))} == {"1", "2"}
    with pytest.raises(UserError, match="no task matches"):
        narrow(entries, TasksConfig(select=["*nothing*"]))


def test_finding_and_fitting_import_no_torch_in_the_parent():
    code = "import sys, sandbox.benchmarks.load, atrl_ms.evaluate.evaluation; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# ---------------------------------------------------------------- NPUKernelBench (a): tables


def operator(root: Path, name: str, model: str, inputs: str, table: str, init: str = "return []") -> None:
    folder = root / "tasks" / name / "validation"
    device = "import torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
    write(
        folder / "module.py",
        f"{HEAD}{device}\nclass Model(nn.Module):\n    def forward(self, x):\n        '''text'''\n        {model}\n\n"
        "class ModelNew(nn.Module):\n    def forward(self, x):\n        import kernel_gen_ops\n"
        "        return kernel_gen_ops.run(x)\n",
    )
    write(
        folder / "prepare_inputs.py",
        "import torch\nfrom framework.utils import check_precision\n\n"
        f"def get_inputs(param, device=None):\n    {inputs}\n\n"
        f"def get_init_inputs(param, device=None):\n    {init}\n\n"
        "def custom_check_precision(param, a, b):\n    return check_precision(a, b)\n",
    )
    write(folder / "test_cases.csv", table)


def test_tables_give_columns_the_types_of_their_cells(tmp_path):
    file = write(tmp_path / "c.csv", "case_id;shape;flag;axis;value\n0;[2, 3];true;1;1\n1;[4];False;;2.5\n\n")
    first, second = read_cases(file)
    assert first == {"case_id": 0, "shape": "[2, 3]", "flag": True, "axis": 1.0, "value": 1.0}
    assert second["flag"] is False and second["axis"] != second["axis"] and second["shape"] == "[4]"
    with pytest.raises(ValueError, match="row 2 has 3 cells"):
        read_cases(write(tmp_path / "d.csv", "a;b\n1;2;3\n"))


def test_rows_that_fit_are_chosen_and_integers_can_be_drawn(tmp_path):
    shape = "return [torch.randn(eval(param['shape']), dtype=getattr(torch, param['dtype']), device=device)]"
    table = "case_id;shape;dtype\n0;[64, 90000];float32\n1;[40, 50];float32\n2;[33, 65];int32\n3;[3];float32\n"
    operator(tmp_path, "level1/Math/Twice", "return x * 2 + 1", shape, table)
    operator(tmp_path, "level1/Math/Huge", "return x", shape, "case_id;shape;dtype\n0;[9000, 9000];float32\n")
    operator(tmp_path, "level2/Npu/Call", "return torch_npu.npu_x(x)", shape, table)
    entries = find_benchmark("npukernelbench_a", tmp_path)
    assert len(entries) == 3
    by_name = {e.name: e for e in fit_all(entries, {"max_cases": 3, "check": False}, workers=1)}
    twice = by_name["level1/Math/Twice"]
    assert twice.skip == "" and twice.cases == "3 of 4 cases" and twice.elements == 33 * 65
    assert "ModelNew" not in twice.task.source and "torch_npu" not in twice.task.source
    assert "'''text'''" not in twice.task.source and "custom_check" not in twice.task.source
    namespace: dict = {}
    exec(twice.task.source, namespace)
    shapes = [(tuple(g[0].shape), str(g[0].dtype)) for g in namespace["get_input_groups"]()]
    assert shapes == [((40, 50), "torch.float32"), ((33, 65), "torch.int32"), ((3,), "torch.float32")]
    assert "too large" in by_name["level1/Math/Huge"].skip
    assert "torch_npu" in by_name["level2/Npu/Call"].skip


# ---------------------------------------------------------------- NPUKernelBench (b): JSON Lines

GROUPS = """
import json
import os


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), "1_scale.json")
    groups = []
    for line in open(path):
        x, scale = json.loads(line)["inputs"]
        groups.append([torch.randn(x["shape"], dtype=getattr(torch, x["dtype"])), scale["value"]])
    return groups


def get_init_inputs():
    return []
"""


def lines_task(folder: Path, shapes: list[list[int]]) -> None:
    model = "class Model(nn.Module):\n    def forward(self, x, *, scale=1.0):\n        return torch.exp(x) * scale\n"
    write(folder / "1_scale.py", HEAD + model + GROUPS)
    rows = [
        {
            "inputs": [
                {"name": "x", "type": "tensor", "dtype": "float32", "shape": shape},
                {"name": "scale", "type": "attr", "dtype": "float", "value": 3.0},
            ]
        }
        for shape in shapes
    ]
    write(folder / "1_scale.json", "".join(json.dumps(row) + "\n" for row in rows))


def test_lines_are_built_one_at_a_time_and_huge_ones_never(tmp_path):
    # The second line alone would take 16 TB.
    shapes = [[0, 4], [2048, 2048, 1000, 1000], [40, 64], [31, 129], []]
    lines_task(tmp_path / "reference" / "npukernelbench_level0", shapes)
    entries = find_benchmark("npukernelbench_b", tmp_path)
    (entry,) = fit_all(entries, {"max_cases": 2}, workers=1)
    assert entry.skip == "" and entry.cases == "2 of 5 cases" and entry.level == "0"
    (text,) = entry.files.values()
    assert [json.loads(line)["inputs"][0]["shape"] for line in text.splitlines()] == [[40, 64], [31, 129]]
    placed = materialise(Entry.from_json(json.loads(json.dumps(entry.to_json()))), tmp_path / "out")
    assert (tmp_path / "out" / "npukernelbench_level0" / "1_scale.json").read_text() == text
    assert placed.task.directory == str((tmp_path / "out").resolve())


def test_the_two_sets_in_one_clone_are_kept_apart(tmp_path):
    lines_task(tmp_path / "reference" / "npukernelbench_level0", [[4, 4]])
    write(tmp_path / "reference" / "math" / "add.py", task_text("x + 1", "torch.randn(9, 40)"))
    assert [e.name for e in find_benchmark("npukernelbench_b", tmp_path)] == ["npukernelbench_level0/1_scale"]
    assert [(e.name, e.category) for e in find_benchmark("multikernelbench", tmp_path)] == [("math/add", "math")]


def test_tiers_and_plain_folders(tmp_path):
    text = task_text("x + 1", "torch.randn(9, 40)")
    write(tmp_path / "t1" / "add.py", text)
    write(tmp_path / "tools" / "run.py", "print('not a task')\n")
    assert [(e.name, e.level) for e in find_benchmark("akg_lite", tmp_path)] == [("t1/add", "t1")]
    assert [(e.name, e.category) for e in find_benchmark(str(tmp_path), "")] == [("t1/add", "t1")]


# ---------------------------------------------------------------- training


def test_training_on_a_directory_holds_tasks_out_and_a_resumed_run_meets_the_same(tmp_path):
    from atrl_ms.config import Config
    from atrl_ms.train.parts import training_tasks
    from atrl_ms.train.run_dir import RunDir

    folder = tmp_path / "tasks"
    for i in range(6):
        write(folder / f"{i}_add.py", task_text(f"x + {i + 1}", "torch.randn(9, 40)"))
    write(folder / "9_zero.py", task_text("x * 0", "torch.randn(9, 40)"))
    config = Config(tasks={"suite": str(folder)}, output_dir=str(tmp_path / "runs"))
    run = RunDir.create(config)
    train, held_out = training_tasks(config, run)
    assert [t.name for t in held_out] == ["0_add", "5_add"] and all(t.held_out for t in held_out)
    assert [t.name for t in train] == ["1_add", "2_add", "3_add", "4_add"]
    write(folder / "0_more.py", task_text("x + 7", "torch.randn(9, 40)"))
    assert training_tasks(config, run) == (train, held_out)
    (tmp_path / "one").mkdir()
    write(tmp_path / "one" / "a.py", task_text("x * 0", "torch.randn(9, 40)"))
    alone = Config(tasks={"suite": str(tmp_path / "one")}, output_dir=str(tmp_path / "runs"))
    with pytest.raises(UserError, match="0 of 1 tasks can be used"):
        training_tasks(alone, RunDir.create(alone))


def test_demonstrations_of_a_benchmark_are_refused(tmp_path):
    from atrl_ms.config import Config
    from atrl_ms.train.warm_start import warm_start

    with pytest.raises(UserError, match="built-in suite only"):
        warm_start(Config(tasks={"suite": "kernelbench"}), tmp_path / "run")
