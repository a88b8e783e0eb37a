"""The access of controllers to their cluster."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.names import NameMaker
from quaymaster._clusters.inmemory.quotas.ledger import QuotaLedger
from quaymaster._clusters.inmemory.shortfalls import Shortfalls
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import EventNote

__all__ = ["ClusterAccess"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class ClusterAccess(Protocol):
    """What controllers read of the cluster, and how they change it."""

    @property
    def clock(self) -> Clock:
        """The cluster's time."""

    @property
    def kubernetes(self) -> Kubernetes:
        """The Kubernetes version that the cluster simulates."""

    @property
    def names(self) -> NameMaker:
        """The generator of names and uids."""

    @property
    def quotas(self) -> QuotaLedger:
        """The limits and the usage of namespaces."""

    @property
    def shortfalls(self) -> Shortfalls:
        """The pods that workloads lack."""

    def objects(self, kind: type[ObjT]) -> Mapping[str, ObjT]:
        """Return the stored objects of a kind by key, in creation order."""

    def admit(self, obj: ObjT) -> ObjT:
        """Return a new object as it would be stored."""

    def add(self, obj: ObjT) -> ObjT:
        """Store a new object that has been admitted."""

    def change(self, old: ObjT, new: ObjT) -> ObjT:
        """Replace a stored object by one that needs no admission."""

    def delete(self, obj: ApiObject, grace_period_seconds: float | None = None) -> None:
        """Delete a stored object; a pod on a node gets its grace period first."""

    def has_gone(self, uid: str) -> bool:
        """Return whether an object with this uid existed; call only if it is gone."""

    def record(self, note: EventNote) -> None:
        """Write an Event."""
