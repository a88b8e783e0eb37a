"""Drivers of devices that are slow, fail or never answer, and their cluster."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.cluster import Cluster
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    AllocatedDeviceStatus,
    AllocationResult,
    Condition,
    ResourceClaim,
)
from quaymaster.scheduler import Clock
from tests.chaos.devices.objects import BROKEN, READY
from tests.chaos.fault_plan import FaultPlan, HistoryCluster

__all__ = ["DeviceCluster", "Drivers"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class Drivers:
    """The drivers of a history.

    Args:
        cluster: The cluster, without faults.

    Attributes:
        are_prompt: Whether devices are ready as soon as their claim is reserved.
        answers: How often a driver made devices ready, or said that it cannot.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self.are_prompt = False
        self.answers = 0

    def answer(self, position: int, *, is_ready: bool) -> None:
        """Let a driver say of one claim that its devices are ready, or broken."""
        waiting = list(self._waiting())
        if waiting:
            self._tell(waiting[position % len(waiting)], READY if is_ready else BROKEN)

    def work_well(self) -> None:
        """Let drivers make everything ready, now and from now on."""
        self.are_prompt = True
        for claim in list(self._waiting()):
            self._tell(claim, READY)

    def _waiting(self) -> Iterator[ResourceClaim]:
        for claim in self._cluster.list(ResourceClaim).items:
            if any(not status.conditions for status in claim.status.devices):
                yield claim

    def _tell(self, claim: ResourceClaim, condition: str) -> None:
        self.answers += 1
        said = Condition(type=condition, status="True", reason="Told")
        devices = tuple(
            status if status.conditions else replace(status, conditions=(said,))
            for status in claim.status.devices
        )
        self._cluster.patch_status(claim, {"devices": devices})


class DeviceCluster(HistoryCluster):
    """A faulty cluster whose drivers may be slow.

    Args:
        cluster: The cluster behind it.
        clock: Tells when delayed events come.
        plan: The history's plan.
        drivers: The drivers.

    Attributes:
        kept: The keys of the claims that the scheduler has left without a consumer.
        deallocations: How often it took the devices from a claim.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, plan: FaultPlan, drivers: Drivers
    ) -> None:
        super().__init__(cluster, clock, {}, plan)
        self._drivers = drivers
        self.kept: set[str] = set()
        self.deallocations = 0

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """Change a status; a driver that is not prompt says that it has begun."""
        if isinstance(obj, ResourceClaim):
            allocation = changes.get("allocation")
            if isinstance(allocation, AllocationResult):
                if not self._drivers.are_prompt:
                    changes = {**changes, "devices": tuple(_begun(allocation))}
            elif "allocation" in changes:
                self.deallocations += 1
            elif changes.get("reserved_for") == ():
                self.kept.add(obj.key)
        return super().patch_status(obj, changes)


def _begun(allocation: AllocationResult) -> Iterator[AllocatedDeviceStatus]:
    for one in allocation.devices.results:
        if one.binding_conditions:
            yield AllocatedDeviceStatus(
                driver=one.driver,
                pool=one.pool,
                device=one.device,
                share_id=one.share_id,
            )
