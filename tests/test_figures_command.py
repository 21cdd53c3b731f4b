"""Claim: ``reduced figures`` writes whole files, the same each time, and keeps what is done when it fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

import reduced
from reduced import figures
from reduced.figures import animation
from reduced.figures.catalogue import CATALOGUE, Entry, write_figures
from reduced.figures.setting import Setting, paper_setting

SMALL = ("--m", "12", "--dim", "3")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def small() -> Setting:
    return paper_setting(m=12, dim=3)


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize(("form", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_becomes_a_file_of_each_form(
    run_cli: Callable, tmp_path: Path, form: str, begin: bytes
) -> None:
    folder = tmp_path / "new" / "pictures"
    ended = run_cli("figures", "timeline", "--out", str(folder), "--format", form, *SMALL)
    target = folder / f"timeline.{form}"
    assert (ended.code, ended.out, ended.err) == (0, f"{target}\n", "")
    assert target.read_bytes().startswith(begin)
    assert _names(folder) == [target.name]


def test_equal_settings_give_equal_files(tmp_path: Path) -> None:
    for name in ("one", "other"):
        list(write_figures(paper_setting(m=12, dim=3), tmp_path / name, ("orientations", "timeline"), "svg"))
    for file in ("orientations.svg", "timeline.svg"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_text_stays_text_and_the_page_needs_nothing_else(small: Setting) -> None:
    (entry,) = (entry for entry in CATALOGUE if entry.name == "timeline")
    text = figures.svg_text(entry.draw(small))
    root = ElementTree.fromstring(text)
    words = "".join(root.itertext())
    assert entry.title in words
    assert "flow time t = step × learning rate" in words
    assert all(
        value.startswith("#")
        for node in root.iter()
        for name, value in node.attrib.items()
        if name.endswith("href")
    )


def test_the_png_bytes_are_an_image(small: Setting) -> None:
    (entry,) = (entry for entry in CATALOGUE if entry.name == "timeline")
    built = entry.draw(small)
    assert figures.png_bytes(built, dpi=50).startswith(b"\x89PNG")


def test_the_list_names_every_figure(run_cli: Callable) -> None:
    ended = run_cli("figures", "--list")
    assert (ended.code, ended.err) == (0, "")
    for entry in CATALOGUE:
        assert entry.name in ended.out
        assert entry.title in ended.out
        assert entry.caption.endswith(".")
    record = run_cli("figures", "--list", "--json").record
    assert [row["name"] for row in record["figures"]] == [entry.name for entry in CATALOGUE]


def test_every_module_of_a_figure_is_public() -> None:
    for entry in CATALOGUE:
        assert f"draw_{entry.name}" in figures.__all__
    for name in figures.__all__:
        assert getattr(figures, name) is not None
    assert "figures" in dir(reduced)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = figures.nonsense


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["timelime"], "name: expected one of orientations, timeline"),
        (["--format", "bmp"], "format: expected one of png, svg, pdf, got 'bmp'"),
        (["--animation", "film.avi"], "animation: expected a file name ending in .gif or .mp4, got film.avi"),
        (["--seed", "-1"], "seed: expected an integer of at least 0"),
        (["--p", "1"], "p: expected p cos(delta) > 1"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run_cli("figures", *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert _names(tmp_path) == []


def test_a_figure_that_cannot_be_drawn_does_not_stop_the_others(run_cli: Callable, tmp_path: Path) -> None:
    words = ("figures", "staircase", "timeline", "--p", "5/2", "--out", str(tmp_path), *SMALL)
    ended = run_cli(*words)
    assert ended.code == 2
    assert "staircase is not drawn: p: expected an integer" in ended.err
    assert _names(tmp_path) == ["timeline.png"]
    record = run_cli(*words, "--json").record
    assert record["files"] == [str(tmp_path / "timeline.png")]
    assert list(record["failed"]) == ["staircase"]


@pytest.mark.parametrize(("p", "why"), [("5/2", "expected an integer"), ("1000", "expected at most 20")])
def test_without_names_a_figure_there_cannot_be_is_skipped_with_a_note(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, p: str, why: str
) -> None:
    few = tuple(entry for entry in CATALOGUE if entry.name in ("staircase", "timeline"))
    monkeypatch.setattr("reduced.figures.catalogue.CATALOGUE", few)
    words = ("figures", "--p", p, "--out", str(tmp_path), *SMALL)
    ended = run_cli(*words)
    assert (ended.code, ended.out) == (0, f"{tmp_path / 'timeline.png'}\n")
    assert ended.err.startswith(f"reduced: staircase is skipped: p: {why}")
    assert len(ended.err.splitlines()) == 1
    assert _names(tmp_path) == ["timeline.png"]
    record = run_cli(*words, "--json").record
    assert (record["files"], record["failed"]) == ([str(tmp_path / "timeline.png")], {})
    assert list(record["skipped"]) == ["staircase"]
    monkeypatch.setattr("reduced.figures.catalogue.CATALOGUE", few[1:])
    assert run_cli(*words).code == 2  # nothing at all is no success


def test_without_names_a_file_that_cannot_be_written_is_still_a_failure(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(entry for entry in CATALOGUE if entry.name in ("lengths", "timeline"))
    monkeypatch.setattr("reduced.figures.catalogue.CATALOGUE", few)
    (tmp_path / "timeline.png").mkdir()
    ended = run_cli("figures", "--out", str(tmp_path), *SMALL)
    assert ended.code == 2
    assert "timeline is not drawn: " in ended.err
    assert _names(tmp_path) == ["lengths.png", "timeline.png"]


def test_interruption_keeps_what_is_done(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("reduced.figures.overlay"), "figure", interrupt)
    ended = run_cli("figures", "timeline", "overlay", "patterns", "--out", str(tmp_path), *SMALL)
    assert ended.code == 130
    assert ended.err == "reduced: interrupted\n"
    assert _names(tmp_path) == ["timeline.png"]


def test_nothing_half_written_stays(small: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    def half(_: Figure, path: Path, **__: object) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    old = tmp_path / "timeline.png"
    old.write_bytes(b"an earlier picture")
    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(reduced.InputError, match="No space left on device"):
        Entry("timeline").write(small, tmp_path)
    assert _names(tmp_path) == ["timeline.png"]
    assert old.read_bytes() == b"an earlier picture"


@pytest.mark.parametrize("folder", ["file", "file/inside"])
def test_a_folder_that_cannot_be_is_told_before_anything_is_drawn(
    run_cli: Callable, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    ended = run_cli("figures", "--out", str(tmp_path / folder), *SMALL)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("reduced: out: expected a folder that can be written to")
    assert len(ended.err.splitlines()) == 1


def test_a_budget_ends_with_exit_3(run_cli: Callable, tmp_path: Path) -> None:
    ended = run_cli("figures", "--budget", "0.01", "--out", str(tmp_path), *SMALL)
    assert ended.code == 3
    assert "files are written" in ended.err


def test_the_film_shows_the_flow_from_start_to_end(small: Setting, tmp_path: Path) -> None:
    done: list[int] = []
    file = figures.write_animation(small.path, tmp_path / "film.gif", frames=4, on_frame=done.append)
    assert done == [1, 2, 3, 4]
    assert _names(tmp_path) == ["film.gif"]
    with Image.open(file) as film:
        assert film.n_frames == 4
        pictures = []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(film.convert("RGB").tobytes())
    assert len(set(pictures)) == 4


def test_a_film_alone_needs_no_other_figure(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(animation, "write_animation", partial(animation.write_animation, frames=3))
    monkeypatch.chdir(tmp_path)
    ended = run_cli("figures", "--animation", "film.gif", *SMALL)
    assert (ended.code, ended.out, ended.err) == (0, "film.gif\n", "")
    assert _names(tmp_path) == ["film.gif"]


def test_without_ffmpeg_mp4_is_refused_with_the_way_out(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.animation import FFMpegWriter

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda _: False))
    ended = run_cli("figures", "--animation", "film.mp4", *SMALL)
    assert (ended.code, ended.out) == (2, "")
    assert "ending in .gif (.mp4 needs ffmpeg, not installed)" in ended.err
    assert _names(tmp_path) == []


def test_an_mp4_is_written_where_ffmpeg_is(small: Setting, tmp_path: Path) -> None:
    from matplotlib.animation import FFMpegWriter

    if not FFMpegWriter.isAvailable():
        pytest.skip("ffmpeg is not installed")
    file = figures.write_animation(small.path, tmp_path / "film.mp4", frames=3)
    assert b"ftyp" in file.read_bytes()[:32]


def test_help_explains_with_examples_and_imports_nothing_heavy(run_cli: Callable) -> None:
    ended = run_cli("figures", "--help")
    assert ended.code == 0
    assert "reduced figures --list" in ended.out
    source = (
        "import sys; from reduced.cli import main; main(['figures', '--help']); "
        "sys.exit(bool({'numpy', 'matplotlib', 'scipy', 'sympy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", source], capture_output=True, cwd=ROOT).returncode == 0


def test_given_weights_are_drawn(run_cli: Callable, tmp_path: Path) -> None:
    import numpy as np

    W = np.random.default_rng(5).standard_normal((10, 2)) / 30
    np.savez(tmp_path / "weights.npz", W=W, sign=np.where(np.arange(10) < 5, 1.0, -1.0))
    words = ("--init", str(tmp_path / "weights.npz"), "--seed", "4", "--out", str(tmp_path / "out"))
    ended = run_cli("figures", "timeline", *words)
    assert ended.code == 0
    assert ended.err == "reduced: --seed: not used, the weights come from --init\n"
    assert _names(tmp_path / "out") == ["timeline.png"]


@pytest.mark.slow
def test_all_of_the_catalogue_is_drawn(run_cli: Callable, tmp_path: Path) -> None:
    ended = run_cli("figures", "--out", str(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert _names(tmp_path) == sorted(f"{entry.name}.png" for entry in CATALOGUE)
