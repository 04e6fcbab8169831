"""What a launch plan must know of the machine: addresses, ports, NPUs, the platform's rank table."""

from __future__ import annotations

import glob
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from atrl_ms.launch.plan import Machine

RANK_TABLE = "/user/config/jobstart_hccl.json"  # where ModelArts puts it


def this_machine(environment: Mapping[str, str] = os.environ) -> Machine:
    """Look at the machine."""
    path = Path(environment.get("RANK_TABLE_FILE") or RANK_TABLE)
    on_modelarts = any(name in environment for name in ("MA_NUM_HOSTS", "MA_NUM_GPUS", "MA_JOB_DIR"))
    return Machine(
        resolve=resolve,
        port_in_use=port_in_use,
        addresses=own_addresses(),
        npus=sum(bool(re.fullmatch(r"/dev/davinci\d+", name)) for name in glob.glob("/dev/davinci*")),
        rank_table=path.read_text() if on_modelarts and path.is_file() else None,
    )


def resolve(host: str) -> str | None:
    """The address of a host, IPv4 if it has one."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    return str(min(found, key=lambda item: item[0] != socket.AF_INET)[4][0]) if found else None


def port_in_use(port: int) -> bool:
    """Whether a server on all interfaces could not listen there."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("", port))
        except OSError:
            return True
    return False


def own_addresses() -> frozenset[str]:
    """Names and addresses under which others know this machine."""
    names = {socket.gethostname(), socket.getfqdn()}
    names |= {address for name in names if (address := resolve(name))}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))  # sends nothing; asks the kernel which interface leads out
            names.add(probe.getsockname()[0])
        except OSError:
            pass
    return frozenset(names)
