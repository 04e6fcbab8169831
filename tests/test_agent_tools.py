"""Tool calls are read in both formats; whatever else a model writes is answered with the right form."""

import json

import pytest
from agent_helpers import TASK, ChatMLTokenizer, WordTokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.prompt import cut_to_tokens, renderer_for, strip_source
from agent.tools import FormatError, apply_edits, parse_reply


def qwen(name, **arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


CODE = st.text(alphabet=st.sampled_from("ab \n\"'{}<=>`"), min_size=1, max_size=60).filter(
    lambda s: s.strip() and not any(line.rstrip() == "```" for line in s.split("\n"))
)


@settings(deadline=None)  # the machine may be busy
@given(code=CODE)
def test_written_code_arrives_as_it_was_written(code):
    expected = code.rstrip() + "\n"
    assert parse_reply(f"text first\n```write_kernel\n{code}\n```\n", "fenced").code == expected
    assert parse_reply("text first\n" + qwen("write_kernel", code=code), "qwen").code == expected


LINE = st.text(alphabet="ab =<>", min_size=1, max_size=8).filter(
    lambda s: s.strip() and s.rstrip() not in ("===", ">>>", "<<<")
)


@settings(deadline=None)  # the machine may be busy
@given(old=st.lists(LINE, min_size=1, max_size=3), new=st.lists(LINE, max_size=3))
def test_edits_arrive_in_both_formats(old, new):
    old, new = "\n".join(old), "\n".join(new)
    fenced = parse_reply(f"```edit_kernel\n<<<\n{old}\n===\n{new}\n>>>\n```", "fenced")
    assert fenced.edits == ((old, new),)
    assert parse_reply(qwen("edit_kernel", edits=[{"old": old, "new": new}]), "qwen").edits == ((old, new),)


@pytest.mark.parametrize(
    "reply, tool_format, part",
    [
        ("", "fenced", "no tool block"),
        ("```python\nx\n```", "fenced", "no tool named 'python'"),
        ("```write_kernel\nx", "fenced", "not closed"),
        ("```write_kernel\n```", "fenced", "empty"),
        ("```verify\n```\n```submit\n```", "fenced", "2 tool blocks"),
        ("```edit_kernel\nold\n```", "fenced", "outside a hunk"),
        ("```edit_kernel\n<<<\na\n===\nb\n```", "fenced", "no complete hunk"),
        ("```edit_kernel\n<<<\n\n===\nb\n>>>\n```", "fenced", "no old text"),
        ("```read_knowledge\n```", "fenced", "id of an entry"),
        ("", "qwen", "no tool call"),
        ("<tool_call>{", "qwen", "not closed"),
        ("<tool_call>{</tool_call>", "qwen", "not JSON"),
        ("<tool_call>[1]</tool_call>", "qwen", "name and arguments"),
        (qwen("rm"), "qwen", "no tool named 'rm'"),
        (qwen("write_kernel", code=3), "qwen", "strings"),
        (qwen("edit_kernel", edits=[{"old": "a"}]), "qwen", "edit_kernel needs"),
        (qwen("edit_kernel", edits=[1]), "qwen", "edit_kernel needs"),
        (qwen("verify") * 2, "qwen", "2 tool calls"),
    ],
)
def test_faults_are_named(reply, tool_format, part):
    with pytest.raises(FormatError) as error:
        parse_reply(reply, tool_format)
    assert part in str(error.value) and len(str(error.value).splitlines()) <= 2


@settings(deadline=None)  # the machine may be busy
@given(text=st.text(max_size=200), tool_format=st.sampled_from(["fenced", "qwen"]))
def test_no_reply_breaks_the_parser(text, tool_format):
    try:
        parse_reply(text, tool_format)
    except FormatError as error:
        assert str(error)


def test_other_fences_and_reasoning_are_no_tool_calls():
    reply = "<think>```submit\n```</think>Like\n```python\nx\n```\nso\n```read_knowledge grid-limit\n```"
    assert parse_reply(reply, "fenced").entry == "grid-limit"


@pytest.mark.parametrize(
    "kernel, edits, part",
    [
        ("", [("a", "b")], "no kernel"),
        ("a b", [("c", "d")], "not in the current"),
        ("a a", [("a", "b")], "occurs 2 times"),
    ],
)
def test_edit_faults_are_named(kernel, edits, part):
    with pytest.raises(FormatError, match=part):
        apply_edits(kernel, edits)


def test_edits_apply_in_order_all_or_none():
    assert apply_edits("a b", [("a", "c"), ("c b", "d")]) == "d"
    with pytest.raises(FormatError, match="hunk 2"):
        apply_edits("a b", [("a", "c"), ("zz", "d")])


def test_source_is_stripped_of_docstrings_and_blank_lines_only():
    text = strip_source(TASK.source)
    assert "Doubles" not in text and "Doc." not in text and "\n\n" not in text
    assert [line for line in TASK.source.splitlines() if line.strip() and '"""' not in line] == text.splitlines()
    for source in (
        'def f():\n    """only"""\n',
        'def f():\n    """a"""; return 1\n',
        "x = (\n",
        '"""a\n\nb"""\nx = """\n\ny"""\n',
    ):
        stripped = strip_source(source)
        if source != "x = (\n":
            compile(stripped, "s", "exec")


@settings(deadline=None)  # the machine may be busy
@given(text=st.text(alphabet="ab \n", max_size=120), budget=st.integers(1, 60))
def test_cut_text_fits_and_is_a_prefix(text, budget):
    renderer = renderer_for(WordTokenizer())
    cut = cut_to_tokens(renderer, text, budget)
    assert len(renderer.text(cut)) <= budget and text.startswith(cut)
    if len(renderer.text(text)) <= budget:
        assert cut == text


def test_rendered_text_holds_no_control_tokens_and_extends():
    for tokenizer in (WordTokenizer(), ChatMLTokenizer()):
        renderer = renderer_for(tokenizer)
        tokenizer.ids["evil"] = renderer.stop_ids[0]  # a tokenizer that lets a control token through
        assert renderer.stop_ids[0] not in renderer.text("evil word")
