"""Deterministic tie breakers: choose among the nodes with the highest total."""

from typing import Protocol

import numpy as np

from quaymaster._core.config.model import BY_NAME
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.errors import failed
from quaymaster._core.runtime.failures import wrong_answer
from quaymaster._core.runtime.profile import HookFunction, Profile
from quaymaster._core.state.arrays import RowArray

__all__ = ["PlainSmallestName", "TieBreaker", "tie_breaker_of"]


class TieBreaker(Protocol):
    """Chooses among the nodes with the highest total."""

    def choose(self, attempt: Attempt, rows: RowArray, /) -> int | Status:
        """Choose one of the rows, or return the Error that ends the attempt.

        Args:
            attempt: The attempt, on the nodes that have the rows.
            rows: At least two rows, ascending; the callee may keep or change them.
        """


class SmallestName:
    """Chooses the node with the smallest name; implements `TieBreaker`."""

    def choose(self, attempt: Attempt, rows: RowArray) -> int:
        """See `TieBreaker.choose`."""
        # Cached ranks: names would have to be compared in every attempt.
        return int(rows[attempt.nodes.name_ranks.take(rows).argmin()])


class PlainSmallestName:
    """Chooses the same node without cached ranks, for verification."""

    def choose(self, attempt: Attempt, rows: RowArray) -> int:
        """See `TieBreaker.choose`."""
        numbers: list[int] = rows.tolist()
        names = attempt.nodes.names_at(rows)
        return min(zip(names, numbers, strict=True))[1]


class PluginTieBreaker:
    """Calls a plugin; implements `TieBreaker`.

    Args:
        plugin: The plugin's name.
        break_tie: The plugin's hook.
    """

    def __init__(self, plugin: str, break_tie: HookFunction) -> None:
        self._plugin = plugin
        self._break_tie = break_tie

    def choose(self, attempt: Attempt, rows: RowArray) -> int | Status:
        """See `TieBreaker.choose`."""
        answer: int | Status = self._break_tie(
            attempt.state, attempt.pod, attempt.nodes, rows
        )
        if not isinstance(answer, Status):
            if np.any(rows == answer):
                return answer
            problem = f"returned {answer}, expected one of the {len(rows)} rows"
            answer = wrong_answer(self._plugin, "break_tie", problem)
        prefix = f'running TieBreak plugin "{self._plugin}"'
        return failed(prefix, self._plugin, answer)


def tie_breaker_of(profile: Profile) -> TieBreaker | None:
    """Return the tie breaker of a profile; None if ties are broken at random."""
    if profile.break_tie is not None:
        return PluginTieBreaker(profile.config.tie_breaker, profile.break_tie)
    return SmallestName() if profile.config.tie_breaker == BY_NAME else None
