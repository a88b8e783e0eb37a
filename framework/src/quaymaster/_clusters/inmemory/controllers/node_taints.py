"""The taints that follow from a node's conditions and from its cordon.

Mirrors ``doNoScheduleTaintingPass`` (Kubernetes v1.37,
``pkg/controller/nodelifecycle/node_lifecycle_controller.go``).

Such taints are removed from nodes whose conditions do not ask for them. Simpler than
upstream: a node that is loaded with a taint, and without the condition that would ask
for it, keeps the taint, because inputs often lack conditions.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, Taint
from quaymaster._clusters.inmemory.access import ClusterAccess

__all__ = ["NodeTaintController"]

_PREFIX: Final = "node.kubernetes.io/"
_NO_SCHEDULE: Final = "NoSchedule"
_KEYS: Final[Mapping[tuple[str, str], str]] = {
    ("Ready", "False"): f"{_PREFIX}not-ready",
    ("Ready", "Unknown"): f"{_PREFIX}unreachable",
    ("MemoryPressure", "True"): f"{_PREFIX}memory-pressure",
    ("DiskPressure", "True"): f"{_PREFIX}disk-pressure",
    ("NetworkUnavailable", "True"): f"{_PREFIX}network-unavailable",
    ("PIDPressure", "True"): f"{_PREFIX}pid-pressure",
}
"""The taint for each type and status of a condition."""

_UNSCHEDULABLE: Final = f"{_PREFIX}unschedulable"
_ALL_KEYS: Final = frozenset(_KEYS.values()) | {_UNSCHEDULABLE}


class NodeTaintController:
    """Adds the taints that follow from nodes, and removes them when the cause ends.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._ended: dict[str, set[str]] = {}

    def needs_sync(self, old: Node | None, new: Node) -> bool:
        """Note the causes that have ended; return whether taints have to change."""
        keys = set(_desired_keys(new))
        ended = self._ended.setdefault(new.name, set())
        present = set(_present_keys(new))
        ended |= _checked_keys(new)
        # What the old node had justified, or what was just added by hand, is removed
        # when its cause is gone.
        if old is not None:
            ended |= set(_desired_keys(old))
            ended |= _ALL_KEYS & present - set(_present_keys(old))
        ended -= keys
        if keys <= present and not ended & present:
            del self._ended[new.name]
            return False
        return True

    def sync(self, node: Node) -> None:
        """Write the taints of a node."""
        ended = self._ended.pop(node.name, set())
        present = set(_present_keys(node))
        # Taints of other keys and effects belong to others, and stay.
        kept = (
            taint
            for taint in node.spec.taints
            if taint.effect != _NO_SCHEDULE or taint.key not in ended
        )
        added = (
            Taint(key=key, effect=_NO_SCHEDULE)
            for key in _desired_keys(node)
            if key not in present
        )
        taints = (*kept, *added)
        if taints != node.spec.taints:
            spec = replace(node.spec, taints=taints)
            self._cluster.change(node, replace(node, spec=spec))


def _desired_keys(node: Node) -> Iterable[str]:
    for condition in node.status.conditions:
        key = _KEYS.get((condition.type, condition.status))
        if key is not None:
            yield key
    if node.spec.unschedulable:
        yield _UNSCHEDULABLE


def _checked_keys(node: Node) -> set[str]:
    """Return the taints whose condition the node reports, whatever its status."""
    types = {condition.type for condition in node.status.conditions}
    return {key for (name, _), key in _KEYS.items() if name in types}


def _present_keys(node: Node) -> Iterable[str]:
    return (taint.key for taint in node.spec.taints if taint.effect == _NO_SCHEDULE)
