"""An input can be taken back to the time before its pods were scheduled."""

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.objects import ResourceClaim
from quaymaster.testing import (
    make_daemon_set,
    make_node,
    make_pod,
    make_resource_claim,
)
from tests.kit.internals.changes import without_placements

EXTENDED = "resource.kubernetes.io/extended-resource-claim"
DEVICE = "gpu.example.com/a/0"


def nodes_of(objects: Iterable[ApiObject]) -> dict[str, str]:
    return {obj.name: obj.node_name for obj in objects if isinstance(obj, Pod)}


def claims_of(objects: Iterable[ApiObject]) -> list[ResourceClaim]:
    return [obj for obj in objects if isinstance(obj, ResourceClaim)]


def test_pod_loses_its_node_and_its_status() -> None:
    pod = make_pod(name="p", node="a", phase="Running")
    _, changed = without_placements([make_node(name="a"), pod])
    assert isinstance(changed, Pod)
    assert (changed.node_name, changed.status.phase) == ("", "")
    assert changed.metadata == pod.metadata


@pytest.mark.parametrize(
    "pod",
    [
        make_pod(name="p", node="a", owner=make_daemon_set(name="agent")),
        make_pod(
            name="p", node="a", annotations={"kubernetes.io/config.mirror": "hash"}
        ),
        make_pod(name="p", node="a", phase="Succeeded"),
        make_pod(name="p", node="a", deletion_timestamp="2026-01-01T00:00:00Z"),
    ],
    ids=["of a DaemonSet", "static", "finished", "terminating"],
)
def test_pod_that_cannot_move_keeps_its_node(pod: Pod) -> None:
    assert nodes_of(without_placements([pod])) == {"p": "a"}


def test_claim_of_moved_pods_is_released() -> None:
    claim = make_resource_claim(devices=[DEVICE], reserved_for=["p"])
    [changed] = claims_of(without_placements([make_pod(name="p", node="a"), claim]))
    assert (changed.status.allocation, changed.status.reserved_for) == (None, ())


def test_claim_that_a_remaining_pod_uses_stays_allocated() -> None:
    agent = make_pod(name="agent", node="a", owner=make_daemon_set(name="agent"))
    claim = make_resource_claim(devices=[DEVICE], reserved_for=["p", "agent"])
    objects = without_placements([agent, make_pod(name="p", node="a"), claim])
    [changed] = claims_of(objects)
    assert changed.status.allocation == claim.status.allocation
    assert [user.name for user in changed.status.reserved_for] == ["agent"]


def test_claim_in_another_namespace_is_kept() -> None:
    claim = make_resource_claim(namespace="other", devices=[DEVICE], reserved_for=["p"])
    assert claims_of(without_placements([make_pod(name="p", node="a"), claim])) == [
        claim
    ]


def test_claim_that_the_scheduler_made_goes() -> None:
    claim = make_resource_claim(devices=[DEVICE], reserved_for=["p"])
    annotated = replace(claim.metadata, annotations={EXTENDED: "true"})
    objects = [make_pod(name="p", node="a"), replace(claim, metadata=annotated)]
    assert claims_of(without_placements(objects)) == []
