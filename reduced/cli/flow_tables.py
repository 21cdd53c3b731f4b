"""What the command simulate prints of a flow for people: phases on two points, findings on any other data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reduced.cli.flow_records import FlowRecord
from reduced.cli.render import print_tables, table, values
from reduced.records import Outcome

if TYPE_CHECKING:
    from reduced.cli.tables import Table

_SIZES = 10
"""Sizes of clusters shown."""

_QUANTITIES = {"t": "t", "accuracy": "accuracy", "loss": "loss", "log_loss": "log loss", "norm": "‖θ‖"}
_CAUSES = {
    "start": "inactive on every point from the start",
    "left": "left every point",
    "origin": "came to rest in the origin of the data",
}


def print_flow(found: FlowRecord) -> None:
    """Print a flow as tables and a closing line."""
    record = found.record
    outcome = Outcome(record["outcome"]).message
    if "times" not in record:
        print_tables(f"{outcome}; method {record['method']}")
        return
    if not found.two_point and record["outcome"] == Outcome.FINISHED.value:
        outcome = f"finished: the flow was followed to t = {record['until']}"
    middle = [_phases(record)] if found.two_point else [*_deaths(record), _end(record), _condensation(record)]
    plateaus = [(p["start"], p["end"], p["level"]) for p in record["plateaus"]]
    print_tables(
        values("Neurons at the end", [(name, str(count)) for name, count in record["living"].items()]),
        *middle,
        *([table("Plateaus", ("start", "end", "accuracy"), plateaus)] if plateaus or found.two_point else []),
        values(
            "Events (--json lists them)", [(kind, str(count)) for kind, count in sorted(found.kinds.items())]
        ),
        f"{outcome}; method {record['method']}",
    )


def _phases(record: dict[str, Any]) -> Table:
    rows: list[tuple[str, str, str | None]] = []
    for name, t in record["times"].items():
        rows.append((name, "t", t))
        pair = record["predictions"].get(name)
        if pair is not None:
            rows += [("", "f₊", pair[0]), ("", "f₋", pair[1])]
    return table("Times of the network's flow", ("event", "quantity", "value"), rows)


def _deaths(record: dict[str, Any]) -> list[Table]:
    rows = [(_CAUSES[cause], str(count)) for cause, count in record["died"].items() if count]
    return [table("Dead neurons", ("how", "neurons"), rows)] if rows else []


def _end(record: dict[str, Any]) -> Table:
    return values("The network at the end", [(_QUANTITIES[name], v) for name, v in record["final"].items()])


def _condensation(record: dict[str, Any]) -> Table:
    found = record["condensation"]
    sizes = sorted((len(members) for members in found["clusters"]), reverse=True)
    shown = ", ".join(map(str, sizes[:_SIZES])) + (", …" if len(sizes) > _SIZES else "")
    return values(
        "Condensation (at the last switch before a long pause)",
        [("t", found["t"]), ("clusters", str(len(sizes))), ("neurons in each", shown or None)],
    )
