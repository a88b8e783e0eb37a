"""Shortages name each cause why a claim gets no devices on a node, and are true."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster.devices import (
    AllocatedDevices,
    Allocator,
    Inventory,
    ObstacleKind,
    Shortage,
)
from quaymaster.objects import (
    CapacityRequirements,
    Counter,
    CounterSet,
    Device,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
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

NODE = make_node(name="n")
MODEL = 'device.attributes["gpu.example.com"].model == "a"'
SAME_NUMA = DeviceConstraint(match_attribute="gpu.example.com/numa")


def make_allocator(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    taken: Mapping[str, ResourceClaim] | None = None,
) -> Allocator:
    allocations = [
        claim.status.allocation
        for claim in (taken or {}).values()
        if claim.status.allocation is not None
    ]
    return Allocator(
        Inventory(slices),
        AllocatedDevices(allocations),
        lambda _name: make_device_class(),
        claims,
    )


def shortages_of(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    taken: Mapping[str, ResourceClaim] | None = None,
) -> Sequence[Shortage]:
    return make_allocator(slices, *claims, taken=taken).why_not(NODE)


def texts_of(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    taken: Mapping[str, ResourceClaim] | None = None,
) -> list[str]:
    """Return the texts of the shortages without their common prefix."""
    return [
        str(shortage).removeprefix("claim default/claim, request ")
        for shortage in shortages_of(slices, *claims, taken=taken)
    ]


def wanting(
    *requests: DeviceRequest, constraints: Iterable[DeviceConstraint] = ()
) -> ResourceClaim:
    return make_resource_claim(name="claim", requests=requests, constraints=constraints)


def sliced(*devices: Device) -> list[ResourceSlice]:
    return [make_resource_slice(devices=devices)]


ONE_DEVICE = wanting(make_device_request(name="r"))
TWO_DEVICES = wanting(make_device_request(name="r", count=2))


def test_claims_that_can_be_served_have_no_shortage() -> None:
    assert texts_of([make_resource_slice(devices=2)], TWO_DEVICES) == []


def test_node_without_devices() -> None:
    slices = [make_resource_slice(node="other")]
    assert texts_of(slices, ONE_DEVICE) == ["r: wants 1, but the node has no devices"]


def test_devices_that_claims_have() -> None:
    have = make_resource_claim(devices=["gpu.example.com/shared/gpu-0"])
    slices = [make_resource_slice(devices=2)]
    assert texts_of(slices, TWO_DEVICES, taken={"default/other": have}) == [
        "r: wants 2, 1 of 2 devices would do: 1 allocated"
    ]


def test_devices_that_a_selector_leaves_out() -> None:
    slices = sliced(
        make_device(name="a", attributes={"model": "a"}),
        make_device(name="b", attributes={"model": "b"}),
        make_device(name="c"),
    )
    claim = wanting(make_device_request(name="r", selectors=[MODEL], count=2))
    assert texts_of(slices, claim) == [
        (
            "r: wants 2, 1 of 3 devices would do: "
            f"1 not matching selector #0 of claim default/claim ({MODEL}), "
            "1 without an answer to selector #0 of claim default/claim (CEL runtime "
            "error: no such key: model)"
        )
    ]


def test_devices_with_taints() -> None:
    broken = DeviceTaint(key="broken", effect="NoSchedule")
    slices = sliced(make_device(taints=[broken]))
    assert texts_of(slices, ONE_DEVICE) == [
        "r: wants 1, 0 of 1 device would do: 1 with taint broken:NoSchedule"
    ]


def test_devices_without_the_capacity() -> None:
    request = make_device_request(name="r")
    assert request.exactly is not None
    capacity = CapacityRequirements(requests={"memory": Quantity("8Gi")})
    request = replace(request, exactly=replace(request.exactly, capacity=capacity))
    slices = sliced(make_device(capacity={"memory": "4Gi"}))
    assert texts_of(slices, wanting(request)) == [
        'r: wants 1, 0 of 1 device would do: 1 with 4Gi of capacity "memory", not 8Gi'
    ]


def partitions(total: int, *sizes: int) -> list[ResourceSlice]:
    counters = make_resource_slice(name="counters", devices=0, slices=2)
    shared = CounterSet(name="all", counters={"gb": Counter(value=Quantity(total))})
    devices = [
        replace(
            make_device(name=f"part-{index}"),
            consumes_counters=(
                DeviceCounterConsumption(
                    counter_set="all", counters={"gb": Counter(value=Quantity(size))}
                ),
            ),
        )
        for index, size in enumerate(sizes)
    ]
    return [
        replace(counters, spec=replace(counters.spec, shared_counters=(shared,))),
        make_resource_slice(name="devices", devices=devices, slices=2),
    ]


def test_partitions_of_a_device_that_is_used_up() -> None:
    have = make_resource_claim(devices=["gpu.example.com/shared/part-0"])
    assert texts_of(partitions(2, 1, 2), ONE_DEVICE, taken={"default/x": have}) == [
        (
            "r: wants 1, 0 of 2 devices would do: 1 allocated, 1 with too "
            'little left of counter "gb" of "all"'
        )
    ]


def test_partitions_that_do_not_fit_together() -> None:
    assert texts_of(partitions(3, 2, 2), TWO_DEVICES) == [
        (
            "r: wants 2, 2 of 2 devices would do: they take more than there is of what "
            "they share"
        )
    ]


def test_constraint_that_no_combination_satisfies() -> None:
    slices = sliced(
        make_device(name="a", attributes={"numa": 0}),
        make_device(name="b", attributes={"numa": 1}),
    )
    claim = wanting(make_device_request(name="r", count=2), constraints=[SAME_NUMA])
    assert texts_of(slices, claim) == [
        (
            "r: wants 2, 2 of 2 devices would do: no combination satisfies constraint "
            "#0 (matchAttribute gpu.example.com/numa)"
        )
    ]


def test_devices_that_go_to_earlier_requests() -> None:
    requests = [make_device_request(name=name) for name in ("r", "s", "t")]
    assert texts_of([make_resource_slice(devices=2)], wanting(*requests)) == [
        "t: wants 1, 2 of 2 devices would do: others go to the requests before it"
    ]


def test_devices_that_go_to_earlier_claims() -> None:
    first = make_resource_claim(name="first", requests=[make_device_request(count=2)])
    assert texts_of([make_resource_slice(devices=2)], first, ONE_DEVICE) == [
        "r: wants 1, 2 of 2 devices would do: others go to the requests before it"
    ]


def test_each_alternative_is_listed() -> None:
    request = DeviceRequest(
        name="r",
        first_available=tuple(
            DeviceSubRequest(
                name=name,
                device_class_name="gpu",
                allocation_mode="ExactCount",
                count=count,
            )
            for name, count in (("many", 4), ("few", 2))
        ),
    )
    assert texts_of([make_resource_slice(devices=1)], wanting(request)) == [
        "r/many: wants 4, 1 of 1 device would do",
        "r/few: wants 2, 1 of 1 device would do",
    ]


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        (
            [make_resource_slice(devices=1, slices=2)],
            "1 pool being updated",
        ),
        (
            sliced(make_device(name="a"), make_device(name="a")),
            "1 pool invalid (duplicate device name a)",
        ),
    ],
)
def test_pools_that_give_nothing(slices: list[ResourceSlice], problem: str) -> None:
    assert texts_of(slices, ONE_DEVICE) == [
        f"r: wants 1, but the node has no devices: {problem}"
    ]


BROKEN = DeviceTaint(key="broken", effect="NoSchedule")


def test_all_obstacles_of_a_device_are_listed() -> None:
    taints = [BROKEN, DeviceTaint(key="slow", value="very", effect="NoExecute")]
    have = make_resource_claim(devices=["gpu.example.com/shared/a"])
    slices = sliced(make_device(name="a", taints=taints))
    claim = wanting(make_device_request(name="r"), constraints=[SAME_NUMA])
    assert texts_of(slices, claim, taken={"default/x": have}) == [
        (
            "r: wants 1, 0 of 1 device would do: 1 allocated and with taint "
            "broken:NoSchedule and with taint slow=very:NoExecute and without "
            "attribute gpu.example.com/numa, which a constraint compares"
        )
    ]


def test_taints_without_an_effect_are_not_listed() -> None:
    hint = DeviceTaint(key="hint", effect="None")
    tolerated = DeviceTaint(key="mine", effect="NoSchedule")
    slices = sliced(make_device(taints=[hint, tolerated, BROKEN]))
    toleration = DeviceToleration(key="mine", operator="Exists")
    request = make_device_request(name="r")
    assert request.exactly is not None
    exactly = replace(request.exactly, tolerations=(toleration,))
    claim = wanting(replace(request, exactly=exactly))
    assert texts_of(slices, claim) == [
        "r: wants 1, 0 of 1 device would do: 1 with taint broken:NoSchedule"
    ]


def test_request_for_all_devices_needs_each_one_that_matches() -> None:
    slices = sliced(
        make_device(name="a", attributes={"model": "a"}),
        make_device(name="b", attributes={"model": "a"}, taints=[BROKEN]),
        make_device(name="c", attributes={"model": "b"}),
    )
    claim = wanting(make_device_request(name="r", selectors=[MODEL], count=None))
    assert texts_of(slices, claim) == [
        (
            "r: wants all, 1 of 3 devices would do: 1 not matching selector #0 of "
            f"claim default/claim ({MODEL}), 1 with taint broken:NoSchedule"
        )
    ]


def test_all_requests_that_cannot_be_served_alone_are_listed() -> None:
    first = make_resource_claim(name="first", requests=[make_device_request(count=3)])
    slices = [make_resource_slice(devices=2)]
    assert [shortage.claim for shortage in shortages_of(slices, first, ONE_DEVICE)] == [
        "default/first"
    ]
    last = make_resource_claim(name="last", requests=[make_device_request(count=4)])
    assert [
        shortage.claim for shortage in shortages_of(slices, first, ONE_DEVICE, last)
    ] == [
        "default/first",
        "default/last",
    ]


def test_claim_that_wants_more_devices_than_a_claim_gets() -> None:
    requests = [make_device_request(name=name, count=20) for name in ("r", "s")]
    assert texts_of([make_resource_slice(devices=60)], wanting(*requests)) == [
        "s: wants 20, 60 of 60 devices would do: the claim wants more than 32 devices"
    ]


def test_devices_with_too_little_left_of_a_capacity() -> None:
    shared = replace(
        make_device(name="a", capacity={"memory": "16Gi"}),
        allow_multiple_allocations=True,
    )
    request = make_device_request(name="r")
    assert request.exactly is not None
    capacity = CapacityRequirements(requests={"memory": Quantity("10Gi")})
    request = replace(request, exactly=replace(request.exactly, capacity=capacity))
    claim = wanting(request)
    allocation = make_allocator(sliced(shared), claim).allocate(NODE)
    assert allocation is not None
    status = replace(claim.status, allocation=allocation[0])
    have = {"default/x": replace(claim, status=status)}
    assert texts_of(sliced(shared), claim, taken=have) == [
        (
            "r: wants 1, 0 of 1 device would do: "
            '1 with too little left of capacity "memory"'
        )
    ]


LIFTED: dict[ObstacleKind, dict[str, Any]] = {
    ObstacleKind.SELECTOR: {"attributes": {"model": "a"}},
    ObstacleKind.ATTRIBUTE: {"attributes": {"numa": 0}},
    ObstacleKind.CAPACITY: {"capacity": {"memory": "8Gi"}},
    ObstacleKind.TAINT: {"taints": ()},
}


@given(
    attributes=st.fixed_dictionaries(
        {"model": st.sampled_from("ab")}, optional={"numa": st.just("a")}
    ),
    taints=st.sets(st.sampled_from(["x", "y"])),
    memory=st.sampled_from(["4Gi", "8Gi"]),
    is_taken=st.booleans(),
)
def test_device_fits_once_all_listed_obstacles_are_removed(
    attributes: dict[str, str], taints: set[str], memory: str, is_taken: bool
) -> None:
    made: dict[str, Any] = {
        "attributes": attributes,
        "capacity": {"memory": memory},
        "taints": [
            DeviceTaint(key=taint, effect="NoSchedule") for taint in sorted(taints)
        ],
    }
    request = make_device_request(name="r", selectors=['"a" == "a"', MODEL])
    assert request.exactly is not None
    capacity = CapacityRequirements(requests={"memory": Quantity("8Gi")})
    request = replace(request, exactly=replace(request.exactly, capacity=capacity))
    claim = wanting(request, constraints=[SAME_NUMA])
    have = make_resource_claim(devices=["gpu.example.com/shared/gpu"])

    # Devices that are not selected are not checked further: so it takes two rounds.
    found: Sequence[Shortage] = ()
    for _ in range(3):
        slices = sliced(make_device(name="gpu", **made))
        taken = {"default/other": have} if is_taken else {}
        found = shortages_of(slices, claim, taken=taken)
        gets = make_allocator(slices, claim, taken=taken).allocate(NODE)
        assert bool(found) is (gets is None)
        if not found:
            return
        [[blocked]] = [shortage.blocked for shortage in found]
        for cause in blocked.causes:
            if cause.kind is ObstacleKind.ALLOCATED:
                is_taken = False
                continue
            for field, values in LIFTED[cause.kind].items():
                old = made[field]
                made[field] = old | values if isinstance(values, dict) else values
    raise AssertionError(f"something was not said: {found}")


DEVICES = st.lists(
    st.builds(
        lambda model, numa, taints: make_device(
            attributes={"model": model, "numa": numa}, taints=taints
        ),
        st.sampled_from("ab"),
        st.integers(0, 1),
        st.sampled_from([(), (), (BROKEN,)]),
    ),
    max_size=6,
).map(
    lambda found: [
        replace(device, name=f"gpu-{number}") for number, device in enumerate(found)
    ]
)


@given(
    devices=DEVICES,
    taken=st.sets(st.integers(0, 5)),
    count=st.integers(1, 6),
    model=st.booleans(),
    constrained=st.booleans(),
)
def test_shortages_are_true(
    devices: list[Device],
    taken: set[int],
    count: int,
    model: bool,
    constrained: bool,
) -> None:
    slices = [make_resource_slice(devices=devices)]
    have = make_resource_claim(
        devices=[
            f"gpu.example.com/shared/gpu-{number}"
            for number in sorted(taken)
            if number < len(devices)
        ]
    )
    held = {"default/other": have} if have.status.allocation is not None else {}

    def can_have(number: int, constraints: Iterable[DeviceConstraint]) -> bool:
        request = make_device_request(
            name="r", selectors=[MODEL] if model else (), count=number
        )
        claim = wanting(request, constraints=constraints)
        return make_allocator(slices, claim, taken=held).allocate(NODE) is not None

    constraints = [SAME_NUMA] if constrained else []
    request = make_device_request(
        name="r", selectors=[MODEL] if model else (), count=count
    )
    found = shortages_of(slices, wanting(request, constraints=constraints), taken=held)
    assert bool(found) is not can_have(count, constraints)
    assume(found)
    (shortage,) = found
    # The shortage counts the suitable devices; the others have the listed obstacles.
    assert shortage.fitting + sum(shortage.obstacles.values()) == len(devices)
    assert not shortage.fitting or can_have(shortage.fitting, ())
    assert not can_have(shortage.fitting + 1, ())
    # It is the constraint if, and only if, there are enough without it.
    assert ("constraint #0" in shortage.together) is can_have(count, ())
