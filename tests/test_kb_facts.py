"""The knowledge base reads, its header stays what the policy was trained on, its claims are what the compiler says."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.knowledge import KnowledgeBase, operator_classes
from atrl_ms.cli import main
from atrl_ms.errors import UserError
from kb.check import judge_probe
from kb.index import load_facts
from sandbox.suite import load_suite

BASE = KnowledgeBase.load()
FRONT = "---\nid: {id}\ntitle: t\nclasses: [all]\nstages: [write]\n{more}---\nBody.\n"
COPY = """
```python probe
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)
```
"""


def everything(text):
    return True


def test_size_and_shape_of_the_knowledge_base():
    assert len(BASE.facts) >= 120
    assert sum(bool(fact.probes) for fact in BASE.facts) >= 60
    for fact in BASE.facts:
        assert fact.body and fact.title, fact.id
        assert {probe.block for probe in fact.probes} == set(range(len(fact.kernels))), (
            f"{fact.id}: a kernel without probe"
        )


def test_no_fact_is_refuted_and_most_are_confirmed():
    # `atrl kb check --new` asks the compiler about facts that are unchecked, for example because a probe changed.
    confirmed = [fact for fact in BASE.facts if fact.status == "confirmed"]
    assert {fact.id for fact in BASE.facts if fact.status == "refuted"} == set()
    assert len(confirmed) >= 60 and all("ascendnpu-ir" in fact.tool for fact in confirmed)
    assert {fact.status for fact in BASE.facts if not fact.probes} == {"untestable"}


def test_header_is_what_the_embedded_policy_was_trained_on():
    # Changing a header line needs a new warm start: then update this digest.
    digest = hashlib.sha256("\n".join(BASE.header_lines()).encode()).hexdigest()
    assert digest.startswith("d52bd6285e2c6a1b"), "header lines changed"


def test_every_builtin_family_gets_advice_of_its_own_class():
    general = BASE.header("class Model: pass", None, everything).splitlines()
    for task in load_suite():
        header = BASE.header(task.source, None, everything).splitlines()
        assert header, task.name
        own = next(fact for fact in BASE.facts if "- " + fact.header == header[0])
        assert set(own.classes) & operator_classes(task.source) or header == general, task.name


@settings(max_examples=50, deadline=None)
@given(
    budget=st.integers(0, 400),
    number=st.integers(0, 10_000),
    verdict=st.sampled_from([None, "pass", "compile_error", "x"]),
)
def test_header_keeps_its_budget_and_its_order(budget, number, verdict):
    task = load_suite()[number % len(load_suite())]
    header = BASE.header(task.source, verdict, lambda text: len(text) <= budget)
    assert len(header) <= budget
    full = BASE.header(task.source, verdict, everything).splitlines()
    lines = header.splitlines()
    assert [line for line in full if line in lines] == lines


def test_optimisation_advice_is_unlocked_by_a_correct_kernel():
    source = load_suite()[0].source
    optimise = {"- " + f.header for f in BASE.facts if f.header and f.stages == ("pass",)}
    assert optimise
    for verdict in (None, "compile_error", "wrong_output", "format_error"):
        assert not optimise & set(BASE.header(source, verdict, everything).splitlines())
    assert BASE.header(source, "pass", everything).splitlines()[0] in optimise


@pytest.mark.parametrize(
    "body, expected",
    [
        ("torch.softmax(x, -1)", {"softmax", "reduction"}),
        ("F.layer_norm(x, (4,))", {"norm", "reduction"}),
        ("x @ y", {"matmul"}),
        ("torch.relu(x)", {"elementwise"}),
        ("x[index]", {"gather"}),
        ("x[:, None] * y", {"broadcast"}),
        ("x[:, :4] * x[:, 4:]", {"halves"}),
        ("x.transpose(0, 1)", {"transpose"}),
    ],
)
def test_operator_class_comes_from_the_code_not_from_the_name(body, expected):
    for name in ("softmax", "anything"):
        model = f"class Model:\n    def forward(self, x, y, index):\n        return {body}\n"
        source = f"# {name}\n{model}\n\ndef helper(z):\n    return z.sum()\n"
        assert operator_classes(source) == expected
    assert operator_classes("class Model(:") == {"elementwise"}


def test_error_text_finds_its_remedy():
    found = [f.id for f in BASE.search("ub overflow, requires 2097152 bits while 1572864 bits available!")]
    assert {"error-ub", "ub-overflow"} <= set(found[:6])
    assert BASE.search("error: unsupported AST node type: Break")[0].id == "no-break"
    assert BASE.search("Unsupported ptr type <[64], int64> in `tl.load`")[0].id == "no-data-ptr"
    assert "cumsum-scalar" in [f.id for f in BASE.search("scan cumsum is slow")]
    assert BASE.search("zzzz") == []


@settings(max_examples=25, deadline=None)
@given(budget=st.integers(0, 2000), verdict=st.sampled_from([None, "compile_error", "pass"]))
def test_index_names_readable_entries_within_the_budget(budget, verdict):
    source = load_suite()[0].source
    index = BASE.index(source, verdict, "above", lambda text: len(text) <= budget)
    assert len(index) <= budget
    for line in index.splitlines():
        fact = BASE.by_id[line.split(":")[0]]
        assert verdict == "pass" or fact.stages != ("pass",)
    if verdict == "compile_error" and index:
        assert "compile_error" in BASE.by_id[index.split(":")[0]].stages


def test_hint_points_to_what_explains_the_error():
    assert "error-ub" in BASE.hint("compile_error\nub overflow, requires 2097152 bits")
    assert BASE.hint("all fine") == ""


def test_outline_and_lookup():
    outline = BASE.outline()
    assert len(outline.splitlines()) == len(BASE.facts) and "tokens" in outline
    assert set(BASE.outline("matmul").splitlines()) < set(outline.splitlines())
    entry = BASE.entry("no-break")
    assert "does not compile:" in entry and "break" in entry
    assert "near: " in BASE.entry("no-brake-continue") and BASE.entry("zzz") == "no entry 'zzz'"


@pytest.mark.parametrize(
    "text, part",
    [
        ("", "no knowledge base here"),
        (FRONT.format(id="a", more="") * 2, "used twice"),
        (FRONT.format(id="a", more="colour: red\n"), "colour"),
        (FRONT.format(id="A b", more=""), "id"),
        (FRONT.format(id="a", more="probes:\n  - {expect: compiles}\n"), "probe of kernel 0"),
        (FRONT.format(id="a", more="errors: ['(']\n"), "not a regular expression"),
        ("---\nid: [\n---\nx\n", "cannot be read"),
        ("Text first.\n" + FRONT.format(id="a", more=""), "begin with front matter"),
        (FRONT.format(id="a", more="").replace("[all]", "[cake]"), "classes"),
    ],
)
def test_broken_files_are_named(tmp_path, text, part):
    (tmp_path / "facts.md").write_text(text)
    with pytest.raises(UserError, match=part) as error:
        load_facts(tmp_path)
    assert str(tmp_path) in str(error.value)


OK = {
    "ok": True,
    "error": "",
    "stage": "",
    "hivm": "module 40\n  func.func private @vadd()\n  func.func @kernel(\n    vexp\n",
}
FAILED = {"ok": False, "error": "ub overflow, requires 9 bits", "stage": "ascend", "hivm": ""}


@pytest.mark.parametrize(
    "probe, answer, agrees",
    [
        ("{expect: compiles}", OK, True),
        ("{expect: compiles}", FAILED, False),
        ("{expect: compiles, has: vexp}", OK, True),
        ("{expect: compiles, has: vadd}", OK, False),  # a declaration is not a use
        ("{expect: compiles, lacks: vexp}", OK, False),
        ("{expect: compiles, module: '40'}", OK, True),
        ("{expect: compiles, module: '48'}", OK, False),
        ("{expect: error, match: overflow}", FAILED, True),
        ("{expect: error, match: syntax}", FAILED, False),
        ("{expect: error, match: overflow}", OK, False),
    ],
)
def test_probe_agrees_only_with_what_it_expects(tmp_path, probe, answer, agrees):
    (tmp_path / "facts.md").write_text(FRONT.format(id="a", more=f"probes:\n  - {probe}\n") + COPY)
    (fact,) = load_facts(tmp_path)
    assert (judge_probe(fact.probes[0], answer) == "") == agrees


def test_the_real_compiler_confirms_and_refutes(tmp_path, capsys):
    args = 'args: {x: "*fp32", y: "*fp32", n: 1000, BLOCK: %d}'
    small, large = args % 1024, args % 65536
    right = (
        f"  - {{expect: compiles, {small}, has: vexp_1d_float}}\n  - {{expect: error, {large}, match: ub overflow}}\n"
    )
    wrong = f"  - {{expect: compiles, {large}}}\n  - {{expect: error, {small}}}\n"
    texts = [
        FRONT.format(id="right", more="probes:\n" + right) + COPY,
        FRONT.format(id="wrong", more="probes:\n" + wrong) + COPY,
        FRONT.format(id="opinion", more=""),
    ]
    (tmp_path / "facts.md").write_text("".join(texts))
    assert [fact.status for fact in load_facts(tmp_path)] == ["unchecked", "unchecked", "untestable"]
    assert main(["kb", "check", "--dir", str(tmp_path)]) == 1
    *reasons, summary = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert summary.startswith("3 facts: 1 confirmed, 1 refuted, 1 untestable; triton-ascend")
    assert len(reasons) == 2 and all(reason.startswith("refuted    wrong: kernel 0") for reason in reasons)
    assert "ub overflow" in reasons[0] and "an error was expected" in reasons[1]
    facts = {fact.id: fact for fact in load_facts(tmp_path)}
    assert {name: fact.status for name, fact in facts.items()} == {
        "right": "confirmed",
        "wrong": "refuted",
        "opinion": "untestable",
    }
    assert all("ascendnpu-ir" in fact.tool for fact in facts.values() if fact.probes)
    (tmp_path / "facts.md").write_text("".join(texts).replace("tl.exp(", "tl.sqrt("))  # another kernel
    assert [fact.status for fact in load_facts(tmp_path)] == ["unchecked", "unchecked", "untestable"]
