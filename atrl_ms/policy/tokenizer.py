"""Text to token ids and back: SentencePiece models, and Hugging Face's tokenizer.json with its chat template."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError

ROLES = ("system", "user", "assistant", "end")
SPACE = "\u2581"
RESERVED = re.compile("(" + "|".join([SPACE, *(re.escape(f"<|{role}|>") for role in ROLES)]) + ")")


class SentencePieceTokenizer:
    """A SentencePiece model trained with byte fallback, identity normalisation and no dummy prefix.

    Such a model round-trips every text. The special tokens "<|system|>", "<|user|>", "<|assistant|>" and "<|end|>"
    are control or user-defined pieces; text that spells one out is encoded as text, never as the special token.
    """

    def __init__(self, path: str | Path):
        import sentencepiece

        self.model = sentencepiece.SentencePieceProcessor()
        try:
            self.model.LoadFromFile(str(path))
        except (OSError, RuntimeError) as error:
            raise UserError(f"{path}: not a readable SentencePiece model: {' '.join(str(error).split())}") from error
        self.vocab_size = self.model.GetPieceSize()
        self.specials = {role: self.model.PieceToId(f"<|{role}|>") for role in ROLES}
        absent = [role for role, i in self.specials.items() if self.model.IdToPiece(i) != f"<|{role}|>"]
        if absent:
            raise UserError(f"{path}: the special tokens {', '.join(f'<|{r}|>' for r in absent)} are missing")
        self.eos_id = self.specials["end"]
        self.pad_id = self.model.pad_id() if self.model.pad_id() >= 0 else self.eos_id

    def encode(self, text: str) -> list[int]:
        """Ids of plain text; special tokens never come out of text."""
        ids: list[int] = []
        for position, part in enumerate(RESERVED.split(text)):
            if part == SPACE:  # SentencePiece's own sign for a space: spelt out, or it would come back as a space
                ids += [self.model.PieceToId(f"<0x{byte:02X}>") for byte in part.encode()]
            elif position % 2:
                # A user-defined piece would match the whole string: its first character is encoded for itself.
                ids += self.model.EncodeAsIds(part[:1]) + self.model.EncodeAsIds(part[1:])
            elif part:
                ids += self.model.EncodeAsIds(part)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; special tokens appear as their names."""
        named = {i: f"<|{role}|>" for role, i in self.specials.items()}
        text = ""
        plain: list[int] = []
        for i in ids:
            i = int(i)
            if i in named:
                text += self.model.DecodeIds(plain) + named[i]
                plain = []
            else:
                plain.append(i)
        return text + self.model.DecodeIds(plain)

    def special(self, name: str) -> int:
        if name not in self.specials:
            raise KeyError(f"no special token {name!r}; known: {', '.join(self.specials)}")
        return self.specials[name]


def train_sentencepiece(texts: Sequence[str], path: str | Path, vocab_size: int) -> None:
    """Train a byte-fallback BPE model that round-trips any text, and write it to `path`.

    Code is the corpus: newlines and runs of spaces are kept, and pieces of spaces may grow.
    """
    import io

    import sentencepiece

    output = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(texts),
        model_writer=output,
        vocab_size=vocab_size,
        model_type="bpe",
        byte_fallback=True,
        character_coverage=1.0,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        split_by_whitespace=True,
        split_digits=True,
        control_symbols=[f"<|{role}|>" for role in ROLES],
        pad_id=0,
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        max_sentence_length=1 << 20,
        num_threads=1,
        minloglevel=2,
    )
    Path(path).write_bytes(output.getvalue())


def load_tokenizer(directory: str | Path) -> Any:
    """The tokenizer of a checkpoint directory: tokenizer.model or tokenizer.json.

    Raises:
        UserError: neither file is there or it cannot be read.
    """
    directory = Path(directory)
    if (directory / "tokenizer.model").is_file():
        return SentencePieceTokenizer(directory / "tokenizer.model")
    if (directory / "tokenizer.json").is_file():
        return HuggingFaceTokenizer(directory)
    raise UserError(f"{directory}: neither tokenizer.model nor tokenizer.json is there")


class HuggingFaceTokenizer:
    """tokenizer.json through the tokenizers library; tokenizer_config.json gives special tokens and chat template."""

    def __init__(self, directory: str | Path):
        from tokenizers import Tokenizer as Backend

        directory = Path(directory)
        path = directory / "tokenizer.json"
        try:
            self.backend = Backend.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise UserError(f"{path}: not a readable tokenizer: {error}") from error
        self.backend.no_padding()
        self.backend.no_truncation()
        self.vocab_size = self.backend.get_vocab_size(with_added_tokens=True)
        self.settings = read_json(directory / "tokenizer_config.json")
        template = directory / "chat_template.jinja"
        self.template = template.read_text() if template.is_file() else self.settings.get("chat_template")
        self.eos_id = self.token_id("eos_token", ("<|im_end|>", "<|end|>", "<|endoftext|>", "</s>"), str(path))
        pad = self.settings.get("pad_token")
        pad_id = None if pad is None else self.backend.token_to_id(token_text(pad))
        self.pad_id = self.eos_id if pad_id is None else pad_id

    def token_id(self, key: str, guesses: tuple[str, ...], origin: str) -> int:
        """Id of a token named in tokenizer_config.json, or of the first guess that the vocabulary knows."""
        names = [token_text(self.settings[key])] if self.settings.get(key) else list(guesses)
        for name in names:
            found = self.backend.token_to_id(name)
            if found is not None:
                return int(found)
        raise UserError(f"{origin}: {key} {names[0]!r} is not in the vocabulary; name it in tokenizer_config.json")

    def encode(self, text: str) -> list[int]:
        return list(self.backend.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.backend.decode([int(i) for i in ids], skip_special_tokens=False))

    def special(self, name: str) -> int:
        """Id of `<|name|>`; "end" is the end-of-turn token."""
        found = self.backend.token_to_id(f"<|{name}|>")
        if found is None and name == "end":
            return self.eos_id
        if found is None:
            raise KeyError(f"no special token <|{name}|> in this vocabulary; use the chat template")
        return int(found)

    def apply_chat_template(self, messages: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Text of a conversation of {"role", "content"} messages, as the model's own template writes it."""
        if not self.template:
            raise UserError("this tokenizer has no chat template; put chat_template into tokenizer_config.json")
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def refuse(message: str) -> None:
            raise UserError(f"chat template: {message}")

        extensions = ["jinja2.ext.loopcontrols"]
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)
        environment.filters["tojson"] = lambda value, **kw: json.dumps(value, ensure_ascii=False, **kw)
        environment.globals["raise_exception"] = refuse
        tokens = {
            key: token_text(value)
            for key, value in self.settings.items()
            if key.endswith("_token") and isinstance(value, str | dict)
        }
        try:
            template = environment.from_string(self.template)
            return str(template.render(messages=messages, add_generation_prompt=add_generation_prompt, **tokens))
        except TemplateError as error:
            raise UserError(f"chat template: {error}") from error


def token_text(token: str | dict[str, Any]) -> str:
    """tokenizer_config.json writes a token as text or as an object with `content`."""
    return token if isinstance(token, str) else str(token["content"])


def read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text())
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON: {error}") from error
    return data if isinstance(data, dict) else {}
