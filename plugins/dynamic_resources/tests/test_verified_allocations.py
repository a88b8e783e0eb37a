"""With ``verify``, allocations are searched again from the claims."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.devices import DeviceId
from quaymaster.errors import VerificationError
from quaymaster.objects import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    PodResourceClaim,
    ResourceClaim,
)
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import (
    SchedulerHarness,
    make_device,
    make_device_class,
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_claim_template,
    make_resource_slice,
)
from quaymaster_dynamic_resources.binding import ClaimBinder
from quaymaster_dynamic_resources.state import ClaimsState
from quaymaster_dynamic_resources.tracker import ClaimTracker

Change: TypeAlias = Callable[[AllocationResult], AllocationResult]


def taking(name: str, template: str = "template") -> Pod:
    named = PodResourceClaim(name="devices", resource_claim_template_name=template)
    pod = make_pod(name=name)
    return replace(pod, spec=replace(pod.spec, resource_claims=(named,)))


def harness_of(*objects: ApiObject, verify: int = 1) -> SchedulerHarness:
    return SchedulerHarness(
        [
            make_device_class(extended_resource_name="example.com/gpu"),
            make_resource_claim_template(),
            make_node(name="a"),
            make_resource_slice(node="a", devices=2),
            *objects,
        ],
        options=SchedulerOptions(verify=verify),
    )


def shared_device() -> Device:
    device = make_device(name="nic", capacity={"bandwidth": 10})
    return replace(device, allow_multiple_allocations=True)


def others(verify: int) -> SchedulerHarness:
    """Claims, extended resources, shared devices, and more pods than devices."""
    shares = make_resource_claim_template(
        name="share", requests=[make_device_request(device_class="nic")]
    )
    return harness_of(
        make_device_class(name="nic", selectors=["device.driver == 'nic.example.com'"]),
        make_resource_slice(
            driver="nic.example.com", node="a", devices=[shared_device()]
        ),
        shares,
        make_node(name="b"),
        make_resource_slice(node="b", devices=2),
        make_resource_claim(name="old", devices=["gpu.example.com/a/gpu-0"]),
        *(taking(f"pod-{at}") for at in range(3)),
        *(taking(f"share-{at}", "share") for at in range(2)),
        make_pod(name="extended", requests={"example.com/gpu": 1}),
        verify=verify,
    )


def test_right_allocations_are_verified_and_the_same_as_without() -> None:
    plain, verified = others(0), others(1)
    for harness in (plain, verified):
        harness.settle()
    found = [
        [
            (claim.name, claim.status)
            for claim in harness.cluster.list(ResourceClaim).items
        ]
        for harness in (plain, verified)
    ]
    assert found[0] == found[1]
    assert sum(status.allocation is not None for _, status in found[0]) == 5


def another(allocation: AllocationResult) -> AllocationResult:
    results = (replace(allocation.devices.results[0], device="gpu-1"),)
    return replace(allocation, devices=DeviceAllocationResult(results=results))


def elsewhere(allocation: AllocationResult) -> AllocationResult:
    return replace(allocation, node_selector=None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            another,
            "gpu.example.com/a/gpu-1 on node a, expected gpu.*/a/gpu-0",
        ),
        (elsewhere, "gpu.example.com/a/gpu-0 on node a, but for other nodes"),
    ],
)
def test_an_allocation_that_is_not_the_one_that_is_right_ends_the_run(
    change: Change, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = ClaimBinder.reserve

    def reserving(
        self: ClaimBinder, state: ClaimsState, node_name: str, pending: set[str] | None
    ) -> object:
        answer = reserve(self, state, node_name, pending)
        for place, allocation in state.reserved.items():
            state.reserved[place] = change(allocation)
        return answer

    monkeypatch.setattr(ClaimBinder, "reserve", reserving)
    harness = harness_of(taking("pod"))
    with pytest.raises(
        VerificationError,
        match=f"claim default/pod-devices-.* got {said}",
    ):
        harness.settle()


def test_a_device_that_another_claim_has_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scalar hooks and twins agree on a wrong count of allocated devices."""

    def forgetful(_self: ClaimTracker, _uid: str, _what: object) -> None:
        pass

    monkeypatch.setattr(ClaimTracker, "_count", forgetful)
    old = make_resource_claim(name="old", devices=["gpu.example.com/a/gpu-0"])
    harness = harness_of(old, taking("pod"))
    device = DeviceId("gpu.example.com", "a", "gpu-0")
    with pytest.raises(
        VerificationError, match=f"got {device}, which claim default/old has"
    ):
        harness.settle()
