"""The facts of NodeResourcesFit: the request and its parts, and what is free."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.objects import (
    Container,
    ContainerStatus,
    Quantity,
    ResourceRequirements,
    pod_request_list,
)
from quaymaster.testing import (
    PluginHarness,
    SmallCluster,
    clusters,
    make_container,
    make_node,
    make_pod,
)
from quaymaster_node_resources_fit import NodeResourcesFit
from quaymaster_node_resources_fit.request_parts import request_parts

GPU = "nvidia.com/gpu"


def facts_of(
    pod: Pod, *pods: Pod, capacity: Mapping[str, str], others: tuple[Node, ...] = ()
) -> tuple[str, ...]:
    """Explain why a node with some pods has no room."""
    nodes = [make_node(name="node", capacity=capacity), *others]
    harness = PluginHarness(NodeResourcesFit, nodes=nodes, pods=pods)
    return harness.explain_filter(pod)["node"]


def running(**requests: str) -> Pod:
    return make_pod(name="running", node="node", requests=requests)


def container(name: str, cpu: str, *, sidecar: bool = False) -> Container:
    return make_container(name=name, requests={"cpu": cpu}, sidecar=sidecar)


LARGE = make_node(name="large", capacity={"cpu": "96", "memory": "1Ti", GPU: "8"})


def test_request_is_split_by_container_and_sidecar() -> None:
    pod = make_pod(
        containers=[container("train", "4")],
        init_containers=[container("gcsfuse", "250m", sidecar=True)],
    )
    assert facts_of(pod, capacity={"cpu": "4200m"}, others=(LARGE,)) == (
        "wants cpu 4250m (train 4, sidecar gcsfuse 250m)",
        "free cpu 4200m of 4200m",
    )


def test_request_of_a_single_container_is_not_split() -> None:
    facts = facts_of(
        make_pod(requests={"cpu": "3"}), running(cpu="1500m"), capacity={"cpu": "4"}
    )
    assert facts == ("wants cpu 3", "free cpu 2500m of 4")


def test_all_resources_that_are_short_are_named() -> None:
    pod = make_pod(requests={"cpu": "3", "memory": "8Gi", GPU: "1"})
    facts = facts_of(
        pod,
        running(cpu="2", memory="1537Mi"),
        capacity={"cpu": "4", "memory": "8Gi"},
        others=(LARGE,),
    )
    assert facts == (
        f"wants cpu 3, memory 8Gi, {GPU} 1",
        f"free cpu 2 of 4, free memory 6.49Gi of 8Gi, the node offers no {GPU}",
    )


def test_init_container_that_needs_more_than_all_others_is_the_request() -> None:
    pod = make_pod(
        containers=[container("web", "1")],
        init_containers=[
            container("early", "100m", sidecar=True),
            container("setup", "4"),
            container("late", "200m", sidecar=True),
        ],
    )
    assert facts_of(pod, capacity={"cpu": "4"}, others=(LARGE,))[0] == (
        "wants cpu 4100m (init container setup 4, sidecar early 100m)"
    )


def test_overhead_is_a_part() -> None:
    pod = make_pod(requests={"cpu": "4"}, overhead={"cpu": "250m"})
    assert facts_of(pod, capacity={"cpu": "4"}, others=(LARGE,))[0] == (
        "wants cpu 4250m (main 4, overhead 250m)"
    )


def test_request_of_the_pod_as_a_whole_replaces_those_of_its_containers() -> None:
    pod = make_pod(requests={"cpu": "1", "memory": "4Gi"}, pod_requests={"cpu": "6"})
    facts = facts_of(pod, capacity={"cpu": "4", "memory": "2Gi"}, others=(LARGE,))
    assert facts[0] == "wants cpu 6 (pod level), memory 4Gi"


def test_amount_that_no_node_offers_is_reported() -> None:
    pod = make_pod(
        containers=[
            make_container(name="train", requests={"cpu": "100", "memory": "2Ti"}),
            make_container(name="watch", requests={"cpu": "20"}),
        ]
    )
    facts = facts_of(pod, capacity={"cpu": "4"}, others=(LARGE,))
    assert facts[0] == (
        "wants cpu 120 (train 100, watch 20; no node offers more than 96), "
        "memory 2Ti (no node offers more than 1Ti)"
    )


def test_resource_that_no_node_offers_is_reported() -> None:
    facts = facts_of(make_pod(requests={"hugepages-2Mi": "4Mi"}), capacity={})
    assert facts == (
        "wants hugepages-2Mi 4Mi (no node offers it)",
        "the node offers no hugepages-2Mi",
    )


def test_node_that_is_full_of_pods_is_reported() -> None:
    facts = facts_of(make_pod(), running(cpu="1"), capacity={"pods": "1"})
    assert facts == ("wants room for 1 pod", "free pods 0 of 1")


def test_pod_that_counts_otherwise_during_its_resize_is_named() -> None:
    status = ContainerStatus(
        name="main",
        resources=ResourceRequirements(requests={"cpu": Quantity("11")}),
        allocated_resources={"cpu": Quantity("11")},
    )
    pod = running(cpu="3")
    pod = replace(pod, status=replace(pod.status, container_statuses=(status,)))
    facts = facts_of(make_pod(requests={"cpu": "2"}), pod, capacity={"cpu": "12"})
    assert facts[1:] == (
        "free cpu 1 of 12",
        "pod default/running counts with cpu 11 instead of 3 during its resize",
    )


def test_overcommitted_node_has_less_than_nothing_left() -> None:
    facts = facts_of(
        make_pod(requests={"memory": "1Gi"}),
        running(memory="10Gi"),
        capacity={"memory": "8Gi"},
    )
    assert facts[1] == "free memory -2Gi of 8Gi"


def test_amounts_that_are_almost_equal_are_rounded_apart() -> None:
    facts = facts_of(
        make_pod(requests={"memory": "8Gi"}), capacity={"memory": "8388607Ki"}
    )
    assert facts[1] == "free memory 7.99Gi of 7.99Gi"


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", GPU]), st.sampled_from(["1", "2", "7", "30"])
)
CONTAINERS = st.builds(make_container, requests=AMOUNTS, sidecar=st.booleans())


@given(
    containers=st.lists(st.builds(make_container, requests=AMOUNTS), min_size=1),
    init_containers=st.lists(CONTAINERS, max_size=4),
    overhead=st.none() | AMOUNTS,
    pod_level=st.none() | AMOUNTS,
)
def test_parts_add_up_to_the_request(
    containers: list[Container],
    init_containers: list[Container],
    overhead: dict[str, str] | None,
    pod_level: dict[str, str] | None,
) -> None:
    pod = make_pod(
        containers=containers,
        init_containers=init_containers,
        overhead=overhead,
        pod_requests=pod_level,
    )
    requests = pod_request_list(pod)
    for name in ("cpu", "memory", GPU):
        parts = [amount for _, amount in request_parts(pod, name)]
        assert sum(parts, start=Quantity(0)) == requests.get(name, Quantity(0))


@given(cluster=clusters())
def test_facts_agree_with_the_verdict(cluster: SmallCluster) -> None:
    harness = PluginHarness(NodeResourcesFit, nodes=cluster.nodes, pods=cluster.pods)
    for pod in cluster.pending:
        for name, (_, rest, *_) in harness.explain_filter(pod).items():
            node = harness.snapshot.get(name)
            assert node is not None
            for text in rest.split(", "):
                check_rest(text, pod)


def check_rest(text: str, pod: Pod) -> None:
    """Check that what is left is less than what the pod requests."""
    words = text.split()
    if words[0] == "free" and words[1] != "pods":
        _, resource, free, _, _ = words
        assert Quantity(free) < pod_request_list(pod)[resource]


@pytest.mark.parametrize("ignored", ["ignoredResources", "ignoredResourceGroups"])
def test_ignored_resources_are_left_out(ignored: str) -> None:
    name = GPU if ignored == "ignoredResources" else "nvidia.com"
    harness = PluginHarness(
        NodeResourcesFit,
        args={ignored: [name]},
        nodes=[make_node(name="node", capacity={"cpu": "1"}), LARGE],
    )
    facts = harness.explain_filter(make_pod(requests={"cpu": "2", GPU: "1"}))
    assert facts == {"node": ("wants cpu 2", "free cpu 1 of 1")}
