"""Cached numbers of devices follow allocations, slices and nodes."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node
from quaymaster.devices import AllocatedDevices, DeviceTotals, Inventory
from quaymaster.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ResourceSlice,
)
from quaymaster.testing import (
    make_device,
    make_device_class,
    make_node,
    make_resource_slice,
)

DRIVER = "gpu.example.com"
MODELS = ("a", "b")
CLASSES = [
    make_device_class(selectors=[f'device.attributes["{DRIVER}"].model == "{model}"'])
    for model in MODELS
]
NODES = ("quay", "pier")
RACKS = ("r1", "r2")
POOLS = (*NODES, "shared")


@attrs.define
class Source:
    """The devices of a small cluster."""

    inventory: Inventory = attrs.field(factory=Inventory)
    allocated: AllocatedDevices = attrs.field(factory=AllocatedDevices)


def slice_of(pool: str, size: int) -> ResourceSlice:
    """Make a slice of a node, or one that the nodes of a rack reach."""
    devices = [
        make_device(name=f"gpu-{number}", attributes={"model": MODELS[number % 2]})
        for number in range(size)
    ]
    if pool in NODES:
        return make_resource_slice(name=pool, node=pool, devices=devices)
    in_rack = NodeSelectorRequirement(key="rack", operator="In", values=("r1",))
    nodes = NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_expressions=(in_rack,)),)
    )
    shared = make_resource_slice(name=pool, pool=pool, devices=devices)
    spec = replace(shared.spec, all_nodes=False, node_selector=nodes)
    return replace(shared, spec=spec)


def allocation(pool: str, number: int) -> AllocationResult:
    result = DeviceRequestAllocationResult(
        driver=DRIVER, pool=pool, device=f"gpu-{number}"
    )
    return AllocationResult(devices=DeviceAllocationResult(results=(result,)))


def node_in(name: str, rack: str) -> Node:
    return make_node(name=name, labels={"rack": rack})


CHANGES = st.one_of(
    st.tuples(st.just("allocate"), st.sampled_from(POOLS), st.integers(0, 3)),
    st.tuples(st.just("free"), st.sampled_from(POOLS), st.integers(0, 3)),
    st.tuples(st.just("publish"), st.sampled_from(POOLS), st.integers(0, 4)),
    st.tuples(st.just("withdraw"), st.sampled_from(POOLS), st.just(0)),
    st.tuples(st.just("move"), st.sampled_from(NODES), st.integers(0, 1)),
)


@given(changes=st.lists(CHANGES, max_size=12))
def test_numbers_are_those_of_a_fresh_count_after_each_change(
    changes: list[tuple[str, str, int]],
) -> None:
    source = Source(Inventory(slice_of(pool, 3) for pool in POOLS))
    nodes = {name: node_in(name, RACKS[0]) for name in NODES}
    totals = DeviceTotals()
    totals.follow(source)
    for action, place, number in changes:
        match action:
            case "allocate":
                source.allocated.add(allocation(place, number))
            case "free":
                source.allocated.remove(allocation(place, number))
            case "publish":
                source.inventory.add(slice_of(place, number))
            case "withdraw":
                source.inventory.remove(slice_of(place, 1))
            case "move":
                nodes[place] = node_in(place, RACKS[number])
        fresh = DeviceTotals()
        fresh.follow(source)
        for device_class in CLASSES:
            cached, counted = totals.counter(device_class), fresh.counter(device_class)
            for node in nodes.values():
                assert cached(node) == counted(node)


def test_numbers_follow_what_a_source_replaces() -> None:
    source = Source(Inventory([slice_of("quay", 4)]))
    totals = DeviceTotals()
    totals.follow(source)
    node = node_in("quay", "r1")
    source.allocated.add(allocation("quay", 0))
    assert totals.counter(CLASSES[0])(node) == (2, 1)
    source.allocated = AllocatedDevices([allocation("quay", 1)])
    assert totals.counter(CLASSES[0])(node) == (2, 0)
    source.inventory = Inventory([slice_of("quay", 1)])
    assert totals.counter(CLASSES[0])(node) == (1, 0)
