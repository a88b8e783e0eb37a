"""The arguments of DefaultPreemption.

Mirrors ``DefaultPreemptionArgs`` (kube-scheduler 1.36.2,
``pkg/scheduler/apis/config``: types, defaults and validation).
"""

from collections.abc import Iterator

import attrs

from quaymaster.config import ArgsError, integer

__all__ = ["DefaultPreemptionArgs", "max_candidates"]


@attrs.frozen(kw_only=True)
class DefaultPreemptionArgs:
    """The arguments of DefaultPreemption.

    The search stops when the number of candidates reaches both limits.

    Attributes:
        min_candidate_nodes_percentage: The limit in percent of the tried nodes.
        min_candidate_nodes_absolute: The limit as a number of nodes.
    """

    min_candidate_nodes_percentage: int = attrs.field(
        default=10, validator=integer(0, 100)
    )
    min_candidate_nodes_absolute: int = attrs.field(default=100, validator=integer(0))

    def validate(self) -> Iterator[ArgsError]:
        """Check that the limits are not both 0."""
        keys = "minCandidateNodesPercentage", "minCandidateNodesAbsolute"
        if not self.min_candidate_nodes_percentage + self.min_candidate_nodes_absolute:
            for key, other in (keys, keys[::-1]):
                yield ArgsError(key, f"expected more than 0, since {other} is 0, too")


def max_candidates(args: DefaultPreemptionArgs, nodes: int) -> int:
    """Return how many candidates are enough.

    Args:
        args: The limits.
        nodes: The number of nodes that could be tried.
    """
    # The absolute number is a lower bound: in a small cluster all nodes are tried,
    # whatever the percentage (``calculateNumCandidates``).
    share = nodes * args.min_candidate_nodes_percentage // 100
    return min(max(share, args.min_candidate_nodes_absolute), nodes)
