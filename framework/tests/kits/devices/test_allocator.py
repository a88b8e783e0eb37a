"""Claims get the first devices of a node that fit together.

Cases follow upstream's ``structured/internal/allocatortesting/allocator_testing.go``
(k8s.io/dynamic-resource-allocation v0.36).
"""

import itertools
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node
from quaymaster.devices import (
    AllocatedDevices,
    AllocationError,
    Allocator,
    DeviceId,
    InvalidPoolsError,
    Inventory,
    StepLimitError,
)
from quaymaster.objects import (
    AllocationResult,
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    CapacityRequirements,
    Counter,
    CounterSet,
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Quantity,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster.testing import (
    make_device,
    make_device_class,
    make_device_request,
    make_node,
    make_resource_claim,
    make_resource_slice,
)

NODE = make_node(name="n", labels={"rack": "r1"})
GPU = make_device_class()
BROKEN = DeviceTaint(key="broken", effect="NoSchedule")


def make_allocator(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    taken: Iterable[AllocationResult] = (),
    classes: Iterable[DeviceClass] = (GPU,),
    max_steps: int = 10_000,
) -> Allocator:
    found = {device_class.name: device_class for device_class in classes}
    return Allocator(
        Inventory(slices),
        AllocatedDevices(taken),
        found.get,
        claims,
        max_steps=max_steps,
        make_share_id=lambda: "share",
    )


def allocated(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    taken: Iterable[AllocationResult] = (),
    node: Node = NODE,
) -> list[list[str]] | None:
    """Return the devices of each claim as ``request device``, or None."""
    results = make_allocator(slices, *claims, taken=taken).allocate(node)
    if results is None:
        return None
    return [
        [
            f"{device_result.request} {device_result.device}"
            for device_result in result.devices.results
        ]
        for result in results
    ]


def claim_for(
    *requests: DeviceRequest, constraints: Iterable[DeviceConstraint] = ()
) -> ResourceClaim:
    return make_resource_claim(requests=requests, constraints=constraints)


def allocation_of(*devices: str) -> AllocationResult:
    allocation = make_resource_claim(devices=devices).status.allocation
    assert allocation is not None
    return allocation


def choice_of(*alternatives: tuple[str, int]) -> DeviceRequest:
    """Return a request with alternatives: names with their numbers of devices."""
    return DeviceRequest(
        name="r",
        first_available=tuple(
            DeviceSubRequest(
                name=name,
                device_class_name="gpu",
                allocation_mode="ExactCount",
                count=count,
            )
            for name, count in alternatives
        ),
    )


def test_devices_are_taken_in_the_order_of_pools_and_slices() -> None:
    slices = [
        make_resource_slice(name="2", pool="b", devices=1),
        make_resource_slice(name="9", pool="a", devices=1, slices=2),
        make_resource_slice(
            name="10", pool="a", devices=[make_device(name="first")], slices=2
        ),
    ]
    request = make_device_request(name="r", count=3)
    assert allocated(slices, claim_for(request)) == [["r first", "r gpu-0", "r gpu-0"]]


def test_devices_that_claims_have_are_left_out() -> None:
    slices = [make_resource_slice(node="n", devices=3)]
    taken = [allocation_of("gpu.example.com/n/gpu-0")]
    two, three = (
        claim_for(make_device_request(name="r", count=count)) for count in (2, 3)
    )
    assert allocated(slices, two, taken=taken) == [["r gpu-1", "r gpu-2"]]
    assert allocated(slices, three, taken=taken) is None


def test_nodes_get_devices_of_their_own() -> None:
    slices = [make_resource_slice(node="other", devices=1)]
    assert allocated(slices, make_resource_claim()) is None


def test_selectors_of_class_and_request_must_match() -> None:
    devices = [
        make_device(name="a", attributes={"model": "x", "numa": 0}),
        make_device(name="b", attributes={"model": "y", "numa": 0}),
        make_device(name="c", attributes={"model": "x", "numa": 1}),
    ]
    attributes = 'device.attributes["gpu.example.com"]'
    of_model = make_device_class(selectors=[f'{attributes}.model == "x"'])
    request = make_device_request(name="r", selectors=[f"{attributes}.numa == 1"])
    allocator = make_allocator(
        [make_resource_slice(devices=devices)], claim_for(request), classes=[of_model]
    )
    (result,) = allocator.allocate(NODE) or ()
    assert [device_result.device for device_result in result.devices.results] == ["c"]


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("1 +", ": CEL compile error: compilation failed: ERROR: <input>:1:4: Syntax"),
        (
            "device.attributes['x'].y",
            " on device gpu.example.com/shared/gpu-0: CEL runtime error: no such key",
        ),
    ],
)
def test_selectors_without_a_result_fail_the_attempt(
    selector: str, message: str
) -> None:
    request = make_device_request(selectors=[selector])
    with pytest.raises(AllocationError) as caught:
        allocated([make_resource_slice()], claim_for(request))
    where = "claim default/claim: selector #0"
    assert str(caught.value).startswith(f"{where}{message}")


def test_a_selector_without_an_expression_names_its_request() -> None:
    claim = claim_for(make_device_request(name="gpus"))
    [request] = claim.spec.devices.requests
    assert request.exactly is not None
    exactly = replace(request.exactly, selectors=(DeviceSelector(),))
    devices = replace(claim.spec.devices, requests=(replace(request, exactly=exactly),))
    empty = replace(claim, spec=replace(claim.spec, devices=devices))
    with pytest.raises(AllocationError) as caught:
        allocated([make_resource_slice()], empty)
    assert str(caught.value) == (
        "claim default/claim, request gpus, selector #0: "
        "CEL expression empty (unsupported selector type?)"
    )


def test_search_goes_back_to_earlier_requests() -> None:
    devices = [make_device(name="a", attributes={"big": True}), make_device(name="b")]
    is_big = 'device.attributes["gpu.example.com"][?"big"].orValue(false)'
    claim = claim_for(
        make_device_request(name="any"),
        make_device_request(name="big", selectors=[is_big]),
    )
    assert allocated([make_resource_slice(devices=devices)], claim) == [
        ["any b", "big a"]
    ]


def test_first_available_alternative_is_taken() -> None:
    claim = claim_for(choice_of(("many", 4), ("few", 2)))
    slices = [make_resource_slice(devices=3)]
    assert allocated(slices, claim) == [["r/few gpu-0", "r/few gpu-1"]]


def test_alternative_that_exceeds_the_limit_is_skipped() -> None:
    claim = claim_for(choice_of(("many", 33), ("few", 1)))
    assert allocated([make_resource_slice(devices=40)], claim) == [["r/few gpu-0"]]


def test_claims_for_too_many_devices_fail_the_attempt() -> None:
    claim = claim_for(make_device_request(count=33))
    with pytest.raises(AllocationError, match="adding 33 devices exceeds"):
        allocated([make_resource_slice(devices=40)], claim)


def test_all_devices_are_all_or_nothing() -> None:
    slices = [make_resource_slice(devices=2)]
    claim = claim_for(make_device_request(name="r", count=None))
    assert allocated(slices, claim) == [["r gpu-0", "r gpu-1"]]
    taken = [allocation_of("gpu.example.com/shared/gpu-1")]
    assert allocated(slices, claim, taken=taken) is None
    assert allocated([], claim) is None


def test_all_devices_of_a_pool_that_grows_fail_the_attempt() -> None:
    claim = claim_for(make_device_request(count=None))
    with pytest.raises(AllocationError, match="is currently being updated"):
        allocated([make_resource_slice(slices=2)], claim)


def test_incomplete_and_older_pools_give_no_devices() -> None:
    old = make_resource_slice(name="old", devices=1, generation=1)
    new = make_resource_slice(name="new", devices=1, generation=2, slices=2)
    assert allocated([old, new], make_resource_claim()) is None
    complete = make_resource_slice(
        name="more", devices=[make_device(name="x")], generation=2, slices=2
    )
    assert allocated([old, new, complete], make_resource_claim()) == [["devices x"]]


def test_pools_that_contradict_themselves_are_an_error() -> None:
    twice = [make_device(name="a"), make_device(name="a")]
    with pytest.raises(InvalidPoolsError):
        allocated([make_resource_slice(devices=twice)], make_resource_claim())


def test_admin_access_takes_devices_that_are_in_use() -> None:
    slices = [make_resource_slice(devices=1)]
    taken = [allocation_of("gpu.example.com/shared/gpu-0")]
    request = make_device_request(name="r", admin_access=True)
    assert allocated(slices, claim_for(request), taken=taken) == [["r gpu-0"]]
    both = [claim_for(request), claim_for(request)]
    assert allocated(slices, *both) == [["r gpu-0"], ["r gpu-0"]]
    again = make_device_request(name="again", admin_access=True)
    assert allocated(slices, claim_for(request, again)) is None


def test_tainted_devices_are_for_those_that_tolerate_it() -> None:
    slices = [make_resource_slice(devices=[make_device(taints=[BROKEN])])]
    assert allocated(slices, make_resource_claim()) is None
    request = make_device_request()
    assert request.exactly is not None
    toleration = DeviceToleration(key="broken", operator="Exists")
    tolerant = replace(
        request, exactly=replace(request.exactly, tolerations=(toleration,))
    )
    assert allocated(slices, claim_for(tolerant)) == [["devices gpu-0"]]


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (
            DeviceConstraint(match_attribute="gpu.example.com/numa"),
            [["r a", "r c"]],
        ),
        (
            DeviceConstraint(match_attribute="gpu.example.com/numa", requests=("x",)),
            [["r a", "r b"]],
        ),
        (DeviceConstraint(match_attribute="other.example.com/numa"), None),
    ],
)
def test_devices_share_an_attribute(
    constraint: DeviceConstraint, expected: object
) -> None:
    devices = [
        make_device(name=name, attributes={"numa": numa})
        for name, numa in (("a", 0), ("b", 1), ("c", 0))
    ]
    claim = claim_for(make_device_request(name="r", count=2), constraints=[constraint])
    assert allocated([make_resource_slice(devices=devices)], claim) == expected


def test_requests_differ_in_an_attribute() -> None:
    devices = [
        make_device(name=name, attributes={"numa": numa})
        for name, numa in (("a", 0), ("b", 0), ("c", 1))
    ]
    constraint = DeviceConstraint(distinct_attribute="gpu.example.com/numa")
    requests = [make_device_request(name=name) for name in ("r", "s")]
    claim = claim_for(*requests, constraints=[constraint])
    assert allocated([make_resource_slice(devices=devices)], claim) == [["r a", "s c"]]


def partitions(count: int) -> list[ResourceSlice]:
    """Return a pool with a counter of 3, and devices that take 2 or 1 of it."""
    counters = make_resource_slice(name="counters", devices=0, slices=2)
    shared = CounterSet(name="memory", counters={"gb": Counter(value=Quantity(3))})
    devices = [
        replace(
            make_device(name=f"part-{index}"),
            consumes_counters=(
                DeviceCounterConsumption(
                    counter_set="memory",
                    counters={"gb": Counter(value=Quantity(2 if index == 0 else 1))},
                ),
            ),
        )
        for index in range(count)
    ]
    return [
        replace(counters, spec=replace(counters.spec, shared_counters=(shared,))),
        make_resource_slice(name="devices", devices=devices, slices=2),
    ]


def test_partitions_consume_their_shared_counters() -> None:
    slices = partitions(4)
    claim = claim_for(make_device_request(name="r", count=3))
    assert allocated(slices, claim) == [["r part-1", "r part-2", "r part-3"]]
    taken = [allocation_of("gpu.example.com/shared/part-0")]
    assert allocated(slices, claim, taken=taken) is None
    assert allocated(slices, make_resource_claim(), taken=taken) == [["devices part-1"]]


def shareable(policy: CapacityRequestPolicy | None = None) -> ResourceSlice:
    device = make_device(capacity={"memory": "8Gi"})
    capacity = replace(device.capacity["memory"], request_policy=policy)
    shared = replace(
        device, allow_multiple_allocations=True, capacity={"memory": capacity}
    )
    return make_resource_slice(devices=[shared])


def request_for(memory: str) -> DeviceRequest:
    request = make_device_request(name=f"r-{memory.lower()}")
    assert request.exactly is not None
    capacity = CapacityRequirements(requests={"memory": Quantity(memory)})
    return replace(request, exactly=replace(request.exactly, capacity=capacity))


def test_requests_share_a_device_until_its_capacity_is_used_up() -> None:
    claim = claim_for(request_for("6Gi"), request_for("2Gi"))
    allocator = make_allocator([shareable()], claim)
    (result,) = allocator.allocate(NODE) or ()
    six, two = result.devices.results
    assert (six.share_id, two.share_id) == ("share", "share")
    assert six.consumed_capacity == {"memory": Quantity("6Gi")}
    assert (
        allocated([shareable()], claim_for(request_for("2Gi")), taken=[result]) is None
    )


def test_capacity_is_rounded_up_by_the_device() -> None:
    steps = CapacityRequestPolicyRange(min=Quantity("1Gi"), step=Quantity("2Gi"))
    policy = CapacityRequestPolicy(default=Quantity("1Gi"), valid_range=steps)
    claim = claim_for(request_for("4Gi"))
    (result,) = make_allocator([shareable(policy)], claim).allocate(NODE) or ()
    assert str(result.devices.results[0].consumed_capacity["memory"]) == "5Gi"
    values = CapacityRequestPolicy(valid_values=(Quantity("1Gi"), Quantity("2Gi")))
    assert allocated([shareable(values)], claim) is None


def test_nodes_of_the_result_are_those_that_reach_all_devices() -> None:
    here = make_resource_slice(node="n", devices=1)
    rack = NodeSelectorRequirement(key="rack", operator="In", values=("r1",))
    selector = NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_expressions=(rack,)),)
    )
    near = make_resource_slice(driver="nic.example.com", pool="rack")
    near = replace(
        near, spec=replace(near.spec, all_nodes=None, node_selector=selector)
    )
    for slices, expected in (([here], "metadata.name"), ([near], "rack")):
        (result,) = make_allocator(slices, make_resource_claim()).allocate(NODE) or ()
        assert result.node_selector is not None
        (term,) = result.node_selector.node_selector_terms
        (found,) = (*term.match_fields, *term.match_expressions)
        assert found.key == expected
    (anywhere,) = (
        make_allocator([make_resource_slice()], make_resource_claim()).allocate(NODE)
        or ()
    )
    assert anywhere.node_selector is None


def test_search_ends_after_so_many_steps() -> None:
    devices = [make_device(name=f"d{i}", attributes={"n": i}) for i in range(30)]
    constraint = DeviceConstraint(match_attribute="gpu.example.com/none")
    claim = claim_for(make_device_request(count=2), constraints=[constraint])
    slices = [make_resource_slice(devices=devices)]
    assert make_allocator(slices, claim).allocate(NODE) is None
    with pytest.raises(StepLimitError):
        make_allocator(slices, claim, max_steps=20).allocate(NODE)


def test_inventory_follows_slices() -> None:
    inventory = Inventory()
    first = make_resource_slice(node="n", devices=1)
    more = make_resource_slice(node="n", devices=2)
    seen = [inventory.on(NODE).candidates]
    inventory.add(first)
    seen.append(inventory.on(NODE).candidates)
    inventory.add(more)
    seen.append(inventory.on(NODE).candidates)
    inventory.remove(more)
    seen.append(inventory.on(NODE).candidates)
    assert list(map(len, seen)) == [0, 1, 2, 0]


def test_devices_are_free_again_when_their_allocation_goes() -> None:
    state = AllocatedDevices()
    allocation = allocation_of("gpu.example.com/n/gpu-0")
    state.add(allocation)
    assert DeviceId("gpu.example.com", "n", "gpu-0") in state
    state.remove(allocation)
    assert DeviceId("gpu.example.com", "n", "gpu-0") not in state


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Device], list[tuple[int, int]], bool]:
    """Draw devices, requests for kinds, and whether all sides must be equal."""
    kinds = draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    devices = [
        make_device(name=f"d{index}", attributes={"kind": kind, "side": index % 2})
        for index, kind in enumerate(kinds)
    ]
    request = st.tuples(st.integers(0, 2), st.integers(1, 2))
    return devices, draw(st.lists(request, min_size=1, max_size=3)), draw(st.booleans())


def first_fit(
    devices: Sequence[Device], requests: Sequence[tuple[int, int]], alike: bool
) -> list[str] | None:
    """Return the first combination in lexicographic order, by trying all."""
    numbers = range(len(devices))
    for combination in itertools.product(
        *(itertools.combinations(numbers, count) for _, count in requests)
    ):
        chosen = [number for indexes in combination for number in indexes]
        fits = all(
            devices[number].attributes["kind"].int_value >= kind  # type: ignore[operator]  # always set
            for (kind, _), indexes in zip(requests, combination, strict=True)
            for number in indexes
        )
        sides = {devices[number].attributes["side"] for number in chosen}
        if fits and len(set(chosen)) == len(chosen) and (not alike or len(sides) == 1):
            return [devices[number].name for number in chosen]
    return None


@given(problems())
def test_search_finds_the_first_combination(
    problem: tuple[list[Device], list[tuple[int, int]], bool],
) -> None:
    devices, wanted, alike = problem
    requests = [
        make_device_request(
            name=f"r{index}",
            count=count,
            selectors=[f'device.attributes["gpu.example.com"].kind >= {kind}'],
        )
        for index, (kind, count) in enumerate(wanted)
    ]
    same_side = DeviceConstraint(match_attribute="gpu.example.com/side")
    claim = claim_for(*requests, constraints=[same_side] if alike else [])
    found = allocated([make_resource_slice(devices=devices)], claim)
    expected = first_fit(devices, wanted, alike)
    names = None if found is None else [text.split()[1] for text in found[0]]
    assert names == expected
