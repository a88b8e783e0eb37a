"""Groups nodes by their labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Node

__all__ = ["GROUP_LABELS", "default_labels", "group_of", "label_called"]

GROUP_LABELS: Final[Mapping[str, str]] = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "instance-type": "node.kubernetes.io/instance-type",
    "os": "kubernetes.io/os",
    "arch": "kubernetes.io/arch",
    "node": "kubernetes.io/hostname",
}
"""Short names of labels that all providers set on nodes."""

_USUAL: Final = (GROUP_LABELS["zone"], GROUP_LABELS["instance-type"])


def label_called(name: str) -> str:
    """Return the label with a short name, such as ``zone``, or the name itself."""
    return GROUP_LABELS.get(name, name)


def default_labels(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return the default labels to group by: zone and instance type.

    A label that no node has is left out.
    """
    listed = list(nodes)
    return tuple(
        key for key in _USUAL if any(key in node.metadata.labels for node in listed)
    )


def group_of(node: Node, labels: Sequence[str]) -> tuple[str, ...]:
    """Return a node's values of some labels; empty for those that it lacks."""
    return tuple(node.metadata.labels.get(key, "") for key in labels)
