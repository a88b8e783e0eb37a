"""Records an in-memory cluster: every change, at its exact time."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.kubernetes.resources import resources_of
from quaymaster._core.contract.cluster import Watch, WatchEventType
from quaymaster._studies.recording.line_writer import LineWriter, lean
from quaymaster._studies.recording.lines import Line

__all__ = ["ClusterRecorder", "recorded_kinds"]


def recorded_kinds(
    declared: Iterable[type[ApiObject]] = (),
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
) -> list[type[ApiObject]]:
    """Return the recorded kinds: those that a simulation reads.

    Args:
        declared: Kinds that plugins and packages declare.
        kubernetes: The version and feature gates of the simulation.
    """
    declared = tuple(declared)
    kinds = KindSet(declared)
    known_kinds = [
        kinds.find(resource.api_version, resource.kind)
        for resource in resources_of(declared, kubernetes)
    ]
    return [kind for kind in known_kinds if kind is not None]


class ClusterRecorder:
    """Records the changes of an in-memory cluster, until it is closed.

    Times are those of the cluster's clock.

    Args:
        cluster: The cluster.
        write: Writes the lines.
        declared: Kinds that plugins and packages declare.
        source: The name of the cluster in the record.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        write: Callable[[Line], object],
        *,
        declared: Iterable[type[ApiObject]] = (),
        source: str = "an in-memory cluster",
    ) -> None:
        self._clock = cluster.clock
        self._begun = self._clock.now()
        self._line_writer = LineWriter(write)
        self._watches: dict[type[ApiObject], Watch[Any]] = {}
        kinds = recorded_kinds(declared, cluster.kubernetes)
        self._line_writer.begin(0.0, now=self._begun, source=source, kinds=kinds)
        for kind in kinds:
            listed = cluster.list(kind)
            for obj in listed.items:
                self._put(kind, obj, is_listed=True)
            self._watches[kind] = cluster.watch(
                kind, listed.resource_version, partial(self._take, kind)
            )

    def close(self) -> None:
        """End the record; later calls do nothing."""
        if self._watches:
            for watch in self._watches.values():
                watch.stop()
            self._watches = {}
            self._line_writer.end(self._now())

    def _take(self, kind: type[ApiObject]) -> None:
        """Record the last change; the cluster calls this within the change."""
        watch = self._watches.get(kind)
        for event in () if watch is None else watch.take():
            if event.type is WatchEventType.DELETED:
                gone = event.object
                version = gone.metadata.resource_version
                self._line_writer.drop(self._now(), kind, gone.key, version=version)
            else:
                self._put(kind, event.object)

    def _put(
        self, kind: type[ApiObject], obj: ApiObject, *, is_listed: bool = False
    ) -> None:
        self._line_writer.put(
            self._now(),
            kind,
            obj.key,
            lean(obj),
            version=obj.metadata.resource_version,
            listed=is_listed,
        )

    def _now(self) -> float:
        return self._clock.now() - self._begun
