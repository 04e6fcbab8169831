"""Tokenizers: every text comes back, text never becomes a special token by accident, templates are transformers'."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from atrl_ms.errors import UserError
from atrl_ms.policy.tokenizer import HuggingFaceTokenizer, SentencePieceTokenizer, load_tokenizer, train_sentencepiece

CODE = [
    "def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n    pid = tl.program_id(0)\n    offs = pid * BLOCK + 12",
    "x = tl.load(x_ptr + offs, mask=offs < n)\n\n\ttl.store(y_ptr + offs, tl.exp(x))\n# done: 3.14 <= 42",
    "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x * 2 + 1 if x else None\n",
]
AWKWARD = [
    "", " ", "\n\n", "  a\t b ", "\u2581", "a\u2581b \u2581", "<|end|>", "x<|user|>y", "<|", "|>", "<0x41>", "\x00",
    "\r\n", "naïve Σ 数 🙂 e\u0301", "0" * 50, " " * 33,
]  # fmt: skip
TEMPLATE = (
    "{%- if messages[0]['role'] == 'assistant' %}{{ raise_exception('starts with a question') }}{% endif %}"
    "{{ bos_token }}{% for m in messages %}"
    "<|im_start|>{{ m['role'] }}\n{{ m['content'] | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CHAT = [
    {"role": "system", "content": " You write kernels. "},
    {"role": "user", "content": "softmax <b>\n'quoted' & 数"},
]


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    path = tmp_path_factory.mktemp("pieces") / "tokenizer.model"
    train_sentencepiece(CODE * 20, path, 400)
    return SentencePieceTokenizer(path)


def write_json_tokenizer(directory, **changes):
    """A byte-level BPE tokenizer as Qwen's are: tokenizer.json and tokenizer_config.json."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(CODE, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet))
    names = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    # Padding and truncation that a file may carry must not reach a prompt.
    backend.enable_padding(length=64)
    backend.enable_truncation(3)
    backend.save(str(directory / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|endoftext|>",
        "eos_token": {"content": "<|im_end|>", "special": True, "__type": "AddedToken"},
        "pad_token": "<|endoftext|>",
        "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
        **changes,
    }
    (directory / "tokenizer_config.json").write_text(json.dumps(config))


@pytest.fixture(scope="module")
def bpe(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bpe")
    write_json_tokenizer(directory)
    return directory


@pytest.mark.parametrize("text", [*CODE, *AWKWARD])
def test_sentencepiece_gives_every_text_back_and_no_special_token(pieces, text):
    ids = pieces.encode(text)
    assert pieces.decode(ids) == text
    assert not set(ids) & set(pieces.specials.values())


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_sentencepiece_gives_arbitrary_text_back(pieces, text):
    assert pieces.decode(pieces.encode(text)) == text


def test_sentencepiece_special_tokens_are_ids_of_their_own_and_shown_by_name(pieces):
    ids = [pieces.special("user"), *pieces.encode("hi"), pieces.special("end")]
    assert pieces.decode(ids) == "<|user|>hi<|end|>"
    assert len(set(pieces.specials.values())) == 4 and pieces.eos_id == pieces.special("end")
    with pytest.raises(KeyError, match="narrator"):
        pieces.special("narrator")


@pytest.mark.parametrize("text", [*CODE, *AWKWARD])
def test_json_tokenizer_gives_transformers_ids_and_every_text_back(bpe, text):
    transformers = pytest.importorskip("transformers")
    mine = load_tokenizer(bpe)
    theirs = transformers.AutoTokenizer.from_pretrained(bpe)
    assert isinstance(mine, HuggingFaceTokenizer)
    assert mine.encode(text) == theirs(text, add_special_tokens=False).input_ids
    assert mine.decode(mine.encode(text)) == text


@pytest.mark.parametrize("generate", [True, False])
def test_chat_template_gives_transformers_text_and_ids(bpe, generate):
    transformers = pytest.importorskip("transformers")
    mine, theirs = load_tokenizer(bpe), transformers.AutoTokenizer.from_pretrained(bpe)
    text = mine.apply_chat_template(CHAT, add_generation_prompt=generate)
    assert text == theirs.apply_chat_template(CHAT, add_generation_prompt=generate, tokenize=False)
    ids = mine.encode(text)
    assert ids == theirs(text, add_special_tokens=False).input_ids
    assert ids.count(mine.eos_id) == 2 and mine.special("im_start") in ids
    assert (mine.eos_id, mine.pad_id, mine.vocab_size) == (theirs.eos_token_id, theirs.pad_token_id, len(theirs))


def test_unusable_tokenizers_and_templates_are_refused_in_one_line(bpe, tmp_path):
    with pytest.raises(UserError, match=r"neither tokenizer\.model nor tokenizer\.json"):
        load_tokenizer(tmp_path)
    with pytest.raises(UserError, match="starts with a question"):
        load_tokenizer(bpe).apply_chat_template([{"role": "assistant", "content": "x"}])
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match="not a readable tokenizer"):
        load_tokenizer(tmp_path)
    write_json_tokenizer(tmp_path, eos_token="<|nowhere|>")
    with pytest.raises(UserError, match="eos_token '<|nowhere|>' is not in the vocabulary".replace("|", r"\|")):
        load_tokenizer(tmp_path)
    write_json_tokenizer(tmp_path, chat_template="{% for %}")
    with pytest.raises(UserError, match="chat template"):
        load_tokenizer(tmp_path).apply_chat_template(CHAT)
    (tmp_path / "tokenizer.model").write_bytes(b"nothing")
    with pytest.raises(UserError, match="not a readable SentencePiece model"):
        load_tokenizer(tmp_path)
