"""Nodes with nominated pods: who must have room there, and what filters say of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from quaymaster.arrays import BoolArray, Int32Array, RowArray, Rows
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.status import Status

__all__ = [
    "Ahead",
    "Crowd",
    "CrowdMemo",
    "CrowdRejections",
    "JudgeCrowded",
    "Nominator",
    "pods_ahead",
]

Ahead: TypeAlias = Mapping[int, Sequence[Pod]]
"""Rows -> the nominated pods that a pod must leave room for there."""

JudgeCrowded: TypeAlias = Callable[[Ahead], Mapping[int, Status] | Status]
"""Judges some rows as if those pods ran there: the rejected ones, or an Error."""


class Nominator(Protocol):
    """What the algorithm asks of the pods' nominations."""

    def pods_on(self, node_name: str, /) -> Sequence[Pod]:
        """The pods that are nominated to a node, in the order of nomination.

        The same object as before, if nothing has changed: then it costs less.
        """

    def nodes(self) -> Sequence[str]:
        """The nodes that any pod is nominated to."""


class CrowdRejections:
    """The nodes that are no good if the pods come that are nominated there.

    Args:
        by_row: Row -> its code.
        statuses: The status of each code.
    """

    def __init__(self, by_row: Mapping[int, int], statuses: Sequence[Status]) -> None:
        self._by_row = by_row
        self._statuses = statuses

    def __len__(self) -> int:
        return len(self._by_row)

    def are(self, by_row: Mapping[int, int]) -> bool:
        """Whether these are the rejections."""
        return self._by_row == by_row

    @cached_property
    def rows(self) -> RowArray:
        """The rejected rows, ascending."""
        return np.array(sorted(self._by_row), dtype=np.intp)

    @cached_property
    def codes(self) -> Int32Array:
        """The code of each."""
        by_row = self._by_row
        return np.array([by_row[row] for row in sorted(by_row)], dtype=np.int32)

    def status(self, code: int) -> Status:
        """The status behind a code, with its plugin."""
        return self._statuses[code]


class CrowdMemo:
    """What the filters said of crowded nodes, for one signature.

    All of them must be remembered for that signature: then nothing but the node and
    the pods that are nominated to it decides.
    """

    __slots__ = ("_code_of", "_known", "_last", "_left", "_position", "_statuses")

    def __init__(self) -> None:
        self._position = -1
        # Row -> the pods ahead, and what was said: a code, or -1 if it passed.
        self._known: dict[int, tuple[Sequence[Pod], int]] = {}
        self._statuses: list[Status] = []
        self._code_of: dict[Status, int] = {}
        self._last: CrowdRejections | None = None
        self._left: tuple[Rows, CrowdRejections, RowArray] | None = None

    def without(
        self, nodes: NodeTable, rows: Rows, rejections: CrowdRejections
    ) -> RowArray:
        """Rows less those that are rejected.

        Args:
            nodes: The columns of all nodes.
            rows: The rows; never changed any more.
            rejections: What `rejections` gave.
        """
        left = self._left
        if left is None or left[0] is not rows or left[1] is not rejections:
            stay: BoolArray = np.ones(nodes.capacity, dtype=np.bool_)
            stay[rejections.rows] = False
            numbers = nodes.row_numbers(rows)
            left = self._left = rows, rejections, numbers[stay[numbers]]
        return left[2]

    def rejections(
        self, nodes: NodeTable, ahead: Ahead, judge: JudgeCrowded
    ) -> CrowdRejections | Status:
        """Who is rejected of the crowded rows, asking only about what has changed.

        Args:
            nodes: The columns of all nodes.
            ahead: All crowded rows.
            judge: Asks the filters.

        Returns:
            The rejections, or the Error that a plugin met.
        """
        self._forget_moved(nodes)
        known = self._known
        rejected: dict[int, int] = {}
        unknown: dict[int, Sequence[Pod]] = {}
        for row, others in ahead.items():
            verdict = known.get(row)
            if verdict is None or (verdict[0] is not others and verdict[0] != others):
                unknown[row] = others
            elif verdict[1] >= 0:
                rejected[row] = verdict[1]
        if unknown:
            found = judge(unknown)
            if isinstance(found, Status):
                return found
            for row, others in unknown.items():
                code = self._code(found[row]) if row in found else -1
                known[row] = others, code
                if code >= 0:
                    rejected[row] = code
        if self._last is None or not self._last.are(rejected):
            self._last = CrowdRejections(rejected, self._statuses)
        return self._last

    def _forget_moved(self, nodes: NodeTable) -> None:
        moved = nodes.moved_since(self._position) if self._position >= 0 else None
        self._position = nodes.position
        if moved is None:
            self._known.clear()
            return
        for row in moved:
            self._known.pop(row, None)

    def _code(self, status: Status) -> int:
        code = self._code_of.get(status)
        if code is None:
            code = self._code_of[status] = len(self._statuses)
            self._statuses.append(status)
        return code


class Crowd:
    """Which nodes are promised to whom.

    Args:
        nominator: The pods' nominations.
        nodes: The columns of all nodes.
    """

    def __init__(self, nominator: Nominator, nodes: NodeTable) -> None:
        self._nominator = nominator
        self._nodes = nodes
        self._known: dict[str, _Promised] = {}

    def ahead(self, pod: Pod, rows: Rows) -> Ahead:
        """The rows among some that other pods must have room on, ascending."""
        names = self._nominator.nodes()
        if not names:
            self._known.clear()
            return {}
        ahead: dict[int, Sequence[Pod]] = {}
        priority, uid, row_of = pod.priority, pod.uid, self._nodes.row_of
        for name in names:
            promised = self._promised(name)
            if promised.highest < priority:
                continue
            others = promised.pods
            if promised.lowest < priority or uid in promised.uids:
                others = pods_ahead(pod, others)
            row = row_of(name) if others else None
            if row is not None:
                ahead[row] = others
        if not ahead:
            return ahead
        if rows is self._nodes.rows:
            return {row: ahead[row] for row in sorted(ahead)}
        asked = set(self._nodes.row_numbers(rows).tolist())
        return {row: ahead[row] for row in sorted(ahead) if row in asked}

    def _promised(self, name: str) -> "_Promised":
        pods = self._nominator.pods_on(name)
        known = self._known.get(name)
        if known is None or known.pods is not pods:
            known = self._known[name] = _Promised(pods)
        return known


class _Promised:
    """The pods that are nominated to one node; at least one."""

    __slots__ = ("highest", "lowest", "pods", "uids")

    def __init__(self, pods: Sequence[Pod]) -> None:
        self.pods = pods
        priorities = [pod.priority for pod in pods]
        self.highest = max(priorities)
        self.lowest = min(priorities)
        self.uids = [pod.uid for pod in pods]


def pods_ahead(pod: Pod, nominated: Iterable[Pod]) -> Sequence[Pod]:
    """The nominated pods that a pod must leave room for."""
    return [
        other
        for other in nominated
        if other.priority >= pod.priority and other.uid != pod.uid
    ]
