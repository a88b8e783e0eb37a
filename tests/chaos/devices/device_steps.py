"""The steps of a history that drivers, administrators and users of devices take."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from tests.chaos.cluster_steps import ClusterSteps
from tests.chaos.devices.drivers import Drivers
from tests.chaos.devices.objects import (
    DEVICE_TRAITS,
    KINDS,
    NAMESPACES,
    SHARED,
    TEMPLATES,
    class_of,
    new_claim,
    new_slices,
    new_template,
    with_claims,
    with_taint,
)
from tests.chaos.ledger import Ledger
from tests.chaos.objects import TRAITS

__all__ = ["ALL_TRAITS", "DeviceSteps"]

ObjT = TypeVar("ObjT", bound=ApiObject)

ALL_TRAITS = (*TRAITS, *DEVICE_TRAITS)


class DeviceSteps(ClusterSteps):
    """The steps of all histories, and those of devices.

    Args:
        cluster: The cluster, without faults.
        ledger: Told of pods that change their requests.
        schedulers: How many profiles there are.
        drivers: The drivers.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        ledger: Ledger,
        schedulers: int,
        drivers: Drivers,
    ) -> None:
        super().__init__(cluster, ledger, schedulers, ALL_TRAITS)
        self._drivers = drivers

    def add_takers(
        self, number: int, cpu: int, priority: int, count: int, trait: int
    ) -> None:
        """Create pods that claim alike, except those that exist."""
        for one in range(number, number + 4 * count, 4):
            self.add_pod(one, cpu, priority, len(TRAITS) + trait)

    # Slices -------------------------------------------------------------------------

    def add_slices(self, node: int, kind: int, variant: int) -> None:
        """List the devices of a kind on a node, unless some are there."""
        for one in new_slices(KINDS[kind], node, 1, variant):
            if self._find(ResourceSlice, one.name) is None:
                self._cluster.create(one)

    def remove_slice(self, node: int, kind: int, index: int) -> None:
        """Delete one of the two slices of a pool."""
        self._delete(ResourceSlice, new_slices(KINDS[kind], node, 1, 0)[index].name)

    def renew_slices(self, node: int, kind: int, variant: int, count: int) -> None:
        """List other devices in a new generation, or in a part of its slices."""
        pool = new_slices(KINDS[kind], node, 1, variant)
        known = [self._find(ResourceSlice, one.name) for one in pool]
        newest = max((one.spec.pool.generation for one in known if one), default=0)
        renewed = new_slices(KINDS[kind], node, newest + 1, variant)[:count]
        for one in renewed:
            old = self._find(ResourceSlice, one.name)
            if old is None:
                self._cluster.create(one)
            else:
                self._cluster.update(replace(old, spec=one.spec))

    def taint_devices(self, node: int, kind: int, is_tainted: int) -> None:
        """Taint the first device of each slice of a pool, or none."""
        for one in new_slices(KINDS[kind], node, 1, 0):
            found = self._find(ResourceSlice, one.name)
            if found is not None:
                self._cluster.update(with_taint(found, bool(is_tainted)))

    # Classes, templates and claims --------------------------------------------------

    def add_class(self, kind: int) -> None:
        """Create a class, unless it is there."""
        if self._find(DeviceClass, KINDS[kind]) is None:
            self._cluster.create(class_of(KINDS[kind]))

    def remove_class(self, kind: int) -> None:
        """Delete a class."""
        self._delete(DeviceClass, KINDS[kind])

    def add_template(self, number: int) -> None:
        """Create a template in both namespaces, unless it is there."""
        for namespace in NAMESPACES:
            made = new_template(TEMPLATES[number], namespace)
            if self._find(ResourceClaimTemplate, made.key) is None:
                self._cluster.create(made)

    def remove_template(self, number: int) -> None:
        """Delete a template in both namespaces."""
        for namespace in NAMESPACES:
            self._delete(ResourceClaimTemplate, f"{namespace}/{TEMPLATES[number]}")

    def share_claim(self, number: int) -> None:
        """Create a claim for several pods, in both namespaces."""
        for namespace in NAMESPACES:
            made = new_claim(SHARED[number], namespace)
            if self._find(ResourceClaim, made.key) is None:
                self._cluster.create(made)

    def delete_claim(self, position: int) -> None:
        """Delete any claim; one with devices stays until no pod has it."""
        claims = self._cluster.list(ResourceClaim).items
        if claims:
            claim = claims[position % len(claims)]
            if claim.metadata.deletion_timestamp is None:
                self._cluster.delete(ResourceClaim, claim.key)

    def free_claim(self, position: int) -> None:
        """Take the devices from a claim that no pod has."""
        idle = [
            claim
            for claim in self._cluster.list(ResourceClaim).items
            if claim.status.allocation is not None and not claim.status.reserved_for
        ]
        if idle:
            changes = {"allocation": None, "devices": ()}
            self._cluster.patch_status(idle[position % len(idle)], changes)

    # Drivers ------------------------------------------------------------------------

    def set_drivers(self, are_prompt: int) -> None:
        """Let drivers answer at once from now on, or only when they are told to."""
        self._drivers.are_prompt = bool(are_prompt)

    def answer(self, position: int, is_ready: int) -> None:
        """Let a driver say that devices are ready, or that they are broken."""
        self._drivers.answer(position, is_ready=bool(is_ready))

    # At the end ---------------------------------------------------------------------

    def remove_pods(self) -> None:
        """Delete all pods at once."""
        for pod in self._cluster.list(Pod).items:
            self._cluster.delete(Pod, pod.key, grace_period_seconds=0)

    def remove_claims(self) -> None:
        """Delete all claims."""
        for claim in self._cluster.list(ResourceClaim).items:
            if claim.metadata.deletion_timestamp is None:
                self._cluster.delete(ResourceClaim, claim.key)

    def _dressed(self, pod: Pod, traits: Sequence[str]) -> Pod:
        return with_claims(pod, traits)

    def _find(self, kind: type[ObjT], key: str) -> ObjT | None:
        found = (one for one in self._cluster.list(kind).items if one.key == key)
        return next(found, None)

    def _delete(self, kind: type[ApiObject], key: str) -> None:
        if self._find(kind, key) is not None:
            self._cluster.delete(kind, key)
