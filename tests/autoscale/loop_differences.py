"""Compares the loops of a cluster autoscaler."""

import re
from collections.abc import Iterator
from typing import Final

from tests.autoscale.cases import Tree

__all__ = ["loop_differences"]

_COMPARED: Final = ("targets", "nodes", "pending", "unneeded")


def loop_differences(theirs: Tree, ours: Tree) -> Iterator[str]:
    """Yield what differs after a loop; names of pods that block a removal may."""
    for field in _COMPARED:
        want, have = _comparable(theirs, field), _comparable(ours, field)
        if want != have and (field in theirs or field != "unneeded"):
            yield f"{field}: upstream {want} here {have}"
    want, have = _reasons(theirs), _reasons(ours)
    if want != have and "unremovable" in theirs:
        yield f"unremovable: upstream {want} here {have}"
    if (want := _events(theirs)) != (have := _events(ours)):
        yield f"events: upstream {want} here {have}"


def _comparable(loop: Tree, field: str) -> object:
    if field == "nodes":
        return {name: sorted(state) for name, state in loop["nodes"].items()}
    return loop["targets"] if field == "targets" else sorted(loop.get(field) or ())


def _reasons(loop: Tree) -> dict[str, str]:
    """Return why nodes stay, without the pod that was found first."""
    reasons = loop.get("unremovable") or {}
    return {name: text.partition(" ")[0] for name, text in reasons.items()}


def _events(loop: Tree) -> list[str]:
    """Return the events; upstream takes equal pods, groups and reasons in any order."""
    return sorted(_comparable_event(event) for event in loop.get("events") or ())


def _comparable_event(event: str) -> str:
    without_numbers = re.sub(r"\b(app\d+)-\d+r*", r"\1", event)
    return " ".join(sorted(re.split(r"[\[\], ]+", without_numbers)))
