"""A byte-level tokenizer: every text has an encoding, nothing is trained, and short arithmetic stays short."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from atrl_ms.policy.tokenizer import load_tokenizer
from atrl_ms.types import Tokenizer

FILES = ("tokenizer.model", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


class ByteTokenizer:
    """Ids 0-255 are bytes; then end of completion and padding. Implements `atrl_ms.types.Tokenizer`."""

    SPECIAL = ("end", "pad")

    def __init__(self) -> None:
        self.vocab_size = 256 + len(self.SPECIAL)
        self.eos_id = self.special("end")
        self.pad_id = self.special("pad")

    def encode(self, text: str) -> list[int]:
        """UTF-8 bytes of `text`."""
        return list(text.encode("utf-8"))

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the bytes among `ids`; special tokens are dropped, broken UTF-8 is shown as U+FFFD."""
        return bytes(i for i in ids if i < 256).decode("utf-8", errors="replace")

    def special(self, name: str) -> int:
        """Id of "end" or "pad".

        Raises:
            KeyError: another name.
        """
        if name not in self.SPECIAL:
            raise KeyError(name)
        return 256 + self.SPECIAL.index(name)


def tokenizer_of(directory: Path) -> Tokenizer:
    """The tokenizer whose files are in `directory`, or bytes when there are none."""
    if any((directory / name).is_file() for name in FILES):
        return load_tokenizer(directory)  # type: ignore[no-any-return]
    return ByteTokenizer()


def copy_tokenizer(source: Path, target: Path) -> None:
    """Copy a tokenizer's files, if there are any."""
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)
