"""Nominated pods of a group do not stand in the way of each other.

Mirrors ``nominatedPodToInfo`` (Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``).
"""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.testing import make_node, make_pod, make_spread_constraint
from tests.kit.group_cluster import gang_objects, harness_with_groups, nodes_by_pod

HOST = "kubernetes.io/hostname"
BY_NAME = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"tieBreaker": "name"}],
}


def spread_apart(pod: Pod) -> Pod:
    """Return a pod that must be spread evenly over the nodes."""
    constraint = make_spread_constraint(selector={"app": "gang"}, topology_key=HOST)
    metadata = replace(pod.metadata, labels={"app": "gang"})
    spec = replace(pod.spec, topology_spread_constraints=(constraint,))
    return replace(pod, metadata=metadata, spec=spec)


def test_spread_pods_bind_where_they_were_nominated() -> None:
    nodes = [
        make_node(name=name, allocatable={"cpu": "2"}, labels={HOST: name})
        for name in ("a", "b")
    ]
    victims = [
        make_pod(name=f"old-{node}-{n}", node=node, requests={"cpu": "1"})
        for node in ("a", "b")
        for n in range(2)
    ]
    group, *pods = gang_objects(3, priority=100)
    gang = [spread_apart(pod) for pod in pods if isinstance(pod, Pod)]
    objects = [*nodes, *victims, group, *gang]
    harness = harness_with_groups(objects, config=BY_NAME)
    harness.settle()
    bound = nodes_by_pod(harness)
    # Two go to one node. If the last one, nominated there, counted as a pod there, the
    # first would find the constraint violated, and the gang would evict the rest.
    assert [bound[pod.name] for pod in gang] == ["a", "b", "a"]
    assert len([name for name in bound if name.startswith("old-")]) == 1
