"""Nodes of groups that others than the autoscaler add or delete, as rotations do."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from quaymaster._api.objects import Node
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import WatchEventType
from quaymaster._studies.autoscaling.cloud import HOSTNAME, Cloud
from quaymaster._studies.autoscaling.group_settings import GroupSettings

__all__ = ["OutsideNodes"]

_Labels: TypeAlias = Mapping[str, str]


class OutsideNodes:
    """Follows the nodes that come to groups and leave them without an order.

    A new node is in the group whose settings select it, or else in the group whose
    nodes have the same labels. The target size of the group follows, as when a cloud
    replaces its machines.

    Args:
        cluster: The cluster.
        cloud: The groups.
        settings: The settings of the groups.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        cloud: Cloud,
        settings: Sequence[GroupSettings],
    ) -> None:
        self._cloud = cloud
        self._settings = settings
        self._labels = {
            name: _without_name(group.template.labels)
            for name, group in cloud.groups.items()
        }
        self._watch = cluster.watch(Node, cluster.resource_version, self._read)

    def close(self) -> None:
        """End the watch."""
        self._watch.stop()

    def _read(self) -> None:
        for event in self._watch.take():
            node = event.object
            if event.type is WatchEventType.DELETED:
                self._cloud.lose(node.name, "it was deleted by others")
            elif (
                event.type is WatchEventType.ADDED
                and self._cloud.group_of(node.name) is None
            ):
                group = self._group_of(node)
                if group is not None:
                    self._cloud.adopt(group, node.name, "it was added by others")

    def _group_of(self, node: Node) -> str | None:
        for group in self._settings:
            if group.has(node):
                return group.name
        labels = _without_name(node.labels)
        same = (name for name, own in self._labels.items() if own and own == labels)
        return next(same, None)


def _without_name(labels: _Labels) -> _Labels:
    return {key: value for key, value in labels.items() if key != HOSTNAME}
