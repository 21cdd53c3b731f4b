"""The errors a caller can cause or must expect."""

from __future__ import annotations


class InputError(ValueError):
    """A value from outside is unusable; the text names the argument, what came and what was expected."""

    def __init__(self, name: str, got: object, expected: str) -> None:
        """Compose the one sentence shown to the user from argument name, value received and expectation."""
        shown = str(got)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        super().__init__(f"{name}: expected {expected}, got {shown}")
        self.name = name


class MissingExtra(RuntimeError):
    """An optional dependency is not installed; the text says which extra brings it."""


class BudgetExceeded(RuntimeError):
    """A computation was given up because it used its budget of steps or time."""
