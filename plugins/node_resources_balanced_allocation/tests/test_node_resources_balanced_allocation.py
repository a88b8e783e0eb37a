"""NodeResourcesBalancedAllocation: rules 8 and 15 of the parity format.

Cases that mirror upstream's are from ``balanced_allocation_test.go`` (kube-scheduler
1.36.2, ``pkg/scheduler/framework/plugins/noderesources``).
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import NodeInfo, Pod
from quaymaster.config import ConfigErrors
from quaymaster.objects import (
    ContainerStatus,
    PodStatus,
    Quantity,
    ResourceRequirements,
    pod_requests,
)
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
    NodeResourcesBalancedAllocationArgs,
    ResourceSpec,
)

GPU = "nvidia.com/gpu"
FOO = "example.com/foo"

Args = dict[str, object]
Amounts = Mapping[str, str]


def balancing(*names: str) -> Args:
    """Make arguments to balance these resources."""
    return {"resources": [{"name": name, "weight": 1} for name in names]}


WITH_GPU = balancing("cpu", "memory", GPU)


def harness_of(
    *cluster: tuple[Amounts, Amounts], args: Args | None = None
) -> PluginHarness:
    """Make nodes a, b, c, ... with these capacities and a pod with these requests."""
    nodes, pods = [], []
    for name, (capacity, amounts) in zip("abcdefgh", cluster, strict=False):
        nodes.append(make_node(name=name, capacity=capacity))
        pods.append(make_pod(name=f"on-{name}", node=name, limits=amounts))
    return PluginHarness(
        NodeResourcesBalancedAllocation, args=args, nodes=nodes, pods=pods
    )


def score_on_node(
    pod: Pod, capacity: Amounts, taken: Amounts, args: Args | None = None
) -> int:
    return harness_of((capacity, taken), args=args).score(pod)["a"]


POD = make_pod(requests={"cpu": "3", "memory": "5000"})
LARGE = {"cpu": "10", "memory": "20000"}
SMALL = {"cpu": "3500m", "memory": "40000"}
USED = {"cpu": "3", "memory": "5000"}


@pytest.mark.parametrize(
    ("pod", "capacity", "taken", "score"),
    [
        # TestNodeResourcesBalancedAllocation.
        pytest.param(
            POD, {"cpu": "4", "memory": "10000"}, {}, 68, id="empty node, tilted"
        ),
        pytest.param(
            POD, {"cpu": "6", "memory": "10000"}, {}, 75, id="empty node, even"
        ),
        pytest.param(POD, LARGE, {"cpu": "3"}, 73, id="tilted node"),
        pytest.param(POD, LARGE, USED, 74, id="nearly even node"),
        pytest.param(
            POD, {"cpu": "10", "memory": "50000"}, USED, 70, id="node with more memory"
        ),
        pytest.param(
            make_pod(requests={"memory": "5000"}),
            {"cpu": "3", "memory": "5000"},
            {"cpu": "3"},
            100,
            id="as good as it gets",
        ),
        pytest.param(
            make_pod(requests={"memory": "5000"}),
            {"cpu": "3", "memory": "5000"},
            {},
            50,
            id="as bad as it gets",
        ),
        pytest.param(
            make_pod(requests={"cpu": "3"}),
            {"cpu": "6", "memory": "10000"},
            {"cpu": "3"},
            62,
            id="at the capacity",
        ),
        pytest.param(
            make_pod(requests={"cpu": "5"}),
            {"cpu": "6", "memory": "10000"},
            {"cpu": "3"},
            62,
            id="above the capacity counts as at it",
        ),
    ],
)
def test_score_compares_the_balance_with_and_without_the_pod(
    pod: Pod, capacity: Amounts, taken: Amounts, score: int
) -> None:
    assert score_on_node(pod, capacity, taken) == score


@pytest.mark.parametrize(
    ("pod", "capacity", "taken", "score"),
    [
        # The scalar resource cases of TestNodeResourcesBalancedAllocation.
        pytest.param(
            make_pod(requests={GPU: "1"}),
            {**SMALL, GPU: "8"},
            {**USED, GPU: "3"},
            75,
            id="requested, some in use",
        ),
        pytest.param(
            make_pod(requests={GPU: "1"}),
            {**SMALL, GPU: "8"},
            USED,
            76,
            id="requested, none in use",
        ),
        pytest.param(POD, {**SMALL, GPU: "8"}, {}, 56, id="not requested"),
        pytest.param(POD, SMALL, {}, 56, id="not requested, not offered"),
        pytest.param(
            make_pod(requests={"cpu": "3", "memory": "5000", GPU: "1"}),
            SMALL,
            {},
            56,
            id="requested, not offered",
        ),
    ],
)
def test_extended_resource_counts_where_it_is_requested_and_offered(
    pod: Pod, capacity: Amounts, taken: Amounts, score: int
) -> None:
    assert score_on_node(pod, capacity, taken, WITH_GPU) == score


@pytest.mark.parametrize(
    ("args", "capacity"),
    [
        pytest.param(balancing("cpu"), {}, id="one resource"),
        pytest.param(WITH_GPU, {"cpu": "0", "memory": "0"}, id="one on the node"),
        pytest.param(
            WITH_GPU, {"cpu": "0", "memory": "0", GPU: "0"}, id="none on the node"
        ),
    ],
)
def test_fewer_than_two_resources_are_always_balanced(
    args: Args, capacity: Amounts
) -> None:
    pod = make_pod(requests={"cpu": "1", GPU: "1"})
    assert score_on_node(pod, {GPU: "4", **capacity}, {}, args) == 75


@pytest.mark.parametrize(
    ("pod", "args"),
    [
        pytest.param(make_pod(), None, id="no requests"),
        pytest.param(
            make_pod(requests={"cpu": "0", "memory": "0"}), None, id="zero requests"
        ),
        pytest.param(
            make_pod(requests={GPU: "1"}), None, id="only of what is not balanced"
        ),
        pytest.param(make_pod(requests={"cpu": "1"}), balancing(GPU), id="not of it"),
    ],
)
def test_pod_that_requests_nothing_is_not_scored(pod: Pod, args: Args | None) -> None:
    # Rule 15.
    harness = harness_of((LARGE, USED), args=args)
    assert harness.score(pod) == {}
    assert harness.score(pod, pre_score=False) == {"a": 0}


def test_score_does_not_need_pre_score() -> None:
    # Rule 8.
    harness = harness_of((LARGE, USED), (LARGE, {"cpu": "3"}))
    assert harness.score(POD, pre_score=False) == {"a": 74, "b": 73}


def test_requests_have_no_defaults() -> None:
    pod = make_pod(requests={"cpu": "3"})
    capacity = {"cpu": "6", "memory": "1Gi"}
    assert score_on_node(pod, capacity, {}) == 62  # not 67, as with 200Mi of memory


def test_pod_level_requests_count() -> None:
    # Rule 13: Fit's score ignores them, this one does not.
    pod = make_pod(requests={"cpu": "1"}, pod_requests={"cpu": "3", "memory": "5000"})
    assert score_on_node(pod, {"cpu": "4", "memory": "10000"}, {}) == 68


def test_status_of_the_incoming_pod_counts() -> None:
    # As in upstream, this scorer, unlike Fit's, considers resizes in progress.
    requests = {"cpu": Quantity("3"), "memory": Quantity("5000")}
    given = ResourceRequirements(requests=requests)
    statuses = (ContainerStatus(name="main", resources=given),)
    pod = msgspec.structs.replace(
        make_pod(requests={"cpu": "1", "memory": "5000"}),
        status=PodStatus(container_statuses=statuses),
    )
    assert score_on_node(pod, {"cpu": "4", "memory": "10000"}, {}) == 68


def fragment(pod: Pod) -> object:
    plugin = PluginHarness(NodeResourcesBalancedAllocation).plugin
    return plugin.sign_pod(pod)


def test_fragment_is_what_the_pod_requests_of_the_balanced_resources() -> None:
    pod = make_pod(requests={"cpu": "1", "memory": "1Gi", GPU: "1"})
    other = make_pod(requests={"memory": "1024Mi", "cpu": "1000m"}, labels={"a": "b"})
    assert fragment(pod) == fragment(other)
    assert hash(fragment(pod)) == hash(fragment(other))
    assert fragment(pod) != fragment(make_pod(requests={"cpu": "1"}))


def balance_by_rule(fractions: Sequence[Fraction]) -> float:
    """Return ``100 * (1 - deviation)``, not truncated."""
    if not fractions:
        return 100
    mean = sum(fractions) / len(fractions)
    variance = sum((fraction - mean) ** 2 for fraction in fractions) / len(fractions)
    return 100 * (1 - math.sqrt(variance))


def fractions_by_rule(
    node: NodeInfo, names: Sequence[str], requests: Mapping[str, int], share: int
) -> list[Fraction]:
    """Return the usage of each resource, with ``share`` times the pod."""
    return [
        min(
            Fraction(node.requested.get(name) + share * requests[name], capacity),
            Fraction(1),
        )
        for name in names
        if (capacity := node.allocatable.get(name))
        and (requests[name] or "/" not in name)
    ]


def is_near_an_integer(number: float) -> bool:
    return abs(number - round(number)) < 1e-9


MEGABYTES = st.integers(0, 4000).map(lambda amount: f"{amount}M")
AMOUNTS = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.integers(0, 4000).map(lambda amount: f"{amount}m"),
        "memory": MEGABYTES,
        "ephemeral-storage": MEGABYTES,
        GPU: st.integers(0, 7).map(str),
        FOO: st.integers(0, 7).map(str),
    },
)
CLUSTERS = st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=1, max_size=6)
NAMES = st.lists(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", GPU, FOO]),
    min_size=1,
    unique=True,
)


@given(cluster=CLUSTERS, amounts=AMOUNTS, names=NAMES)
def test_score_counts_as_the_rule_says(
    cluster: list[tuple[Amounts, Amounts]], amounts: dict[str, str], names: list[str]
) -> None:
    harness = harness_of(*cluster, args=balancing(*names))
    pod = make_pod(requests=amounts)
    requests = {name: pod_requests(pod).get(name) for name in names}
    scores = harness.score(pod)  # compares the scalar hook and its twin, too
    assert bool(scores) is any(requests.values())
    for node in harness.snapshot if scores else ():
        after, before = (
            balance_by_rule(fractions_by_rule(node, names, requests, share))
            for share in (1, 0)
        )
        if is_near_an_integer(after) or is_near_an_integer(before):
            continue  # there the last bit of a float decides
        assert scores[node.name] == 50 + (50 + int(after) - int(before)) // 2


def test_scores_follow_the_cluster() -> None:
    harness = harness_of((LARGE, {}), (LARGE, {}), (LARGE, {}))
    assert harness.score(POD) == {"a": 73, "b": 73, "c": 73}
    new = make_pod(name="new", node="b", requests={"memory": "10000"})
    harness.snapshot.add_pod(new)
    assert harness.score(POD) == {"a": 73, "b": 76, "c": 73}
    harness.snapshot.remove_node("a")
    harness.snapshot.add_node(make_node(name="c", capacity={**LARGE, "cpu": "12"}))
    assert harness.score(POD) == {"b": 76, "c": 75}
    harness.snapshot.remove_pod(new)
    harness.snapshot.add_node(make_node(name="d", capacity={"cpu": "0"}))
    assert harness.score(POD) == {"b": 73, "c": 75, "d": 75}


def test_scores_follow_a_cluster_in_which_much_has_changed() -> None:
    names = [f"node-{index:03}" for index in range(200)]
    nodes = [make_node(name=name, capacity=LARGE) for name in names]
    harness = PluginHarness(NodeResourcesBalancedAllocation, nodes=nodes)
    assert set(harness.score(POD).values()) == {73}
    for name in names[:100]:
        new = make_pod(name=f"on-{name}", node=name, requests={"memory": "10000"})
        harness.snapshot.add_pod(new)
    assert harness.score(POD) == {
        name: 76 if index < 100 else 73 for index, name in enumerate(names)
    }


def test_without_arguments_cpu_and_memory_are_balanced() -> None:
    assert NodeResourcesBalancedAllocationArgs().resources == (
        ResourceSpec(name="cpu", weight=1),
        ResourceSpec(name="memory", weight=1),
    )


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"resources": []}, id="no resources"),
        pytest.param(
            {"resources": [{"name": "cpu"}, {"name": "memory", "weight": 0}]},
            id="no weight and weight 0",
        ),
    ],
)
def test_what_is_not_given_is_filled_in(args: Args) -> None:
    # SetDefaults_NodeResourcesBalancedAllocationArgs.
    assert score_on_node(POD, LARGE, USED, args) == 74


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        pytest.param(
            [{"name": "cpu", "weight": 2}],
            r"resources\[0\]\.weight: expected an integer equal to 1, got 2",
            id="weight",
        ),
        pytest.param(
            [{"name": "cpu"}, {"name": "memory"}, {"name": "cpu"}],
            r"resources\[2\]\.name: 'cpu' is listed already",
            id="twice the same",
        ),
        pytest.param(
            [{"weight": 1}],
            r"resources\[0\]\.name: required, but not given",
            id="no name",
        ),
    ],
)
def test_wrong_argument_is_told_with_its_path(
    resources: list[dict[str, object]], message: str
) -> None:
    # ValidateNodeResourcesBalancedAllocationArgs.
    path = r"profiles\[0\]\.pluginConfig\[0\]\.args\."
    with pytest.raises(ConfigErrors, match=path + message):
        harness_of(args={"resources": resources})
