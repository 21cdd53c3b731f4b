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


class ContentError(InputError):
    """What a file holds is unusable as a whole; the text says what was expected of it and what it is."""

    def __init__(self, got: object, expected: str) -> None:
        """Compose the half sentence that :class:`FileError` completes."""
        ValueError.__init__(self, f"expected {expected}, got {got}")
        self.name = "content"


class FileError(InputError):
    """A file is unusable; the text names the argument that gave it, the file, and what in it is wrong."""

    def __init__(self, name: str, path: object, complaint: str) -> None:
        """Compose the sentence from argument name, path and a complaint that says what was expected."""
        ValueError.__init__(self, f"{name}: {path}: {complaint}")
        self.name = name


class NotUnique(RuntimeError):
    """A neuron on a repelling ridge, or in the origin: the flow has several solutions; ``ridge=`` chooses one."""

    def __init__(self, neuron: int, pattern: str) -> None:
        """Compose the sentence from the neuron and its pattern (``0`` marks the kinks it lies on)."""
        where = "lies on a repelling ridge"
        if set(pattern) == {"0"} and len(pattern) > 1:
            where = "rests in the origin of the data and could leave it at any time"
        super().__init__(
            f"neuron {neuron} (pattern {pattern}) {where}, so the gradient flow is not "
            "unique; ridge='active', 'inactive' or 'slide' chooses a solution"
        )
        self.neuron = neuron
