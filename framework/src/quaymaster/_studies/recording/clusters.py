"""Records an in-memory cluster: every change, at its very moment."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.kubernetes.resources import resources_of
from quaymaster._core.contract.cluster import Watch, WatchEventType
from quaymaster._studies.recording.lines import Line
from quaymaster._studies.recording.telling import Teller, lean

__all__ = ["ClusterRecorder", "recorded_kinds"]


def recorded_kinds(
    declared: Iterable[type[ApiObject]] = (),
) -> list[type[ApiObject]]:
    """The kinds that a record has: those that a simulation reads.

    Args:
        declared: Kinds that plugins and packages declare.
    """
    declared = tuple(declared)
    kinds = KindSet(declared)
    found = [kinds.find(one.api_version, one.kind) for one in resources_of(declared)]
    return [kind for kind in found if kind is not None]


class ClusterRecorder:
    """Writes down what becomes of an in-memory cluster, until it is closed.

    Times are those of the cluster's clock.

    Args:
        cluster: The cluster.
        write: Takes the lines.
        declared: Kinds that plugins and packages declare.
        source: What the record calls the cluster.
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
        self._teller = Teller(write)
        self._watches: dict[type[ApiObject], Watch[Any]] = {}
        kinds = recorded_kinds(declared)
        self._teller.begin(0.0, now=self._begun, source=source, kinds=kinds)
        for kind in kinds:
            listed = cluster.list(kind)
            for obj in listed.items:
                self._put(kind, obj, is_listed=True)
            self._watches[kind] = cluster.watch(
                kind, listed.resource_version, partial(self._take, kind)
            )

    def close(self) -> None:
        """End the record; a second time does no harm."""
        if self._watches:
            for watch in self._watches.values():
                watch.stop()
            self._watches = {}
            self._teller.end(self._now())

    def _take(self, kind: type[ApiObject]) -> None:
        """Write what has just happened: the cluster reports it within the change."""
        watch = self._watches.get(kind)
        for event in () if watch is None else watch.take():
            if event.type is WatchEventType.DELETED:
                gone = event.object
                version = gone.metadata.resource_version
                self._teller.drop(self._now(), kind, gone.key, version=version)
            else:
                self._put(kind, event.object)

    def _put(
        self, kind: type[ApiObject], obj: ApiObject, *, is_listed: bool = False
    ) -> None:
        self._teller.put(
            self._now(),
            kind,
            obj.key,
            lean(obj),
            version=obj.metadata.resource_version,
            listed=is_listed,
        )

    def _now(self) -> float:
        return self._clock.now() - self._begun
