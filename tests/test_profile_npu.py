"""Measured times: every row of the window counts, and odd files are named instead of guessed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sandbox.profile import npu

HEADER = (
    "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_ratio,aic_mte2_ratio,"
    "aiv_time(us),aiv_total_cycles,aiv_vec_ratio,aiv_scalar_ratio,aiv_mte2_ratio,aiv_mte3_ratio,cube_utilization(%)"
)


def row(name: str, start: float, duration: str, vec: str = "0.25", kind: str = "AI_VECTOR_CORE") -> str:
    shapes = '"""64,128;64,128"""'
    return (
        f"1,0,4294967295,77,2,{name},{name},dynamic,{kind},{start:.3f}\t,{duration},1.2,40,0,NO,{shapes},FLOAT;FLOAT,"
        f'ND;ND,"""64,128""",FLOAT,ND,N/A,0,0,0,0,{duration},1000,{vec},0.3,0.2,0.1,0'
    )


def write(folder: Path, rows: list[str], header: str = HEADER) -> Path:
    path = folder / "kernel_details.csv"
    path.write_text("\ufeff" + "\n".join([header, *rows]) + "\n")
    return path


def test_a_kernel_launched_several_times_per_call_counts_each_time(tmp_path: Path) -> None:
    rows = []
    for call in range(4):
        rows += [row("split_k", 100 * call + i, str(10.0 + call)) for i in range(3)]
        rows.append(row("reduce", 100 * call + 50, "2.5"))
    measured = npu.summarise(npu.kernel_details(write(tmp_path, rows)), calls=4)
    assert measured.us == pytest.approx((3 * (10 + 11 + 12 + 13) + 4 * 2.5) / 4)
    assert measured.launches == {"split_k": 3.0, "reduce": 1.0}
    assert measured.per_kernel["split_k"] == pytest.approx(3 * 11.5)
    assert measured.median_us == pytest.approx((3 * 11 + 3 * 12) / 2 + 2.5)
    assert measured.spread_us > 0
    assert not measured.notes
    assert measured.ratios["aiv_vec_ratio"] == pytest.approx(0.25)


def test_rows_in_any_order_are_assigned_to_calls_by_time(tmp_path: Path) -> None:
    rows = [row("k", 10.0 * i, str(1.0 + i)) for i in range(6)]
    forward = npu.summarise(npu.kernel_details(write(tmp_path, rows)), calls=3)
    backward = npu.summarise(npu.kernel_details(write(tmp_path, rows[::-1])), calls=3)
    assert forward == backward
    assert forward.median_us == pytest.approx(3 + 4)


def test_missing_rows_are_reported_and_do_not_change_the_division(tmp_path: Path) -> None:
    rows = [row("k", 10.0 * i, "2.0") for i in range(7)]
    measured = npu.summarise(npu.kernel_details(write(tmp_path, rows)), calls=4)
    assert measured.us == pytest.approx(14.0 / 4)
    assert measured.launches["k"] == pytest.approx(7 / 4)
    assert math.isnan(measured.spread_us)
    assert "k has 7 rows for 4 calls" in measured.notes[0]


def test_rows_without_a_duration_are_left_out(tmp_path: Path) -> None:
    rows = [row("k", 0.0, "2.0"), row("k", 1.0, "N/A"), row("", 2.0, "3.0"), "garbage", row("k", 3.0, "4.0")]
    found = npu.kernel_details(write(tmp_path, rows))
    assert [r.duration_us for r in found] == [2.0, 4.0]


@pytest.mark.parametrize("content", ["", HEADER + "\n", "\n\n"])
def test_empty_output_says_what_to_do(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kernel_details.csv"
    path.write_text(content)
    with pytest.raises(npu.NoRecords, match="active window"):
        npu.kernel_details(path)


def test_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(npu.NoRecords, match="ProfilerLevel"):
        npu.kernel_details(tmp_path / "kernel_details.csv")


def test_newer_column_names(tmp_path: Path) -> None:
    header = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num,aiv_vec_ratio"
    found = npu.kernel_details(write(tmp_path, ["0,k,k,AI_VECTOR_CORE,1.0,5.5,0.1,20,0.75"], header))
    assert (found[0].blocks, found[0].duration_us, found[0].ratios) == (20, 5.5, {"aiv_vec_ratio": 0.75})


def test_an_l2_flush_is_taken_out_and_a_fill_of_the_candidate_stays(tmp_path: Path) -> None:
    rows = []
    for call in range(3):
        executed = (("ZerosLike", "160.0"), ("Fill", "1.5"), ("k", "8.0"))
        rows += [row(name, 100 * call + i, duration) for i, (name, duration) in enumerate(executed)]
    found = npu.kernel_details(write(tmp_path, rows))
    assert npu.summarise(found, calls=3, flush=True).us == pytest.approx(9.5)
    assert npu.summarise(found, calls=3).us == pytest.approx(169.5)


def test_msprof_op_directories(tmp_path: Path) -> None:
    for number, (name, duration) in enumerate([("softmax_k", "12.5"), ("other", "3.25")]):
        folder = tmp_path / f"OPPROF_2026{number}_ABC" / name / "0"
        folder.mkdir(parents=True)
        (folder / "OpBasicInfo.csv").write_text(
            "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq\n"
            f"{name},vector,{duration},40,NA,0,1234,1650,1650\n"
        )
        (folder / "PipeUtilization.csv").write_text(
            "block_id,sub_block_id,aic_time(us),aiv_time(us),aiv_vec_ratio,aiv_mte2_ratio,aic_mac_ratio\n"
            "0,vector0,NA,11.0,0.5,0.25,NA\n1,vector0,NA,12.0,0.25,0.75,NA\n"
        )
    rows = npu.msprof_op(tmp_path)
    assert [(r.name, r.duration_us, r.blocks) for r in rows] == [("softmax_k", 12.5, 40), ("other", 3.25, 40)]
    assert rows[0].ratios == {"aiv_vec_ratio": 0.375, "aiv_mte2_ratio": 0.5}
    assert npu.summarise(rows, calls=1).us == pytest.approx(15.75)


def test_msprof_op_without_output(tmp_path: Path) -> None:
    (tmp_path / "OPPROF_1").mkdir()
    (tmp_path / "OPPROF_1" / "OpBasicInfo.csv").write_text("Op Name,Task Duration(us)\n")
    with pytest.raises(npu.NoRecords, match="OpBasicInfo"):
        npu.msprof_op(tmp_path)


def test_calls_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        npu.summarise([], calls=0)
