"""Finds the first difference between our queue's states and upstream's."""

from collections.abc import Collection, Iterator
from typing import Any

from tests.queue.cases import Case, Json
from tests.queue.player import play
from tests.queue.view import compared

__all__ = ["first_difference"]


def first_difference(case: Case) -> str | None:
    """Return the first difference, with both states, or None.

    Kubernetes 1.37 keeps the nominations of pods that others of their names have
    replaced, which is a defect: they are removed from its states.
    """
    steps = zip(_expected(case), play(case), strict=True)
    for number, (expected, got) in enumerate(steps):
        wanted, found = compared(expected), compared(got)
        for field in sorted(wanted.keys() | found.keys()):
            if wanted.get(field) != found.get(field):
                operation = case.operations[number]["op"]
                return (
                    f"{case.case_id}, step {number} ({operation}), {field}:\n"
                    f"  upstream {wanted.get(field)}\n  ours     {found.get(field)}"
                )
    return None


def _expected(case: Case) -> Iterator[dict[str, Any]]:
    uids: dict[tuple[str, str], str] = {}
    replaced: set[str] = set()
    for operation, state in zip(case.operations, case.expected, strict=True):
        if operation["op"] in ("addPod", "updatePod"):
            metadata = operation["pod"]["metadata"]
            name, uid = (metadata["namespace"], metadata["name"]), metadata["uid"]
            if operation["op"] == "updatePod" and uids.get(name) != uid:
                replaced.add(uids[name])
            uids[name] = uid
        yield dict(_without_nominations(state, replaced if _leaks(case) else ()))


def _leaks(case: Case) -> bool:
    return case.kubernetes.since("1.37")


def _without_nominations(state: Json, uids: Collection[str]) -> Json:
    nominated = {
        node: [uid for uid in pods if uid not in uids]
        for node, pods in (state.get("nominated") or {}).items()
    }
    return {
        **state,
        "nominated": {node: pods for node, pods in nominated.items() if pods},
    }
