"""Explanations for nodes without devices for a pod."""

from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.objects import (
    DeviceClass,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster.testing import (
    SchedulerHarness,
    make_device_class,
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)

NOT_ALLOCATED = ("cannot allocate all claims",)


def claiming(*claims: str) -> Pod:
    pod = make_pod(name="pod")
    named = tuple(
        PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims
    )
    return replace(pod, spec=replace(pod.spec, resource_claims=named))


def node_with_gpus(name: str, count: int = 1) -> tuple[Node, ResourceSlice]:
    return make_node(name=name), make_resource_slice(node=name, devices=count)


def explained(*given: ApiObject) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the reasons and details of each rejected node."""
    objects = list(given)
    if not any(isinstance(stored, DeviceClass) for stored in objects):
        objects.append(make_device_class())
    harness = SchedulerHarness(objects)
    harness.settle()
    rejections = harness.explain("pod").rejections
    return [(rejection.reasons, rejection.details) for rejection in rejections]


def test_claim_and_request_are_named_and_then_who_has_the_devices() -> None:
    taken = [
        make_resource_claim(name=f"old-{at}", devices=[f"gpu.example.com/a/gpu-{at}"])
        for at in range(5)
    ]
    claim = make_resource_claim(requests=[make_device_request(name="r", count=2)])
    assert explained(*node_with_gpus("a", 6), *taken, claim, claiming("claim")) == [
        (
            NOT_ALLOCATED,
            (
                (
                    "claim default/claim, request r: wants 2, 1 of 6 devices would do: "
                    "5 allocated"
                ),
                (
                    "devices are allocated to default/old-0, default/old-1, "
                    "default/old-2, default/old-3 and 1 more"
                ),
            ),
        )
    ]


def test_first_sentence_is_the_same_for_nodes_alike() -> None:
    taken = [
        make_resource_claim(
            name=f"of-{node}", devices=[f"gpu.example.com/{node}/gpu-0"]
        )
        for node in "ab"
    ]
    claim = make_resource_claim()
    nodes = (*node_with_gpus("a"), *node_with_gpus("b"))
    found = explained(*nodes, *taken, claim, claiming("claim"))
    assert len({details[0] for _, details in found}) == 1
    assert [details[1] for _, details in found] == [
        "devices are allocated to default/of-a",
        "devices are allocated to default/of-b",
    ]


def test_pool_that_gives_no_devices_is_named() -> None:
    part = make_resource_slice(node="a", slices=2)
    found = explained(
        make_node(name="a"), part, make_resource_claim(), claiming("claim")
    )
    [(_, (first, second))] = found
    assert first.endswith("but the node has no devices: 1 pool being updated")
    assert second == "pool gpu.example.com/a is being updated"


def test_claim_whose_devices_are_elsewhere_is_told_of_with_the_others() -> None:
    harness = SchedulerHarness(
        [
            make_device_class(),
            *node_with_gpus("a"),
            *node_with_gpus("b"),
            make_resource_claim(name="here"),
            claiming("here"),
        ]
    )
    harness.settle()
    node = harness.node_of("pod")
    [claim] = harness.cluster.list(ResourceClaim).items
    big = make_resource_claim(
        name="big", requests=[make_device_request(name="r", count=9)]
    )
    other = next(name for name in "ab" if name != node)
    found = explained(
        *node_with_gpus(other),
        make_node(name=node),
        claim,
        big,
        claiming("here", "big"),
    )
    [(reasons, (detail, *_))] = [
        entry for entry in found if "has devices" in entry[1][0]
    ]
    assert reasons == NOT_ALLOCATED
    assert detail == (
        "claim default/here: has devices that other nodes reach "
        f"(gpu.example.com/{node}/gpu-0); claim default/big, request r: wants 9, "
        "1 of 1 device would do"
    )


def test_extended_resource_is_told_of_by_its_name_and_container() -> None:
    found = explained(
        make_device_class(extended_resource_name="example.com/gpu"),
        *node_with_gpus("a"),
        make_pod(name="pod", requests={"example.com/gpu": "2"}),
    )
    [(reasons, (detail,))] = found
    assert reasons == NOT_ALLOCATED
    assert detail.startswith("extended resource example.com/gpu of container ")
    assert detail.endswith(": wants 2, 1 of 1 device would do")
