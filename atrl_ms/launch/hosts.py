"""Lists of hosts as platforms write them: commas, SLURM's brackets, Huawei's rank tables."""

from __future__ import annotations

import json
import re
from typing import Any

from atrl_ms.errors import UserError


def split_hosts(text: str, origin: str) -> list[str]:
    """["a", "n01", "n02", "n07"] from "a,n[01-02,07]".

    Args:
        origin: where the list comes from, for the message.

    Raises:
        UserError: empty list, broken brackets, a host named twice.
    """
    if text.count("[") != text.count("]"):
        raise UserError(f"{origin} is {text!r}: brackets do not match")
    hosts: list[str] = []
    for part in re.split(r",(?![^\[]*\])", text):
        hosts += expand(part.strip(), text, origin)
    if not hosts or not all(hosts):
        raise UserError(f"{origin} is {text!r}: an entry is empty")
    repeated = sorted({h for h in hosts if hosts.count(h) > 1})
    if repeated:
        raise UserError(f"{origin} is {text!r}: {repeated[0]} is named twice")
    return hosts


def expand(part: str, text: str, origin: str) -> list[str]:
    """The hosts of one entry; ranges keep their leading zeros."""
    match = re.fullmatch(r"([^\[\]]*)\[([^\[\]]*)\](.*)", part)
    if match is None:
        if "[" in part or "]" in part or re.search(r"\s", part):
            raise UserError(f"{origin} is {text!r}: cannot read {part!r}")
        return [part]
    head, ranges, tail = match.groups()
    names = []
    for item in ranges.split(","):
        bounds = re.fullmatch(r"(\d+)(?:-(\d+))?", item.strip())
        if bounds is None or int(bounds[2] or bounds[1]) < int(bounds[1]):
            raise UserError(f"{origin} is {text!r}: cannot read the range {item!r}")
        names += [f"{head}{i:0{len(bounds[1])}d}" for i in range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1)]
    return [host for name in names for host in expand(name + tail, text, origin)]


def read_rank_table(text: str) -> list[tuple[str, list[int]]]:
    """(server, device ids) of each host, from either form that platforms write (server_list or group_list).

    Raises:
        UserError: not JSON, not complete yet, or without servers.
    """
    try:
        table = json.loads(text)
    except ValueError as error:
        raise UserError(f"the rank table is not valid JSON: {error}") from None
    status = table.get("status") if isinstance(table, dict) else None
    if status not in (None, "completed"):
        raise UserError(f"the rank table's status is {status!r}, not 'completed': the platform has not finished it")
    try:
        servers = list(find_servers(table))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"the rank table has an unknown form ({error!r})") from None
    if not servers:
        raise UserError("the rank table names no server")
    return servers


def find_servers(table: Any) -> Any:
    """Each server of a rank table as (address, device ids)."""
    for server in table.get("server_list", []):
        yield server["server_id"], [int(device["device_id"]) for device in server["device"]]
    for group in table.get("group_list", []):
        for server in group["instance_list"]:
            yield server["server_id"], [int(device["device_id"]) for device in server["devices"]]
