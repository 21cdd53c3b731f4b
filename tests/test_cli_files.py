"""Claim: whatever is wrong with a file given to an option, one sentence names option, file and fault."""

from __future__ import annotations

import errno
import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

W, SIGN = np.array([[0.1, -0.3, 0.0], [0.2, -0.2, 0.1]]), np.array([1.0, -1.0])
POINTS = np.array([[0.1, -1.0, 0.0], [-0.1, -1.0, 0.0]])
SHORT = ("--until", "1", "--m", "4")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _archive(name: str, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(name, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def _huge() -> bytes:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**13, 3)}
    )
    return header.getvalue()


def _bad_archives(first: str, second: str) -> Iterator[tuple[str, str]]:
    """Write unusable archives of two arrays and yield each with words its complaint must have."""
    good = {first: W, second: SIGN}
    yield "missing.npz", "an existing file"
    Path("folder.npz").mkdir()
    yield "folder.npz", "a directory"
    np.savez("whole.npz", **good)
    content = Path("whole.npz").read_bytes()
    for name, changed in {
        "empty.npz": b"",
        "cut.npz": content[:200],
        "text.npz": b"hello",
        "pickle.npz": pickle.dumps(good),
    }.items():
        Path(name).write_bytes(changed)
        yield name, "a whole .npz archive"
    with Path("single.npz").open("wb") as stream:
        np.save(stream, W)
    yield "single.npz", "got a single array"
    np.savez("lacking.npz", **{first: W})
    yield "lacking.npz", f"an array '{second}' in the archive, got {first}"
    np.savez("nothing.npz")
    yield "nothing.npz", "got an empty archive"
    np.savez("objects.npz", **{first: np.array([{}, 1], dtype=object), second: SIGN})
    yield "objects.npz", f"{first}: expected an array of plain numbers, got pickled objects"
    damaged = bytearray(content)
    damaged[len(content) // 6] ^= 255
    Path("damaged.npz").write_bytes(damaged)
    yield "damaged.npz", f"{first}: expected an array of plain numbers, got a damaged one"
    _archive("raw.npz", {first: b"hello", second: b"x"})
    yield "raw.npz", f"{first}: expected an array of real numbers"
    _archive("huge.npz", {f"{first}.npy": _huge(), f"{second}.npy": _huge()})
    yield "huge.npz", "fit into memory"
    for name, arrays, words in (
        ("nan", {first: W * np.nan}, "finite numbers"),
        ("big", {first: 1e200 * W}, "entries of size at most 1e100"),
        ("words", {first: W.astype(str)}, "real numbers"),
        ("turned", {first: W.T}, f"{second}: expected 3 entries"),
        ("labels", {second: 2 * SIGN}, f"{second}: expected entries 1 or -1, got entry 2"),
    ):
        np.savez(f"{name}.npz", **{**good, **arrays})
        yield f"{name}.npz", words


@pytest.mark.parametrize(("option", "arrays"), [("init", ("W", "sign")), ("data", ("X", "y"))])
def test_archives(run_cli: Callable, option: str, arrays: tuple[str, str]) -> None:
    for name, words in _bad_archives(*arrays):
        for command in ("simulate", "gd"):
            ended = run_cli(command, f"--{option}", name, "--dim", "3", *SHORT)
            assert (name, ended.code, ended.out) == (name, 2, "")
            assert len(ended.err.splitlines()) == 1
            assert ended.err.startswith(f"reduced: {option}: {name}: ")
            assert words in ended.err
            assert "expected" in ended.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected at least one line of numbers, got none"),
        ("# nothing\n\n", "expected at least one line of numbers, got none"),
        ("1,2,1\r\n1,2\r\n", "line 2: expected 3 as in the first line, got 2 cells"),
        ("1,2\n", "line 1: expected at least two coordinates and a label"),
        ("# points\n1,2,3,1\n1,2,1\n", "line 3: expected 4 as in the first line, got 3 cells"),
        ("1,2,x\n", "line 1: expected numbers only (names stand in the first line, or after #), got 'x'"),
        (
            "1,2,1\n1,2,\n",
            "line 2: expected numbers only (names stand in the first line, or after #), got ''",
        ),
        ("1_0,2,1\n", "got '1_0'"),
        ("1 2 1\n", "separated by commas, semicolons or tabs, got 1 cell"),
        ("nan,1,1\n", "line 1: expected finite numbers that fit into a double, got 'nan'"),
        ("1,1e999,1\n", "line 1: expected finite numbers that fit into a double, got '1e999'"),
        ("1,1e200,1\n", "entries of size at most 1e100, got an entry of size 1e+200"),
        ("1,2,1\n1,2,0\n", "line 2: expected a label 1 or -1 in the last column (write -1 for 0), got '0'"),
        ("1,2,1\n1,2,3\n", "line 2: expected a label 1 or -1 in the last column, got '3'"),
        (
            "a,b,label\n1,2,0\n",
            "line 2: expected a label 1 or -1 in column 'label' (write -1 for 0), got '0'",
        ),
        ("a,b,c\n1,2,1\n", "line 1: expected a column named label or y"),
        ("a,b,y,weight,weights\n1,2,1,1,1\n", "at most one named weight or weights"),
        (",a,b,y\n0,1,2,1\n", "line 1: expected a name of its own for each column"),
        ("a,A,y\n1,2,1\n", "line 1: expected a name of its own for each column"),
        ("x,y,weight\n1,1,1\n", "line 1: expected at least two coordinates beside 'y'"),
        ("a,b,y\n1,2\n", "line 2: expected 3 as in the first line, got 2 cells"),
        ("a,b,y\n", "expected at least one line of numbers, got names only"),
        ("a,b,y,weight\n1,2,1,0\n", "weights: expected positive entries"),
        ("0,5;1;1\n", "line 1: expected numbers only (names stand in the first line, or after #), got '0,5'"),
        ("0,0,1\n", "rows of size at least 1e-100"),
    ],
)
def test_tables(run_cli: Callable, text: str, words: str) -> None:
    Path("points.csv").write_text(text, newline="")
    ended = run_cli("simulate", "--data", "points.csv", "--dim", "2", *SHORT)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("reduced: data: points.csv: ")
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1


def test_text_of_another_encoding(run_cli: Callable) -> None:
    Path("points.csv").write_text("1,2,1\n", encoding="utf-16")
    ended = run_cli("simulate", "--data", "points.csv")
    assert (ended.code, ended.err.count("CSV text in UTF-8")) == (2, 1)


def test_spreadsheet_text_is_read_like_plain_text(run_cli: Callable) -> None:
    """A byte-order mark, CRLF, blank lines and comments change nothing."""
    Path("plain.csv").write_text("0.1,-1,1\n-0.1,-1,-1\n")
    Path("spreadsheet.csv").write_bytes(b"\xef\xbb\xbf# x,y,label\r\n0.1, -1,+1\r\n\r\n-0.1,-1,-1.0\r\n")
    found = [
        run_cli("simulate", "--data", name, "--dim", "2", *SHORT, "--json")
        for name in ("plain.csv", "spreadsheet.csv")
    ]
    assert found[0].code == 0
    assert found[0].out == found[1].out


def test_arrays_nobody_reads_are_mentioned_and_left_unread(run_cli: Callable) -> None:
    np.savez("net.npz", W=W, sign=SIGN, more=np.array([{}], dtype=object))
    np.savez("points.npz", X=POINTS, y=SIGN, weight=SIGN)
    words = ("gd", "--steps", "2", "--until", "1", "--init", "net.npz", "--data", "points.npz")
    notes = run_cli(*words, "--json").record["notes"]
    assert notes == [
        "--init: only W, sign are read, not more",
        "--data: only X, y, weights are read, not weight",
    ]
    assert "not weight" in run_cli(*words).err


def test_files_that_may_not_be_read(run_cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    np.savez("net.npz", W=W, sign=SIGN)
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_text", refuse)
    for option, name in (("init", "net.npz"), ("data", "points.npz"), ("data", "points.csv")):
        ended = run_cli("simulate", f"--{option}", name)
        assert (ended.code, ended.out) == (2, "")
        assert (
            ended.err
            == f"reduced: {option}: {name}: expected a readable file, got {os.strerror(errno.EACCES)}\n"
        )


def test_a_place_that_cannot_be_written_is_refused_before_the_run(run_cli: Callable) -> None:
    Path("folder").mkdir()
    for place, words in (("no/run.npz", os.strerror(errno.ENOENT)), ("folder", "a directory")):
        ended = run_cli("simulate", "--out", place)  # without --until: seconds, were it to run first
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == f"reduced: out: {place}: expected a file that can be written, got {words}\n"


def test_flows_that_cannot_be_resumed(run_cli: Callable) -> None:
    np.savez("net.npz", W=W, sign=SIGN)
    Path("text.npz").write_text("hello")
    for name, words in (
        ("none.npz", "an existing file"),
        ("net.npz", "an array 'X'"),
        ("text.npz", "whole .npz"),
    ):
        ended = run_cli("simulate", "--out", name, "--resume", *SHORT)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"reduced: out: {name}: expected ")
        assert words in ended.err
    words = ("simulate", "--m", "4", "--dim", "2", "--until", "1", "--out", "run.npz")
    assert run_cli(*words).code == 0
    with np.load("run.npz") as archive:
        arrays = dict(archive)
    np.savez("run.npz", **(arrays | {"t": np.array(["late"])}))
    ended = run_cli(*words, "--resume")
    assert (ended.code, "a trajectory as it was saved" in ended.err) == (2, True)
    assert sorted(path.name for path in Path().iterdir()) == ["net.npz", "run.npz", "text.npz"]
