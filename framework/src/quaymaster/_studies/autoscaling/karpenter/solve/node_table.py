"""Which of many nodes could take a pod, found for all of them at once.

A table keeps the labels, taints and free resources of nodes as columns. What it rules
out is surely impossible; what it leaves is checked one by one.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaymaster._api.objects import Taint, Toleration
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.taints import tolerates_all

__all__ = ["NodeTable"]

ValueT = TypeVar("ValueT", bound=Hashable)

_MILLI: Final = 10**6
_MOST: Final = 2**62


class _Codes(Generic[ValueT]):
    """One value for each node, as small numbers."""

    def __init__(self, values: Iterable[ValueT]) -> None:
        self.values: list[ValueT] = []
        self._codes: dict[ValueT, int] = {}
        self.column = np.array([self._code(value) for value in values], dtype=np.int64)

    def _code(self, value: ValueT) -> int:
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.values)
            self.values.append(value)
        return code

    def replace(self, place: int, value: ValueT) -> None:
        """Set the value of a node."""
        self.column[place] = self._code(value)


class NodeTable:
    """Labels, taints and free resources of nodes.

    Args:
        requirements: The labels of each node.
        taints: Its taints.
        free: Its free resources.
    """

    def __init__(
        self,
        requirements: Sequence[Requirements],
        taints: Sequence[Sequence[Taint]],
        free: Sequence[Amounts],
    ) -> None:
        self._requirements = list(requirements)
        self._labels: dict[str, _Codes[Requirement | None]] = {}
        self._taints = _Codes([tuple(each) for each in taints])
        self._matches: dict[tuple[str, Requirement], list[bool]] = {}
        self._tolerated: dict[tuple[Toleration, ...], list[bool]] = {}
        names = {name for amounts in free for name in amounts}
        self._free = {
            name: np.array(
                [_milli(amounts.get(name, 0)) for amounts in free], dtype=np.int64
            )
            for name in names
        }

    def candidates(
        self,
        requirements: Requirements,
        requests: Amounts,
        tolerations: tuple[Toleration, ...],
    ) -> list[int]:
        """Return the places of the nodes that a pod may fit on."""
        possible = self._with_room(requests)
        if possible is not None and not possible.any():
            return []
        mask = self._tolerating(tolerations)
        if possible is not None:
            mask = mask & possible
        for requirement in requirements:
            mask = mask & self._matching(requirement)
        places: list[int] = np.flatnonzero(mask).tolist()
        return places

    def _with_room(self, requests: Amounts) -> NDArray[np.bool_] | None:
        mask: NDArray[np.bool_] | None = None
        for name, amount in requests.items():
            if amount <= 0:
                continue
            column = self._free.get(name)
            if column is None:
                return np.zeros(len(self._requirements), dtype=np.bool_)
            enough = column >= _milli(amount)
            mask = enough if mask is None else mask & enough
        return mask

    def _tolerating(self, tolerations: tuple[Toleration, ...]) -> NDArray[np.bool_]:
        verdicts = self._tolerated.setdefault(tolerations, [])
        for taints in self._taints.values[len(verdicts) :]:
            verdicts.append(tolerates_all(taints, tolerations))
        return np.array(verdicts, dtype=np.bool_)[self._taints.column]

    def _matching(self, requirement: Requirement) -> NDArray[np.bool_]:
        key = requirement.key
        codes = self._labels.get(key)
        if codes is None:
            codes = _Codes([each.by_key.get(key) for each in self._requirements])
            self._labels[key] = codes
        verdicts = self._matches.setdefault((key, requirement), [])
        for own in codes.values[len(verdicts) :]:
            verdicts.append(_matches(own, requirement))
        return np.array(verdicts, dtype=np.bool_)[codes.column]

    def update(self, place: int, requirements: Requirements, free: Amounts) -> None:
        """Set what a node is like after a pod has come."""
        before = self._requirements[place]
        self._requirements[place] = requirements
        for name, amount in free.items():
            column = self._free.get(name)
            if column is not None:
                column[place] = _milli(amount)
        for key, codes in self._labels.items():
            own = requirements.by_key.get(key)
            if own != before.by_key.get(key):
                codes.replace(place, own)


def _milli(amount: int) -> int:
    """Return an amount in thousandths, rounded down, so that comparisons hold."""
    return min(max(amount // _MILLI, -_MOST), _MOST)


def _matches(own: Requirement | None, requirement: Requirement) -> bool:
    if own is None:
        return requirement.is_negative
    negative = own.is_negative and requirement.is_negative
    return negative or own.intersects(requirement)
