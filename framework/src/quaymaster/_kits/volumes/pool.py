"""The volumes of a cluster, indexed so that a claim's candidates need no search.

Mirrors ``FindMatchingVolume`` (k8s.io/component-helpers v0.36, ``storage/volume``).
Claims that ask for the same are offered the same free volumes, so these are listed once
per such shape, and the lists are kept while volumes come and go.
"""

from bisect import bisect_left, insort
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple

import attrs
import numpy as np

from quaymaster._api.objects import (
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeResourceRequirements,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.selectors import Selector, compile_label_selector
from quaymaster._core.state.arrays import Int64Array, Rows
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.volumes.claims import class_of_claim, class_of_volume, is_bound_to
from quaymaster._kits.volumes.first_reached import FirstReached
from quaymaster._kits.volumes.volume_topology import (
    VolumeTopology,
    VolumeTopologyCounts,
)

__all__ = [
    "Candidate",
    "Candidates",
    "FreeVolumes",
    "VolumePool",
    "size_of",
    "storage_of",
]

_ZERO: Final = Quantity(0)
_MOST_BYTES: Final = 1 << 62  # the number of a larger volume in an array

# A bound on memory: each list has the fitting volumes of a class. Chosen, not measured:
# workloads ask for fewer combinations of class, size and selector at a time.
_MAX_SHAPES: Final = 64


class _Entry(NamedTuple):
    """A volume with its sort key: the smallest first, then by arrival."""

    nanos: int
    arrival: int
    volume: PersistentVolume
    topology: VolumeTopology

    @property
    def bytes(self) -> int:
        return size_of(self.volume).value


class _Shape(NamedTuple):
    """The fields of a claim that decide which free volumes it could get."""

    storage_class: str
    nanos: int
    access_modes: frozenset[str]
    volume_mode: str
    attributes_class: str
    selector: Selector | None

    def fits(self, volume: PersistentVolume) -> bool:
        """Whether a free volume of the class fits the claim."""
        return (
            self.is_usable(volume)
            # A free volume must be Available, a volume that is kept for the claim need
            # not: ``FindMatchingVolume`` (k8s.io/component-helpers, ``storage/volume``)
            # checks the phase only after claimRef.
            and volume.status.phase == "Available"
            and (self.selector is None or self.selector.matches(volume.metadata.labels))
            and self.access_modes <= set(volume.spec.access_modes)
        )

    def is_usable(self, volume: PersistentVolume) -> bool:
        """Whether size, mode and attributes of a volume fit the claim."""
        spec = volume.spec
        return (
            # Exact units rather than bytes: a claim may ask for 1.5 GiB and a volume
            # have a decimal amount.
            size_of(volume).nanos >= self.nanos
            and _mode(spec.volume_mode) == self.volume_mode
            and (spec.volume_attributes_class_name or "") == self.attributes_class
            and volume.metadata.deletion_timestamp is None
        )


class FreeVolumes:
    """The free volumes that claims of one shape could get, the best first."""

    def __init__(self) -> None:
        self._all: list[_Entry] = []
        self._by_name: dict[str, PersistentVolume] = {}
        # By label and value, where a volume is only to be reached from nodes with such
        # a label, as local disks are; and the others.
        self._by_label: dict[str, dict[str, list[_Entry]]] = {}
        self._others: list[_Entry] = []
        self._tally = VolumeTopologyCounts()
        # None until the first call of `sizes`.
        self._sizes: FirstReached[tuple[int, int]] | None = None

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[PersistentVolume]:
        """All of them, the smallest first, then in order of arrival."""
        return (entry.volume for entry in self._all)

    def get(self, name: str) -> PersistentVolume | None:
        """One of them by its name, or None."""
        return self._by_name.get(name)

    def best(
        self, labels: Mapping[str, str], taken: Container[str] = ()
    ) -> PersistentVolume | None:
        """The best volume that a node with these labels can reach, or None.

        Args:
            labels: The node's labels.
            taken: The names of volumes that are not to be had.
        """
        volumes = [
            entry
            for listed in self._listed_for(labels)
            if (entry := _first(listed, labels, taken)) is not None
        ]
        return min(volumes).volume if volumes else None

    def counts(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """The number of volumes that each node can reach, shape ``(N,)``."""
        return self._tally.counts(nodes, rows)

    def sizes(self, nodes: NodeTable, rows: Rows) -> Int64Array | None:
        """Return the sizes of the best volumes that nodes can reach, bytes ``(N,)``.

        Returns:
            -1 for nodes that reach none, and at most 2**62. None if the topologies of
            volumes have different labels: then each node must be checked on its own.
        """
        if self._sizes is None:
            self._sizes = FirstReached()
            for entry in self._all:
                self._sizes.put(entry[:2], entry.topology, entry.bytes)
        return self._sizes.rows(nodes, rows)

    def put(self, entry: _Entry) -> None:
        """Add a volume."""
        if self._sizes is not None:
            self._sizes.put(entry[:2], entry.topology, entry.bytes)
        self._by_name[entry.volume.metadata.name] = entry.volume
        self._tally.add(entry.topology)
        for listed in self._lists_of(entry.topology):
            # Sorted at each change, so that finding the smallest volume that fits takes
            # one look. Thousands of local disks would otherwise be compared for every
            # claim and node.
            insort(listed, entry)

    def drop(self, entry: _Entry) -> None:
        """Remove a volume."""
        if self._sizes is not None:
            self._sizes.drop(entry[:2], entry.topology)
        del self._by_name[entry.volume.metadata.name]
        self._tally.add(entry.topology, -1)
        for listed in self._lists_of(entry.topology):
            del listed[bisect_left(listed, entry[:2])]

    def _lists_of(self, topology: VolumeTopology) -> Iterator[list[_Entry]]:
        yield self._all
        anchor = topology.anchor
        if anchor is None:
            yield self._others
            return
        by_value = self._by_label.setdefault(anchor.key, {})
        for value in anchor.values:
            yield by_value.setdefault(value, [])

    def _listed_for(self, labels: Mapping[str, str]) -> Iterator[Sequence[_Entry]]:
        yield self._others
        for key, by_value in self._by_label.items():
            if key in labels:
                yield by_value.get(labels[key], ())


class Candidate(NamedTuple):
    """A volume that a claim could get, if the node is right.

    Attributes:
        volume: The volume.
        topology: From where it can be reached.
    """

    volume: PersistentVolume
    topology: VolumeTopology


@attrs.frozen(eq=False)
class Candidates:
    """The volumes that one claim could get on any node.

    Attributes:
        kept: Those that are bound to the claim, or kept for it, in order of arrival.
        free: The others; the pool keeps them up to date.
    """

    kept: Sequence[Candidate]
    free: FreeVolumes

    def best(
        self, labels: Mapping[str, str], taken: Container[str] = ()
    ) -> PersistentVolume | None:
        """The volume to take for a pod on a node with these labels, or None.

        A volume that is kept for the claim is the only choice, on whatever node.

        Args:
            labels: The node's labels.
            taken: The names of volumes that other claims of the pod get.
        """
        for volume, topology in self.kept:
            # The first volume kept for the claim decides: if the node does not reach
            # it, no other volume is taken instead (``FindMatchingVolume`` ends there).
            if volume.metadata.name not in taken:
                return volume if topology.includes(labels) else None
        return self.free.best(labels, taken)

    @property
    def is_empty(self) -> bool:
        """Whether there is no volume that the claim could get."""
        return not self.kept and not self.free

    def sizes(self, nodes: NodeTable, rows: Rows) -> Int64Array | None:
        """Return the sizes of the best volumes for pods on many nodes, bytes ``(N,)``.

        Returns:
            -1 where there is none, and at most 2**62. None if each node must be checked
            on its own.
        """
        if not self.kept:
            return self.free.sizes(nodes, rows)
        volume, topology = self.kept[0]
        size = min(size_of(volume).value, _MOST_BYTES)
        sizes: Int64Array = np.full(nodes.count(rows), size, dtype=np.int64)
        reached = topology.rows(nodes, rows)
        if reached is not None:
            sizes[~reached] = -1
        return sizes


class VolumePool:
    """All volumes of a cluster, free or bound."""

    def __init__(self) -> None:
        self._arrivals = count()
        self._entries: dict[str, _Entry] = {}
        # By claim: volumes bound to it or kept for it. By class: the others.
        self._kept: dict[str, dict[str, _Entry]] = {}
        self._free: dict[str, dict[str, _Entry]] = {}
        self._lists: dict[_Shape, FreeVolumes] = {}

    def put(self, volume: PersistentVolume) -> None:
        """Add a volume, or take over a changed one, which keeps its place."""
        name = volume.metadata.name
        old = self._entries.get(name)
        arrival = next(self._arrivals)
        if old is not None:
            self.drop(name)
            # Among volumes of one size, the first in the list of informers is taken; a
            # changed volume must not move behind the others.
            if old.volume.metadata.uid == volume.metadata.uid:
                arrival = old.arrival
        if old is not None and old.volume.spec.node_affinity == (
            volume.spec.node_affinity
        ):
            topology = old.topology
        else:
            topology = VolumeTopology(volume)
        entry = _Entry(size_of(volume).nanos, arrival, volume, topology)
        self._entries[name] = entry
        files, key = self._place_of(volume)
        files.setdefault(key, {})[name] = entry
        for free in self._lists_for(volume):
            free.put(entry)

    def drop(self, name: str) -> None:
        """Remove a volume, if it is there."""
        entry = self._entries.pop(name, None)
        if entry is None:
            return
        for free in self._lists_for(entry.volume):
            free.drop(entry)
        files, key = self._place_of(entry.volume)
        del files[key][name]
        if not files[key]:
            del files[key]

    def candidates(self, claim: PersistentVolumeClaim) -> Candidates:
        """The volumes that a claim, which is not bound, could get.

        Raises:
            SelectorError: The claim's selector cannot be evaluated.
        """
        shape = _shape_of(claim)
        kept = [
            entry
            for entry in self._kept.get(claim.key, {}).values()
            if is_bound_to(entry.volume, claim) and shape.is_usable(entry.volume)
        ]
        kept.sort(key=lambda entry: entry.arrival)
        candidates = [Candidate(entry.volume, entry.topology) for entry in kept]
        return Candidates(candidates, self._listed(shape))

    def _listed(self, shape: _Shape) -> FreeVolumes:
        # Removed and put back, which moves it to the end of the dict.
        free = self._lists.pop(shape, None)
        if free is None:
            free = FreeVolumes()
            for entry in self._free.get(shape.storage_class, {}).values():
                if shape.fits(entry.volume):
                    free.put(entry)
            if len(self._lists) >= _MAX_SHAPES:
                del self._lists[next(iter(self._lists))]
        self._lists[shape] = free  # the most recently used one comes last
        return free

    def _lists_for(self, volume: PersistentVolume) -> Iterator[FreeVolumes]:
        """The lists that a volume is on."""
        if volume.spec.claim_ref is None:
            name = class_of_volume(volume)
            for shape, free in self._lists.items():
                if shape.storage_class == name and shape.fits(volume):
                    yield free

    def _place_of(
        self, volume: PersistentVolume
    ) -> tuple[dict[str, dict[str, _Entry]], str]:
        reference = volume.spec.claim_ref
        if reference is None:
            return self._free, class_of_volume(volume)
        return self._kept, f"{reference.namespace}/{reference.name}"


def storage_of(resources: VolumeResourceRequirements) -> Quantity:
    """The storage that is requested; 0 if nothing is."""
    return resources.requests.get("storage", _ZERO)


def _shape_of(claim: PersistentVolumeClaim) -> _Shape:
    spec = claim.spec
    return _Shape(
        class_of_claim(claim),
        storage_of(spec.resources).nanos,
        frozenset(spec.access_modes),
        _mode(spec.volume_mode),
        spec.volume_attributes_class_name or "",
        None if spec.selector is None else compile_label_selector(spec.selector),
    )


def _first(
    listed: Sequence[_Entry], labels: Mapping[str, str], taken: Container[str]
) -> _Entry | None:
    for entry in listed:
        if entry.volume.metadata.name not in taken and entry.topology.includes(labels):
            return entry
    return None


def size_of(volume: PersistentVolume) -> Quantity:
    """The storage of a volume; 0 if it is not specified."""
    return volume.spec.capacity.get("storage", _ZERO)


def _mode(mode: str | None) -> str:
    return "Filesystem" if mode is None else mode
