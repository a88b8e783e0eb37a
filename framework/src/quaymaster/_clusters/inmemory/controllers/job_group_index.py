"""Workloads by the object that they describe, and PodGroups by their Workload.

Mirrors the indexers of ``pkg/controller/job/job_scheduling_manager.go`` (Kubernetes
v1.37). Both references have a name and no uid.
"""

from collections import defaultdict
from typing import Final, NamedTuple

from quaymaster._api.objects import (
    ApiObject,
    PodGroup,
    TypedLocalObjectReference,
    Workload,
)
from quaymaster._clusters.inmemory.access import ClusterAccess

__all__ = ["JobGroupIndex"]


class _Owner(NamedTuple):
    """What a Workload describes, or the Workload of a PodGroup."""

    namespace: str
    group: str
    kind: str
    name: str


class JobGroupIndex:
    """Finds the Workloads of controllers, and the PodGroups of Workloads.

    Args:
        cluster: The cluster, with the objects that it has now.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._workloads: Final = cluster.objects(Workload)
        self._groups: Final = cluster.objects(PodGroup)
        self._keys: defaultdict[_Owner, dict[str, None]] = defaultdict(dict)
        for workload in self._workloads.values():
            self.object_changed(None, workload)
        for group in self._groups.values():
            self.object_changed(None, group)

    def object_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Handle a Workload or PodGroup that was created, changed or removed."""
        before = None if old is None else _owner_of(old)
        after = None if new is None else _owner_of(new)
        if before == after:
            return
        if before is not None and old is not None:
            self._keys[before].pop(old.key, None)
        if after is not None and new is not None:
            self._keys[after][new.key] = None

    def workloads_of(
        self, namespace: str, reference: TypedLocalObjectReference
    ) -> list[Workload]:
        """Return the Workloads that a controller is named in."""
        group = reference.api_group or ""
        owner = _Owner(namespace, group, reference.kind, reference.name)
        return [self._workloads[key] for key in self._keys.get(owner, ())]

    def groups_of(self, workload: Workload) -> list[PodGroup]:
        """Return the PodGroups that name a Workload."""
        owner = _of_workload(workload.namespace, workload.name)
        return [self._groups[key] for key in self._keys.get(owner, ())]


def _owner_of(obj: ApiObject) -> _Owner | None:
    if isinstance(obj, PodGroup):
        origin = obj.spec.workload_ref
        if origin is None or not origin.workload_name:
            return None
        return _of_workload(obj.namespace, origin.workload_name)
    assert isinstance(obj, Workload)
    reference = obj.spec.controller_ref
    if reference is None or not reference.name:
        return None
    group = reference.api_group or ""
    return _Owner(obj.namespace, group, reference.kind, reference.name)


def _of_workload(namespace: str, name: str) -> _Owner:
    # A reference has the group without its version, so all versions of an API refer to
    # the same object.
    group = Workload.api_version.rpartition("/")[0]
    return _Owner(namespace, group, Workload.kind, name)
