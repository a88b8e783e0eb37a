"""The results of a search for nodes on which preemption makes room."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import attrs

from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["LaterStatuses", "NodeTrial", "SameStatus", "Search", "search_in_turn"]

NodeTrial: TypeAlias = Callable[[NodeInfo], "Candidate | Status"]
"""Tries one node: returns a candidate, or the status of a node that is none."""


class SameStatus(Mapping[str, Status]):
    """One status for many nodes, whose names are read when they are first needed.

    Args:
        nodes: The snapshot's table.
        rows: The nodes.
        status: The status of each node.

    Attributes:
        status: The status of each node.
    """

    def __init__(self, nodes: NodeTable, rows: RowArray, status: Status) -> None:
        self._nodes = nodes
        self._rows = rows
        self.status = status

    def __getitem__(self, node_name: str) -> Status:
        return self._all[node_name]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    @cached_property
    def _all(self) -> Mapping[str, Status]:
        return dict.fromkeys(self._nodes.names_at(self._rows), self.status)


class LaterStatuses(Mapping[str, Status]):
    """Statuses that are computed when they are first read, during the attempt.

    Args:
        find: Computes them.
    """

    def __init__(self, find: Callable[[], Mapping[str, Status]]) -> None:
        self._find = find

    def __getitem__(self, node_name: str) -> Status:
        return self._all[node_name]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    @cached_property
    def _all(self) -> Mapping[str, Status]:
        return self._find()


@attrs.frozen(eq=False)
class Search:
    """The result of a search for candidates.

    Attributes:
        candidates: The candidates; those that break no disruption budget come first.
        statuses: Node name -> its status, for tried nodes that are not candidates.
    """

    candidates: Sequence[Candidate] = ()
    statuses: Mapping[str, Status] = attrs.field(factory=dict)

    @property
    def has_no_victims(self) -> bool:
        """Whether it ended at once, since no node has any pod of lower priority.

        Then it depends on nothing but the nodes and the priorities of their pods.
        """
        return isinstance(self.statuses, SameStatus)

    @property
    def errors(self) -> Sequence[str]:
        """The messages of errors, each once."""
        texts = (status.message for status in self.counted() if status.is_error)
        return tuple(dict.fromkeys(texts))

    def counted(self) -> Mapping[Status, int]:
        """Count the nodes with each status, in the order of their first node."""
        statuses = self.statuses
        if isinstance(statuses, SameStatus):
            return {statuses.status: len(statuses)} if len(statuses) else {}
        return Counter(statuses.values())


def search_in_turn(nodes: Sequence[NodeInfo], wanted: int, trial: NodeTrial) -> Search:
    """Try nodes one by one, until there are enough candidates.

    The search continues while every candidate breaks a budget. Mirrors
    ``DryRunPreemption`` (``pkg/scheduler/framework/preemption/preemption.go``), which
    tries many nodes at the same time and so may find a few more candidates.

    Args:
        nodes: The nodes to try, in this order.
        wanted: The number of candidates that may end the search.
        trial: Tries one node.
    """
    harmless: list[Candidate] = []
    violating: list[Candidate] = []
    statuses: dict[str, Status] = {}
    for node in nodes:
        answer = trial(node)
        if isinstance(answer, Status):
            statuses[node.name] = answer
            continue
        group = violating if answer.violations else harmless
        if len(group) < wanted:
            group.append(answer)
        if harmless and len(harmless) + len(violating) >= wanted:
            break
    return Search([*harmless, *violating], statuses)
