"""One trusted worker process: receives jobs over a socket, judges them one at a time.

`python -m sandbox.worker FD` is started by the pool. It ends when the pool closes its end.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox import isolation, wire
from sandbox.options import Options


def main() -> None:
    """Serve jobs until the socket closes."""
    sock = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the pool, and that ends the workers
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    header, _ = wire.receive(sock)
    options = Options.from_json(header["options"])
    judge = None
    try:
        judge = _start(options)
        walls = judge.walls
        wire.send(sock, {"ready": True, "pid": os.getpid(), "losses": walls.losses()})
    except UserError as error:
        wire.send(sock, {"user_error": str(error)})
        return
    except Exception as error:
        wire.send(sock, {"broken": f"{type(error).__name__}: {error}"})
        return
    try:
        while True:
            job, _ = wire.receive(sock)
            wire.send(sock, _judge(judge, job))
    except (wire.WireError, OSError):
        pass  # the pool is gone
    finally:
        judge.close()


def _start(options: Options) -> Any:
    """The judge; its zygote imports torch and triton while this process imports torch."""
    walls = isolation.require(options.unisolated, frozenset(options.hide))
    from sandbox.toolchain import cache_root
    from sandbox.zygote import Zygote

    cache = cache_root()
    cache.mkdir(parents=True, exist_ok=True)
    zygote = Zygote(walls, cache=str(cache), npu=options.device == "npu")
    try:
        from sandbox.judge import LocalJudge

        return LocalJudge(options, walls, zygote)
    except BaseException:
        zygote.close()
        raise


def _judge(judge: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Answer one job: feedback, or problems of a task, or a sign of life, or the user's mistake, or what broke."""
    if job.get("health"):
        return {"healthy": True}
    try:
        task = Task(job["name"], job["source"], directory=job.get("directory"))
        if job.get("check"):
            from sandbox.admission import check

            return {"problems": check(task, job["seed"])}
        return {"feedback": judge.verify(task, job["candidate"], job["seed"]).to_json()}
    except UserError as error:
        return {"user_error": str(error)}
    except Exception as error:  # a fault of the judge is the machine's, never the kernel's
        import traceback

        where = traceback.extract_tb(error.__traceback__)[-1]
        return {"broken": f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"}


if __name__ == "__main__":
    main()
