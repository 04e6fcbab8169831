"""What holds a kernel back, in one line with numbers, and the one hint that follows from it."""

from __future__ import annotations

from sandbox.profile.kernel import KernelProfile

PIPE_WORDS = {
    "aiv_vec_ratio": "vector unit",
    "aiv_mte2_ratio": "loads (MTE2)",
    "aiv_mte3_ratio": "stores (MTE3)",
    "aiv_scalar_ratio": "scalar unit",
    "aic_mac_ratio": "cube unit",
    "aic_mte1_ratio": "L1 to L0 copies (MTE1)",
    "aic_mte2_ratio": "loads (MTE2)",
    "aic_fixpipe_ratio": "cube output (FIX)",
    "aic_scalar_ratio": "scalar unit of the cube core",
}
HINTS = {
    "dispatch": "start about {cores} programs and loop over the tiles inside the kernel",
    "launch": "the work is smaller than a launch: fuse more work into this kernel",
    "memory": "the memory system is the limit: move fewer bytes (fuse, keep tiles, smaller types)",
    "idle": "only {programs} of {cores} cores have work: use smaller tiles or split another axis",
    "scattered": "elements are fetched one by one: make the last axis contiguous, or load a block and pick from it",
    "scalar": "scalar code dominates: replace per-element loops and integer division by vector operations",
    "small_loads": "loads are small: load larger contiguous tiles",
    "overlap": "loads, compute and stores wait for each other: loop over tiles inside the kernel (multi-buffering)",
    "stores": "many small stores: collect results in a tile and store it once",
    "vector": "vector work dominates: fewer passes over the tile, longer rows, half types where allowed",
    "cube": "the cube is busy: near the limit; larger tiles only help if it is not above 80 %",
    "mte1": "L1 to L0 copies dominate: larger tiles reuse operands more",
    "fix": "cube output dominates: longer K loop per output tile",
    "tiles": "the cube waits: larger tiles (for example 128 x 256 x 64 in half types) and a longer K loop",
    "cross": "cube and vector halves wait for each other: larger tiles, fewer exchanges per program",
}


def bottleneck(profile: KernelProfile) -> tuple[str, str]:
    """(what the time goes to, key of `HINTS`)."""
    if not profile.programs:
        return "empty grid: nothing is launched", "launch"
    us = profile.us
    if profile.bound == "memory":
        moved = profile.read_bytes + profile.written_bytes
        return f"memory bandwidth: {moved / 1e6:.2f} MB need {profile.memory_us:.1f} of {us:.1f} us", "memory"
    if profile.bound == "dispatch":
        return f"handing out {profile.programs} programs takes most of {us:.1f} us", "dispatch"
    if profile.launch_us > 0.6 * us and profile.programs <= profile.cores:
        return f"launch: {profile.launch_us:.1f} of {us:.1f} us", "launch"
    name, value = max(profile.ratios.items(), key=lambda item: item[1])
    what = f"{PIPE_WORDS[name]} busy {100 * value:.0f} % of {us:.1f} us"
    if profile.programs * 2 <= profile.cores and us > 3 * profile.launch_us:
        return f"{profile.programs} programs on {profile.cores} cores; {what}", "idle"
    if "scalar" in name:
        key = "scattered" if profile.scattered > 0.3 else "scalar"
        return what, key
    if value < 0.5:
        if profile.kind == "mixed":
            return f"no unit is busy more than {100 * value:.0f} % ({what})", "cross"
        key = "overlap" if profile.kind == "vector" else "tiles"
        return f"no unit is busy more than {100 * value:.0f} % ({what})", key
    if "mte2" in name:
        return what, "tiles" if name.startswith("aic") else "small_loads"
    keys = {"vec": "vector", "mte3": "stores", "mac": "cube", "mte1": "mte1", "fixpipe": "fix"}
    return what, next(key for part, key in keys.items() if part in name)


def hint(profile: KernelProfile, key: str) -> str:
    return HINTS[key].format(cores=profile.cores, programs=profile.programs)
