"""From a command that takes option records to the flat signature Typer wants, with its texts read here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, cleandoc, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from reduced.errors import InputError

# What a metavar lists beside the choices to be typed as they are.
_KINDS = ("DIGITS",)
_INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """Turn a command that takes option records into one that takes their fields, as Typer wants it.

    Integers and floats arrive as texts and are read here, so that a wrong one is told like every other wrong
    input. Options whose metavar lists choices, such as exact|taylor, complete them in the shell.
    """
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name in records:
            parameters += _fields_as_parameters(records[parameter.name])
        else:
            annotation = hints[parameter.name]
            parameters.append(parameter.replace(annotation=annotation, kind=Parameter.KEYWORD_ONLY))
    readers = {parameter.name: _reader(parameter.annotation) for parameter in parameters}
    parameters = [parameter.replace(annotation=_as_text(parameter.annotation)) for parameter in parameters]

    def flat(**given: Any) -> int:
        read = {name: readers[name](value, name) for name, value in given.items()}
        gathered = {
            name: kind(**{field.name: read.pop(field.name) for field in fields(kind)})
            for name, kind in records.items()
        }
        return command(**gathered, **read)

    flat.__name__, flat.__doc__ = command.__name__, _flowing(command.__doc__ or "")
    flat.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _flowing(text: str) -> str:
    """Join the lines of each paragraph, so that the terminal wraps them; those marked \\b stay as they are."""
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else " ".join(p.split("\n")) for p in paragraphs)


def _fields_as_parameters(record: Any) -> list[Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(record)
    ]


def _reader(annotation: Any) -> Callable[[Any, str], Any]:
    kinds = set(_kinds(annotation))
    return _read_integer if int in kinds else _read_seconds if float in kinds else _as_given


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield the types an annotation allows: int and None of Annotated[int | None, …]."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    yield from get_args(annotation) or (annotation,)


def _as_text(annotation: Any) -> Any:
    """Return the annotation with text in place of numbers, and completion where its choices are listed."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, declared = get_args(annotation)
    kinds, option = set(_kinds(annotation)), copy(declared)
    if kinds & {int, float}:
        option.metavar = option.metavar or ("INTEGER" if int in kinds else "NUMBER")
        kind = str | None if type(None) in kinds else str
    if "|" in (option.metavar or ""):
        option.autocompletion = _completion(option.metavar.split("|"))
    return Annotated[kind, option]


def _completion(words: list[str]) -> Callable[[str], list[str]]:
    choices = [word for word in words if word not in _KINDS]

    def complete(incomplete: str) -> list[str]:
        return [word for word in choices if word.startswith(incomplete)]

    return complete


def _as_given(value: Any, _: str) -> Any:
    return value


def _read_integer(value: str | int | None, name: str) -> int | None:
    if value is None or isinstance(value, int):
        return value
    if not _INTEGER.fullmatch(value.strip()):
        raise InputError(name, repr(value), "an integer")
    return int(value)


def _read_seconds(value: str | float | None, name: str) -> float | None:
    if value is None or isinstance(value, float):
        return value
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < 1e9:
        raise InputError(name, repr(value), "a positive number of seconds, below 1e9")
    return seconds
