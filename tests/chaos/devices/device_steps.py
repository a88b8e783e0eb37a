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
        ledger: Is updated when a pod changes its requests.
        schedulers: The number of profiles.
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
        """Create pods with equal claims, except those that exist."""
        for index in range(number, number + 4 * count, 4):
            self.add_pod(index, cpu, priority, len(TRAITS) + trait)

    # Slices -------------------------------------------------------------------------

    def add_slices(self, node: int, kind: int, variant: int) -> None:
        """Create the slices of a kind on a node, unless some exist."""
        for resource_slice in new_slices(KINDS[kind], node, 1, variant):
            if self._find(ResourceSlice, resource_slice.name) is None:
                self._cluster.create(resource_slice)

    def remove_slice(self, node: int, kind: int, index: int) -> None:
        """Delete one of the two slices of a pool."""
        self._delete(ResourceSlice, new_slices(KINDS[kind], node, 1, 0)[index].name)

    def renew_slices(self, node: int, kind: int, variant: int, count: int) -> None:
        """Publish other devices in a new generation, or in some slices of it."""
        pool = new_slices(KINDS[kind], node, 1, variant)
        current = [
            self._find(ResourceSlice, resource_slice.name) for resource_slice in pool
        ]
        newest = max(
            (
                resource_slice.spec.pool.generation
                for resource_slice in current
                if resource_slice
            ),
            default=0,
        )
        renewed = new_slices(KINDS[kind], node, newest + 1, variant)[:count]
        for resource_slice in renewed:
            old = self._find(ResourceSlice, resource_slice.name)
            if old is None:
                self._cluster.create(resource_slice)
            else:
                self._cluster.update(replace(old, spec=resource_slice.spec))

    def taint_devices(self, node: int, kind: int, is_tainted: int) -> None:
        """Taint the first device of each slice of a pool, or remove the taints."""
        for resource_slice in new_slices(KINDS[kind], node, 1, 0):
            item = self._find(ResourceSlice, resource_slice.name)
            if item is not None:
                self._cluster.update(with_taint(item, bool(is_tainted)))

    # Classes, templates and claims --------------------------------------------------

    def add_class(self, kind: int) -> None:
        """Create a class, unless it exists."""
        if self._find(DeviceClass, KINDS[kind]) is None:
            self._cluster.create(class_of(KINDS[kind]))

    def remove_class(self, kind: int) -> None:
        """Delete a class."""
        self._delete(DeviceClass, KINDS[kind])

    def add_template(self, number: int) -> None:
        """Create a template in both namespaces, unless it exists."""
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
        """Delete a claim; one with devices stays until no pod uses it."""
        claims = self._cluster.list(ResourceClaim).items
        if claims:
            claim = claims[position % len(claims)]
            if claim.metadata.deletion_timestamp is None:
                self._cluster.delete(ResourceClaim, claim.key)

    def free_claim(self, position: int) -> None:
        """Deallocate a claim that no pod uses."""
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
        """Let drivers answer at once from now on, or only in the step `answer`."""
        self._drivers.are_prompt = bool(are_prompt)

    def answer(self, position: int, is_ready: int) -> None:
        """Let a driver report devices as ready, or as broken."""
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

    def _with_traits(self, pod: Pod, traits: Sequence[str]) -> Pod:
        return with_claims(pod, traits)

    def _find(self, kind: type[ObjT], key: str) -> ObjT | None:
        item = (item for item in self._cluster.list(kind).items if item.key == key)
        return next(item, None)

    def _delete(self, kind: type[ApiObject], key: str) -> None:
        if self._find(kind, key) is not None:
            self._cluster.delete(kind, key)
