"""The storage capacity for new volumes of each class, from CSIStorageCapacity."""

from collections.abc import Mapping

from quaymaster import BoolArray, Informers, Int64Array, NodeTable, Rows
from quaymaster.errors import SelectorError
from quaymaster.objects import CSIStorageCapacity, compile_label_selector
from quaymaster.volumes import FirstReached, VolumeTopology, VolumeTopologyCounts

__all__ = ["Capacities", "Room"]

# The number of tracked pairs of class and size. Each pair is updated for every changed
# capacity of its class. Chosen, not measured.
_MAX_ROOMS = 64


class Room:
    """The nodes for which volumes of one class and size can be provisioned.

    Args:
        size_bytes: The size.
    """

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._topologies: dict[str, VolumeTopology] = {}
        self._capacities = FirstReached[str]()
        self._tally = VolumeTopologyCounts()

    def includes(self, labels: Mapping[str, str]) -> bool:
        """Return whether a volume can be provisioned for a node with these labels."""
        return self._tally.any_from(labels)

    def capacity_at(self, labels: Mapping[str, str]) -> int | None:
        """Return the capacity for a node with these labels in bytes, or None.

        If several capacities match, upstream takes any of them; here the first by
        namespace and name counts.
        """
        return self._capacities.at(labels)

    def capacities(self, nodes: NodeTable, rows: Rows) -> Int64Array | None:
        """Return the same for many nodes, shape ``(N,)``; -1 without capacity.

        The result is None if the nodes must be checked one by one.
        """
        return self._capacities.rows(nodes, rows)

    def rows(self, nodes: NodeTable, rows: Rows) -> BoolArray:
        """Return for which nodes a volume can be provisioned, shape ``(N,)``."""
        reachable: BoolArray = self._tally.counts(nodes, rows) > 0
        return reachable

    def put(self, key: str, capacity: CSIStorageCapacity | None) -> None:
        """Replace one CSIStorageCapacity."""
        old = self._topologies.pop(key, None)
        if old is not None:
            self._tally.add(old, -1)
            self._capacities.drop(key, old)
        if capacity is None:
            return
        new = self._topology(capacity)
        if new is not None:
            self._topologies[key] = new
            self._tally.add(new)
            room = capacity.capacity
            # By key: upstream scores with the first object that suffices, in the order
            # of a lister. A fixed order makes the score repeatable.
            self._capacities.put(key, new, 0 if room is None else room.value)

    def _topology(self, capacity: CSIStorageCapacity) -> VolumeTopology | None:
        """Return the nodes for which a capacity allows the size, or None."""
        # The largest single volume decides if the driver reports it; the sum of free
        # space may be spread over disks.
        limit = capacity.maximum_volume_size
        if limit is None:
            limit = capacity.capacity
        topology = capacity.node_topology
        if limit is None or limit.value < self._size_bytes or topology is None:
            return None
        try:
            return VolumeTopology(compile_label_selector(topology))
        except SelectorError:
            return None


class Capacities:
    """Maintains all CSIStorageCapacity objects by class.

    Args:
        informers: The engine's copy of the cluster.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._revision = -1
        self._by_class: dict[str, dict[str, CSIStorageCapacity]] = {}
        self._class_of: dict[str, str] = {}
        self._rooms: dict[tuple[str, int], Room] = {}

    def room(self, storage_class: str, size_bytes: int) -> Room:
        """Return the nodes for which volumes of a class and size can be provisioned."""
        self._sync()
        key = storage_class, size_bytes
        room = self._rooms.pop(key, None)
        if room is None:
            room = Room(size_bytes)
            for name, capacity in self._by_class.get(storage_class, {}).items():
                room.put(name, capacity)
            if len(self._rooms) >= _MAX_ROOMS:
                del self._rooms[next(iter(self._rooms))]
        self._rooms[key] = room  # the last entry is the most recently used
        return room

    def _sync(self) -> None:
        # Not `on_change`: it costs 0.6 us more per change, even if no pod needs room.
        log = self._informers.changes(CSIStorageCapacity)
        if log.revision == self._revision:
            return
        keys = log.since(self._revision)
        if keys is None:
            listed = self._informers.list(CSIStorageCapacity)
            keys = {*self._class_of, *(capacity.key for capacity in listed)}
        for key in keys:
            self._refresh(key, self._informers.get(CSIStorageCapacity, key))
        self._revision = log.revision

    def _refresh(self, key: str, new: CSIStorageCapacity | None) -> None:
        old_class = self._class_of.pop(key, None)
        if old_class is not None:
            del self._by_class[old_class][key]
        if new is not None:
            self._class_of[key] = new.storage_class_name
            self._by_class.setdefault(new.storage_class_name, {})[key] = new
        for (name, _), room in self._rooms.items():
            if new is not None and name == new.storage_class_name:
                room.put(key, new)
            elif name == old_class:
                room.put(key, None)
