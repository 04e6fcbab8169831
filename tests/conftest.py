"""transformers is imported before any test puts a stand-in of torch_npu in place: it would take it for a real one."""

import contextlib

with contextlib.suppress(ImportError):  # without the extra `mindformers` the tests that compare with it are skipped
    from transformers import LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM  # noqa: F401
