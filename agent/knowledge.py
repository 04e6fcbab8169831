"""What of the knowledge base a model sees: a header chosen by operator class and last verdict, entries by id.

The same choice is made in training and in evaluation. It looks at the task's code alone, never at its name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

from kb.index import FACTS, Fact, load_facts

# Calls and operators of a reference and the operator class they belong to.
CALLS_OF_CLASS = {
    "softmax": """
        softmax log_softmax logsumexp""",
    "norm": """
        layer_norm LayerNorm rms_norm RMSNorm group_norm GroupNorm instance_norm InstanceNorm2d
        batch_norm BatchNorm1d BatchNorm2d BatchNorm3d normalize var std rsqrt""",
    "matmul": """
        matmul mm bmm linear Linear addmm einsum baddbmm""",
    "attention": """
        scaled_dot_product_attention MultiheadAttention""",
    "gather": """
        gather index_select embedding Embedding take take_along_dim""",
    "atomic": """
        index_add scatter_add scatter scatter_reduce bincount""",
    "transpose": """
        transpose permute swapaxes movedim T mT t""",
    "loss": """
        cross_entropy nll_loss mse_loss kl_div CrossEntropyLoss""",
    "reduction": """
        sum mean max min amax amin argmax argmin prod norm any all""",
    "sort": """
        sort argsort topk""",
    "scan": """
        cumsum cumprod cummax cummin flip""",
    "conv": """
        conv1d conv2d conv3d Conv1d Conv2d Conv3d conv_transpose2d ConvTranspose1d ConvTranspose2d
        ConvTranspose3d""",
    "pooling": """
        max_pool2d avg_pool2d MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d
        adaptive_avg_pool2d""",
    "interpolate": """
        interpolate Upsample""",
    "halves": """
        chunk split cat narrow tensor_split glu""",
}
CLASS_OF_CALL = {call: name for name, calls in CALLS_OF_CLASS.items() for call in calls.split()}
IMPLIED = {"softmax": "reduction", "norm": "reduction", "loss": "reduction", "attention": "matmul", "conv": "matmul"}


def operator_classes(source: str) -> set[str]:
    """The operator classes of a reference, from the calls and operators in its `Model`; never empty."""
    try:
        tree: ast.AST = ast.parse(source)
    except SyntaxError:
        return {"elementwise"}
    models = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == "Model"]
    found: set[str] = set()
    for node in ast.walk(models[0] if models else tree):
        if isinstance(node, ast.Attribute):
            found.add(CLASS_OF_CALL.get(node.attr, ""))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.add("matmul")
        elif isinstance(node, ast.Subscript):
            found |= subscript_classes(node.slice)
    found |= {IMPLIED[name] for name in found if name in IMPLIED}
    found.discard("")
    return found or {"elementwise"}


def subscript_classes(index: ast.expr) -> set[str]:
    """x[index] gathers, x[:, :h] takes a part, x[:, None] broadcasts."""
    if isinstance(index, ast.Name):
        return {"gather"}
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    found = set()
    if any(isinstance(part, ast.Constant) and part.value is None for part in parts):
        found.add("broadcast")
    if any(isinstance(part, ast.Slice) and (part.lower or part.upper) for part in parts):
        found.add("halves")
    return found


class KnowledgeBase:
    """The facts, with the header line chosen for a task."""

    def __init__(self, facts: list[Fact]) -> None:
        self.facts = facts
        self.by_id = {fact.id: fact for fact in facts}

    @staticmethod
    def load(directory: Path = FACTS) -> KnowledgeBase:
        return KnowledgeBase(load_facts(directory))

    def header(self, source: str, verdict: str | None, fits: Callable[[str], bool]) -> str:
        """Header lines for a task, most fitting first, as many as fit.

        Args:
            source: the task's reference.
            verdict: of the last evaluation; None before the first. Facts of stage "pass" (optimisation) are unlocked
                by a correct kernel.
            fits: says whether a text is within the token budget.
        """
        classes = operator_classes(source)
        lines: list[str] = []
        for fact in sorted(self.facts, key=lambda fact: self.order(fact, classes, verdict)):
            relevant = bool(classes & set(fact.classes)) or "all" in fact.classes
            if fact.header and relevant and (verdict in fact.stages or "write" in fact.stages):
                longer = [*lines, "- " + fact.header]
                if fits("\n".join(longer)):
                    lines = longer
        return "\n".join(lines)

    def index(self, source: str, verdict: str | None, above: str, fits: Callable[[str], bool]) -> str:
        """Ids and titles of the entries worth reading now, most fitting first, as many as fit below the text `above`.

        The same rules as for the header decide: operator class, last verdict, optimisation only after a pass.
        """
        classes = operator_classes(source)
        lines: list[str] = []
        for fact in sorted(self.facts, key=lambda fact: self.order(fact, classes, verdict)):
            relevant = bool(classes & set(fact.classes)) or "all" in fact.classes
            if relevant and not fact.header and (verdict in fact.stages or "write" in fact.stages):
                longer = [*lines, f"{fact.id}: {fact.title} ({len(self.entry(fact.id)) // 4} tokens)"]
                if not fits("\n".join([above, *longer])):
                    break
                lines = longer
        return "\n".join(lines)

    def hint(self, feedback: str) -> str:
        """Where to read about the error that a feedback names; empty if no entry explains it."""
        found = [fact.id for fact in self.facts if any(re.search(p, feedback) for p in fact.errors)][:3]
        return f"read_knowledge: {', '.join(found)}" if found else ""

    @staticmethod
    def order(fact: Fact, classes: set[str], verdict: str | None) -> tuple[bool, bool, int, str]:
        """Sort key: what the last verdict asks for, then what is special to the operator, then rank."""
        return verdict not in fact.stages, not classes & set(fact.classes), fact.rank, fact.id

    def entry(self, entry_id: str) -> str:
        """A fact's text with its kernels as examples, or the nearest ids if there is no such entry."""
        fact = self.by_id.get(entry_id.strip())
        if fact is None:
            near = [f.id for f in self.search(entry_id.replace("-", " "))[:3]]
            return f"no entry '{entry_id[:40]}'" + (f"; near: {', '.join(near)}" if near else "")
        parts = [fact.title, fact.body]
        shown: set[int] = set()
        for probe in fact.probes:
            if probe.block not in shown:
                shown.add(probe.block)
                label = "compiles:" if probe.expect == "compiles" else "does not compile:"
                parts.append(f"{label}\n{fact.kernels[probe.block].rstrip()}")
        return "\n".join(parts)

    def outline(self, operator_class: str | None = None, stage: str | None = None) -> str:
        """One line per entry: id, title, what reading it costs in tokens (four characters count as one), status."""
        lines = []
        for fact in self.facts:
            if operator_class in (None, *fact.classes) and stage in (None, *fact.stages):
                lines.append(f"{fact.id:24} {fact.title} ({len(self.entry(fact.id)) // 4} tokens, {fact.status})")
        return "\n".join(lines)

    def search(self, text: str) -> list[Fact]:
        """Facts whose error patterns match the text, then those that share most words with it, best first."""
        words = set(re.findall(r"[a-z0-9_]{3,}", text.lower()))
        scored = []
        for number, fact in enumerate(self.facts):
            explains = any(re.search(pattern, text) for pattern in fact.errors)
            of_class = len(words & set(fact.classes))
            in_title = len(words & set(re.findall(r"[a-z0-9_]{3,}", f"{fact.id} {fact.title}".lower())))
            in_body = len(words & set(re.findall(r"[a-z0-9_]{3,}", fact.body.lower())))
            score = 100 * explains + 6 * of_class + 3 * in_title + in_body
            if explains or of_class or in_title or in_body > 1:
                scored.append((-score, number, fact))
        return [fact for _, _, fact in sorted(scored, key=lambda item: item[:2])[:12]]

    def header_lines(self) -> list[str]:
        """Every line that a header can hold, for a tokenizer that makes whole phrases single tokens."""
        return ["- " + fact.header for fact in self.facts if fact.header]
