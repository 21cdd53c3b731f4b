"""Claim: bash, zsh and fish complete the commands' options and choices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reduced.cli import main


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete -o default -F"), ("zsh", "#compdef reduced"), ("fish", "complete --command reduced")],
)
def test_there_is_a_script_for_each_shell(
    shell: str, mark: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_REDUCED_COMPLETE", f"source_{shell}")
    assert main(["--help"]) == 0
    script = capsys.readouterr().out
    assert mark in script
    assert f"_REDUCED_COMPLETE=complete_{shell}" in script


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("reduced plateau --method ", ["exact", "taylor", "enclosure"]),
        ("reduced predict --method e", ["exact", "enclosure"]),
        ("reduced plateau --loss ", ["exp", "logistic"]),
        ("reduced simulate --ridge ", ["active", "inactive", "slide"]),
        ("reduced simulate --preset n", ["noisy"]),
        ("reduced simulate --precision ", ["double"]),
        ("reduced gd --subgradient ", ["0", "1/2", "1"]),
        ("reduced derive --phase I", ["I", "II", "III", "IV"]),
        ("reduced derive --format ", ["text", "latex", "json", "python"]),
        ("reduced sweep export --format ", ["csv", "json", "parquet"]),
        ("reduced plateau --sens", ["--sensitivities"]),
        ("reduced cross", ["crosscheck"]),
        ("reduced plateau --p ", []),
    ],
)
def test_choices_are_offered(
    line: str, offered: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_REDUCED_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.split() == offered


def test_every_choice_offered_is_one_the_command_takes(run_cli: Callable) -> None:
    for method in ("exact", "taylor"):
        assert run_cli("plateau", "--digits", "3", "--method", method).code == 0
    for phase in ("II", "III", "IV"):
        assert run_cli("derive", "--phase", phase).code == 0
