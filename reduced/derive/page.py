"""A derivation written as a Markdown page, every step of it checked while it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reduced.derive.export import Formulas
from reduced.derive.symbols import DerivationError, Expr, is_zero, latex


class Page:
    """A Markdown page with LaTeX that grows step by step."""

    def __init__(self, title: str) -> None:
        """Start a page with its title."""
        self._blocks = [f"# {title}"]

    def section(self, title: str) -> None:
        """Start a section."""
        self._blocks.append(f"## {title}")

    def text(self, words: str) -> None:
        """Add a paragraph; line breaks and indentation of the source are folded."""
        self._blocks.append(" ".join(words.split()))

    def formula(self, name: str, expression: Expr) -> None:
        """Show ``name = expression`` (name in LaTeX) on a line of its own."""
        self._blocks.append(f"$$\n{name} = {latex(expression)}\n$$")

    def relation(self, relation: Expr) -> None:
        """Show an equation or inequality on a line of its own."""
        self._blocks.append(f"$$\n{latex(relation)}\n$$")

    def record(self, derived: Formulas) -> None:
        """Show all formulas of a derived record."""
        self._blocks.append(f"$$\n{derived.latex()}\n$$")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table; cells are Markdown."""
        lines = [head, ["---"] * len(head), *rows]
        self._blocks.append("\n".join("| " + " | ".join(cells) + " |" for cells in lines))

    def check(self, claim: str, residual: Expr) -> None:
        """State a claim (in LaTeX) whose residual vanishes identically; raise DerivationError if not."""
        if not is_zero(residual):
            raise DerivationError(f"the step does not hold: {claim}; residual {residual}")
        self._blocks.append(f"> Checked by substitution: ${claim}$.")

    def check_true(self, claim: str, holds: object) -> None:
        """State a claim that was decided exactly; raise DerivationError unless it holds."""
        if not bool(holds):
            raise DerivationError(f"the step does not hold: {claim}")
        self._blocks.append(f"> Checked: {claim}.")

    def markdown(self) -> str:
        """Return the page so far."""
        return "\n\n".join(self._blocks) + "\n"

    def write(self, script: str) -> Path:
        """Write the page next to the script it comes from, with the suffix ``.md``; return its path."""
        target = Path(script).with_suffix(".md")
        target.write_text(self.markdown(), encoding="utf-8")
        return target


def inline(expression: Expr) -> str:
    """Return an expression as inline Markdown mathematics."""
    return f"${latex(expression)}$"
