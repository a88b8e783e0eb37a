"""Counts pods by state as they change, so that a wait need not scan all pods."""

from collections import Counter
from typing import Final

from quaymaster._studies.scenarios.checks import Checks, PodChoice
from quaymaster._studies.scenarios.choosing import pod_test
from quaymaster._studies.simulation.history import History, PodLife

__all__ = ["Tally"]

_PLACED: Final = "Placed"
_LEFT: Final = "Left"


class Tally:
    """Checks cheaply whether a condition cannot hold yet.

    Args:
        history: The history of the pods; it must be current for each call.
        check: The condition.
    """

    def __init__(self, history: History, check: Checks) -> None:
        self._history = history
        self._check = check
        self._is_meant = pod_test(self._choice())
        self._states: dict[PodLife, tuple[str, ...]] = {}
        self._counts: Counter[str] = Counter()
        self._read = len(history.changed)
        for life in history.pods:
            self._note(life)

    def may_hold(self) -> bool:
        """Whether the condition may hold now; if so, it must be evaluated."""
        for life in self._history.changed[self._read :]:
            self._note(life)
        self._read = len(self._history.changed)
        counts, placed, pods = self._counts, self._check.placed, self._check.pods
        if placed is not None and placed.by is None:
            if placed.at_least is not None:
                return counts[_PLACED] >= placed.at_least
            return not counts[_LEFT]
        if pods is not None:
            low = pods.at_least if pods.equals is None else pods.equals
            high = pods.at_most if pods.equals is None else pods.equals
            number = counts[pods.state]
            return (low is None or number >= low) and (high is None or number <= high)
        return True

    def _choice(self) -> PodChoice:
        part = self._check.placed or self._check.pods
        return PodChoice() if part is None else part.pods

    def _note(self, life: PodLife) -> None:
        if not self._is_meant(life):
            return
        self._counts.subtract(self._states.get(life, ()))
        self._states[life] = states = tuple(_states(life))
        self._counts.update(states)


def _states(life: PodLife) -> list[str]:
    is_there = life.gone is None
    states = ["Any"] if is_there else []
    if life.is_waiting:
        states += ["Pending", _LEFT]
    if life.is_running:
        states.append("Running")
    if is_there and life.ended is not None:
        states.append("Succeeded")
    if life.bound is not None:
        states.append(_PLACED)
    return states
