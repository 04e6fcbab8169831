"""Where kernels run: what an NPU needs, which device is chosen, and whom a device's error blames. No torch here."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from typing import Literal

from atrl_ms.errors import UserError

# ACL codes that a kernel causes; every other one (507033: device open, ...) is the machine's fault.
KERNEL_FAULTS = {
    "507034": "vector core timeout (endless loop?)",
    "507035": "vector core exception (an access outside of memory?)",
    "507014": "AI core timeout (endless loop?)",
    "507015": "AI core exception (an access outside of memory?)",
}


def missing() -> list[str]:
    """What this machine lacks to run kernels on an NPU; empty if nothing."""
    lacking = []
    if not any(Path("/dev").glob("davinci[0-9]*")):
        lacking.append("no device (/dev/davinci*)")
    if importlib.util.find_spec("torch_npu") is None:
        lacking.append("torch_npu is not installed")
    if shutil.which("hivmc") is None:
        lacking.append("CANN's hivmc is not on PATH (source its set_env.sh)")
    return lacking


def choose(wanted: str, lacking: list[str]) -> Literal["cpu", "npu"]:
    """Where kernels run.

    Args:
        wanted: "auto", "cpu" or "npu".
        lacking: what `missing` found.

    Raises:
        UserError: an NPU is asked for and cannot be used.
    """
    if wanted == "npu" and lacking:
        raise UserError(f"--device npu: {'; '.join(lacking)}; use --device cpu to run kernels natively on this CPU")
    return "npu" if wanted != "cpu" and not lacking else "cpu"


def kernel_fault(message: str) -> str:
    """The kernel's own fault in a device error, "" if the machine is to blame."""
    codes = re.findall(r"\b(5\d{5})\b", message)
    return next((f"{KERNEL_FAULTS[code]}, ACL {code}" for code in codes if code in KERNEL_FAULTS), "")
