"""What a search for nodes finds on which preemption makes room."""

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
"""Tries one node: a candidate, or why it is none."""


class SameStatus(Mapping[str, Status]):
    """One status for many nodes, whose names are found when somebody asks.

    Args:
        nodes: The snapshot's table.
        rows: The nodes.
        status: The status of each.

    Attributes:
        status: The same.
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
    """Statuses that are found out when somebody asks, during the attempt.

    Args:
        find: Finds them.
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
    """What a search for candidates found.

    Attributes:
        candidates: Those that break no disruption budget come first.
        statuses: Node name -> why it is no candidate, for the nodes that were tried.
    """

    candidates: Sequence[Candidate] = ()
    statuses: Mapping[str, Status] = attrs.field(factory=dict)

    @property
    def errors(self) -> Sequence[str]:
        """What went wrong, each thing once."""
        texts = (one.message for one in self.counted() if one.is_error)
        return tuple(dict.fromkeys(texts))

    def counted(self) -> Mapping[Status, int]:
        """Count the nodes that got each status, in the order in which they came."""
        statuses = self.statuses
        if isinstance(statuses, SameStatus):
            return {statuses.status: len(statuses)} if len(statuses) else {}
        return Counter(statuses.values())


def search_in_turn(nodes: Sequence[NodeInfo], wanted: int, trial: NodeTrial) -> Search:
    """Try nodes one by one, until there are enough candidates.

    It goes on as long as every candidate breaks a budget. Mirrors ``DryRunPreemption``
    (``pkg/scheduler/framework/preemption/preemption.go``), which tries many nodes at
    the same time and so may find a few candidates more.

    Args:
        nodes: The nodes that could be tried, beginning with a random one.
        wanted: With how many candidates the search may end.
        trial: Tries one node.
    """
    harmless: list[Candidate] = []
    violating: list[Candidate] = []
    statuses: dict[str, Status] = {}
    for node in nodes:
        found = trial(node)
        if isinstance(found, Status):
            statuses[node.name] = found
            continue
        group = violating if found.violations else harmless
        if len(group) < wanted:
            group.append(found)
        if harmless and len(harmless) + len(violating) >= wanted:
            break
    return Search([*harmless, *violating], statuses)
