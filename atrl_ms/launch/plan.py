"""From a platform's environment to the processes of a data parallel job: a pure function, or one clear UserError.

Known: plain msrun on one or several nodes, ModelArts with a custom image, ModelArts' preset Ascend engine in both run
methods, and SLURM. `make_launch_plan` reads nothing but its arguments; machine.py fills in what only the machine knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from atrl_ms.errors import UserError
from atrl_ms.launch.hosts import read_rank_table, split_hosts

PORT = 8118  # msrun's own default
# The slowest rank of a step may play sessions for an hour while the others wait in a collective.
ENVIRONMENT = {"HCCL_CONNECT_TIMEOUT": "600", "HCCL_EXEC_TIMEOUT": "7200"}


@dataclass(frozen=True)
class Request:
    """What the user said on the command line; empty values are found out."""

    nodes: str = ""  # host list of all nodes, the master first: "a,b" or "node[01-04]"
    node_rank: int | None = None
    workers: int | None = None  # processes of each node
    port: int = PORT
    log_dir: str = "msrun_log"


@dataclass(frozen=True)
class Machine:
    """What only the machine knows."""

    resolve: Callable[[str], str | None]  # host name -> address, None if it has none
    port_in_use: Callable[[int], bool]
    addresses: frozenset[str] = frozenset()  # names and addresses of this machine
    npus: int = 0
    rank_table: str | None = None  # text of the platform's rank table


@dataclass(frozen=True)
class LaunchPlan:
    """Processes of this node.

    `mode` "msrun": start msrun, which starts them. "worker": this process is one of them, started once per NPU by the
    platform; the one of rank 0 also starts the scheduler. "inside": msrun has started this process already.
    """

    source: str
    mode: Literal["msrun", "worker", "inside"]
    worker_num: int
    local_worker_num: int
    node_rank: int
    master_addr: str
    master_port: int
    device_ids: tuple[int, ...]
    log_dir: str
    environment: dict[str, str] = field(default_factory=dict)
    rank: int = -1  # of mode "worker"

    def command(self, python: str, arguments: list[str]) -> list[str]:
        """The command of this node; `arguments` are those of the `atrl` command."""
        program = ["-m", "atrl_ms.cli", *arguments]
        if self.mode != "msrun" or self.worker_num == 1:
            return [python, *program]
        options = {
            "worker_num": self.worker_num,
            "local_worker_num": self.local_worker_num,
            "master_addr": self.master_addr,
            "master_port": self.master_port,
            "node_rank": self.node_rank,
            "log_dir": self.log_dir,
            "join": True,
            "tail_worker_log": 0,
        }
        flags = [f"--{name}={value}" for name, value in options.items()]
        return [python, "-m", "mindspore.parallel.cluster.run", *flags, "python", *program]

    def text(self) -> str:
        """The plan for a reader."""
        devices = ",".join(map(str, self.device_ids)) or "none (CPU)"
        lines = [
            f"platform: {self.source}; mode {self.mode}",
            f"worker_num {self.worker_num}, local_worker_num {self.local_worker_num}, node_rank {self.node_rank}",
            f"master {self.master_addr}:{self.master_port}, devices {devices}, logs in {self.log_dir}",
            *(f"environment: {name}={value}" for name, value in sorted(self.environment.items())),
        ]
        return "\n".join(lines)


def make_launch_plan(environment: Mapping[str, str], machine: Machine, request: Request | None = None) -> LaunchPlan:
    """The plan of this node.

    Raises:
        UserError: the environment lacks something, or says two things that disagree.
    """
    request = request or Request()
    if not 1024 <= request.port <= 65535:
        raise UserError(f"--port {request.port}: must be between 1024 and 65535")
    if request.workers is not None and request.workers < 1:
        raise UserError(f"--workers {request.workers}: must be at least 1")
    if environment.get("MS_ROLE"):
        return inside(environment, request)
    if request.nodes:
        return plain(environment, machine, request)
    if any(environment.get(name) for name in ("VC_WORKER_HOSTS", "MA_NUM_HOSTS", "MA_NUM_GPUS")):
        return modelarts(environment, machine, request)
    if environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NNODES"):
        return slurm(environment, machine, request)
    return finish("this machine", environment, machine, request, ["127.0.0.1"], 0)


def inside(environment: Mapping[str, str], request: Request) -> LaunchPlan:
    """msrun runs already and has said everything."""
    total = number(environment, "MS_WORKER_NUM", least=1)
    local = environment.get("DEVICE_ID", "")
    return LaunchPlan(
        source="started by msrun",
        mode="inside",
        worker_num=total,
        local_worker_num=1,
        node_rank=0,
        master_addr=environment.get("MS_SCHED_HOST", "127.0.0.1"),
        master_port=number(environment, "MS_SCHED_PORT", least=1, default=request.port),
        device_ids=(int(local),) if local.isdigit() else (),
        log_dir=request.log_dir,
    )


def plain(environment: Mapping[str, str], machine: Machine, request: Request) -> LaunchPlan:
    """`--nodes a,b,c`, the same command on each."""
    hosts = split_hosts(request.nodes, "--nodes")
    rank = request.node_rank
    if rank is None:
        here = [i for i, h in enumerate(hosts) if {h, machine.resolve(h)} & machine.addresses]
        if len(hosts) > 1 and len(here) != 1:
            raise UserError(
                f"--nodes {request.nodes}: {'no' if not here else 'more than one'} entry is this machine; "
                "give --node-rank"
            )
        rank = here[0] if here else 0
    return finish("plain msrun", environment, machine, request, hosts, rank)


def modelarts(environment: Mapping[str, str], machine: Machine, request: Request) -> LaunchPlan:
    """A ModelArts job, whose command runs once per node, or once per NPU with the preset engine."""
    count = number(environment, "MA_NUM_HOSTS", least=1, default=1)
    table = read_rank_table(machine.rank_table) if machine.rank_table is not None else []
    listed = environment.get("VC_WORKER_HOSTS", "")
    if listed:
        hosts = split_hosts(listed, "VC_WORKER_HOSTS")
    elif table:
        hosts = [server for server, _ in table]
    elif count == 1:
        hosts = ["127.0.0.1"]
    else:
        raise UserError(
            f"MA_NUM_HOSTS is {count}, but neither VC_WORKER_HOSTS nor a rank table names the hosts; "
            "give --nodes and --node-rank"
        )
    if len(hosts) != count:
        raise UserError(f"MA_NUM_HOSTS is {count}, but {len(hosts)} hosts are named: {','.join(hosts)}")
    if table:
        devices = number(environment, "MA_NUM_GPUS", least=1, default=len(table[0][1]))
        if len(table) != count or any(len(ids) != devices for _, ids in table):
            sizes = "+".join(str(len(ids)) for _, ids in table)
            raise UserError(f"the rank table has {sizes} devices, the job {count} hosts of {devices}: they disagree")
    per_npu = "RANK_ID" in environment or "ASCEND_DEVICE_ID" in environment
    if per_npu and environment.get("MA_RUN_METHOD", "") != "msrun":
        return one_of_many(environment, machine, request, hosts)
    if count > 1:
        rank = number(environment, "VC_TASK_INDEX", least=0) if request.node_rank is None else request.node_rank
    else:
        rank = 0
    return finish("ModelArts, one command per node", environment, machine, request, hosts, rank)


def one_of_many(environment: Mapping[str, str], machine: Machine, request: Request, hosts: list[str]) -> LaunchPlan:
    """The preset engine without MA_RUN_METHOD=msrun: this process is one rank."""
    rank = number(environment, "RANK_ID", least=0)
    local = number(environment, "MA_NUM_GPUS", least=1, default=machine.npus or 1)
    total = number(environment, "RANK_SIZE", least=1, default=local * len(hosts))
    if total != local * len(hosts):
        raise UserError(f"RANK_SIZE is {total}, but the job has {len(hosts)} hosts of {local} NPUs: they disagree")
    if rank >= total:
        raise UserError(f"RANK_ID is {rank}, but the job has only {total} ranks")
    device = environment.get("DEVICE_ID") or environment.get("ASCEND_DEVICE_ID") or str(rank % local)
    if not device.isdigit():
        raise UserError(f"DEVICE_ID is {device!r}: not a number")
    master = master_address(hosts, machine)
    if rank == 0 and machine.port_in_use(request.port):
        raise UserError(port_message(request.port))
    return LaunchPlan(
        source="ModelArts preset engine, one process per NPU",
        mode="worker",
        worker_num=total,
        local_worker_num=local,
        node_rank=rank // local,
        master_addr=master,
        master_port=request.port,
        device_ids=(int(device),),
        log_dir=request.log_dir,
        environment={
            **ENVIRONMENT,
            "MS_ROLE": "MS_WORKER",
            "MS_WORKER_NUM": str(total),
            "MS_SCHED_HOST": master,
            "MS_SCHED_PORT": str(request.port),
            "MS_NODE_ID": str(rank),
            "DEVICE_ID": device,
        },
        rank=rank,
    )


def slurm(environment: Mapping[str, str], machine: Machine, request: Request) -> LaunchPlan:
    """A SLURM job started with one task per node."""
    listed = environment.get("SLURM_JOB_NODELIST", "")
    if not listed:
        raise UserError("SLURM_NNODES is set, but SLURM_JOB_NODELIST is not; give --nodes and --node-rank")
    hosts = split_hosts(listed, "SLURM_JOB_NODELIST")
    count = number(environment, "SLURM_NNODES", least=1, default=len(hosts))
    if count != len(hosts):
        raise UserError(f"SLURM_NNODES is {count}, but SLURM_JOB_NODELIST names {len(hosts)} hosts: {listed}")
    if environment.get("SLURM_LOCALID", "0") != "0":
        raise UserError("several tasks on one node: start with srun --ntasks-per-node=1, msrun starts the others")
    rank = number(environment, "SLURM_NODEID", least=0, default=0 if count == 1 else None)
    return finish("SLURM", environment, machine, request, hosts, rank)


# ---------------------------------------------------------------- common


def finish(
    source: str, environment: Mapping[str, str], machine: Machine, request: Request, hosts: list[str], rank: int
) -> LaunchPlan:
    """Check what all platforms have in common and make the plan for msrun."""
    if not 0 <= rank < len(hosts):
        raise UserError(f"node rank {rank}: the job has the nodes 0 to {len(hosts) - 1} ({','.join(hosts)})")
    devices = visible_devices(environment, machine)
    asked = request.workers or number(environment, "MA_NUM_GPUS", least=1, default=0) or len(devices) or 1
    if devices and asked > len(devices):
        raise UserError(f"{asked} processes, but only {len(devices)} NPUs are visible on this node")
    master = master_address(hosts, machine)
    total = asked * len(hosts)
    if rank == 0 and total > 1 and machine.port_in_use(request.port):
        raise UserError(port_message(request.port))
    used = devices[:asked]
    narrowed = {"ASCEND_RT_VISIBLE_DEVICES": ",".join(map(str, used))} if 0 < len(used) < len(devices) else {}
    return LaunchPlan(
        source=source,
        mode="msrun",
        worker_num=total,
        local_worker_num=asked,
        node_rank=rank,
        master_addr=master,
        master_port=request.port,
        device_ids=tuple(used),
        log_dir=request.log_dir,
        environment={**(ENVIRONMENT if used else {}), **narrowed},
    )


def visible_devices(environment: Mapping[str, str], machine: Machine) -> list[int]:
    """NPUs that this process may use."""
    listed = environment.get("ASCEND_RT_VISIBLE_DEVICES", "")
    if not listed:
        return list(range(machine.npus))
    try:
        ids = [int(part) for part in listed.split(",")]
    except ValueError:
        raise UserError(f"ASCEND_RT_VISIBLE_DEVICES is {listed!r}: not a list of numbers") from None
    if len(set(ids)) != len(ids):
        raise UserError(f"ASCEND_RT_VISIBLE_DEVICES is {listed!r}: a device is named twice")
    return ids


def master_address(hosts: list[str], machine: Machine) -> str:
    """Address of the first host, where the scheduler runs."""
    address = machine.resolve(hosts[0])
    if address is None:
        raise UserError(f"host {hosts[0]} has no address; name the nodes by address with --nodes")
    if len(hosts) > 1 and (address.startswith("127.") or address == "::1"):
        raise UserError(
            f"host {hosts[0]} resolves to {address}, which other nodes cannot reach; name it by its address in --nodes"
        )
    return address


def port_message(port: int) -> str:
    return f"port {port} of the master is in use: another job, or one that did not end; give another with --port"


def number(environment: Mapping[str, str], name: str, *, least: int, default: int | None = None) -> int:
    """An integer from the environment."""
    text = environment.get(name, "")
    if not text:
        if default is None:
            raise UserError(f"{name} is not set; the platform should set it, or give --nodes and --node-rank")
        return default
    try:
        value = int(text)
    except ValueError:
        raise UserError(f"{name} is {text!r}: not a number") from None
    if value < least:
        raise UserError(f"{name} is {value}: must be at least {least}")
    return value
