"""Pods that have ended count for the cost of a disruption, and for nothing else."""

from msgspec.structs import replace

from quaymaster.objects import PodStatus
from quaymaster.testing import make_pod
from tests.kit.internals.karpenter import ClusterState
from tests.kit.karpenter import TYPES, zoned_node


def test_a_finished_pod_costs_only_its_eviction() -> None:
    pods = [make_pod(name=f"p{n}", node="n") for n in range(3)]
    pods[1] = replace(pods[1], status=PodStatus(phase="Succeeded"))
    pods[2] = replace(pods[2], status=PodStatus(phase="Failed"))
    state = ClusterState.from_objects([zoned_node("n"), *pods], TYPES, now=0.0)
    [node] = state.nodes
    assert node.eviction_cost == 3.0
    assert node.reschedule_cost == 2.0
    assert [*node.pods] == pods[:1]


def test_a_deleted_pod_no_longer_costs_anything() -> None:
    node = zoned_node("n")
    ended = replace(make_pod(name="p", node="n"), status=PodStatus(phase="Succeeded"))
    before = ClusterState.from_objects([node, ended], TYPES, now=0.0)
    after = ClusterState.from_objects([node], TYPES, now=0.0, previous=before)
    assert [each.eviction_cost for each in before.nodes] == [1.0]
    assert [each.eviction_cost for each in after.nodes] == [0.0]
