"""Walls around a process that runs something hostile: Linux namespaces, Landlock, seccomp and resource limits.

Two layers. The outer one (`wrap`) starts a whole zygote under bubblewrap: no network, no view of other processes, a
read-only file system that holds only what Python and the compilers need. The inner one (`enter`) is taken by every
evaluation's own process just after the fork: an own PID namespace (killing its first process kills all), a private
scratch file system with a size limit, resource limits, and a system-call filter. Where bubblewrap is missing, Landlock
and the filter do what they can and `losses` says what is lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import shutil
import struct
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from atrl_ms.errors import UserError

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET, CLONE_THREAD = 0x20000000, 0x40000000, 0x00010000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 2, 4, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
# Where an evaluation may write, inside bubblewrap. Not /tmp: the project itself, or its cache, may lie there.
SCRATCH = "/scratch"

LANDLOCK_READ = 0b1101  # execute, read a file, list a directory

# System call numbers of what an evaluation has no business to do: sockets, tracing, mounting, keys, kernel modules.
_DENIED = {
    "x86_64": {
        "socket": 41,
        "ptrace": 101,
        "mount": 165,
        "umount2": 166,
        "unshare": 272,
        "setns": 308,
        "bpf": 321,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "keyctl": 250,
        "add_key": 248,
        "userfaultfd": 323,
        "perf_event_open": 298,
        "io_uring_setup": 425,
        "kexec_load": 246,
        "init_module": 175,
    },
    "aarch64": {
        "socket": 198,
        "ptrace": 117,
        "mount": 40,
        "umount2": 39,
        "unshare": 97,
        "setns": 268,
        "bpf": 280,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "keyctl": 219,
        "add_key": 217,
        "userfaultfd": 282,
        "perf_event_open": 241,
        "io_uring_setup": 425,
        "kexec_load": 104,
        "init_module": 105,
    },
}
_NEW_PROCESS = {"x86_64": {"fork": 57, "vfork": 58}, "aarch64": {}}
# Without a process namespace, signals would reach the sandbox's own processes.
_SIGNALS = {
    "x86_64": {"kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "pidfd_send_signal": 424},
    "aarch64": {"kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "pidfd_send_signal": 424},
}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Limits:
    """What one evaluation may use. `memory` is address space beyond what the zygote already holds."""

    seconds: float = 20.0
    memory: int = 3 << 30
    scratch: int = 64 << 20
    files: int = 256
    processes: int = 64


@dataclass(frozen=True)
class Walls:
    """Which kinds of isolation this machine offers."""

    bwrap: str | None
    landlock: int  # ABI version, 0 if absent
    namespaces: bool
    seccomp: bool

    @property
    def enough(self) -> bool:
        """A file system wall and no network: bubblewrap, or Landlock with the system-call filter."""
        return self.bwrap is not None or (self.landlock > 0 and (self.seccomp or self.namespaces))

    @property
    def name(self) -> str:
        """For reports."""
        return "bubblewrap" if self.bwrap else ("landlock" if self.enough else "none")

    def losses(self) -> list[str]:
        """One line for every wall that is missing, saying what that costs."""
        lost = []
        if self.bwrap is None:
            lost.append(
                "bubblewrap is missing (package bubblewrap): candidates can see which processes run and read files"
                " that Landlock leaves readable; install it for full isolation"
            )
        if not self.landlock and self.bwrap is None:
            lost.append("Landlock is missing (needs Linux 5.13): no read-only file system without bubblewrap")
        if not self.namespaces:
            lost.append("user namespaces are off: no private process table and no size limit for the scratch directory")
        if not self.seccomp:
            lost.append(f"no system-call filter for {platform.machine()}: process and socket limits rest on namespaces")
        return lost


def probe(*, bwrap: str | None = None, hide: frozenset[str] = frozenset()) -> Walls:
    """Find out what works here by trying it. `hide` names walls to treat as absent ("bwrap", "landlock" ...)."""
    path = None if "bwrap" in hide else (bwrap or shutil.which("bwrap"))
    if path is not None:
        trial = [path, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"]
        try:
            if subprocess.run(trial, capture_output=True, timeout=20, check=False).returncode != 0:
                path = None
        except (OSError, subprocess.TimeoutExpired):
            path = None
    abi = 0
    if "landlock" not in hide:
        abi = max(0, _libc.syscall(SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1))
    code = f"import ctypes,sys;sys.exit(ctypes.CDLL(None).unshare({CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS})!=0)"
    namespaces = "namespaces" not in hide and (
        subprocess.run([sys.executable, "-S", "-c", code], check=False, capture_output=True).returncode == 0
    )
    return Walls(path, abi, namespaces, "seccomp" not in hide and platform.machine() in _CLONE)


def require(unisolated: bool, hide: frozenset[str] = frozenset()) -> Walls:
    """The walls of this machine.

    Raises:
        UserError: they are not enough and nobody allowed to go without.
    """
    walls = probe(hide=hide)
    if not walls.enough and not unisolated:
        raise UserError(
            "refusing to run candidates without isolation: "
            + "; ".join(walls.losses())
            + ". Install bubblewrap, or set ATRL_UNISOLATED=1 to take the risk"
        )
    return walls


def readable_paths() -> list[str]:
    """What Python, torch, triton and the compilers read. Everything else of the file system stays out of sight."""
    here = Path(__file__).resolve().parent
    paths = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", sys.prefix, sys.base_prefix, str(here)]
    paths += [str(here.parent / "atrl_ms" / name) for name in ("__init__.py", "types.py", "errors.py", "config.py")]
    paths += [sysconfig.get_paths()["purelib"]]
    paths += [p for p in (os.environ.get("ASCEND_HOME_PATH"),) if p]
    return list(dict.fromkeys(p for p in paths if os.path.exists(p)))


def wrap(command: list[str], walls: Walls, *, writable: list[str], hidden: list[str], npu: bool = False) -> list[str]:
    """`command` under bubblewrap, or unchanged where there is none. `hidden` directories appear empty."""
    if walls.bwrap is None:
        return command
    out = [
        walls.bwrap,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--unshare-user",
        "--uid",
        "1000",
        "--gid",
        "1000",
    ]
    out += ["--dev-bind", "/dev", "/dev"] if npu else ["--dev", "/dev"]
    out += ["--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", SCRATCH]
    for path in readable_paths():
        if os.path.islink(path):
            out += ["--symlink", os.readlink(path), path]
        else:
            out += ["--ro-bind", path, path]
    for path in hidden:
        if os.path.isdir(path):
            out += ["--tmpfs", path, "--remount-ro", path]
    for path in writable:
        out += ["--bind", path, path]
    # The root, /tmp and /dev that bubblewrap made are writable memory without a size limit until told otherwise.
    out += ["--remount-ro", "/", "--remount-ro", "/tmp", *([] if npu else ["--remount-ro", "/dev"])]
    return [*out, "--chdir", SCRATCH, *command]


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def new_namespaces() -> None:
    """Own user, process, mount and IPC namespaces; the next fork is process 1 of the new process namespace."""
    uid, gid = os.getuid(), os.getgid()
    _check(_libc.unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    _check(_libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount")


def mount_scratch(path: str, size: int) -> None:
    """A private file system in memory, of at most `size` bytes and 4,096 files."""
    options = f"size={size},nr_inodes=4096,mode=0777".encode()
    _check(_libc.mount(b"tmpfs", path.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options), f"scratch on {path}")


def apply_limits(limits: Limits) -> None:
    """Resource limits of the calling process and its children."""
    with open("/proc/self/statm") as statm:
        held = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    cpu = int(limits.seconds) + 2
    for which, value in (
        (resource.RLIMIT_AS, held + limits.memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, limits.scratch),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_NPROC, limits.processes),
    ):
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))


def forbid_writes(writable: list[str], readable: list[str] | None = None) -> None:
    """Landlock: from now on this process may write only below `writable` (and read only below `readable`)."""
    abi = _libc.syscall(SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if abi <= 0:
        raise OSError(errno.ENOSYS, "Landlock is not available")
    every = (1 << (13 + (abi >= 2) + (abi >= 3) + (abi >= 5))) - 1
    handled = every if readable is not None else every & ~LANDLOCK_READ
    attr = struct.pack("=QQ", handled, 3 if abi >= 4 else 0)  # network: bind and connect denied
    fd = _libc.syscall(SYS_LANDLOCK_CREATE_RULESET, attr, ctypes.c_size_t(16 if abi >= 4 else 8), 0)
    if fd < 0:
        _check(-1, "Landlock")
    file_only = 0b111 | (1 << 14) | (1 << 15)  # execute, write, read, truncate, ioctl
    for paths, access in ((writable, every), (readable or [], LANDLOCK_READ)):
        for path in paths:
            where = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = access & handled & (every if os.path.isdir(path) else file_only)
            rule = struct.pack("=Qi", allowed, where)
            _check(_libc.syscall(SYS_LANDLOCK_ADD_RULE, fd, 1, rule, 0), f"Landlock rule for {path}")
            os.close(where)
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.syscall(SYS_LANDLOCK_RESTRICT_SELF, fd, 0), "Landlock")
    os.close(fd)


def filter_system_calls(*, allow_processes: bool, allow_signals: bool) -> None:
    """A seccomp filter: sockets, tracing, mounting are refused; new processes and signals unless allowed."""
    machine = platform.machine()

    def op(code: int, jt: int, jf: int, k: int) -> bytes:
        return struct.pack("=HBBI", code, jt, jf, k)

    load, jump_eq, jump_set, answer = 0x20, 0x15, 0x45, 0x06
    deny, allow, nosys = 0x00050000 | errno.EPERM, 0x7FFF0000, 0x00050000 | errno.ENOSYS
    program = [op(load, 0, 0, 4), op(jump_eq, 1, 0, _AUDIT_ARCH[machine]), op(answer, 0, 0, deny), op(load, 0, 0, 0)]
    calls = dict(_DENIED[machine])
    if not allow_processes:
        calls |= _NEW_PROCESS[machine]
    if not allow_signals:
        calls |= _SIGNALS[machine]
    for number in calls.values():
        program += [op(jump_eq, 0, 1, number), op(answer, 0, 0, deny)]
    program += [op(jump_eq, 0, 1, _CLONE3), op(answer, 0, 0, nosys)]  # flags in memory; glibc uses clone
    if allow_processes:
        refused = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS
        program += [op(jump_eq, 0, 3, _CLONE[machine]), op(load, 0, 0, 16), op(jump_set, 0, 1, refused)]
    else:
        program += [op(jump_eq, 0, 3, _CLONE[machine]), op(load, 0, 0, 16), op(jump_set, 1, 0, CLONE_THREAD)]
    program += [op(answer, 0, 0, deny), op(answer, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(program))
    header = struct.pack("=HxxxxxxQ", len(program), ctypes.addressof(code))
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.prctl(PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


def die_with_parent() -> None:
    """SIGKILL for the calling process when its parent ends."""
    _libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)
