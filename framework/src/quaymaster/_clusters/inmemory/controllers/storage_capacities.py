"""Published storage capacities, and how volumes reduce them.

An external provisioner of a driver with CSIStorageCapacity objects publishes what is
left after each new volume, and after each deletion. Mirrors ``pkg/capacity`` of
kubernetes-csi/external-provisioner, without its delay.

kube-scheduler compares each claim of a pod alone with the published capacity, so two
claims of one pod can be larger together than what is left (kubernetes#111755). The
second volume is made nevertheless, and the capacity stays at 0.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import (
    CSIStorageCapacity,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._base.errors import SelectorError
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.provisioning import volume_name
from quaymaster._kits.volumes.names import PROVISIONED_BY
from quaymaster._kits.volumes.pool import storage_of

__all__ = ["StorageCapacities"]

_CSI_PARAMETERS = "csi.storage.k8s.io/"


class _Deduction(msgspec.Struct, frozen=True):
    """What one volume took from one published capacity, in bytes."""

    key: str
    capacity: int
    maximum: int


class _Reservation(msgspec.Struct, frozen=True):
    """What one volume takes: the selected node, if any, and the deductions."""

    node_name: str
    deductions: Sequence[_Deduction]


class StorageCapacities:
    """Keeps the published capacities in step with the volumes.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._objects = cluster.objects(CSIStorageCapacity)
        self._by_class: dict[str, dict[str, None]] = {}
        self._reservations: dict[str, _Reservation] = {}

    def changed(
        self, old: CSIStorageCapacity | None, new: CSIStorageCapacity | None
    ) -> None:
        """Index a capacity that has come, changed, or gone."""
        if old is not None:
            self._by_class[old.storage_class_name].pop(old.key, None)
        if new is not None:
            self._by_class.setdefault(new.storage_class_name, {})[new.key] = None

    def keys_at(self, class_name: str, labels: Mapping[str, str]) -> Sequence[str]:
        """Return the labels by which a class's capacity is published for a node."""
        for capacity in self._matching(class_name, labels):
            topology = capacity.node_topology
            if topology is not None and topology.match_labels:
                return tuple(topology.match_labels)
        return ()

    def reserve(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node
    ) -> None:
        """Reduce what is published for a claim as soon as its node is selected.

        The volume follows at the same moment of virtual time, but the scheduler may
        have begun with the next pod before.
        """
        # Most clusters publish no capacities, and this is called for each claim.
        if self._by_class:
            size = storage_of(claim.spec.resources).value
            self._take(volume_name(claim), size, storage_class, node.labels, node.name)

    def take(
        self,
        volume: PersistentVolume,
        storage_class: StorageClass,
        labels: Mapping[str, str],
        node_name: str = "",
    ) -> None:
        """Reduce what is published where a new volume is, unless it was reserved.

        Args:
            volume: The volume.
            storage_class: Its class.
            labels: The labels of its node, or its topology if no node was selected.
            node_name: The selected node, if any.
        """
        if self._by_class:
            size = _bytes(volume.spec.capacity.get("storage"))
            self._take(volume.name, size, storage_class, labels, node_name)

    def release(self, claim: PersistentVolumeClaim) -> None:
        """Publish the room of a claim that no longer has a selected node."""
        self._give_back(self._reservations.pop(volume_name(claim), None))

    def give_back(self, volume: PersistentVolume) -> None:
        """Publish the room of a volume that was deleted."""
        reservation = self._reservations.pop(volume.name, None)
        if reservation is None:
            reservation = _Reservation("", self._deductions_of_input(volume))
        self._give_back(reservation)

    def _take(
        self,
        name: str,
        size: int,
        storage_class: StorageClass,
        labels: Mapping[str, str],
        node_name: str,
    ) -> None:
        reservation = self._reservations.pop(name, None)
        # Another node than before: the room on the old one is free again.
        if reservation is None or reservation.node_name != node_name:
            self._give_back(reservation)
            deductions = [
                self._deduct(capacity, size)
                for class_name in self._classes_of_pool(storage_class)
                for capacity in list(self._matching(class_name, labels))
                if capacity.capacity is not None
            ]
            reservation = _Reservation(node_name, deductions)
        if reservation.deductions:
            self._reservations[name] = reservation

    def _give_back(self, reservation: _Reservation | None) -> None:
        for deduction in () if reservation is None else reservation.deductions:
            capacity = self._objects.get(deduction.key)
            if capacity is not None:
                self._publish(capacity, deduction.capacity, deduction.maximum)

    def _deduct(self, capacity: CSIStorageCapacity, size: int) -> _Deduction:
        left = _bytes(capacity.capacity)
        # A volume may be larger than what is published, which is only an estimate.
        taken = min(left, size)
        maximum = capacity.maximum_volume_size
        # No volume can be larger than what is left.
        excess = 0 if maximum is None else max(0, maximum.value - (left - taken))
        self._publish(capacity, -taken, -excess)
        return _Deduction(capacity.key, taken, excess)

    def _publish(
        self, capacity: CSIStorageCapacity, change: int, maximum_change: int
    ) -> None:
        room = capacity.capacity
        # Unlimited storage stays unlimited.
        if room is None:
            return
        maximum = capacity.maximum_volume_size
        if maximum is not None:
            maximum = Quantity.from_value(
                maximum.value + maximum_change, maximum.format
            )
        new = replace(
            capacity,
            capacity=Quantity.from_value(room.value + change, room.format),
            maximum_volume_size=maximum,
        )
        self._cluster.change(capacity, new)

    def _deductions_of_input(self, volume: PersistentVolume) -> Sequence[_Deduction]:
        """Return what a volume takes that was there before the capacities were read."""
        storage_class = self._cluster.objects(StorageClass).get(
            volume.spec.storage_class_name
        )
        if not self._by_class or storage_class is None or not _was_provisioned(volume):
            return ()
        labels, size = _labels_of(volume), _bytes(volume.spec.capacity.get("storage"))
        return [
            # What was taken before is unknown, so the whole size is given back.
            _Deduction(capacity.key, size, size)
            for name in self._classes_of_pool(storage_class)
            for capacity in self._matching(name, labels)
        ]

    def _matching(
        self, class_name: str, labels: Mapping[str, str]
    ) -> Iterator[CSIStorageCapacity]:
        for key in self._by_class.get(class_name, ()):
            capacity = self._objects[key]
            if _is_for(capacity, labels):
                yield capacity

    def _classes_of_pool(self, storage_class: StorageClass) -> Sequence[str]:
        """Return the classes with published capacity that share a class's storage.

        A driver gets only the parameters of a class. The ones with the prefix
        ``csi.storage.k8s.io/`` are for the provisioner, so they choose no pool.
        """
        pool = _pool(storage_class)
        classes = self._cluster.objects(StorageClass)
        return [
            name
            for name in self._by_class
            if name in classes and _pool(classes[name]) == pool
        ]


def _pool(storage_class: StorageClass) -> tuple[str, Mapping[str, str]]:
    parameters = {
        key: value
        for key, value in storage_class.parameters.items()
        if not key.startswith(_CSI_PARAMETERS)
    }
    return storage_class.provisioner, parameters


def _is_for(capacity: CSIStorageCapacity, labels: Mapping[str, str]) -> bool:
    topology = capacity.node_topology
    if topology is None:
        return False
    if not topology.match_expressions:  # as external-provisioner publishes them
        return all(labels.get(k) == v for k, v in topology.match_labels.items())
    try:
        return compile_label_selector(topology).matches(labels)
    except SelectorError:
        return False


def _was_provisioned(volume: PersistentVolume) -> bool:
    return volume.spec.csi is not None and PROVISIONED_BY in volume.annotations


def _labels_of(volume: PersistentVolume) -> Mapping[str, str]:
    """Return the labels that a volume's node affinity asks for, as one value each."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return {}
    return {
        requirement.key: requirement.values[0]
        for term in affinity.required.node_selector_terms[:1]
        for requirement in term.match_expressions
        if requirement.operator == "In" and len(requirement.values) == 1
    }


def _bytes(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.value
