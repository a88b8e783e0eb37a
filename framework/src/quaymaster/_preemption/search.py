"""What a search for nodes finds on which preemption makes room."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import attrs

from quaymaster._contract.results import Candidate
from quaymaster._contract.status import Status
from quaymaster._state.node_info import NodeInfo

__all__ = ["NodeTrial", "Search", "search_in_turn"]

NodeTrial: TypeAlias = Callable[[NodeInfo], "Candidate | Status"]
"""Tries one node: a candidate, or why it is none."""


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
        texts = (one.message for one in self.statuses.values() if one.is_error)
        return tuple(dict.fromkeys(texts))


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
