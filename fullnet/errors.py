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


class NotUnique(RuntimeError):
    """A neuron lies on a repelling ridge, where the flow has several solutions; ``ridge=`` chooses one."""

    def __init__(self, neuron: int, pattern: str) -> None:
        """Compose the sentence from the neuron and its pattern (``0`` marks the kinks it lies on)."""
        super().__init__(
            f"neuron {neuron} (pattern {pattern}) lies on a repelling ridge, so the gradient flow is not "
            "unique; ridge='active', 'inactive' or 'slide' chooses a solution"
        )
        self.neuron = neuron
