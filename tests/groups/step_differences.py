"""Compares the steps of a case with what our scheduler did.

What upstream leaves to chance is not compared: repeated parts of messages, the order of
reasons, entries that differed between two recordings, and which pod of a group is the
first to write a claim that they share. The others fail, and are bound when they are
tried again; upstream may still write the condition of the failure then.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from tests.groups.cases import Tree

__all__ = ["step_differences"]

_KINDS: Final = ("Pod", "PodGroup", "ResourceClaim", "Workload", "Job")
_RACE: Final = "got allocated elsewhere in the meantime"
_REPEATED: Final = re.compile(
    r"(, pod group preemption: [^,]*(?:, preempting \d+ victims)?)\1+"
)
_UNFIT: Final = re.compile(r"(0/\d+ nodes are available: )(.*)")
_VARYING: Final = ("node", "nominated", "deleting")
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {}, False)


def step_differences(theirs: Tree, ours: Tree) -> Iterator[str]:
    """Yield the differences of one step.

    Args:
        theirs: The step of a case.
        ours: The state after it, and its events.
    """
    expected, varying = theirs["expect"], frozenset(theirs.get("varies", ()))
    for kind in filter(expected.__contains__, _KINDS):
        recorded, present = expected[kind], _shown(kind, expected[kind], ours[kind])
        for name in sorted(recorded.keys() | present.keys()):
            is_varying = f"{kind}/{name}" in varying
            before = _entry(recorded.get(name), is_varying=is_varying)
            after = _entry(present.get(name), is_varying=is_varying)
            if before != after:
                texts = f"upstream {json.dumps(before)} here {json.dumps(after)}"
                yield f"{kind}/{name}: {texts}"
    if sorted(expected["gone"]) != ours["gone"]:
        yield f"gone: upstream {expected['gone']} here {ours['gone']}"
    seen = {_event(event) for event in ours["events"]}
    for event in expected["events"]:
        if event[3].endswith(_RACE):
            continue
        if _event(event) not in seen:
            yield f"event: upstream {event}, not here"


def _shown(kind: str, recorded: Tree, ours: Tree) -> Mapping[str, Tree]:
    """Return our entries without old pods that the recording leaves out."""
    return {
        name: entry
        for name, entry in ours.items()
        if name in recorded or kind != "Pod" or not name.startswith("old-")
    }


def _entry(entry: Tree | None, *, is_varying: bool) -> Tree | None:
    if entry is None:
        return None
    if is_varying:
        return {key: entry[key] for key in _VARYING if entry.get(key) not in _EMPTY}
    kept = {key: value for key, value in entry.items() if value not in _EMPTY}
    if "pods" in kept:
        members = (_entry(pod, is_varying=False) for pod in kept["pods"])
        return {"pods": sorted(members, key=json.dumps)}
    if "conditions" in kept:
        kept["conditions"] = {
            name: [status, reason, _text(message)]
            for name, (status, reason, message) in kept["conditions"].items()
            if not message.endswith(_RACE)
        }
        if not kept["conditions"]:
            del kept["conditions"]
    return kept


def _event(event: list[str]) -> tuple[str, str, str, str]:
    kind, name, reason, note = event
    return kind, name, reason, _text(note)


def _text(message: str) -> str:
    """Return a message without what upstream leaves to chance."""
    message = _REPEATED.sub(r"\1", message)
    unfit = _UNFIT.fullmatch(message)
    if unfit is None:
        return message
    head, found, tail = unfit[2].partition(" preemption: ")
    reasons = ", ".join(sorted(head.rstrip(".").split(", ")))
    return f"{unfit[1]}{reasons}{found}{tail}"
