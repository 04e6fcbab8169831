"""Score of a verdict: the reward ladder as a pure function."""

from __future__ import annotations

import math

from sandbox.options import Ladder


def score(verdict: str, *, reached: str, passed: int, total: int, speedup: float | None, ladder: Ladder) -> float:
    """u in [0, 1], bounded and monotone in what was achieved.

    Args:
        reached: last stage that ended well: "", "static", "compile" or "execute".
        passed, total: correctness cases.
        speedup: eager time divided by kernel time, None where nothing was profiled.
    """
    if verdict in ("cheat", "infrastructure_error") or not reached:
        return 0.0
    if verdict == "pass":
        if speedup is None or speedup <= 0:
            return ladder.correct
        share = math.log2(speedup / ladder.slowest) / math.log2(ladder.fastest / ladder.slowest)
        return ladder.correct + (1 - ladder.correct) * min(1.0, max(0.0, share))
    if reached == "static":
        return ladder.static
    return ladder.compiled + ladder.correct_share * (passed / total if total else 0.0)
