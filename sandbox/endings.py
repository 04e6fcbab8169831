"""What the end of a process says when no valid message came from it."""

from __future__ import annotations

from sandbox.checks import Failure
from sandbox.replay import OVERTIME
from sandbox.zygote import Outcome


class Infrastructure(Exception):
    """The machine failed, not the kernel."""


def lost_recording(outcome: Outcome) -> Failure:
    """A recorder shares its process with the candidate: however it ended, the candidate did it."""
    if outcome.timed_out:
        return Failure("timeout", "record", [f"no result within {outcome.seconds:.0f} s"])
    if outcome.signal == 9:
        return Failure("crash", "record", ["killed: out of memory or CPU time"])
    if outcome.signal:
        return Failure("crash", "record", [f"the process died of signal {outcome.signal}"])
    if outcome.reply is not None:
        return Failure("crash", "record", [f"the recording process broke: {outcome.reply.get('broken', '')}"])
    return Failure("cheat", "record", ["the candidate ended the process instead of returning a result"])


def lost_replay(outcome: Outcome, execution: float) -> tuple[Exception, bool]:
    """A replay holds no code of the candidate but its kernels.

    Args:
        execution: CPU seconds that one case may take.

    Returns:
        the verdict as an exception, and whether compilation was over when the process ended.
    """
    if outcome.exit_code == OVERTIME:
        text = f"a kernel did not finish within {execution:.0f} s on the CPU (endless loop?)"
        return Failure("timeout", "execute", [text]), True
    if outcome.timed_out:
        text = f"compiling and running took more than {outcome.seconds:.0f} s"
        return Failure("timeout", "execute", [text]), False
    if outcome.signal:
        return Failure("crash", "execute", [f"a kernel killed its process (signal {outcome.signal})"]), True
    broken = (outcome.reply or {}).get("broken", "no message")
    return Infrastructure(f"device process failed: {broken}"), False
