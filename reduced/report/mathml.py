"""Derived expressions as presentation MathML, with the paper's names for the symbols."""

from __future__ import annotations

from html import escape
from typing import Any

import sympy as sp
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.precedence import PRECEDENCE

_GREEK = {
    "alpha": "α",
    "Delta": "Δ",
    "gamma": "γ",
    "kappa": "κ",
    "lambda": "λ",
    "omega": "ω",
    "rho": "ρ",
    "theta": "θ",
}
_MARKS = {"plus": "+", "minus": "−", "positive": "(+)", "negative": "(−)"}
_ESCAPED = {"<": "&lt;", ">": "&gt;"}
_TIMES, _APPLY = "\u2062", "\u2061"


def display(name: str, expression: Any, relation: str = "=") -> str:
    """Return ``name = expression`` as a displayed equation.

    Arguments: name, MathML such as :func:`symbol` returns; expression, of SymPy; relation, the sign between.
    """
    return block(f"{name}<mo>{escape(relation)}</mo>{markup(expression)}")


def block(content: str) -> str:
    """Return MathML content as a displayed ``math`` element."""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mrow>{content}</mrow></math>'


def inline(content: str) -> str:
    """Return MathML content as a ``math`` element inside a line of text."""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{content}</mrow></math>'


def markup(expression: Any) -> str:
    """Return a SymPy expression or relation as MathML without the ``math`` element."""
    printed = str(_Printer().doprint(sp.sympify(expression)))
    return printed.replace("<mo>-", "<mo>−").replace("<mn>-", "<mn>−")


def symbol(name: str) -> str:
    """Return a plain name as MathML: alpha_plus is α with subscript +, kappa2 is κ with subscript 2."""
    head, *parts = name.split("_")
    letters = head.rstrip("0123456789")
    base = f"<mi>{escape(_GREEK.get(letters, letters))}</mi>"
    below = [head[len(letters) :], *(_MARKS.get(part, part) for part in parts)]
    marks = "".join(_mark(part) for part in below if part)
    return f"<msub>{base}<mrow>{marks}</mrow></msub>" if marks else base


def dotted(name: str) -> str:
    """Return a plain name with a dot over its letter: the rate of change."""
    head, *rest = name.split("_")
    whole = symbol(name)
    base = symbol(head)
    over = f'<mover accent="true">{base}<mo>˙</mo></mover>'
    return whole.replace(base, over, 1) if rest else over


def _mark(part: str) -> str:
    if part.isdigit():
        return f"<mn>{part}</mn>"
    kind = "mi" if part[0].isalpha() else "mo"
    variant = ' mathvariant="normal"' if kind == "mi" and len(part) == 1 else ""
    return f"<{kind}{variant}>{escape(part)}</{kind}>"


class _Printer(MathMLPresentationPrinter):  # type: ignore[misc]
    """SymPy's printer with the paper's names, without entities that XML does not know."""

    def mathml_tag(self, e: Any) -> Any:
        # the printer writes what this returns as it is
        return _TIMES if isinstance(e, sp.Mul) else _ESCAPED.get(tag := super().mathml_tag(e), tag)

    def _print_Symbol(self, sym: Any, style: str = "plain") -> Any:
        from xml.dom.minidom import parseString

        found = parseString(symbol(sym.name)).documentElement
        return self.dom.importNode(found, deep=True)

    def _print_exp(self, e: Any) -> Any:
        return self._element("msup", self._text("mi", "e"), self._print(e.args[0]))

    def _print_Exp1(self, e: Any) -> Any:
        return self._text("mi", "e")

    def _print_sin(self, e: Any) -> Any:
        return self._applied(self._text("mi", e.func.__name__), e.args[0])

    _print_cos = _print_log = _print_sin

    def _print_Pow(self, e: Any) -> Any:
        if isinstance(e.base, sp.sin | sp.cos) and e.exp.is_Integer and e.exp > 1:
            name = self._element("msup", self._text("mi", e.base.func.__name__), self._print(e.exp))
            return self._applied(name, e.base.args[0])
        return super()._print_Pow(e)

    def _applied(self, name: Any, argument: Any) -> Any:
        """Return a function of an argument, which has parentheses unless it is one symbol."""
        if argument.is_Symbol:
            inner = [self._space(), self._print(argument)]
        else:
            inner = [self.parenthesize(argument, PRECEDENCE["Atom"])]
        return self._element("mrow", self._space(), name, self._text("mo", _APPLY), *inner, self._space())

    def _space(self) -> Any:
        found = self.dom.createElement("mspace")
        found.setAttribute("width", "0.13em")
        return found

    def _element(self, tag: str, *children: Any) -> Any:
        found = self.dom.createElement(tag)
        for child in children:
            found.appendChild(child)
        return found

    def _text(self, tag: str, text: str) -> Any:
        found = self.dom.createElement(tag)
        found.appendChild(self.dom.createTextNode(text))
        return found
