"""The film of condensation: all neurons in the plane of the data, frame by frame in log-time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fullnet
from reduced.errors import InputError
from reduced.figures import style
from reduced.figures.moments import phase_ends, window
from reduced.figures.orientations import draw_orientations, scale
from reduced.figures.timeline import LINES, draw_accuracy
from reduced.writing import in_new_folder, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILMS = (".gif", ".mp4")
_FRAMES, _PER_SECOND, _DPI = 96, 12, 90


def write_animation(
    path: fullnet.Trajectory,
    file: str | Path,
    frames: int = _FRAMES,
    on_frame: Callable[[int], None] | None = None,
) -> Path:
    """Write a film of all neurons in the plane of the data, with accuracy below, and return its path.

    Arguments: path, a flow on two-point data; file, ending in .gif (written by Pillow) or .mp4 (needs ffmpeg);
    frames ≥ 2, at times even in log t; on_frame, told how many frames are done. The file appears whole or not
    at all. Raises InputError.
    """
    target = Path(file)
    writer = film_writer(target)
    if frames < 2:
        raise InputError("frames", frames, "at least 2")
    with style.styled(), written_whole(in_new_folder(target)) as temporary:
        film = Film(path, frames)
        with writer.saving(film.figure, str(temporary), _DPI):
            for k in range(frames):
                film.show(k)
                writer.grab_frame()
                if on_frame is not None:
                    on_frame(k + 1)
    return target


def film_writer(file: Path) -> Any:
    """Return the writer for a file's ending. Raises InputError for another, and for .mp4 without ffmpeg."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    ending = file.suffix.lower()
    if ending not in FILMS:
        raise InputError("animation", str(file), "a file name ending in .gif or .mp4")
    if ending == ".gif":
        return PillowWriter(fps=_PER_SECOND)
    if not FFMpegWriter.isAvailable():
        raise InputError(
            "animation", str(file), "a file name ending in .gif (.mp4 needs ffmpeg, not installed)"
        )
    return FFMpegWriter(fps=_PER_SECOND)


class Film:
    """The frames of a film: frame k shows the time ``times[k]``; all share one scale and one layout."""

    def __init__(self, path: fullnet.Trajectory, frames: int) -> None:
        """Lay out the picture above and the accuracy below; times (frames,) are even in log t after 0."""
        first, last = window(path)
        self.path = path
        self.times = np.concatenate([[0.0], np.minimum(np.geomspace(first, last, frames - 1), path.end)])
        self._decades = scale(path, [0.0, last])
        self.figure, self._picture, self._cursor = self._laid_out(first, last)
        self.show(0)
        self.figure.canvas.draw()
        self.figure.set_layout_engine("none")

    def _laid_out(self, first: float, last: float) -> tuple[Figure, Any, Any]:
        built, (strip,) = style.figure(4.6, 5.8)
        strip.remove()
        grid = built.add_gridspec(2, 1, height_ratios=(4, 1))
        picture, strip = built.add_subplot(grid[0], projection="polar"), built.add_subplot(grid[1])
        phases = fullnet.phase_times(self.path)
        style.log_time(strip, first, last)
        draw_accuracy(self.path, strip)
        style.shade_phases(strip, phase_ends(phases))
        style.phase_lines(strip, {name: phases.times[name] for name in LINES})
        return built, picture, strip.axvline(first, color=style.VERMILLION, linewidth=2)

    def show(self, k: int) -> None:
        """Turn the figure into frame k."""
        t = float(self.times[k])
        self._picture.clear()
        draw_orientations(self.path, t, self._picture, self._decades)
        self._picture.set_title(f"t = {style.written(t)}")
        self._cursor.set_xdata([max(t, self.times[1])] * 2)
