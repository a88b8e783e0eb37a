"""The pools of devices that a node sees.

Mirrors ``GatherPools`` (k8s.io/dynamic-resource-allocation v0.36,
``structured/internal/incubating/pools_incubating.go``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from quaymaster._api.objects import CounterSet, DeviceTaintRule, Node, ResourceSlice
from quaymaster._api.objects.owned_taints import as_read_by, taints_devices_of
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._kits.devices.ids import PoolId
from quaymaster._kits.devices.rules import DeviceRules
from quaymaster._kits.devices.sliced import SlicedDevice, SlicedDevices

__all__ = ["Inventory", "NodeDevices", "Pool"]


@attrs.frozen(eq=False)
class Pool:
    """The newest generation of a pool, as one node sees it.

    Attributes:
        id: Its name.
        devices: The devices that the node may get, in the order of the search.
        others: The devices of slices for other nodes, which consume the same counters.
        counter_sets: Name -> the counters that devices of the pool share.
        is_incomplete: Whether some of its slices are missing. Then it provides no
            devices, and requests for all devices fail.
        problem: How its slices contradict each other; empty if they do not. A pool with
            a problem is treated like an incomplete one.
    """

    id: PoolId
    devices: Sequence[SlicedDevice] = ()
    others: Sequence[SlicedDevice] = ()
    counter_sets: Mapping[str, CounterSet] = attrs.field(factory=dict)
    is_incomplete: bool = False
    problem: str = ""

    @property
    def binds_later(self) -> bool:
        """Whether any device has binding conditions, which delay the bind."""
        return any(item.device.binding_conditions for item in self.devices)


@attrs.frozen(eq=False)
class NodeDevices:
    """All pools that a node sees.

    Attributes:
        pools: The pools, in the order of the search.
        candidates: Their devices, except those of incomplete or contradictory pools.
    """

    pools: Sequence[Pool]
    candidates: Sequence[tuple[SlicedDevice, Pool]]


class Inventory:
    """The ResourceSlices of a cluster, and the pools that each node sees.

    The pools of a node are cached until one of their slices or the labels of the node
    change.

    Args:
        slices: The slices.
        rules: The rules that taint devices.
        kubernetes: The Kubernetes whose decisions are made. Since 1.37, slices whose
            devices name compatibility groups are left out while the feature gate
            DRADeviceCompatibilityGroups is off, so that their pools are incomplete.

    Attributes:
        revision: A number that grows whenever a slice is added, changed or removed.
    """

    def __init__(
        self,
        slices: Iterable[ResourceSlice] = (),
        rules: Iterable[DeviceTaintRule] = (),
        *,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    ) -> None:
        device_rules = DeviceRules.of(kubernetes)
        self._ignores_groups = device_rules.is_1_37 and not device_rules.minds_groups
        self._kubernetes = kubernetes
        self._rules = {rule.name: as_read_by(rule, kubernetes) for rule in rules}
        self._all: dict[str, SlicedDevices] = {}
        self._by_pool: dict[PoolId, dict[str, SlicedDevices]] = {}
        self._local: dict[str, dict[str, SlicedDevices]] = {}
        self._shared: dict[str, SlicedDevices] = {}
        self._seen: dict[str, tuple[Mapping[str, str], NodeDevices]] = {}
        self.revision = 0
        for resource_slice in slices:
            self.add(resource_slice)

    def add(self, resource_slice: ResourceSlice) -> None:
        """Add a slice; it replaces a slice of the same name."""
        self.remove(resource_slice)
        self.revision += 1
        name = resource_slice.name
        sliced = SlicedDevices(resource_slice, self._rules.values(), self._kubernetes)
        self._all[name] = sliced
        self._by_pool.setdefault(sliced.pool, {})[name] = sliced
        if not self._is_ignored(sliced):
            # Slices of a single node are kept by node. With one slice per node, a
            # search would otherwise look at the slices of all other nodes.
            self._home(sliced)[name] = sliced
        self._forget(sliced.pool)

    def remove(self, resource_slice: ResourceSlice) -> None:
        """Remove a slice, if it exists."""
        sliced = self._all.pop(resource_slice.name, None)
        if sliced is None:
            return
        self.revision += 1
        self._forget(sliced.pool)
        self._home(sliced).pop(resource_slice.name, None)
        of_pool = self._by_pool[sliced.pool]
        del of_pool[resource_slice.name]
        if not of_pool:
            del self._by_pool[sliced.pool]

    def add_rule(self, rule: DeviceTaintRule) -> Sequence[ResourceSlice]:
        """Add a rule that taints devices; it replaces a rule of the same name.

        Returns:
            The slices with devices that either of the two rules taints.
        """
        rule = as_read_by(rule, self._kubernetes)
        old = self._rules.get(rule.name)
        self._rules[rule.name] = rule
        return self._taint_anew([rule] if old is None else [old, rule])

    def remove_rule(self, rule: DeviceTaintRule) -> Sequence[ResourceSlice]:
        """Remove a rule and its taints, if it exists.

        Returns:
            The slices with devices that it tainted.
        """
        old = self._rules.pop(rule.name, None)
        return [] if old is None else self._taint_anew([old])

    def on(self, node: Node) -> NodeDevices:
        """Return the pools that a node sees; the same object until they change.

        Raises:
            AllocationError: A node selector of a slice cannot be read.
        """
        labels = node.metadata.labels
        devices = self._seen.get(node.name)
        # Labels decide which slices a node sees; heartbeats replace the object and
        # leave the labels as they are.
        if devices is None or devices[0] != labels:
            pools = _in_order(self._pools(node))
            candidates = [(device, pool) for pool in pools for device in pool.devices]
            devices = labels, NodeDevices(pools, candidates)
            self._seen[node.name] = devices
        return devices[1]

    def slices_near(self, node: Node) -> Iterator[SlicedDevices]:
        """Yield the slices that a node may reach, of every generation."""
        yield from self._local.get(node.name, {}).values()
        yield from self._shared.values()

    def _taint_anew(self, rules: Sequence[DeviceTaintRule]) -> Sequence[ResourceSlice]:
        concerned = [
            sliced.slice
            for sliced in self._all.values()
            if any(taints_devices_of(rule, sliced.slice) for rule in rules)
        ]
        for resource_slice in concerned:
            self.add(resource_slice)
        return concerned

    def _is_ignored(self, sliced: SlicedDevices) -> bool:
        return self._ignores_groups and sliced.has_groups

    def _home(self, sliced: SlicedDevices) -> dict[str, SlicedDevices]:
        if sliced.is_local:
            return self._local.setdefault(sliced.slice.spec.node_name or "", {})
        return self._shared

    def _forget(self, pool: PoolId) -> None:
        """Drop the cached pools of nodes: any slice may complete a pool."""
        slices = self._by_pool.get(pool, {}).values()
        # A local pool concerns its own node alone. Forgetting all nodes for each of a
        # thousand new slices would make the following decisions read all pools again.
        if all(sliced.is_local for sliced in slices):
            for sliced in slices:
                self._seen.pop(sliced.slice.spec.node_name or "", None)
        else:
            self._seen.clear()

    def _pools(self, node: Node) -> Iterator[Pool]:
        visible: dict[PoolId, list[SlicedDevices]] = {}
        local = self._local.get(node.name, {})
        for sliced in (*local.values(), *self._shared.values()):
            if not sliced.is_seen_by(node):
                continue
            of_pool = visible.setdefault(sliced.pool, [])
            # While a driver replaces a pool, slices of both generations exist. Devices
            # of the older one may be gone.
            if of_pool and _generation(sliced) > _generation(of_pool[0]):
                of_pool.clear()
            if not of_pool or _generation(sliced) == _generation(of_pool[0]):
                of_pool.append(sliced)
        for pool_id, slices in visible.items():
            count = slices[0].slice.spec.pool.resource_slice_count
            every = slices
            if len(slices) != count:
                # Some slices may just not concern this node. Only if slices are missing
                # in the whole cluster is the pool incomplete, and requests for all
                # devices fail (``checkSlicesInPool``).
                pool = self._every(pool_id, _generation(slices[0]))
                if pool is None:
                    continue
                every = pool
            if len(every) != count:
                yield Pool(pool_id, is_incomplete=True)
            else:
                yield _make_pool(pool_id, slices, every)

    def _every(self, pool: PoolId, generation: int) -> list[SlicedDevices] | None:
        """Return all slices of a generation; None if there is a newer generation."""
        slices = self._by_pool[pool].values()
        if any(_generation(sliced) > generation for sliced in slices):
            return None
        return [
            sliced
            for sliced in slices
            if _generation(sliced) == generation and not self._is_ignored(sliced)
        ]


def _generation(sliced: SlicedDevices) -> int:
    return sliced.slice.spec.pool.generation


def _in_order(pools: Iterable[Pool]) -> Sequence[Pool]:
    """Return pools by name; pools with binding conditions are last."""
    # First fit takes devices in this order, so that names of pools set priorities.
    # Devices with binding conditions are the last resort, since binding them takes
    # time.
    return sorted(pools, key=lambda pool: (pool.binds_later, _bytes_of(pool.id)))


def _bytes_of(pool: PoolId) -> tuple[bytes, bytes]:
    return pool.driver.encode(), pool.pool.encode()


def _make_pool(
    pool: PoolId, slices: Sequence[SlicedDevices], every: Sequence[SlicedDevices]
) -> Pool:
    by_name = sorted(slices, key=lambda sliced: sliced.slice.name.encode())
    devices = [
        device
        for sliced in by_name
        # A slice has either counters or devices.
        if not sliced.slice.spec.shared_counters
        for device in sliced.devices
    ]
    counter_sets: dict[str, CounterSet] = {}
    problem = _repeated_name(devices)
    for sliced in by_name:
        for counter_set in sliced.slice.spec.shared_counters:
            if counter_set.name in counter_sets:
                problem = problem or f"duplicate counter set name {counter_set.name}"
            counter_sets[counter_set.name] = counter_set
    seen = {sliced.slice.name for sliced in slices}
    others = [
        device
        for sliced in every
        if sliced.slice.name not in seen
        for device in sliced.devices
    ]
    listed = [device for sliced in by_name for device in sliced.devices]
    problem = problem or _unknown_counter([*listed, *others], counter_sets)
    if problem:
        return Pool(pool, problem=problem)
    return Pool(pool, devices, others, counter_sets)


def _repeated_name(devices: Iterable[SlicedDevice]) -> str:
    seen = set()
    for device in devices:
        if device.id in seen:
            return f"duplicate device name {device.id.device}"
        seen.add(device.id)
    return ""


def _unknown_counter(
    devices: Iterable[SlicedDevice], counter_sets: Mapping[str, CounterSet]
) -> str:
    for device in devices:
        for taken in device.device.consumes_counters:
            counter_set = counter_sets.get(taken.counter_set)
            if counter_set is None:
                return f"counter set {taken.counter_set} not found"
            for name in taken.counters:
                if name not in counter_set.counters:
                    return f"counter {name} not found in counter set {counter_set.name}"
    return ""
