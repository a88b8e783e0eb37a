"""Devices with feature gates of Kubernetes 1.37 that are off by default.

The cases are those of ``TestAllocator`` (k8s.io/dynamic-resource-allocation v0.37,
``structured/internal/allocatortesting/allocator_testing.go``), whose names the ids
have, and some more from the rules.
"""

from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from quaymaster import Node
from quaymaster.config import Kubernetes
from quaymaster.devices import (
    AllocatedDevices,
    AllocationError,
    Allocator,
    Inventory,
)
from quaymaster.objects import (
    AllocationResult,
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    CapacityRequirements,
    Counter,
    CounterSet,
    Device,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceCapacity,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceRequestAllocationResult,
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

GROUPS = "DRADeviceCompatibilityGroups"
FRACTIONS = "DRAFractionalCapacityRange"
LISTS = "DRAListTypeAttributes"
OPERATIONS = "DRAOptionalNodeOperations"

NODE = make_node(name="n")


def results(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    gate: str = "",
    taken: Sequence[str] = (),
    node: Node = NODE,
    version: str = "1.37",
) -> Sequence[AllocationResult] | None:
    """Allocate the claims while a gate is on and some devices are taken."""
    kubernetes = Kubernetes(version, {gate: True} if gate else {})
    slices = list(slices)
    spec = slices[0].spec
    held = tuple(
        DeviceRequestAllocationResult(
            driver=spec.driver, pool=spec.pool.name, device=name
        )
        for name in taken
    )
    allocator = Allocator(
        Inventory(slices, kubernetes=kubernetes),
        AllocatedDevices(
            [AllocationResult(devices=DeviceAllocationResult(results=held))]
        ),
        lambda _name: make_device_class(),
        claims,
        make_share_id=lambda: "share",
        kubernetes=kubernetes,
    )
    return allocator.allocate(node)


def devices(found: Sequence[AllocationResult] | None) -> list[str] | None:
    if found is None:
        return None
    return [given.device for result in found for given in result.devices.results]


def claim_of(
    *requests: DeviceRequest,
    constraint: DeviceConstraint | None = None,
    name: str = "c",
) -> ResourceClaim:
    claim = make_resource_claim(name=name, requests=requests)
    if constraint is None:
        return claim
    spec = replace(claim.spec.devices, constraints=(constraint,))
    return replace(claim, spec=replace(claim.spec, devices=spec))


def request(name: str = "r", count: int = 1) -> DeviceRequest:
    return make_device_request(name=name, count=count)


def grouped(name: str, *groups: str, counter_set: str = "set") -> Device:
    """Return a device of some groups that takes one of two units of a counter."""
    consumption = DeviceCounterConsumption(
        counter_set=counter_set,
        counters={"units": Counter(value=Quantity(1))},
        compatibility_groups=groups,
    )
    return replace(make_device(name=name), consumes_counters=(consumption,))


def pool_of(*members: Device) -> list[ResourceSlice]:
    """Return a pool of two slices: the devices, and their shared counters."""
    units = {"units": Counter(value=Quantity(4))}
    sets = tuple(CounterSet(name=name, counters=units) for name in ("set", "other"))
    listed = make_resource_slice(name="a", devices=members)
    counting = make_resource_slice(name="b", devices=[])
    counting = replace(counting, spec=replace(counting.spec, shared_counters=sets))
    return [_of_two(listed), _of_two(counting)]


def _of_two(resource_slice: ResourceSlice) -> ResourceSlice:
    pool = replace(resource_slice.spec.pool, resource_slice_count=2)
    return replace(resource_slice, spec=replace(resource_slice.spec, pool=pool))


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        pytest.param(
            [grouped("a", "mig"), grouped("b", "mig")],
            ["a", "b"],
            id="compatibility-groups-compatible",
        ),
        pytest.param(
            [grouped("a", "mig"), grouped("b", "vgpu")],
            None,
            id="compatibility-groups-incompatible",
        ),
        pytest.param(
            [grouped("a", "mig"), grouped("b", "vgpu", counter_set="other")],
            ["a", "b"],
            id="compatibility-groups-multiple-counter-sets",
        ),
        pytest.param([grouped("a"), grouped("b")], ["a", "b"], id="none has groups"),
        pytest.param([grouped("a", "mig"), grouped("b")], None, id="one has none"),
        pytest.param(
            [grouped("a", "x", "y"), grouped("b", "z"), grouped("c", "y")],
            ["a", "c"],
            id="the search goes on behind a device that does not fit",
        ),
        pytest.param(
            [grouped("a", "x"), grouped("b", "y"), grouped("c", "y")],
            ["b", "c"],
            id="the first device is given up for two others",
        ),
    ],
)
def test_devices_of_one_counter_set_share_a_group(
    members: Sequence[Device], expected: list[str] | None
) -> None:
    claim = claim_of(request("r0"), request("r1"))
    assert devices(results(pool_of(*members), claim, gate=GROUPS)) == expected


def test_claims_share_a_group_as_requests_do() -> None:
    """Case compatibility-groups-multiple-claims."""
    slices = pool_of(grouped("a", "mig"), grouped("b", "mig"))
    claims = claim_of(request(), name="c0"), claim_of(request(), name="c1")
    assert devices(results(slices, *claims, gate=GROUPS)) == ["a", "b"]


@pytest.mark.parametrize(("group", "expected"), [("mig", ["b"]), ("vgpu", None)])
def test_devices_that_are_taken_count_for_groups(
    group: str, expected: list[str] | None
) -> None:
    """Cases compatibility-groups-(in)compatible-with-allocated-peer."""
    slices = pool_of(grouped("a", "mig"), grouped("b", group))
    found = results(slices, claim_of(request()), gate=GROUPS, taken=["a"])
    assert devices(found) == expected


def test_pools_with_groups_give_no_devices_while_their_gate_is_off() -> None:
    """``GatherPools`` leaves such slices out, so the pool is incomplete."""
    slices = pool_of(grouped("a", "mig"), make_device(name="b"))
    claim = claim_of(request())
    assert results(slices, claim) is None
    assert devices(results(slices, claim, gate=GROUPS)) == ["a"]
    assert devices(results(slices, claim, version="1.36")) == ["a"]


def ranged(least: str, most: str | None, step: str, default: str = "0") -> Device:
    """Return a shareable device whose bandwidth is allocated in steps."""
    limits = CapacityRequestPolicyRange(
        min=Quantity(least),
        max=None if most is None else Quantity(most),
        step=Quantity(step),
    )
    policy = CapacityRequestPolicy(default=Quantity(default), valid_range=limits)
    bandwidth = DeviceCapacity(value=Quantity("1E"), request_policy=policy)
    device = make_device(name="a")
    return replace(
        device, allow_multiple_allocations=True, capacity={"bandwidth": bandwidth}
    )


def consumed(device: Device, requested: str, gate: str) -> str | None:
    capacity = CapacityRequirements(requests={"bandwidth": Quantity(requested)})
    wanted = request()
    assert wanted.exactly is not None
    wanted = replace(wanted, exactly=replace(wanted.exactly, capacity=capacity))
    found = results(
        [make_resource_slice(devices=[device])], claim_of(wanted), gate=gate
    )
    if found is None:
        return None
    return str(found[0].devices.results[0].consumed_capacity["bandwidth"])


@pytest.mark.parametrize(
    ("device", "requested", "with_gate", "without"),
    [
        # consumable-capacity-fractional-range-gate-enabled-round-up
        pytest.param(ranged("200m", "1", "100m"), "250m", "300m", "1", id="rounded up"),
        pytest.param(ranged("200m", "1", "100m"), "300m", "300m", "1", id="a step"),
        pytest.param(ranged("500m", "2", "500m"), "1500m", "1500m", "2", id="one half"),
        pytest.param(ranged("500m", None, "500m"), "1600m", "2", "2", id="whole again"),
        pytest.param(ranged("1", "8", "2"), "4", "5", "5", id="whole numbers"),
        pytest.param(ranged("200m", "250m", "100m"), "220m", None, None, id="too much"),
        pytest.param(
            ranged("1u", "1", "100m"), "250m", "1", "1", id="finer than thousandths"
        ),
    ],
)
def test_ranges_are_counted_in_thousandths_while_the_gate_is_on(
    device: Device, requested: str, with_gate: str | None, without: str | None
) -> None:
    """``useMilli`` and ``roundUpRange`` of ``consumable_capacity.go``."""
    assert consumed(device, requested, FRACTIONS) == with_gate
    assert consumed(device, requested, "") == without


@pytest.mark.parametrize(
    ("requested", "problem"),
    [
        ("1500u", "request 1500u is not a representable milli value"),
        ("10P", "request 10P is not a representable milli value"),
    ],
)
def test_amount_that_is_not_a_number_of_thousandths_is_an_error(
    requested: str, problem: str
) -> None:
    with pytest.raises(AllocationError, match=problem):
        consumed(ranged("1m", None, "1m"), requested, FRACTIONS)


def listing(**attributes: DeviceAttribute) -> list[ResourceSlice]:
    """Return a slice whose devices have one attribute each."""
    members = [
        replace(make_device(name=name), attributes={"rail": value})
        for name, value in attributes.items()
    ]
    return [make_resource_slice(devices=members)]


def strings(*values: str) -> DeviceAttribute:
    return DeviceAttribute(string_values=values)


def text(value: str) -> DeviceAttribute:
    return DeviceAttribute(string_value=value)


def constrained(
    slices: Sequence[ResourceSlice], kind: str, gate: str = LISTS
) -> object:
    name = f"{slices[0].spec.driver}/rail"
    constraint = (
        DeviceConstraint(match_attribute=name)
        if kind == "match"
        else DeviceConstraint(distinct_attribute=name)
    )
    claim = claim_of(request(count=2), constraint=constraint)
    return devices(results(slices, claim, gate=gate))


@pytest.mark.parametrize(
    ("slices", "matching", "distinct"),
    [
        pytest.param(
            listing(a=strings("x", "y"), b=strings("y", "z")),
            ["a", "b"],
            None,
            id="list-of-string-values-with-common-elements",
        ),
        pytest.param(
            listing(a=strings("x"), b=strings("y", "z")),
            None,
            ["a", "b"],
            id="disjoint",
        ),
        pytest.param(
            listing(a=text("x"), b=strings("x", "z")), ["a", "b"], None, id="mixed"
        ),
        pytest.param(listing(a=text("x"), b=text("x")), ["a", "b"], None, id="scalar"),
        pytest.param(
            listing(a=DeviceAttribute(int_values=(1, 2)), b=strings("1", "2")),
            None,
            ["a", "b"],
            id="of two types",
        ),
        pytest.param(
            listing(a=DeviceAttribute(), b=DeviceAttribute()), None, None, id="empty"
        ),
        pytest.param(
            listing(a=strings("x"), b=strings("y"), c=strings("y")),
            ["b", "c"],
            ["a", "b"],
            id="backtrack-needs-intersection-restore",
        ),
    ],
)
def test_lists_match_by_a_common_value_and_are_distinct_without_one(
    slices: list[ResourceSlice],
    matching: list[str] | None,
    distinct: list[str] | None,
) -> None:
    assert constrained(slices, "match") == matching
    assert constrained(slices, "distinct") == distinct


def test_lists_have_nothing_in_common_with_anything_while_the_gate_is_off() -> None:
    slices = listing(a=strings("x"), b=strings("x"))
    assert constrained(slices, "match", gate="") is None
    assert constrained(slices, "distinct", gate="") is None


def skipping(*operations: str) -> list[ResourceSlice]:
    resource_slice = make_resource_slice(devices=[make_device(name="a")])
    spec = replace(resource_slice.spec, skip_node_operations=operations)
    return [replace(resource_slice, spec=spec)]


def test_operations_are_skipped_on_nodes_that_declare_it() -> None:
    """Case optional-node-operations-missing-feature."""
    able = replace(NODE, status=replace(NODE.status, declared_features=(OPERATIONS,)))
    claim = claim_of(request())
    assert results(skipping("*"), claim, gate=OPERATIONS) is None
    assert devices(results(skipping(), claim, gate=OPERATIONS)) == ["a"]
    found = results(skipping("*"), claim, gate=OPERATIONS, node=able)
    assert found is not None
    assert found[0].devices.results[0].skip_node_operations == ("*",)


def test_operations_are_ignored_while_the_gate_is_off() -> None:
    found = results(skipping("*"), claim_of(request()))
    assert found is not None
    assert found[0].devices.results[0].skip_node_operations == ()
