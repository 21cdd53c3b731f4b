"""Figures as files and as text: the same figure gives the same bytes, and a file appears whole or not at all."""

from __future__ import annotations

import os
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from reduced.errors import InputError
from reduced.figures.style import styled
from reduced.writing import in_new_folder, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")

# Without dates, so that equal figures are equal files.
_METADATA = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file ending in .png, .svg or .pdf and return its path; folders are made.

    Raises InputError when the ending is another or the file cannot be written.
    """
    target = Path(path)
    form = target.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise InputError("path", str(path), "a file name ending in .png, .svg or .pdf")
    with written_whole(in_new_folder(target)) as temporary, styled():
        figure.savefig(temporary, format=form, metadata=_METADATA[form])
    return target


def svg_text(figure: Figure) -> str:
    """Return a figure as one <svg> element, text as text, without XML declaration or doctype."""
    text = StringIO()
    with styled():
        figure.savefig(text, format="svg", metadata=_METADATA["svg"])
    whole = text.getvalue()
    return whole[whole.index("<svg") :]


def png_bytes(figure: Figure, dpi: float = 150) -> bytes:
    """Return a figure as the bytes of a PNG image."""
    image = BytesIO()
    with styled():
        figure.savefig(image, format="png", dpi=dpi)
    return image.getvalue()


def require_folder(folder: str | Path, name: str) -> None:
    """Make a folder where it is missing; raise InputError naming the argument if no file can be put there."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise InputError(name, str(folder), f"a folder that can be written to ({why.strerror})") from None
    if not os.access(place, os.W_OK):
        raise InputError(name, str(folder), "a folder that can be written to (no permission)")
