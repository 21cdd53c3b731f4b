"""The catalogue of figures, in the order in which they are told, and how they are written to files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reduced.errors import InputError
from reduced.figures.files import FORMATS, save_figure
from reduced.figures.setting import Setting
from reduced.figures.style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CATALOGUE", "Entry", "Setting", "chosen", "write_figures"]


@dataclass(frozen=True)
class Entry:
    """One figure of the catalogue, by the name of its module."""

    name: str

    @property
    def title(self) -> str:
        """What it shows, in a few words."""
        return str(self._module.TITLE)

    @property
    def caption(self) -> str:
        """What is seen, in sentences, with its source."""
        return str(self._module.CAPTION)

    def draw(self, setting: Setting) -> Figure:
        """Draw it, in the package's style."""
        with styled():
            drawn: Figure = self._module.figure(setting)
        return drawn

    def write(self, setting: Setting, folder: str | Path, form: str = "png") -> Path:
        """Draw it into ``folder/name.form`` (``png``, ``svg`` or ``pdf``) and return the path.

        The file appears whole or not at all. Raises InputError.
        """
        return save_figure(self.draw(setting), Path(folder) / f"{self.name}.{form}")

    @property
    def _module(self) -> Any:
        return import_module(f"reduced.figures.{self.name}")


_NAMES = (
    "orientations",
    "timeline",
    "alignment",
    "staircase",
    "overlay",
    "patterns",
    "phase_portrait",
    "step_sizes",
    "convergence",
    "lengths",
    "margin_map",
)
CATALOGUE = tuple(Entry(name) for name in _NAMES)


def chosen(names: Sequence[str]) -> tuple[Entry, ...]:
    """Return the entries of the given names, all of them when none is given. Raises InputError."""
    known = {entry.name: entry for entry in CATALOGUE}
    for name in names:
        if name not in known:
            raise InputError("name", repr(name), "one of " + ", ".join(known))
    return tuple(known[name] for name in dict.fromkeys(names)) if names else CATALOGUE


def write_figures(
    setting: Setting, folder: str | Path, names: Sequence[str] = (), form: str = "png"
) -> Iterator[Path]:
    """Draw figures and write each to ``folder/name.form`` as soon as it is drawn.

    Arguments: setting; folder, made when missing; names of the catalogue, none for all; form ``png``, ``svg``
    or ``pdf``. Yields the path of each file. Raises InputError.
    """
    if form not in FORMATS:
        raise InputError("form", repr(form), "one of " + ", ".join(FORMATS))
    for entry in chosen(names):
        yield entry.write(setting, folder, form)
