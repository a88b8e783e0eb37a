"""Trials with missing volumes, and with pools that can have no type."""

from msgspec.structs import replace

from quaymaster.objects import PersistentVolumeClaim, PodStatus, from_wire
from tests.kit.internals.karpenter import ClusterState, solve
from tests.kit.internals.karpenter_disruption import DisruptionEvents, Survey
from tests.kit.karpenter import (
    OPTIONS,
    TYPES,
    ZONE,
    away_from,
    make_pod,
    make_pool,
    zoned_node,
)

WEB = {"app": "web"}


def test_a_pod_without_its_claim_is_kept_away_by_pods_that_run() -> None:
    """Its own constraints do not count, as its volumes cannot be found."""
    lonely = make_pod("lonely", "100m", affinity=away_from("web", ZONE))
    lonely = replace(lonely, node_name="a", status=PodStatus(phase="Running"))
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    pod = make_pod("p", labels=WEB, volumes=[volume])
    nodes = [zoned_node("a"), zoned_node("b", labels={ZONE: "zone-b"})]
    objects = [make_pool(), *nodes, lonely, pod]
    state = ClusterState.from_objects(objects, TYPES, now=0.0)
    result = solve(state, [pod], OPTIONS)
    placed = {name: [p.name for p in pods] for name, pods in result.existing.items()}
    assert placed == {"b": ["p"]}


def test_a_pool_that_can_have_no_type_is_reported_by_trials() -> None:
    nowhere = {"key": ZONE, "operator": "In", "values": ["nowhere"]}
    pools = [make_pool("a"), make_pool("b", template={"requirements": [nowhere]})]
    events = DisruptionEvents()
    state = ClusterState.from_objects(pools, TYPES, now=0.0)
    Survey(state, OPTIONS).report_pools(events)
    [event] = events.events
    assert (event.kind, event.name, event.type) == ("NodePool", "b", "Warning")
    assert event.message == (
        "NodePool requirements filtered out all compatible available instance types"
    )


def test_a_node_whose_volumes_are_missing_takes_pods() -> None:
    """A dump of a cluster may have claims without their volumes."""
    tree = {
        "metadata": {"name": "old", "namespace": "default"},
        "spec": {"volumeName": "missing"},
    }
    claim = from_wire(tree, PersistentVolumeClaim)
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "old"}}
    old = make_pod("old", "100m", volumes=[volume])
    old = replace(old, node_name="a", status=PodStatus(phase="Running"))
    objects = [make_pool(), zoned_node("a"), old, claim, make_pod("p")]
    state = ClusterState.from_objects(objects, TYPES, now=0.0)
    result = solve(state, [make_pod("p"), old], OPTIONS)
    assert [pod.name for pod in result.existing["a"]] == ["p"]
    assert result.errors == {"default/old": 'persistentvolumes "missing" not found'}
