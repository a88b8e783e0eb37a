"""The search for devices decides differently since Kubernetes 1.37.

From upstream's sources alone: no recorded case is about these.
"""

from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

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
    DeviceAttribute,
    DeviceClaimConfiguration,
    DeviceClass,
    DeviceClassConfiguration,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceTaint,
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
BROKEN = DeviceTaint(key="broken", effect="NoSchedule")
BOTH = pytest.mark.parametrize("version", ["1.36", "1.37"])


def results(
    version: str,
    slices: Iterable[ResourceSlice],
    claim: ResourceClaim,
    *,
    taken: Iterable[AllocationResult] = (),
    device_class: DeviceClass | None = None,
) -> AllocationResult | None:
    allocator = Allocator(
        Inventory(slices, kubernetes=Kubernetes(version)),
        AllocatedDevices(taken),
        lambda _name: device_class or make_device_class(),
        [claim],
        make_share_id=lambda: "share",
        kubernetes=Kubernetes(version),
    )
    found = allocator.allocate(NODE)
    return found[0] if found else None


def devices(found: AllocationResult | None) -> list[str] | None:
    return [result.device for result in found.devices.results] if found else None


def counting(device: Device, gigabytes: int) -> Device:
    """Return the device with a consumption of the counter ``gb`` of its pool."""
    consumption = DeviceCounterConsumption(
        counter_set="memory", counters={"gb": Counter(value=Quantity(gigabytes))}
    )
    return replace(device, consumes_counters=(consumption,))


def pool_of(
    gigabytes: int, *parts: Device, driver: str = "gpu.example.com"
) -> Sequence[ResourceSlice]:
    """Return a pool with a counter that its devices consume."""
    counters = make_resource_slice(
        name=f"{driver}-counters", driver=driver, devices=0, slices=2
    )
    shared = CounterSet(
        name="memory", counters={"gb": Counter(value=Quantity(gigabytes))}
    )
    return [
        replace(counters, spec=replace(counters.spec, shared_counters=(shared,))),
        make_resource_slice(
            name=f"{driver}-devices", driver=driver, devices=parts, slices=2
        ),
    ]


@pytest.mark.parametrize(("version", "found"), [("1.36", None), ("1.37", ["good"])])
def test_a_tainted_device_releases_its_counters(
    version: str, found: list[str] | None
) -> None:
    slices = pool_of(
        1,
        counting(make_device(name="bad", taints=[BROKEN]), 1),
        counting(make_device(name="good"), 1),
    )
    assert devices(results(version, slices, make_resource_claim())) == found


@pytest.mark.parametrize(("version", "found"), [("1.36", None), ("1.37", ["1", "1"])])
def test_pools_of_one_name_and_two_drivers_have_counters_of_their_own(
    version: str, found: list[str] | None
) -> None:
    slices = [
        *pool_of(1, counting(make_device(name="1"), 1)),
        *pool_of(1, counting(make_device(name="1"), 1), driver="nic.example.com"),
    ]
    claim = make_resource_claim(requests=[make_device_request(count=2)])
    assert devices(results(version, slices, claim)) == found


@pytest.mark.parametrize(
    ("version", "found"), [("1.36", ["a", "b"]), ("1.37", ["a", "c"])]
)
def test_distinct_devices_are_distinct_from_each_other(
    version: str, found: list[str]
) -> None:
    """Before, one device of a request hid the others of the same request."""
    parts = [
        make_device(name=name, attributes={"numa": numa})
        for name, numa in (("a", 0), ("x", 1), ("b", 0), ("c", 2))
    ]
    constraint = DeviceConstraint(distinct_attribute="gpu.example.com/numa")
    claim = make_resource_claim(
        requests=[
            make_device_request(name="two", count=2),
            make_device_request(name="one"),
        ],
        constraints=[constraint],
    )
    chosen = devices(results(version, [make_resource_slice(devices=parts)], claim))
    assert chosen is not None
    assert [chosen[0], chosen[2]] == found


def shared_device(name: str, memory: str) -> Device:
    device = make_device(name=name, capacity={"memory": memory})
    return replace(device, allow_multiple_allocations=True)


def asking(memory: str, *, count: int | None = 1, name: str = "r") -> DeviceRequest:
    request = make_device_request(name=name, count=count)
    assert request.exactly is not None
    capacity = CapacityRequirements(requests={"memory": Quantity(memory)})
    return replace(request, exactly=replace(request.exactly, capacity=capacity))


@pytest.mark.parametrize(("version", "found"), [("1.36", ["b"]), ("1.37", None)])
def test_all_devices_are_also_those_whose_capacity_is_taken(
    version: str, found: list[str] | None
) -> None:
    parts = [shared_device("a", "4Gi"), shared_device("b", "4Gi")]
    slices = [make_resource_slice(devices=parts)]
    first = results(version, slices, make_resource_claim(requests=[asking("4Gi")]))
    assert first is not None
    claim = make_resource_claim(requests=[asking("1Gi", count=None)])
    assert devices(results(version, slices, claim, taken=[first])) == found


@BOTH
def test_all_devices_are_not_those_that_could_never_serve(version: str) -> None:
    parts = [shared_device("small", "1Gi"), shared_device("large", "4Gi")]
    claim = make_resource_claim(requests=[asking("2Gi", count=None)])
    slices = [make_resource_slice(devices=parts)]
    assert devices(results(version, slices, claim)) == ["large"]


@pytest.mark.parametrize(
    ("version", "found"), [("1.36", ["1", "1"]), ("1.37", ["1", "1"])]
)
def test_counters_of_a_shared_device_are_paid_once(
    version: str, found: list[str]
) -> None:
    slices = pool_of(1, counting(shared_device("1", "4Gi"), 1))
    claim = make_resource_claim(requests=[asking("1Gi"), asking("1Gi", name="s")])
    assert devices(results(version, slices, claim)) == found


@pytest.mark.parametrize(
    ("version", "found"), [("1.36", None), ("1.37", ["own", "whole"])]
)
def test_a_shared_device_that_is_given_up_releases_its_counters(
    version: str, found: list[str] | None
) -> None:
    """The first request takes a share; then nothing is left for the second one."""
    slices = pool_of(
        1,
        counting(shared_device("shared", "1Gi"), 1),
        shared_device("own", "1Gi"),
        counting(make_device(name="whole"), 1),
    )
    second = make_device_request(
        name="s", selectors=["!device.allowMultipleAllocations"]
    )
    claim = make_resource_claim(requests=[asking("1Gi"), second])
    assert devices(results(version, slices, claim)) == found


UNREPRESENTABLE = (
    "capacity request cannot be represented in the device's range arithmetic"
)
ROUNDED_TOO_FAR = f"rounding request {2**63 - 1} up to the next step passes MaxInt64"
ADDING_TOO_MANY = (
    ", request many: adding 37 devices exceeds the claim limit of 32, with 3 already "
    "accounted for"
)


@pytest.mark.parametrize(
    ("memory", "least", "problem"),
    [
        (
            str(2**63 - 1),
            "0",
            f"{UNREPRESENTABLE}: {ROUNDED_TOO_FAR}",
        ),
        ("10E", "0", f"{UNREPRESENTABLE}: request 10E exceeds MaxInt64"),
        ("-2", "-4", "capacity value is negative"),
    ],
)
def test_amounts_that_no_device_can_give_fail_the_attempt(
    memory: str, least: str, problem: str
) -> None:
    limits = CapacityRequestPolicyRange(min=Quantity(least), step=Quantity(2))
    policy = CapacityRequestPolicy(default=Quantity(1), valid_range=limits)
    device = shared_device("a", "4Gi")
    capacity = replace(device.capacity["memory"], request_policy=policy)
    slices = [
        make_resource_slice(devices=[replace(device, capacity={"memory": capacity})])
    ]
    for count, name in ((1, "gpu.example.com/shared/a"), (None, "a")):
        claim = make_resource_claim(requests=[asking(memory, count=count)])
        with pytest.raises(AllocationError) as caught:
            results("1.37", slices, claim)
        assert str(caught.value) == (
            "claim default/claim, request r: checking capacity for device "
            f'{name}: capacity "memory": {problem}'
        )


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("1.36", ": number of requested devices 40 exceeds the claim limit of 32"),
        (
            "1.37",
            ADDING_TOO_MANY,
        ),
    ],
)
def test_error_for_too_many_devices_names_the_request(
    version: str, problem: str
) -> None:
    requests = [
        make_device_request(name="some", count=3),
        make_device_request(name="many", count=37),
    ]
    claim = make_resource_claim(requests=requests)
    with pytest.raises(AllocationError) as caught:
        results(version, [make_resource_slice(devices=40)], claim)
    assert str(caught.value) == f"claim default/claim{problem}"


@pytest.mark.parametrize(("version", "found"), [("1.36", None), ("1.37", ["1"])])
def test_a_share_without_amounts_has_paid_for_the_counters_too(
    version: str, found: list[str] | None
) -> None:
    shared = replace(make_device(name="1"), allow_multiple_allocations=True)
    slices = pool_of(1, counting(shared, 1))
    first = results(version, slices, make_resource_claim())
    assert first is not None
    again = results(version, slices, make_resource_claim(), taken=[first])
    assert devices(again) == found


MISSING = "CEL runtime error: no such key: model"
HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the "
    "check with has() for optional fields"
)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.36", f": {MISSING}"),
        ("1.37", f" on device gpu.example.com/shared/gpu-0: {MISSING}{HINT}"),
    ],
)
def test_errors_of_selectors_name_the_device(version: str, text: str) -> None:
    broken = make_device_class(
        selectors=['device.attributes["gpu.example.com"].model == "a100"']
    )
    with pytest.raises(AllocationError) as caught:
        results(
            version, [make_resource_slice()], make_resource_claim(), device_class=broken
        )
    assert str(caught.value) == f"class gpu: selector #0{text}"


@pytest.mark.parametrize(
    ("version", "found"),
    [
        (
            "1.36",
            [
                ("FromClass", ("r", "s")),
                *[("FromClaim", ("r", "s"))] * 2,
                ("FromClaim", ("s",)),
            ],
        ),
        (
            "1.37",
            [("FromClass", ()), ("FromClaim", ()), ("FromClaim", ("s",))],
        ),
    ],
)
def test_configurations_for_all_requests_have_an_empty_list(
    version: str, found: list[tuple[str, tuple[str, ...]]]
) -> None:
    requests = [make_device_request(name=name) for name in ("r", "s")]
    claim = make_resource_claim(requests=requests)
    configs = tuple(
        DeviceClaimConfiguration(requests=names) for names in (("r", "s"), ("s",))
    )
    wanted = replace(claim.spec.devices, config=configs)
    claim = replace(claim, spec=replace(claim.spec, devices=wanted))
    gpu = make_device_class()
    gpu = replace(gpu, spec=replace(gpu.spec, config=(DeviceClassConfiguration(),)))
    written = results(
        version, [make_resource_slice(devices=2)], claim, device_class=gpu
    )
    assert written is not None
    assert [
        (config.source, config.requests) for config in written.devices.config
    ] == found


def fish() -> ResourceSlice:
    attributes = {"names": DeviceAttribute(string_values=("fish", "bird"))}
    device = replace(make_device(name="a"), attributes=attributes)
    return make_resource_slice(node="n", devices=[device])


def test_selectors_read_lists_since_1_37() -> None:
    driver = fish().spec.driver
    selector = f'"fish" in device.attributes["{driver}"].names'
    request = make_device_request(selectors=[selector])
    claim = make_resource_claim(requests=[request])
    assert devices(results("1.37", [fish()], claim)) == ["a"]
    with pytest.raises(AllocationError, match="attribute names: unsupported"):
        results("1.36", [fish()], claim)


@BOTH
def test_constraints_do_not_read_lists(version: str) -> None:
    name = f"{fish().spec.driver}/names"
    constraint = DeviceConstraint(match_attribute=name)
    claim = make_resource_claim(
        requests=[make_device_request(count=2)], constraints=[constraint]
    )
    [first] = fish().spec.devices
    both = replace(fish().spec, devices=(first, replace(first, name="b")))
    assert results(version, [replace(fish(), spec=both)], claim) is None
