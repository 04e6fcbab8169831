"""A word tokenizer and a judge with prepared answers, for tests of the session's own bookkeeping."""

import re

from atrl_ms.types import Stage, StepFeedback, Task

SPECIALS = {"pad": 0, "system": 1, "user": 2, "assistant": 3, "end": 4}

TASK = Task(
    name="double",
    source='''"""Doubles."""
import torch
import torch.nn as nn


class Model(nn.Module):
    """Doc."""

    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(8)]


def get_init_inputs():
    return []
''',
)


class WordTokenizer:
    """Words and single other characters; the vocabulary grows with what it meets."""

    pad_id, eos_id = SPECIALS["pad"], SPECIALS["end"]

    def __init__(self):
        self.ids, self.texts = {}, {number: f"<|{name}|>" for name, number in SPECIALS.items()}

    @property
    def vocab_size(self):
        return len(self.texts)

    def encode(self, text):
        out = []
        for word in re.findall(r"\w+|\W", text):
            if word not in self.ids:
                self.ids[word] = len(self.texts)
                self.texts[self.ids[word]] = word
            out.append(self.ids[word])
        return out

    def decode(self, ids):
        return "".join(self.texts[i] for i in ids)

    def special(self, name):
        return SPECIALS[name]


class ChatMLTokenizer(WordTokenizer):
    """The same with the control tokens of the Qwen family."""

    def special(self, name):
        return {"im_start": 1, "im_end": 4}[name]


def feedback(verdict="compile_error", score=0.05, text="compile: no"):
    return StepFeedback(verdict, (Stage("compile", verdict == "pass", 0.0),), 0, 1, score, None, text)


class PreparedJudge:
    """Answers from a list (the last one again and again); remembers what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    async def verify(self, task, candidate, *, seed=0):
        self.asked.append((candidate, seed))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def write(code):
    return f"```write_kernel\n{code}\n```"
