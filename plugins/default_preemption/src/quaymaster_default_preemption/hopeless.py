"""The last attempts for which there were no victims.

Pods that wait for a node are tried again and again, most of them on a cluster that has
not changed. The framework gives equal attempts the same statuses.
"""

from typing import Final

import attrs

from quaymaster import Handle, NodeStatuses, Pod, PostFilterResult, Status

__all__ = ["Hopeless", "HopelessAttempt"]

# Chosen, not measured: waiting pods of a few kinds have fewer statuses at a time.
_MOST_KEPT: Final = 64


@attrs.define(eq=False)
class HopelessAttempt:
    """An attempt for which there were no victims.

    Attributes:
        statuses: Why each node was rejected.
        revision: The revision of the nodes and their pods.
        priority: The priority of the pod.
        rows: The number of nodes that could be tried.
        is_drawn: Whether the search has drawn the first of them.
        result: The result.
    """

    statuses: NodeStatuses
    revision: int
    priority: int
    rows: int
    is_drawn: bool
    result: PostFilterResult | Status


class Hopeless:
    """Finds the result of an equal attempt.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._nodes = handle.snapshot.nodes
        # By the identity of the statuses, which are kept so that it stays theirs.
        self._kept: dict[int, HopelessAttempt] = {}

    def find(self, pod: Pod, statuses: NodeStatuses) -> HopelessAttempt | None:
        """Return an attempt with the same statuses, if no node has changed since."""
        kept = self._kept.get(id(statuses))
        if (
            kept is not None
            and kept.statuses is statuses  # Identity: as above
            and kept.revision == self._nodes.changes.revision
            and kept.priority == (pod.spec.priority or 0)
        ):
            return kept
        return None

    def note(
        self,
        pod: Pod,
        statuses: NodeStatuses,
        rows: int,
        result: PostFilterResult | Status,
        *,
        is_drawn: bool,
    ) -> None:
        """Keep an attempt for which no node has any pod of lower priority.

        Other searches depend on more, such as budgets.
        """
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        revision = self._nodes.changes.revision
        self._kept[id(statuses)] = HopelessAttempt(
            statuses, revision, pod.priority, rows, is_drawn, result
        )
