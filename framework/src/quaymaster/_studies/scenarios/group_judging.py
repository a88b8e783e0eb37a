"""Evaluates conditions on PodGroups over time."""

import fnmatch
from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster._base.errors import counted
from quaymaster._studies.scenarios.checks import GroupCheck
from quaymaster._studies.scenarios.intervals import Window, steps_of, times_in
from quaymaster._studies.scenarios.verdicts import Events, Verdict
from quaymaster._studies.simulation.history import PodLife

__all__ = ["judge_groups"]

_EXPECTED: Final = {
    "Scheduled": "all pods of {} have nodes",
    "Quorum": "the quorum of {} has nodes",
    "Pending": "no pod of {} has a node",
}


def judge_groups(check: GroupCheck, events: Events, window: Window) -> Verdict:
    """Evaluate a condition on the state of PodGroups.

    The quorum of a group is its last known one.

    Args:
        check: The condition.
        events: The history.
        window: The time in which it must hold.
    """
    expected = _EXPECTED[check.state].format(_name(check))
    quorums = events.quorums
    if quorums is None:
        text = "the feature gate GenericWorkload is off"
        return Verdict(
            holds=False, expected=expected, found=text, failed_at=window.since
        )
    lives: dict[str, list[PodLife]] = {key: [] for key in quorums}
    for life in events.history.pods:
        if life.pod.group_key in lives:
            lives[life.pod.group_key].append(life)
    selected = {key: own for key, own in lives.items() if _is_selected(check, key)}
    if not selected:
        text = "there was no such PodGroup"
        return Verdict(
            holds=False, expected=expected, found=text, failed_at=window.since
        )
    failures: dict[str, tuple[float, int]] = {}
    for key, own in selected.items():
        failure = _failure(check, own, quorums[key], window)
        if failure is not None:
            failures[key] = failure
    if not failures:
        observation = f"true of {counted(len(selected), 'PodGroup')}"
        return Verdict(holds=True, expected=expected, found=observation)
    first = min(failures, key=lambda key: (failures[key][0], key))
    at, running = failures[first]
    quorum = quorums[first]
    return Verdict(
        holds=False,
        expected=expected,
        found=f"{running} pods of {first} have nodes, its quorum is {quorum}; "
        f"{len(failures)} of {len(selected)} groups fail",
        failed_at=at,
        objects=tuple(f"podgroup/{key}" for key in sorted(failures)),
    )


def _name(check: GroupCheck) -> str:
    """Return the name of the selected groups in a sentence."""
    name = check.name or "*"
    if check.namespace is not None:
        name = f"{check.namespace}/{name}"
    return "each PodGroup" if name == "*" else f"podgroup/{name}"


def _is_selected(check: GroupCheck, key: str) -> bool:
    namespace, _, name = key.partition("/")
    if check.namespace not in (None, namespace):
        return False
    return check.name is None or fnmatch.fnmatchcase(name, check.name)


def _failure(
    check: GroupCheck, lives: Sequence[PodLife], quorum: int, window: Window
) -> tuple[float, int] | None:
    """Return when a group fails first, and how many of its pods run then."""
    running = steps_of(
        (life.bound, life.ran_until, 1) for life in lives if life.bound is not None
    )
    ended = steps_of(
        (life.ended, life.gone, 1) for life in lives if life.ended is not None
    )
    pending = steps_of((life.created, life.waited_until, 1) for life in lives)
    times = times_in(window, running, ended, pending)
    # Pods that have succeeded had their node together with the others.
    placed = running.on(times) + ended.on(times)
    if check.state == "Pending":
        fails = running.on(times) > 0
    else:
        fails = placed < quorum
        if check.state == "Scheduled":
            fails |= pending.on(times) > 0
    if not fails.any():
        return None
    first = int(np.argmax(fails))
    return float(times[first]), int(running.on(times)[first])
