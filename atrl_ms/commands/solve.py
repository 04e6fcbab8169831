"""`atrl solve TASK`: a model writes the kernel, the sandbox judges every attempt, the best kernel stays."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atrl_ms.config import AgentConfig, Config, PolicyConfig, apply_override, load_config, validate
from atrl_ms.errors import UserError
from atrl_ms.evaluate.trained import trained_agent
from atrl_ms.types import Session, Task

KEY_VARIABLE = "ATRL_API_KEY"  # bearer token of an endpoint
# A general model behind an endpoint: full rules in the prompt, room for reasoning.
ENDPOINT_AGENT = {
    "window": 32768,
    "max_turns": 8,
    "max_reply_tokens": 6144,
    "max_summary_tokens": 512,
    "max_session_tokens": 400_000,
    "max_compactions": 8,
    "keep_steps": 1,
    "knowledge_tokens": 400,
    "feedback_tokens": 600,
    "instructions": "full",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="KernelBench-style file, or a task of the built-in suite")
    parser.add_argument(
        "--model", metavar="URL|DIR", help="OpenAI-compatible address or checkpoint (default: embedded)"
    )
    parser.add_argument("--model-name", default="", help="which of the server's models (default: the first)")
    parser.add_argument("--turns", type=int, metavar="N", help="replies at most")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where files go (default: solve-TASK)")
    parser.add_argument("--improve", action="store_true", help="go on after the first passing kernel, for speed")
    parser.add_argument("--temperature", type=float, help="default: 0.6")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--config", help="take agent, sandbox and engine settings from this YAML file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="for example agent.window=16384"
    )


def run(args: argparse.Namespace) -> int:
    task = find(args.task)
    config = settings(args)
    out = args.out or Path(f"solve-{task.name.replace('/', '-')}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {out}: cannot be created ({error.strerror})") from None
    return asyncio.run(solve(task, config, args, out))


def find(name: str) -> Task:
    """A file, or a variant of the built-in suite.

    Raises:
        UserError: neither.
    """
    from sandbox.suite import find_task

    path = Path(name)
    if path.is_file():
        try:
            return Task(path.stem, path.read_text(encoding="utf-8"), directory=str(path.resolve().parent))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{name}: cannot be read as text ({type(error).__name__})") from None
    if path.suffix == ".py":
        raise UserError(f"{name}: no such file; give the task file")
    return find_task(name)


def is_url(model: str | None) -> bool:
    return bool(model) and str(model).startswith(("http://", "https://"))


def settings(args: argparse.Namespace) -> Config:
    """The configuration: file or defaults for the kind of model, then the command line.

    A checkpoint brings the agent settings that it was trained with (agent.yaml, or its run's config.yaml): a small
    policy knows no other session.
    """
    if args.config:
        data = load_config(args.config).model_dump()
    elif is_url(args.model):
        data = {"agent": dict(ENDPOINT_AGENT)}
    else:
        directory = Path(args.model) if args.model else PolicyConfig().directory
        data = {"agent": trained_agent(directory)}
    if args.model and not is_url(args.model):
        data.setdefault("policy", {})["checkpoint"] = args.model
    data.setdefault("engine", {}).setdefault("temperature", 0.6)
    data.setdefault("sandbox", {}).setdefault("workers", 1)
    for key, value in (("agent.max_turns", args.turns), ("engine.temperature", args.temperature)):
        if value is not None:
            apply_override(data, f"{key}={value}")
    if args.improve:
        apply_override(data, "agent.stop_on_pass=false")
    for item in args.set:
        apply_override(data, item)
    return validate(data, "solve")


def shorter(agent: AgentConfig, context: int) -> dict[str, Any]:
    """The agent section for a model with a smaller context; a reply may take half of it at most."""
    reply = min(agent.max_reply_tokens, context // 2)
    return agent.model_dump() | {"window": context, "max_reply_tokens": reply}


async def solve(task: Task, config: Config, args: argparse.Namespace, out: Path) -> int:
    """Run the session, check its best kernel again in a fresh sandbox, write the files; exit code 0 if it passes."""
    from agent.knowledge import KnowledgeBase
    from agent.session import Sampling
    from agent.solve import LiveView, final_check, write_atomically, write_report
    from atrl_ms.evaluate.sessions import session_to_json
    from atrl_ms.judges import open_pool

    view = LiveView(config.agent.max_turns)
    player: EndpointPlayer | CheckpointPlayer = (
        EndpointPlayer(args.model, args.model_name) if is_url(args.model) else CheckpointPlayer(config)
    )
    async with player:  # before the sandbox: a model that cannot be reached is known at once
        if 0 < player.context < config.agent.window:
            view.line(f"the model's context is {player.context} tokens: agent.window is lowered to it")
            config = validate(config.model_dump() | {"agent": shorter(config.agent, player.context)}, "solve")
        with open_pool(config) as pool:
            session, conversation = await player.play(
                task,
                judge=pool,
                config=config.agent,
                seed=args.seed,
                sampling=Sampling(config.engine.temperature, config.engine.top_p, config.engine.top_k),
                knowledge=KnowledgeBase.load(),
                watch=view,
            )
    answer = None
    if any(event.candidate for event in session.evaluations):
        view.line("checking the best kernel again from a clean state ...")
        with open_pool(config) as pool:
            answer = await final_check(task, session, pool, seed=args.seed + 1_000_003)
    record = session_to_json(session, player.tokenizer)
    record |= {"model": player.name, "conversation": conversation, "final": None, "final_kernel": ""}
    if answer is not None and answer.feedback is not None:
        record |= {"final": answer.feedback.to_json(), "final_kernel": answer.kernel}
        write_atomically(out / "kernel.py", answer.kernel)
    write_atomically(out / "session.json", json.dumps(record, indent=1) + "\n")
    write_report(out / "report.html", task, player.name, session, answer, conversation)
    if answer is None or answer.feedback is None:
        print(f"no kernel was written (session ended: {session.finish}); see {out / 'report.html'}")
        return 1
    final = answer.feedback
    speed = f", speedup {final.speedup.value:.2f} ({final.speedup.kind})" if final.speedup else ""
    print(f"{final.verdict}, score {final.score:.2f}{speed}: {out / 'kernel.py'}, report {out / 'report.html'}")
    return 0 if answer.passed else 1


Conversation = Sequence[Sequence[dict[str, str]]]


class EndpointPlayer:
    """Plays a session with a model behind an OpenAI-compatible address."""

    tokenizer = None

    def __init__(self, url: str, name: str) -> None:
        from agent.chat import Endpoint

        self.endpoint = Endpoint(url, name, os.environ.get(KEY_VARIABLE, ""))

    async def __aenter__(self) -> EndpointPlayer:
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.endpoint.__aexit__(*exc)

    @property
    def name(self) -> str:
        return self.endpoint.name

    @property
    def context(self) -> int:
        return self.endpoint.context

    async def play(self, task: Task, **session: Any) -> tuple[Session, Conversation]:
        from agent.chat import run_chat_session

        transcript = await run_chat_session(task, model=self.endpoint, **session)
        return transcript.session, transcript.segments


class CheckpointPlayer:
    """Plays a session with a checkpoint in this process, token in, token out."""

    context = 0  # checked when it is loaded

    def __init__(self, config: Config) -> None:
        from atrl_ms.policy.tokenizer import load_tokenizer
        from atrl_ms.policy.weights import load_checkpoint
        from atrl_ms.rollout.native import NativeEngine

        directory = config.policy.directory
        self.name = str(directory)
        self.tokenizer = load_tokenizer(directory)
        model, model_config = load_checkpoint(directory)
        window, limit = config.agent.window, model_config.max_position_embeddings
        if window > limit:
            raise UserError(f"agent.window {window} exceeds the model's {limit} positions")
        self.engine = NativeEngine(model, max_batch=1, max_context=window)

    async def __aenter__(self) -> CheckpointPlayer:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    async def play(self, task: Task, **session: Any) -> tuple[Session, Conversation]:
        from agent.session import run_session

        played = await run_session(task, engine=self.engine, tokenizer=self.tokenizer, **session)
        texts = [self.tokenizer.decode(segment.token_ids.tolist()) for segment in played.segments]
        return played, [[{"role": "context and stream", "content": text}] for text in texts]
