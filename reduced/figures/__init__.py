"""Figures of the paper and beyond: functions that draw records into Axes, and a catalogue of finished figures.

    setting = figures.paper_setting()  # p = 4, Δ = π/15, m = 100, seed 0
    figures.draw_timeline(setting.path)
    list(figures.write_figures(setting, "figures", form="svg"))

- Every ``draw_…`` function takes data records and optional Axes and returns the Axes it drew into;
  :func:`styled` makes what is drawn inside it look like the package's own figures.
- :data:`CATALOGUE` holds an :class:`Entry` for each finished figure of a :class:`Setting`;
  :func:`write_figures` writes them, :func:`write_animation` the film of condensation.
- :func:`save_figure`, :func:`svg_text` and :func:`png_bytes` turn a figure into a file, a text or bytes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reduced.figures.alignment import draw_alignment
    from reduced.figures.animation import write_animation
    from reduced.figures.catalogue import CATALOGUE, Entry, write_figures
    from reduced.figures.convergence import draw_convergence
    from reduced.figures.files import png_bytes, save_figure, svg_text
    from reduced.figures.lengths import draw_lengths
    from reduced.figures.margin_map import draw_margin_map
    from reduced.figures.orientations import draw_orientations
    from reduced.figures.overlay import draw_overlay
    from reduced.figures.patterns import draw_patterns
    from reduced.figures.phase_portrait import draw_phase_portrait
    from reduced.figures.setting import Setting, paper_setting
    from reduced.figures.staircase import draw_staircase
    from reduced.figures.step_sizes import draw_step_sizes
    from reduced.figures.style import styled
    from reduced.figures.timeline import draw_timeline

_LAZY = {
    "CATALOGUE": "catalogue",
    "Entry": "catalogue",
    "Setting": "setting",
    "draw_alignment": "alignment",
    "draw_convergence": "convergence",
    "draw_lengths": "lengths",
    "draw_margin_map": "margin_map",
    "draw_orientations": "orientations",
    "draw_overlay": "overlay",
    "draw_patterns": "patterns",
    "draw_phase_portrait": "phase_portrait",
    "draw_staircase": "staircase",
    "draw_step_sizes": "step_sizes",
    "draw_timeline": "timeline",
    "paper_setting": "setting",
    "png_bytes": "files",
    "save_figure": "files",
    "styled": "style",
    "svg_text": "files",
    "write_animation": "animation",
    "write_figures": "catalogue",
}

__all__ = [
    "CATALOGUE",
    "Entry",
    "Setting",
    "draw_alignment",
    "draw_convergence",
    "draw_lengths",
    "draw_margin_map",
    "draw_orientations",
    "draw_overlay",
    "draw_patterns",
    "draw_phase_portrait",
    "draw_staircase",
    "draw_step_sizes",
    "draw_timeline",
    "paper_setting",
    "png_bytes",
    "save_figure",
    "styled",
    "svg_text",
    "write_animation",
    "write_figures",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)
