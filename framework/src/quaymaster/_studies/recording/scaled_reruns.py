"""Records with an autoscaler of our own: which nodes count, and evicted pods."""

from collections.abc import Callable, Mapping
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodStatus
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import WatchEventType
from quaymaster._studies.recording.state import Entry
from quaymaster._studies.recording.usage import RESOURCES
from quaymaster._studies.simulation.autoscaler import AutoscaledNode
from quaymaster._studies.simulation.disruptions import Disruptions
from quaymaster._studies.simulation.history import History, NodeSpan

__all__ = ["NodeMeter", "ReturningPods", "ScaledRerun", "hours_of", "offered_by"]

_HOUR: Final = 3600


@attrs.frozen(kw_only=True)
class ScaledRerun:
    """What our autoscaler did in the time of a record.

    Attributes:
        nodes: Its nodes.
        our_hours: The hours of all nodes with our decisions.
        their_hours: The hours of all nodes in the record.
        disruptions: How many pods were evicted for it.
    """

    nodes: tuple[AutoscaledNode, ...]
    our_hours: float
    their_hours: float
    disruptions: int


class NodeMeter:
    """Measures the hours of the nodes of a record."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._seconds = 0.0

    def take(self, entry: Entry) -> None:
        """Follow a change."""
        if entry.kind is not Node:
            return
        if entry.new is None:
            self._seconds += entry.at - self._since.pop(entry.key, entry.at)
        else:
            self._since.setdefault(entry.key, entry.at)

    def hours(self, end: float) -> float:
        """Return the hours until a time, in seconds since the beginning."""
        there = sum(end - since for since in self._since.values())
        return (self._seconds + there) / _HOUR


class ReturningPods:
    """Creates evicted pods again: no controller of a record replaces them.

    Args:
        cluster: The cluster.
        has_ended: Whether a pod is gone in the record, by its key.
    """

    def __init__(
        self, cluster: InMemoryCluster, has_ended: Callable[[str], bool]
    ) -> None:
        self._cluster = cluster
        self._has_ended = has_ended
        self._evicted = Disruptions(cluster)
        self._watch = cluster.watch(Pod, cluster.resource_version, self._notice)

    @property
    def count(self) -> int:
        """How many pods were evicted."""
        return len(self._evicted.so_far())

    def _notice(self) -> None:
        """Read the changes in the same moment, once they are complete."""
        # Watches call within the change, when the cluster must not be changed.
        self._cluster.clock.call_later(0.0, self._read, background=True)

    def _read(self) -> None:
        evicted = {each.pod for each in self._evicted.so_far()}
        for event in self._watch.take():
            pod = event.object
            if event.type is not WatchEventType.DELETED or pod.key not in evicted:
                continue
            if not (self._has_ended(pod.key) or pod.is_finished):
                self._cluster.create(_as_new(pod))


def _as_new(pod: Pod) -> Pod:
    metadata = replace(
        pod.metadata,
        uid="",
        resource_version="",
        creation_timestamp=None,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
    )
    status = PodStatus(phase="Pending")
    return replace(pod, metadata=metadata, node_name="", status=status)


def offered_by(history: History, end: float) -> Mapping[str, float]:
    """Return for each resource what nodes offered, times the seconds.

    Args:
        history: The history of the nodes.
        end: The end, in seconds since the beginning.
    """
    offered = dict.fromkeys(RESOURCES, 0.0)
    for span in history.nodes:
        for name in RESOURCES:
            amount = span.node.status.allocatable.get(name)
            if amount is not None:
                offered[name] += _seconds(span, end) * amount.milli_value
    return offered


def hours_of(history: History, end: float) -> float:
    """Return the hours of all nodes together.

    Args:
        history: The history of the nodes.
        end: The end, in seconds since the beginning.
    """
    return sum(_seconds(span, end) for span in history.nodes) / _HOUR


def _seconds(span: NodeSpan, end: float) -> float:
    return (end if span.until is None else span.until) - span.since
