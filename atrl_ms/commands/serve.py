"""`atrl serve`: the sandbox as a service."""

from __future__ import annotations

import argparse
import os

from atrl_ms.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s, this machine only)")
    parser.add_argument("--port", type=int, default=8321)
    parser.add_argument("--workers", type=int, default=2, help="evaluations at once")
    parser.add_argument("--arch", default="Ascend910B4")
    parser.add_argument("--cann", default="9.0.0")
    parser.add_argument("--device", choices=("auto", "cpu", "npu"), default="auto")
    parser.add_argument("--timeout", type=float, default=20.0, metavar="S", help="seconds for one evaluation")
    parser.add_argument("--max-bytes", type=int, default=1 << 20, help="size limit of a request")
    parser.add_argument("--max-queue", type=int, default=256, help="evaluations that may wait")


def run(args: argparse.Namespace) -> int:
    import uvicorn

    from sandbox.options import Options
    from sandbox.pool import SandboxPool
    from sandbox.server import create_app, is_loopback
    from sandbox.toolchain import compiler_version, device

    token = os.environ.get("ATRL_TOKEN", "")
    if not is_loopback(args.host) and not token:
        raise UserError(
            f"--host {args.host}: others can reach this address; set ATRL_TOKEN to the token that clients must send"
        )
    if args.workers < 1 or args.timeout <= 0 or args.max_bytes < 1 or args.max_queue < 1:
        raise UserError("--workers, --timeout, --max-bytes and --max-queue must be positive")
    device(args.arch)
    compiler_version(args.cann)
    options = Options(arch=args.arch, cann=args.cann, device=args.device, timeout=args.timeout)
    with SandboxPool(options, workers=args.workers) as pool:
        pool.start()
        for loss in pool.losses:
            print(f"note: {loss}")
        app = create_app(pool, token=token, max_bytes=args.max_bytes, max_queue=args.max_queue)
        print(f"sandbox with {args.workers} workers on http://{args.host}:{args.port}", flush=True)
        uvicorn.run(app, host=args.host, port=args.port, log_level="warning")
    return 0
