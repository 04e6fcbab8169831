"""Where the Ascend toolchain lies, which versions there are, and what the targets look like.

Nothing here needs a network or an NPU. Versions: docs/toolchain.md; figures per target: `--target` tables of
bishengir-compile (AI_CORE_COUNT and friends in the header of every HIVM module it writes).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from atrl_ms.errors import UserError

DEFAULT_ARCH = "Ascend910B4"
DEFAULT_CANN = "9.0.0"

# Values of --cann -> release of ascendnpu-ir. For CANN 9.0.0 the release was told apart by two kernels that real
# devices refused with exactly the overflow that 1.1.0 reports; the others are only known by their own names.
COMPILER_OF_CANN = {
    "9.0.0": "1.1.0",
    "ascendnpu-ir-1.0.0": "1.0.0",
    "ascendnpu-ir-1.1.0": "1.1.0",
    "ascendnpu-ir-1.2.0": "1.2.0",
}


@dataclass(frozen=True)
class Device:
    """What kernels and launch checks ask of a target: core counts and memory sizes in bytes."""

    arch: str
    cube_cores: int
    vector_cores: int
    hbm: int
    l2: int
    ub: int = 192 * 1024
    l1: int = 512 * 1024
    l0a: int = 64 * 1024
    l0b: int = 64 * 1024
    l0c: int = 128 * 1024
    max_grid: int = 65535


def _devices() -> dict[str, Device]:
    gib, mib = 1 << 30, 1 << 20
    table = {
        # name: (cube cores, HBM GiB, L2 MiB)
        "Ascend910B1": (24, 64, 192),
        "Ascend910B2": (24, 64, 192),
        "Ascend910B2C": (24, 64, 192),
        "Ascend910B3": (20, 64, 192),
        "Ascend910B4": (20, 32, 96),
        "Ascend910B4-1": (20, 64, 168),
        "Ascend910_9362": (20, 32, 168),
        "Ascend910_9372": (20, 64, 192),
        "Ascend910_9381": (24, 64, 192),
        "Ascend910_9382": (24, 64, 192),
        "Ascend910_9391": (24, 64, 192),
        "Ascend910_9392": (24, 64, 192),
    }
    return {name: Device(name, cube, 2 * cube, hbm * gib, l2 * mib) for name, (cube, hbm, l2) in table.items()}


DEVICES = _devices()


def device(arch: str) -> Device:
    """Figures of a target.

    Raises:
        UserError: an unknown name; the message lists the known ones.
    """
    if arch not in DEVICES:
        raise UserError(f"--arch {arch}: unknown target; known: {', '.join(DEVICES)}")
    return DEVICES[arch]


def compiler_version(cann: str) -> str:
    """Release of ascendnpu-ir that stands for a CANN release.

    Raises:
        UserError: an unknown release; the message lists the known ones.
    """
    if cann not in COMPILER_OF_CANN:
        raise UserError(f"--cann {cann}: unknown release; known: {', '.join(COMPILER_OF_CANN)}")
    return COMPILER_OF_CANN[cann]


# Print the final module on stderr, write the memory plan beside the output.
REPORTING_FLAGS = ("--mlir-print-ir-after=convert-hivm-to-std", "--enable-memory-display")


def prints_module(cann: str) -> bool:
    """Whether a compiler release knows `REPORTING_FLAGS`; 1.0.0 only gives a verdict."""
    return compiler_version(cann) != "1.0.0"


def cache_root() -> Path:
    """The cache directory: ATRL_CACHE, else ~/.cache/atrl_ms."""
    return Path(os.environ.get("ATRL_CACHE") or Path.home() / ".cache" / "atrl_ms")


def compiler_directory(version: str) -> Path:
    """Where a release that is not the environment's own is installed side by side."""
    return cache_root() / "compilers" / f"ascendnpu-ir-{version}"


def install_hint(version: str) -> str:
    """The one command that installs a compiler release side by side."""
    return f"pip install --no-deps --target {compiler_directory(version)} ascendnpu-ir=={version}"


@functools.lru_cache
def _package_directory(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


@functools.lru_cache
def _installed_version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


class ToolMissing(UserError):
    """A program of the toolchain is not installed; the message says what is lost and how to get it."""


def bishengir(program: str, cann: str) -> Path:
    """Path of `bishengir-compile` or `bishengir-opt` for a CANN release.

    Raises:
        ToolMissing: that release of the compiler is not installed.
        UserError: unknown CANN release.
    """
    version = compiler_version(cann)
    candidates = [compiler_directory(version) / "ascendnpuir" / "bin" / program]
    package = _package_directory("ascendnpuir")
    if package is not None and _installed_version("ascendnpu-ir") == version:
        candidates.insert(0, package / "bin" / program)
    for path in candidates:
        if os.access(path, os.X_OK):
            return path
    compiling = program == "bishengir-compile"
    lost = "no kernel can be compiled for Ascend" if compiling else "no native execution on the CPU"
    raise ToolMissing(
        f"{program} {version} (for CANN {cann}) is not installed: {lost}; install it with `{install_hint(version)}`"
    )


def bishengir_opt() -> Path:
    """`bishengir-opt` of any installed release: the native path only uses upstream passes.

    Raises:
        ToolMissing: no release is installed.
    """
    last: ToolMissing | None = None
    for cann in sorted(COMPILER_OF_CANN, key=lambda name: name != DEFAULT_CANN):
        try:
            return bishengir("bishengir-opt", cann)
        except ToolMissing as error:
            last = last or error
    assert last is not None
    raise last


def adapter_opt() -> Path:
    """`triton-adapter-opt`, which triton-ascend bundles.

    Raises:
        ToolMissing: triton-ascend is not installed.
    """
    package = _package_directory("triton")
    path = package / "backends" / "ascend" / "triton-adapter-opt" if package else None
    if path is None or not os.access(path, os.X_OK):
        raise ToolMissing(
            "triton-adapter-opt is not installed: no kernel can be lowered for Ascend; "
            "install triton-ascend (and no upstream triton beside it)"
        )
    return path


@functools.lru_cache
def tool_versions(cann: str) -> str:
    """Versions that decide a compile verdict, part of every cache key and of every result."""
    return f"triton-ascend {_installed_version('triton-ascend')}, ascendnpu-ir {compiler_version(cann)}"


def clean_environment() -> dict[str, str]:
    """Environment for the compilers: nothing that changes their output, one thread.

    PATH is kept, because a machine with CANN provides `hivmc` there.
    """
    keep = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASCEND_HOME_PATH")
    return {name: os.environ[name] for name in keep if name in os.environ} | {"LC_ALL": "C"}


def has_hivmc() -> bool:
    """Whether CANN's last compiler step is on this machine."""
    return shutil.which("hivmc") is not None


class Cache:
    """Content-addressed files under `cache_root()/<kind>`, safe across processes (temporary file, then rename).

    A cache that cannot be written (read-only file system, full disk) is not an error: results are only recomputed.
    """

    def __init__(self, kind: str):
        self.directory = cache_root() / kind

    @staticmethod
    def key(*parts: str | bytes) -> str:
        """SHA-256 over the parts, each with its length so that no two lists collide."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / key

    def get(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except OSError:
            return None

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        temporary = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as file:
                temporary = file.name
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)


KERNEL_NAME_LENGTH = 49  # CANN's limit; triton-ascend keeps the end of a longer name


def device_kernel_name(name: str) -> str:
    """The name under which the device and its profiler know a kernel."""
    return name[-KERNEL_NAME_LENGTH:]


def check_launch(grid: tuple[int, ...], arch: str = DEFAULT_ARCH) -> str | None:
    """What a device says to a launch of this grid: None if it accepts it, else its error text with the remedy.

    An empty grid is accepted and launches nothing.
    """
    limit = device(arch).max_grid
    if not 1 <= len(grid) <= 3:
        return f"grid must have 1 to 3 dimensions, got {len(grid)}"
    for axis, size in zip("xyz", grid, strict=False):
        if isinstance(size, bool) or not isinstance(size, int):
            return f"grid dimension {axis} must be an integer, got {type(size).__name__}"
        if size < 0:
            return f"grid dimension {axis} must not be negative, got {size}"
    total = 1
    for size in grid:
        total *= size
    if total == 0:
        return None
    remedy = "launch fewer programs (about the number of cores) and loop over the blocks inside the kernel"
    for axis, size in zip("xyz", grid, strict=False):
        if size > limit:
            return f"coreDim={size} (grid {axis}) can't be greater than UINT16_MAX ({limit}): {remedy}"
    if total > limit:
        shape = " x ".join(map(str, grid))
        return f"coreDim={total} ({shape} programs) can't be greater than UINT16_MAX ({limit}): {remedy}"
    return None
