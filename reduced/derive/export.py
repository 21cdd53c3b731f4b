"""Formulas on their way out: LaTeX, callables for mpmath and NumPy, Python source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import sympy as sp
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import MpmathPrinter, PythonCodePrinter

from reduced.derive.symbols import Delta, Expr, latex
from reduced.errors import InputError
from reduced.shown import cut, shown

Backend = Literal["mpmath", "numpy"]
_PRINTERS: dict[str, Any] = {"math": PythonCodePrinter, "mpmath": MpmathPrinter, "numpy": NumPyPrinter}
_SHOWN = 48
# The same number without the difference, which at small Δ would leave few digits.
_WITHOUT_CANCELLATION = {1 - sp.cos(Delta): 2 * sp.sin(Delta / 2) ** 2}
_CONTEXT_FUNCTIONS = ("mpf", "exp", "log", "sqrt", "cos", "sin", "tan", "pi", "e")


@dataclass(frozen=True)
class Formula:
    """One named result: its plain name, its name in LaTeX, its expression."""

    name: str
    latex_name: str
    expression: Expr

    __repr__ = shown

    def _repr_latex_(self) -> str:
        return f"$${self.latex_name} = {latex(self.expression)}$$"


class Formulas:
    """What every derived record offers: its formulas typeset, as callables, and as source."""

    def formulas(self) -> tuple[Formula, ...]:
        """Return the record's formulas, in their fixed order."""
        raise NotImplementedError

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """The symbols the formulas depend on, in the order exported functions take them."""
        found: set[Expr] = set()
        for formula in self.formulas():
            found |= formula.expression.free_symbols
        return tuple(sorted(found, key=lambda symbol: str(symbol.name)))

    def strings(self) -> dict[str, str]:
        """Return the formulas as text by name, in the plain names of the symbols."""
        return {formula.name: str(formula.expression) for formula in self.formulas()}

    def listed(self) -> str:
        """Return the formulas on one line, long ones cut."""
        return "; ".join(f"{name} = {cut(text, _SHOWN)}" for name, text in self.strings().items())

    def latex(self) -> str:
        """Return the formulas as one LaTeX ``aligned`` block, without dollar signs."""
        lines = [f"{formula.latex_name} &= {latex(formula.expression)}" for formula in self.formulas()]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.listed()}>"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def lambdify(self, backend: Backend = "mpmath", context: Any = None) -> Callable[..., tuple[Any, ...]]:
        """Return a function of :attr:`arguments` giving the tuple of formula values.

        Arguments: backend, ``"mpmath"`` (numbers at a context's precision; rationals stay exact until
        evaluated) or ``"numpy"`` (arrays broadcast); context, an mpmath context used instead of the global
        one.
        """
        modules: Any
        if backend == "mpmath":
            functions = {name: getattr(context, name) for name in _CONTEXT_FUNCTIONS} if context else {}
            modules = [functions, "mpmath"]
        elif backend == "numpy":
            modules = "numpy"
        else:
            raise InputError("backend", backend, "mpmath or numpy")
        expressions = tuple(_computable(formula) for formula in self.formulas())
        function: Callable[..., tuple[Any, ...]] = sp.lambdify(self.arguments, expressions, modules=modules)
        return function

    def python_source(
        self, name: str = "formulas", module: Literal["math", "mpmath", "numpy"] = "math"
    ) -> str:
        """Return the source of a stand-alone Python module with one function of :attr:`arguments`.

        Arguments: name of the function; module it computes with, ``math`` (floats), ``numpy`` (arrays broadcast)
        or ``mpmath`` (numbers at its precision). Raises InputError for another module.
        """
        if module not in _PRINTERS:
            raise InputError("module", module, "math, mpmath or numpy")
        known = {"polylog": "mpmath.polylog"} if module == "mpmath" else {}
        printer = _PRINTERS[module]({"fully_qualified_modules": True, "user_functions": known})
        listed = self.formulas()
        values = [printer.doprint(_computable(formula)) for formula in listed]
        imports = f"import {module}\n\n\n" if any(f"{module}." in value for value in values) else ""
        arguments = ", ".join(str(symbol.name) for symbol in self.arguments)
        results = "".join(f"        {value},\n" for value in values)
        named = ", ".join(formula.name for formula in listed)
        return (
            f'{imports}def {name}({arguments}):\n    """Return ({named})."""\n    return (\n{results}    )\n'
        )


def _computable(formula: Formula) -> Expr:
    return formula.expression.xreplace(_WITHOUT_CANCELLATION)
