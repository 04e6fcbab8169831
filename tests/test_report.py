"""The report: everything promised is in it, works without a network, keeps candidate text from becoming markup."""

import base64
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from session_factory import make_session

from atrl_ms.cli import main
from atrl_ms.config import Config
from atrl_ms.evaluate.charts import Series, line_chart, ticks
from atrl_ms.evaluate.metrics import mean_interval, statistics
from atrl_ms.evaluate.report import CHUNK, write_report
from atrl_ms.evaluate.sessions import write_sessions
from atrl_ms.evaluate.summary import summarise
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Speedup, StepFeedback

HOSTILE = "</script><script>alert(1)</script><b>&"


def make_run(directory, seed=0, steps=4, sessions_per_step=6, **algo):
    config = Config.model_validate({"seed": seed, "output_dir": str(directory), "algo": algo})
    run = RunDir.create(config)
    rng = np.random.default_rng(seed)

    def sessions(count, good):
        made = []
        for i in range(count):
            last = 1.0 if rng.random() < good else 0.15
            session = make_session([[0.0, 0.15], [last]], seed=i)
            session.task = f"family/{i % 3}"
            for event in session.evaluations:
                speedup = Speedup(1.5, "modelled") if event.verdict == "pass" else None
                event.feedback = StepFeedback(event.verdict, (), 0, 1, event.score, speedup, f"said {HOSTILE}", {})
                event.candidate = f"import triton\n# {HOSTILE}\nx = {event.turn}\n"
            made.append(session)
        return made

    records = []
    for step in range(1, steps + 1):
        played = sessions(sessions_per_step, 0.2 + 0.15 * step)
        write_sessions(run.step_sessions(step), played)
        records.append(
            {
                "step": step,
                **statistics(played),
                "groups": {"sampled": 1, "trained": 1},
                "advantage": {"mean": 0.0, "std": 0.5},
                "ratio": 1.0,
                "clipped": 0.0,
                "grad_norm": 0.3,
                "tokens_per_s": 100.0,
                "seconds": {"sample": 2.0, "update": 1.0},
            }
        )
    run.metrics_file.write_text("".join(json.dumps(record) + "\n" for record in records))
    before, after = sessions(12, 0.3), sessions(12, 0.8)
    write_sessions(run.evaluation_sessions("before"), before)
    write_sessions(run.evaluation_sessions("after"), after)
    summarise(run.path, before, after, records)
    return run, records


def unpack(page):
    """Index and sessions as the page's script reads them."""
    index = json.loads(re.search(r'id="index">(.*?)</script>', page, re.S).group(1))
    chunks = re.findall(r'id="chunk\d+">(.*?)</script>', page, re.S)
    sessions = [s for chunk in chunks for s in json.loads(gzip.decompress(base64.b64decode(chunk)))]
    return index, sessions


def test_every_session_is_in_the_page(tmp_path):
    run, _ = make_run(tmp_path, sessions_per_step=25)
    page = write_report([run.path], tmp_path / "r.html").read_text()
    index, sessions = unpack(page)
    assert len(index) == len(sessions) == 4 * 25 + 24
    assert [row[1] for row in index[:12]] == ["before"] * 12 and index[-1][1] == "after"
    for row, session in zip(index, sessions, strict=True):
        assert row[6] == len(session["turns"]) and row[7] == len(session["compactions"]) == 1
        assert row[3] == round(max(turn["score"] for turn in session["turns"]), 4)
        assert session["turns"][0]["feedback"] == f"said {HOSTILE}"


def test_candidate_text_cannot_become_markup(tmp_path):
    run, _ = make_run(tmp_path)
    page = write_report([run.path], tmp_path / "r.html").read_text()
    assert HOSTILE not in page and "alert(1)" not in page


def test_the_page_needs_no_network(tmp_path):
    run, _ = make_run(tmp_path)
    page = write_report([run.path], tmp_path / "r.html").read_text()
    assert not re.findall(r"""(?:src|href)\s*=|url\(|@import|fetch\(|https?://""", page)


def test_curves_show_the_mean_over_seeds_with_its_interval(tmp_path):
    runs, records = zip(*[make_run(tmp_path, seed) for seed in range(3)], strict=True)
    page = write_report([run.path for run in runs], tmp_path / "r.html").read_text()
    assert "(3 seeds)" in page
    from atrl_ms.evaluate.report import arm_series, group_into_arms, load_run

    arms = group_into_arms([load_run(run.path) for run in runs])
    assert len(arms) == 1
    series = arm_series(arms[0], lambda record: record["solve_rate"])
    for step in range(4):
        expected = mean_interval([r[step]["solve_rate"] for r in records])
        assert (series.y[step], series.low[step], series.high[step]) == (expected.value, expected.low, expected.high)


def test_runs_with_other_settings_are_other_arms(tmp_path):
    one, _ = make_run(tmp_path, 0, advantage="atrl")
    two, _ = make_run(tmp_path, 0, advantage="grpo")
    page = write_report([one.path, two.path], tmp_path / "r.html").read_text()
    assert "run (atrl, arm 1)" in page and "run (grpo, arm 2)" in page


def test_modelled_speedups_are_called_modelled(tmp_path):
    run, _ = make_run(tmp_path)
    page = write_report([run.path], tmp_path / "r.html").read_text()
    assert "share with modelled speedup above 1" in page and "measured speedup above 1" not in page
    assert all(t["speedup"]["kind"] == "modelled" for s in unpack(page)[1] for t in s["turns"] if t["speedup"])


def test_too_many_sessions_are_thinned_evenly_and_said(tmp_path):
    run, _ = make_run(tmp_path, sessions_per_step=30)
    page = write_report([run.path], tmp_path / "r.html", session_limit=50).read_text()
    index, sessions = unpack(page)
    assert len(index) == len(sessions) == 48 and {row[1] for row in index} >= {"1", "2", "3", "4", "before", "after"}
    assert f"{144 - 48} more were left out" in page
    assert len(re.findall(r'id="chunk\d+"', page)) == -(-48 // CHUNK)


def test_wrong_directories_are_one_line_and_exit_code_2(tmp_path, capsys):
    assert main(["report", str(tmp_path / "nothing")]) == 2
    run = RunDir.create(Config(output_dir=str(tmp_path)))
    assert main(["report", str(run.path)]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 2 and "config.yaml" in lines[0] and "no finished step" in lines[1]


@pytest.mark.parametrize("low, high", [(0, 1), (0.0001, 0.00013), (-3, 12000), (0, 16)])
def test_ticks_are_round_and_inside(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 7 and all(low - 1e-9 <= t <= high + 1e-9 for t in found)


def test_a_chart_keeps_its_curve_inside_the_frame():
    x = np.arange(5.0)
    svg = line_chart("t", [Series("a", x, np.array([0.0, 2.0, -1.0, 0.5, 0.5]), x - 9, x + 9)], (0, 1))
    numbers = [float(n) for p in re.findall(r'points="([^"]*)"', svg) for n in re.findall(r"-?[\d.]+", p)]
    assert all(0 <= n <= 460 for n in numbers[::2]) and all(0 <= n <= 230 for n in numbers[1::2])


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_viewer_shows_diffs_feedback_and_compactions(tmp_path):
    run, _ = make_run(tmp_path, sessions_per_step=25)
    page = write_report([run.path], tmp_path / "r.html")
    index, sessions = unpack(page.read_text())
    wanted = CHUNK + 3  # not in the first chunk
    command = ["node", str(Path(__file__).with_name("report_viewer.mjs")), str(page), str(wanted)]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert shown["turns"] == len(sessions[wanted]["turns"]) == 3 and shown["compactions"] == 1
    # each kernel differs from the one before in one line of four
    assert shown["added"] == shown["removed"] == 2 and shown["kept"] == 4 + 3 + 3
    assert f"said {HOSTILE}" in shown["text"] and "compaction (hybrid): 100 to 40 tokens" in shown["text"]
    passing = sum(row[5] == "pass" for row in index)
    assert f"{passing} sessions" in shown["passing"] and shown["rows"] == min(100, passing)


CHROMIUM = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_page_draws_curves_and_a_session_in_chromium(tmp_path):
    run, _ = make_run(tmp_path)
    page = write_report([run.path], tmp_path / "r.html")
    flags = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000"]
    dom = subprocess.run([*flags, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120).stdout
    assert dom.count("<polyline") > 6 and dom.count("<tr") > 20
    assert 'class="turn"' in dom and "compaction (hybrid)" in dom and 'class="add">' in dom
    shot = tmp_path / "shot.png"
    subprocess.run(
        [*flags, f"--screenshot={shot}", "--window-size=1400,2600", page.as_uri()],
        timeout=120,
        check=True,
        capture_output=True,
    )
    from matplotlib.image import imread

    pixels = imread(shot)
    assert pixels.shape[1] == 1400 and (pixels[..., :3].min(axis=2) < 0.8).mean() > 0.01
