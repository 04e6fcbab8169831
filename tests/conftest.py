"""What all tests share: slow tests only when asked for, and the order of two imports.

A test marked `slow` starts several processes that train, or a whole cluster, for minutes; it runs with ATRL_SLOW=1.
transformers is imported before any test puts a stand-in of torch_npu in place: it would take it for a real one.
"""

import contextlib
import os

import pytest

with contextlib.suppress(ImportError):  # without the extra `mindformers` the tests that compare with it are skipped
    from transformers import LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM  # noqa: F401


def pytest_collection_modifyitems(items):
    if os.environ.get("ATRL_SLOW") != "1":
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="slow; run with ATRL_SLOW=1"))
