"""Machine constants: one table per device family, with the source of every number.

Device counts (cores, memory sizes) come from the compiled module itself; what is here are speeds and latencies. The
fitted part is written by scripts/calibrate.py.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from atrl_ms.errors import UserError

CONSTANTS = Path(__file__).parent / "constants"
FAMILIES = {"Ascend910B": "Ascend910B.json", "Ascend910_93": "Ascend910B.json"}


@dataclass(frozen=True)
class Machine:
    """Speeds of one device. Times in cycles of the AI core's clock unless a name says otherwise.

    `source` of each field is in the table file; fields under "fitted" there come from scripts/calibrate.py.
    """

    clock_ghz: float
    # scalar unit
    alu: float  # one scalar instruction
    local_access: float  # scalar access to the unified buffer
    remote_access: float  # single scalar access to global memory
    scattered_access: float  # per element, many elements one after the other
    call: float  # issue of one library routine
    flag: float  # set or wait between pipes
    # vector unit
    vector_start: float  # per dependent step of a routine
    vector_repeat: float  # per 256 bytes and pass
    # transfers from and to global memory, per core
    load_latency: float
    load_issue: float
    load_bytes: float  # bytes per cycle
    load_burst: float  # per separate piece
    load_short_row: float  # more, per row of fewer than 64 bytes
    load_ragged_row: float  # more, per row that is not aligned to 32 bytes
    store_latency: float
    store_issue: float
    store_bytes: float
    store_burst: float
    atomic: float  # factor on a store that adds
    # matrix path
    l0a_bytes: float  # L1 -> L0A, bytes per cycle
    l0b_bytes: float
    l0_issue: float
    mma_start: float
    fix_latency: float
    fix_bytes: float
    # between the cube half and the vector half of a mixed kernel
    cross_latency: float
    # launch
    program_start: float  # per program on its core: arguments, first instruction fetch
    dispatch: float  # serial cost of handing one program to a core
    floor_vector_us: float
    floor_cube_us: float
    floor_mixed_us: float
    # shared memory system
    l2_bytes: float  # capacity
    l2_tbps: float
    hbm_tbps: float

    def with_values(self, values: dict[str, float]) -> Machine:
        return replace(self, **values)

    def to_json(self) -> dict[str, float]:
        return asdict(self)


def table_path(arch: str) -> Path:
    """The table of a device; `UserError` for one without a table."""
    for prefix, name in FAMILIES.items():
        if arch.startswith(prefix):
            return CONSTANTS / name
    raise UserError(f"no machine constants for {arch}; there are tables for {', '.join(FAMILIES)}*")


@functools.cache
def load(arch: str) -> Machine:
    """Constants of a device: fixed values, then fitted ones, then what the variant changes."""
    data = json.loads(table_path(arch).read_text())
    values = {name: entry["value"] for name, entry in data["fixed"].items()}
    values.update(data["fitted"]["values"])
    values.update(data.get("variants", {}).get(arch, {}))
    names = {f.name for f in fields(Machine)}
    if set(values) != names:
        raise UserError(f"{table_path(arch)}: fields differ from Machine: {sorted(set(values) ^ names)}")
    return Machine(**values)
