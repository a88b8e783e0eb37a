"""The claims of a case: their API endpoint, their controller, and drivers."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.cluster import ConflictError, InvalidError, NotFoundError
from quaymaster.objects import (
    AllocatedDeviceStatus,
    Condition,
    DeviceRequestAllocationResult,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
    ResourceClaimStatus,
    decode,
    encode,
)
from tests.kit.informers import HeldObjects
from tests.parity.cases import Json

__all__ = ["ClaimServer"]

_FINALIZER = "resource.kubernetes.io/delete-protection"
_MOST_CONSUMERS = 256
_MOST_LISTED = 20


class ClaimServer:
    """Stores a scheduler's writes of claims; informers have them at once.

    Args:
        objects: All objects of the case, with the claims.
        drivers: Driver -> the conditions that it sets in the case.

    Attributes:
        extended_resources: Pod key -> the written status of its extended resources.
        calls: The requests since the entry began: a verb and a key each.
    """

    def __init__(self, objects: HeldObjects, drivers: Mapping[str, Json]) -> None:
        self._objects = objects
        self._drivers = {
            name: (_conditions(driver["conditions"]), driver.get("devices"))
            for name, driver in drivers.items()
        }
        self._version = 0
        self._created = 0
        self._before: set[str] = set()
        self._written: dict[str, None] = {}
        self.extended_resources: dict[str, PodExtendedResourceClaimStatus] = {}
        self.calls: list[str] = []
        for claim in objects.list(ResourceClaim):
            self._store(claim)

    def begin(self) -> None:
        """Begin an entry; later writes are its changes."""
        self._before = {claim.key for claim in self._objects.list(ResourceClaim)}
        self._written.clear()
        self.extended_resources.clear()
        self.calls.clear()

    def changes(self) -> Json:
        """Return the claims that the entry has changed, as records have them."""
        after = {claim.key: claim for claim in self._objects.list(ResourceClaim)}
        written = {key: after.get(key) for key in self._written}
        return {
            key: {"gone": True}
            if claim is None
            else _record(claim, is_new=key not in self._before)
            for key, claim in written.items()
        }

    def get(self, key: str) -> ResourceClaim:
        """Return one claim."""
        claim = self._objects.get(ResourceClaim, key)
        if claim is None:
            raise NotFoundError(f'resourceclaims.resource.k8s.io "{key}" not found')
        return claim

    def create(self, claim: ResourceClaim) -> ResourceClaim:
        """Store a claim; its name ends in a number in place of random letters."""
        self._created += 1
        namespace = claim.namespace
        name = claim.name or f"{claim.metadata.generate_name}gen{self._created}"
        self.calls.append(f"create {namespace}/{name}")
        uid = f"uid-claim-{namespace}-{name}"
        metadata = replace(claim.metadata, name=name, uid=uid)
        status = ResourceClaimStatus()
        return self._store(replace(claim, metadata=metadata, status=status))

    def update(self, claim: ResourceClaim) -> ResourceClaim:
        """Replace all fields except the status."""
        self.calls.append(f"update {claim.key}")
        stored = self._current(claim)
        new = replace(claim, status=stored.status)
        if new.metadata.deletion_timestamp is not None and not new.metadata.finalizers:
            self._remove(stored)
            return new
        return self._store(new)

    def patch_status(
        self, claim: ResourceClaim, changes: Mapping[str, object]
    ) -> ResourceClaim:
        """Change the status, and let drivers set their conditions."""
        self.calls.append(f"patch status {claim.key}")
        stored = self._current(claim)
        status: ResourceClaimStatus = replace(stored.status, **changes)
        count = len(status.reserved_for)
        if count > _MOST_CONSUMERS:
            raise InvalidError(
                f'ResourceClaim.resource.k8s.io "{claim.name}" is invalid: '
                f"status.reservedFor: Too many: {count}"
            )
        return self._store(replace(stored, status=self._driven(status)))

    def delete(self, key: str) -> None:
        """Delete a claim, unless something protects it."""
        self.calls.append(f"delete {key}")
        claim = self.get(key)
        assert not claim.metadata.finalizers, "the finalizer goes first"
        self._remove(claim)

    def finish(self, pod: Pod) -> None:
        """Do what the controller does with the claims of a pod that has ended."""
        for claim in self._objects.list(ResourceClaim, pod.namespace):
            owner = claim.metadata.controller
            if owner is not None and owner.uid == pod.uid:
                self._remove(claim)
                continue
            left = [
                consumer
                for consumer in claim.status.reserved_for
                if consumer.uid != pod.uid
            ]
            if len(left) == len(claim.status.reserved_for):
                continue
            if left:
                status = replace(claim.status, reserved_for=tuple(left))
                self._store(replace(claim, status=status))
                continue
            kept = [
                finalizer
                for finalizer in claim.metadata.finalizers
                if finalizer != _FINALIZER
            ]
            metadata = replace(claim.metadata, finalizers=tuple(kept))
            self._store(replace(claim, metadata=metadata, status=ResourceClaimStatus()))

    def put(self, claim: ResourceClaim) -> None:
        """Create or replace a claim of the case."""
        self._store(claim)

    def _current(self, claim: ResourceClaim) -> ResourceClaim:
        stored = self.get(claim.key)
        version = claim.metadata.resource_version
        if version not in ("", stored.metadata.resource_version):
            raise ConflictError(f"{claim.key}: the object has been modified")
        return stored

    def _remove(self, claim: ResourceClaim) -> None:
        self._written[claim.key] = None
        self._objects.remove(claim)

    def _store(self, claim: ResourceClaim) -> ResourceClaim:
        self._version += 1
        metadata = replace(claim.metadata, resource_version=str(self._version))
        stored = replace(claim, metadata=metadata)
        self._written[stored.key] = None
        self._objects.put(stored)
        return stored

    def _driven(self, status: ResourceClaimStatus) -> ResourceClaimStatus:
        if status.allocation is None or not status.reserved_for:
            return status
        devices = {_name_of(device): device for device in status.devices}
        for result in status.allocation.devices.results:
            conditions, only = self._drivers.get(result.driver, ((), None))
            if not result.binding_conditions or not conditions:
                continue
            if only is None or result.device in only:
                name = _name_of(result)
                devices[name] = _with_conditions(
                    devices.get(name)
                    or AllocatedDeviceStatus(
                        driver=result.driver, pool=result.pool, device=result.device
                    ),
                    conditions,
                )
        return replace(status, devices=tuple(devices.values()))


class _Name(NamedTuple):
    driver: str
    pool: str
    device: str


def _name_of(device: AllocatedDeviceStatus | DeviceRequestAllocationResult) -> _Name:
    return _Name(device.driver, device.pool, device.device)


def _with_conditions(
    status: AllocatedDeviceStatus, conditions: tuple[Condition, ...]
) -> AllocatedDeviceStatus:
    by_type = {
        condition.type: condition for condition in (*status.conditions, *conditions)
    }
    return replace(status, conditions=tuple(by_type.values()))


def _conditions(trees: list[Json]) -> tuple[Condition, ...]:
    status = {"devices": [{"conditions": trees}]}
    claim = decode(json.dumps({"status": status}).encode(), ResourceClaim)
    return claim.status.devices[0].conditions


def _record(claim: ResourceClaim, *, is_new: bool) -> Json:
    tree = json.loads(encode(claim))
    status = tree.get("status", {})
    allocation = status.get("allocation")
    consumers = [
        f"{consumer['resource']}/{consumer['name']}"
        for consumer in status.get("reservedFor", ())
    ]
    if len(consumers) > _MOST_LISTED:
        consumers = [f"{len(consumers)} entries"]
    written: Json = {
        "uid": claim.uid,
        "finalizers": list(claim.metadata.finalizers),
        "deleting": claim.metadata.deletion_timestamp is not None,
        "reservedFor": consumers,
    }
    if allocation is not None:
        written["hasAllocationTimestamp"] = "allocationTimestamp" in allocation
        allocation.pop("allocationTimestamp", None)
        for result in allocation.get("devices", {}).get("results", ()):
            if "shareID" in result:
                result["shareID"] = "*"
        written["allocation"] = allocation
    devices = status.get("devices", [])
    for device in devices:
        if "shareID" in device:
            device["shareID"] = "*"
        for condition in device.get("conditions", ()):
            condition["lastTransitionTime"] = None
            condition.setdefault("message", "")
    written["devices"] = devices
    if is_new:
        written["created"] = True
        written["annotations"] = dict(claim.annotations)
        written["requests"] = tree["spec"].get("devices", {}).get("requests", [])
    return {key: value for key, value in written.items() if value}
