"""NodeResourcesFit's filter: rules 8, 10, 11, 12 and 16 of the parity format.

Cases that mirror upstream's are from ``fit_test.go`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources``).
"""

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import strategies as st

from quaymaster import Pod, Status
from quaymaster.objects import (
    ContainerStatus,
    PodStatus,
    Quantity,
    ResourceRequirements,
)
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    SmallCluster,
    clusters,
    make_container,
    make_device_class,
    make_node,
    make_pod,
)
from quaymaster_node_resources_fit import NodeResourcesFit

GPU = "nvidia.com/gpu"
FOO = "example.com/foo"
HUGE_PAGES = "hugepages-2Mi"


def status_on_node(
    pod: Pod,
    *pods: Pod,
    capacity: Mapping[str, str],
    args: Mapping[str, object] | None = None,
) -> Status | None:
    """Filter a single node with other pods for a pod."""
    node = make_node(name="node", capacity=capacity)
    return (
        PluginHarness(NodeResourcesFit, args=args, nodes=[node], pods=pods)
        .filter(pod)
        .get("node")
    )


def running(**amounts: str) -> Pod:
    # Huge pages require cpu or memory as well.
    return make_pod(name="running", node="node", limits={"memory": "0", **amounts})


@pytest.mark.parametrize(
    ("requests", "taken", "capacity"),
    [
        pytest.param({}, {"cpu": "4"}, {"cpu": "4"}, id="requests nothing"),
        pytest.param({"cpu": "1"}, {"cpu": "3"}, {"cpu": "4"}, id="fits exactly"),
        pytest.param({"cpu": "0"}, {"cpu": "9"}, {"cpu": "4"}, id="requests zero"),
        pytest.param({FOO: "0"}, {}, {}, id="requests zero of an unknown resource"),
        pytest.param(
            {"memory": "1Gi"},
            {"cpu": "9"},
            {"cpu": "4"},
            id="another resource is overcommitted",
        ),
        pytest.param({GPU: "2"}, {GPU: "2"}, {GPU: "4"}, id="extended resource"),
    ],
)
def test_pod_fits(
    requests: dict[str, str], taken: dict[str, str], capacity: dict[str, str]
) -> None:
    pod = make_pod(requests=requests)
    assert status_on_node(pod, running(**taken), capacity=capacity) is None


@pytest.mark.parametrize(
    ("requests", "taken", "capacity", "resource"),
    [
        pytest.param({"cpu": "2"}, {"cpu": "3"}, {"cpu": "4"}, "cpu", id="cpu"),
        pytest.param(
            {"cpu": "1m"}, {"cpu": "9"}, {"cpu": "4"}, "cpu", id="overcommitted cpu"
        ),
        pytest.param(
            {"memory": "1Gi"},
            {"memory": "1"},
            {"memory": "1Gi"},
            "memory",
            id="memory, by one byte",
        ),
        pytest.param(
            {"ephemeral-storage": "6Gi"},
            {"ephemeral-storage": "5Gi"},
            {"ephemeral-storage": "10Gi"},
            "ephemeral-storage",
            id="ephemeral storage",
        ),
        pytest.param({GPU: "2"}, {GPU: "1"}, {GPU: "2"}, GPU, id="extended resource"),
        pytest.param(
            {HUGE_PAGES: "4Mi"},
            {HUGE_PAGES: "2Mi"},
            {HUGE_PAGES: "4Mi"},
            HUGE_PAGES,
            id="huge pages",
        ),
    ],
)
def test_resource_taken_by_others_is_insufficient_for_now(
    requests: dict[str, str],
    taken: dict[str, str],
    capacity: dict[str, str],
    resource: str,
) -> None:
    status = status_on_node(
        make_pod(requests=requests), running(**taken), capacity=capacity
    )
    assert status == Status.unschedulable(f"Insufficient {resource}")


@pytest.mark.parametrize(
    ("requests", "capacity", "resource"),
    [
        pytest.param({"cpu": "4001m"}, {"cpu": "4"}, "cpu", id="cpu"),
        pytest.param({"memory": "2Gi"}, {"memory": "1Gi"}, "memory", id="memory"),
        pytest.param({GPU: "1"}, {GPU: "0"}, GPU, id="extended resource of 0"),
        pytest.param({GPU: "1"}, {}, GPU, id="extended resource that no node has"),
    ],
)
def test_request_above_the_allocatable_is_unresolvable(
    requests: dict[str, str], capacity: dict[str, str], resource: str
) -> None:
    status = status_on_node(make_pod(requests=requests), capacity=capacity)
    assert status == Status.unresolvable(f"Insufficient {resource}")


def test_all_reasons_come_in_order() -> None:
    pod = make_pod(
        requests={
            GPU: "2",
            "acme.io/widget": "1",
            HUGE_PAGES: "4Mi",
            "ephemeral-storage": "2Gi",
            "memory": "2Gi",
            "cpu": "2",
        }
    )
    capacity = {
        "pods": "1",
        "cpu": "2",
        "memory": "2Gi",
        "ephemeral-storage": "2Gi",
        HUGE_PAGES: "4Mi",
        "acme.io/widget": "1",
        GPU: "2",
    }
    names = ["cpu", "memory", "ephemeral-storage", "acme.io/widget", HUGE_PAGES, GPU]
    reasons = ["Too many pods", *(f"Insufficient {name}" for name in names)]
    taken = running(**{**dict.fromkeys(names, "1"), HUGE_PAGES: "2Mi"})
    assert status_on_node(pod, taken, capacity=capacity) == Status.unschedulable(
        *reasons
    )


def test_one_resource_above_the_allocatable_makes_the_whole_unresolvable() -> None:
    pod = make_pod(requests={"cpu": "2", "memory": "3Gi"})
    capacity = {"cpu": "2", "memory": "2Gi"}
    status = status_on_node(pod, running(cpu="1"), capacity=capacity)
    assert status == Status.unresolvable("Insufficient cpu", "Insufficient memory")


@pytest.mark.parametrize("requests", [{}, {"cpu": "1m"}], ids=["nothing", "little"])
def test_full_node_has_too_many_pods(requests: dict[str, str]) -> None:
    # TestNotEnoughRequests: no space for an additional pod.
    pod = make_pod(requests=requests)
    status = status_on_node(pod, running(), capacity={"pods": "1"})
    assert status == Status.unschedulable("Too many pods")


def test_node_without_room_for_any_pod_has_too_many_pods() -> None:
    status = status_on_node(make_pod(), capacity={"pods": "0"})
    assert status == Status.unschedulable("Too many pods")


@pytest.mark.parametrize(
    ("pod", "needs"),
    [
        pytest.param(
            make_pod(
                requests={"cpu": "1"},
                init_containers=[make_container(requests={"cpu": "3"})],
            ),
            "3",
            id="largest init container",
        ),
        pytest.param(
            make_pod(
                requests={"cpu": "2"},
                init_containers=[make_container(requests={"cpu": "1"}, sidecar=True)],
            ),
            "3",
            id="container and sidecar",
        ),
        pytest.param(
            make_pod(requests={"cpu": "1"}, overhead={"cpu": "500m"}),
            "1500m",
            id="overhead",
        ),
        pytest.param(
            make_pod(requests={"cpu": "2"}, pod_requests={"cpu": "1"}),
            "1",
            id="pod level replaces containers",
        ),
    ],
)
def test_request_is_that_of_the_whole_pod(pod: Pod, needs: str) -> None:
    # Rule 11.
    assert status_on_node(pod, capacity={"cpu": needs}) is None
    less = str(Quantity(needs) - Quantity("1m"))
    status = status_on_node(pod, capacity={"cpu": less})
    assert status == Status.unresolvable("Insufficient cpu")


def resized(pod: Pod, cpu: str) -> Pod:
    """Return the pod with this actual CPU allocation of its container."""
    given = ResourceRequirements(requests={"cpu": Quantity(cpu)})
    statuses = (ContainerStatus(name="main", resources=given),)
    return msgspec.structs.replace(pod, status=PodStatus(container_statuses=statuses))


def test_running_pod_counts_with_what_its_node_has_given_it() -> None:
    # Rule 12.
    pod = make_pod(requests={"cpu": "2"})
    shrinking = resized(
        make_pod(name="running", node="node", requests={"cpu": "1"}), cpu="3"
    )
    status = status_on_node(pod, shrinking, capacity={"cpu": "4"})
    assert status == Status.unschedulable("Insufficient cpu")


def test_status_of_the_incoming_pod_does_not_matter() -> None:
    # Rule 12.
    pod = resized(make_pod(requests={"cpu": "1"}), cpu="5")
    assert status_on_node(pod, capacity={"cpu": "1"}) is None


@pytest.mark.parametrize(
    ("args", "resource", "is_ignored"),
    [
        pytest.param({"ignoredResources": [FOO]}, FOO, True, id="by its name"),
        pytest.param({"ignoredResources": [GPU]}, FOO, False, id="another name"),
        pytest.param(
            {"ignoredResourceGroups": ["example.com"]}, FOO, True, id="by its group"
        ),
        pytest.param(
            {"ignoredResourceGroups": ["example"]}, FOO, False, id="part of a group"
        ),
        pytest.param({"ignoredResources": ["cpu"]}, "cpu", False, id="never cpu"),
        pytest.param(
            {"ignoredResources": [HUGE_PAGES]},
            HUGE_PAGES,
            False,
            id="never huge pages",
        ),
        pytest.param(
            {"ignoredResourceGroups": ["kubernetes.io"]},
            "kubernetes.io/something",
            False,
            id="never one of Kubernetes' own",
        ),
    ],
)
def test_only_extended_resources_can_be_ignored(
    args: dict[str, object], resource: str, is_ignored: bool
) -> None:
    # Rule 16.
    pod = make_pod(requests={resource: "8"})
    status = status_on_node(pod, capacity={"cpu": "4"}, args=args)
    rejection = Status.unresolvable(f"Insufficient {resource}")
    assert status == (None if is_ignored else rejection)


def test_filter_without_pre_filter_is_an_error() -> None:
    # Rule 8, and TestPreFilterDisabled.
    harness = PluginHarness(NodeResourcesFit, nodes=[make_node(name="node")])
    missing = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
    assert harness.filter(make_pod(), pre_filter=False) == {
        "node": Status.from_error(missing)
    }


def test_pod_may_request_more_resources_than_a_word_has_bits() -> None:
    names = [f"example.com/r{index:02}" for index in range(80)]
    nodes = [
        make_node(name="none"),
        make_node(name="all", capacity=dict.fromkeys(names, "1")),
        make_node(name="some", capacity=dict.fromkeys(names[:-1], "1")),
    ]
    pod = make_pod(requests=dict.fromkeys(names, "1"))
    assert PluginHarness(NodeResourcesFit, nodes=nodes).filter(pod) == {
        "none": Status.unresolvable(*(f"Insufficient {name}" for name in names)),
        "some": Status.unresolvable(f"Insufficient {names[-1]}"),
    }


def fragment(pod: Pod) -> object:
    plugin = PluginHarness(NodeResourcesFit).plugin
    return plugin.sign_pod(pod)


@pytest.mark.parametrize(
    ("pod", "other", "is_same"),
    [
        pytest.param(
            make_pod(requests={"cpu": "1", GPU: "1"}),
            make_pod(requests={GPU: "1", "cpu": "1000m"}, labels={"app": "web"}),
            True,
            id="equal amounts",
        ),
        pytest.param(
            make_pod(requests={"cpu": "1"}),
            make_pod(requests={"cpu": "2"}),
            False,
            id="other amounts",
        ),
        pytest.param(
            make_pod(images=["a"]),
            make_pod(images=["a", "b"]),
            False,
            id="other defaults for the score",
        ),
    ],
)
def test_fragment_tells_apart_what_the_plugin_does(
    pod: Pod, other: Pod, is_same: bool
) -> None:
    assert (fragment(pod) == fragment(other)) is is_same
    assert (hash(fragment(pod)) == hash(fragment(other))) is is_same


AMOUNTS = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["0", "1", "1500m", "2", "4"]),
        "memory": st.sampled_from(["0", "1", "1Gi", "1.5Gi", "4Gi"]),
        "ephemeral-storage": st.sampled_from(["0", "1Gi", "2Gi"]),
        GPU: st.sampled_from(["0", "1", "2"]),
        FOO: st.sampled_from(["0", "1", "3"]),
        HUGE_PAGES: st.sampled_from(["2Mi", "4Mi"]),
    },
)
CAPACITIES = st.tuples(AMOUNTS, st.sampled_from(["0", "1", "3", "110"])).map(
    lambda drawn: {"cpu": "4", **drawn[0], "pods": drawn[1]}
)


class TestContract(PluginContract):
    plugin = NodeResourcesFit

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return clusters(
            nodes=CAPACITIES.map(lambda capacity: make_node(capacity=capacity)),
            pods=AMOUNTS.map(
                lambda amounts: make_pod(limits={"memory": "0", **amounts})
            ),
        )


class TestContractWithIgnoredResources(TestContract):
    args = {"ignoredResources": [FOO]}
    opt_outs = {"events": "the hint for nodes counts ignored resources, as upstream's"}


@pytest.mark.parametrize(
    ("offered", "reasons"),
    [
        pytest.param({}, (), id="no device plugin"),
        pytest.param({"example.com/gpu": "0"}, (), id="none left of the plugin's"),
        pytest.param({"example.com/gpu": "2"}, (), id="enough of the plugin's"),
        pytest.param(
            {"example.com/gpu": "1"},
            ("Insufficient example.com/gpu",),
            id="too few of the plugin's",
        ),
    ],
)
def test_devices_serve_what_a_node_does_not_offer_itself(
    offered: Mapping[str, str], reasons: tuple[str, ...]
) -> None:
    harness = PluginHarness(
        NodeResourcesFit,
        nodes=[make_node(name="a", allocatable=offered)],
        objects=[make_device_class(extended_resource_name="example.com/gpu")],
    )
    rejected = harness.filter(make_pod(requests={"example.com/gpu": "2"}))
    assert rejected == ({"a": Status.unresolvable(*reasons)} if reasons else {})
