"""What a model is shown: the fixed texts, the stripped task, and their rendering as token ids.

The embedded policy is trained on these very texts with a window of a few hundred tokens, so the fixed phrases are
short and constant (`fixed_phrases` lists them for the tokenizer's vocabulary).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, Protocol

from atrl_ms.errors import UserError
from atrl_ms.types import Tokenizer

Instructions = Literal["short", "full"]
ToolFormat = Literal["fenced", "qwen"]

SYSTEM_SHORT = "Write a Triton kernel for Ascend: ModelNew does the work of Model. One tool block per reply."

SYSTEM_FULL = """You write Triton kernels for Ascend NPUs. Given a PyTorch module `Model`, write a Python module with \
a class `ModelNew` of the same constructor and forward signature whose `forward` computes the result by launching your \
own `@triton.jit` kernels (import torch, triton, triton.language as tl). PyTorch may allocate, view and reshape, but \
not compute. A candidate is checked for honesty, compiled with the Ascend compiler, run on hidden inputs and shapes, \
and timed.
"""

TOOLS_FENCED = """Think if you need to, then end the reply with exactly one tool block:
```write_kernel
<the whole Python module>
```
or, to change the current kernel, one or more exact replacements (each old text must occur exactly once):
```edit_kernel
<<<
old text
===
new text
>>>
```
Both are verified at once. Further tools, written the same way: `verify` and `profile` (empty block, about the current \
kernel), `read_knowledge` (the block holds the id of an entry), `submit` (empty block, ends the session)."""

TOOLS_QWEN = """Think if you need to, then end the reply with exactly one tool call:
<tool_call>
{"name": "write_kernel", "arguments": {"code": "<the whole Python module>"}}
</tool_call>
Tools: write_kernel(code); edit_kernel(edits: list of {"old", "new"}; each old text must occur exactly once in the \
current kernel); both are verified at once. verify(), profile() for the current kernel; read_knowledge(id); \
submit() ends the session."""

TASK_HEAD = "task:\n"
KNOWLEDGE_HEAD = "\nknowledge:\n"
SUMMARY_REQUEST = "The window is full. Write notes in two lines, learned: and next:"
RESUME_HEAD = "\nso far:\n"
BEST_HEAD = "best kernel, now the current one:\n"
LAST_HEAD = "last feedback: "
NOTES_LEARNED = "learned: "
NOTES_NEXT = "next: "


def fixed_phrases() -> list[str]:
    """Every constant phrase of the short prompts, for a tokenizer that makes whole phrases single tokens."""
    return [
        SYSTEM_SHORT,
        TASK_HEAD,
        KNOWLEDGE_HEAD,
        SUMMARY_REQUEST,
        RESUME_HEAD,
        BEST_HEAD,
        LAST_HEAD,
        NOTES_LEARNED,
        NOTES_NEXT,
        "```write_kernel\n",
        "```edit_kernel\n",
        "<<<\n",
        "\n===\n",
        "\n>>>\n",
        "\n```",
    ]


def system_text(instructions: Instructions, tool_format: ToolFormat) -> str:
    """The system message: one line for the embedded policy, the full rules for a general model."""
    if instructions == "short":
        return SYSTEM_SHORT
    return SYSTEM_FULL + (TOOLS_FENCED if tool_format == "fenced" else TOOLS_QWEN)


def strip_source(source: str) -> str:
    """The task's source without docstrings and blank lines; everything else is left as it is written."""
    lines = source.splitlines()
    drop: set[int] = set()
    try:
        tree = ast.parse(source)
    except SyntaxError:
        tree = ast.Module(body=[], type_ignores=[])
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        # A body that is nothing but a docstring needs it to stay valid Python.
        if len(node.body) < 2 or ast.get_docstring(node, clean=False) is None:
            continue
        doc, following = node.body[0], node.body[1]
        first, end = doc.lineno - 1, doc.end_lineno or doc.lineno
        if following.lineno > end and not lines[first][: doc.col_offset].strip():  # it has its lines to itself
            drop.update(range(first, end))
    return "\n".join(line.rstrip() for i, line in enumerate(lines) if i not in drop and line.strip())


def task_text(source: str, knowledge: str = "", resume: str = "") -> str:
    """The opening user message: task, knowledge header, and after a compaction what happened so far."""
    text = TASK_HEAD + strip_source(source)
    if knowledge:
        text += KNOWLEDGE_HEAD + knowledge
    if resume:
        text += RESUME_HEAD + resume
    return text


class Renderer(Protocol):
    """Turns messages into token ids such that a longer conversation only ever extends a shorter one."""

    stop_ids: tuple[int, ...]
    reply_start: list[int]  # what stands between a user message and the first sampled token

    def opening(self, system: str, user: str) -> list[int]:
        """The system and the first user message."""
        ...

    def after_reply(self, closed: bool) -> list[int]:
        """What ends a reply; `closed` says that the stop token was sampled, otherwise it is put here."""
        ...

    def user(self, text_ids: Sequence[int]) -> list[int]:
        """A further user message."""
        ...

    def text(self, text: str) -> list[int]:
        """Content ids; never a control token, whatever the text says."""
        ...


class TagRenderer:
    """Chat form of the embedded policy: <|system|>TEXT<|end|><|user|>TEXT<|end|><|assistant|>REPLY<|end|>."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.system_tag, self.user_tag, self.assistant, self.end = (
            tokenizer.special(name) for name in ("system", "user", "assistant", "end")
        )
        self.control = {self.system_tag, self.user_tag, self.assistant, self.end, tokenizer.eos_id, tokenizer.pad_id}
        self.stop_ids = tuple(dict.fromkeys((self.end, tokenizer.eos_id)))
        self.reply_start = [self.assistant]

    def text(self, text: str) -> list[int]:
        return [token for token in self.tokenizer.encode(text) if token not in self.control]

    def opening(self, system: str, user: str) -> list[int]:
        return [self.system_tag, *self.text(system), self.end, *self.user(self.text(user))]

    def after_reply(self, closed: bool) -> list[int]:
        return [] if closed else [self.end]

    def user(self, text_ids: Sequence[int]) -> list[int]:
        return [self.user_tag, *text_ids, self.end]


class ChatMLRenderer:
    """Chat form of the Qwen family: <|im_start|>ROLE, newline, TEXT<|im_end|>, newline.

    The stock template rewrites earlier turns (it removes their reasoning); here every turn stays as it was sampled.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.start, self.end = tokenizer.special("im_start"), tokenizer.special("im_end")
        self.newline = tokenizer.encode("\n")
        self.control = {self.start, self.end, tokenizer.eos_id, tokenizer.pad_id}
        self.stop_ids = tuple(dict.fromkeys((self.end, tokenizer.eos_id)))
        self.reply_start = [self.start, *self.text("assistant\n")]

    def text(self, text: str) -> list[int]:
        return [token for token in self.tokenizer.encode(text) if token not in self.control]

    def message(self, role: str, text_ids: Sequence[int]) -> list[int]:
        return [self.start, *self.text(role + "\n"), *text_ids, self.end, *self.newline]

    def opening(self, system: str, user: str) -> list[int]:
        return self.message("system", self.text(system)) + self.user(self.text(user))

    def after_reply(self, closed: bool) -> list[int]:
        return [*self.newline] if closed else [self.end, *self.newline]

    def user(self, text_ids: Sequence[int]) -> list[int]:
        return self.message("user", text_ids)


def renderer_for(tokenizer: Tokenizer) -> Renderer:
    """The chat form that the tokenizer's special tokens belong to.

    Raises:
        UserError: the vocabulary has neither the role tags nor <|im_start|>.
    """
    for kind, probe in ((TagRenderer, "assistant"), (ChatMLRenderer, "im_start")):
        try:
            tokenizer.special(probe)
        except (KeyError, ValueError, UserError):
            continue
        return kind(tokenizer)
    raise UserError("the tokenizer has no chat tokens: neither <|assistant|> nor <|im_start|> is in its vocabulary")


def cut_to_tokens(renderer: Renderer, text: str, budget: int) -> str:
    """The longest prefix of `text`, cut at a line end or a blank where one is near, that encodes to <= `budget` ids."""
    if len(renderer.text(text)) <= budget:
        return text
    low, high = 0, len(text)  # invariant: text[:low] fits
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(renderer.text(text[:middle])) <= budget else (low, middle - 1)
    prefix = text[:low]
    boundary = max(prefix.rfind("\n"), prefix.rfind(" "))
    shorter = prefix[:boundary].rstrip() if boundary > low // 2 else prefix
    # A shorter text nearly always encodes shorter, but merges give no guarantee.
    return shorter if len(renderer.text(shorter)) <= budget else prefix
