"""NodeResourcesFit's strategies: rules 8, 13 and 14 of the parity format.

Cases that mirror upstream's are from ``least_allocated_test.go``,
``most_allocated_test.go``, ``requested_to_capacity_ratio_test.go`` and ``fit_test.go``
(kube-scheduler 1.36.2, ``pkg/scheduler/framework/plugins/noderesources``).
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import NodeInfo, Pod
from quaymaster.objects import score_requests
from quaymaster.testing import PluginHarness, make_container, make_node, make_pod
from quaymaster_node_resources_fit import NodeResourcesFit

GPU = "nvidia.com/gpu"
FOO = "intel.com/foo"
BAR = "intel.com/bar"

Shape = Sequence[tuple[int, int]]
Args = dict[str, object]

TO_THE_FULL: Shape = [(0, 0), (100, 10)]
TO_THE_EMPTY: Shape = [(0, 10), (100, 0)]


def strategy(
    name: str, shape: Shape | None = None, /, **weights: int
) -> dict[str, object]:
    """Make the arguments for a strategy; resources have weights."""
    wanted: dict[str, object] = {"type": name}
    if weights:
        wanted["resources"] = [
            {"name": resource, "weight": weight} for resource, weight in weights.items()
        ]
    if shape is not None:
        points = [{"utilization": at, "score": score} for at, score in shape]
        wanted["requestedToCapacityRatio"] = {"shape": points}
    return {"scoringStrategy": wanted}


LEAST = strategy("LeastAllocated")
MOST = strategy("MostAllocated")


def score_on_node(
    pod: Pod,
    *pods: Pod,
    capacity: Mapping[str, str],
    args: Args | None = None,
    pre_score: bool = True,
) -> int:
    """Return the score of a single node with other pods."""
    node = make_node(name="node", capacity=capacity)
    harness = PluginHarness(NodeResourcesFit, args=args, nodes=[node], pods=pods)
    return harness.score(pod, pre_score=pre_score)["node"]


def running(**amounts: str) -> Pod:
    return make_pod(name="running", node="node", limits=amounts)


SMALL = {"cpu": "4", "memory": "10000"}
LARGE = {"cpu": "10", "memory": "20000"}
POD = make_pod(requests={"cpu": "3", "memory": "5000"})
ZEROS = make_pod(requests={"cpu": "0", "memory": "0"})


@pytest.mark.parametrize(
    ("pod", "taken", "capacity", "least", "most"),
    [
        # TestLeastAllocatedScoringStrategy and TestMostAllocatedScoringStrategy.
        pytest.param(ZEROS, {}, SMALL, 100, 0, id="nothing"),
        pytest.param(POD, {}, SMALL, (25 + 50) // 2, (75 + 50) // 2, id="request"),
        pytest.param(
            ZEROS,
            {"cpu": "6", "memory": "5000"},
            LARGE,
            (40 + 75) // 2,
            (60 + 25) // 2,
            id="usage",
        ),
        pytest.param(
            POD,
            {"cpu": "3", "memory": "5000"},
            LARGE,
            (40 + 50) // 2,
            (60 + 50) // 2,
            id="request and usage",
        ),
        pytest.param(
            make_pod(requests={"cpu": "5", "memory": "5000"}),
            {},
            SMALL,
            (0 + 50) // 2,
            (100 + 50) // 2,
            id="more than the capacity",
        ),
        pytest.param(ZEROS, {"cpu": "9"}, {"cpu": "0"}, 100, 0, id="no cpu at all"),
    ],
)
def test_score_is_the_mean_of_cpu_and_memory(
    pod: Pod, taken: dict[str, str], capacity: dict[str, str], least: int, most: int
) -> None:
    others = running(**{"memory": "0", "cpu": "0", **taken})
    assert score_on_node(pod, others, capacity=capacity, args=LEAST) == least
    assert score_on_node(pod, others, capacity=capacity, args=MOST) == most


def test_default_strategy_is_least_allocated() -> None:
    assert score_on_node(POD, capacity=SMALL) == 37


def test_weights_count() -> None:
    weighted = strategy("LeastAllocated", cpu=3, memory=1)
    assert score_on_node(POD, capacity=SMALL, args=weighted) == (3 * 25 + 50) // 4
    weighted = strategy("MostAllocated", cpu=3, memory=1)
    assert score_on_node(POD, capacity=SMALL, args=weighted) == (3 * 75 + 50) // 4


@pytest.mark.parametrize(
    ("pod", "free_cpu"),
    [
        pytest.param(make_pod(images=["a"]), 90, id="one container"),
        pytest.param(make_pod(images=["a", "b", "c"]), 70, id="each container"),
        pytest.param(make_pod(requests={"cpu": "0"}), 100, id="an explicit zero stays"),
        pytest.param(
            make_pod(
                requests={"cpu": "50m"}, init_containers=[make_container(name="init")]
            ),
            90,
            id="an init container",
        ),
        pytest.param(
            make_pod(pod_requests={"cpu": "700m"}),
            90,
            id="pod-level requests are not seen",
        ),
        pytest.param(
            make_pod(requests={"cpu": "300m"}, overhead={"cpu": "100m"}),
            60,
            id="overhead",
        ),
    ],
)
def test_containers_without_a_request_count_with_the_default(
    pod: Pod, free_cpu: int
) -> None:
    # Rule 13.
    args = strategy("LeastAllocated", cpu=1)
    assert score_on_node(pod, capacity={"cpu": "1"}, args=args) == free_cpu


def test_running_containers_without_a_request_count_with_the_default() -> None:
    pods = [make_pod(name=name, node="node") for name in "abc"]
    args = strategy("LeastAllocated", cpu=1)
    assert score_on_node(ZEROS, *pods, capacity={"cpu": "1"}, args=args) == 70


def test_only_cpu_and_memory_have_defaults() -> None:
    args = strategy("LeastAllocated", **{"ephemeral-storage": 1})
    pods = [make_pod(name=name, node="node") for name in "abc"]
    assert score_on_node(make_pod(), *pods, capacity={}, args=args) == 100


@pytest.mark.parametrize(
    ("requests", "capacity", "score"),
    [
        pytest.param({GPU: "1"}, {GPU: "4"}, (100 + 3 * 75) // 4, id="requested"),
        pytest.param({}, {GPU: "4"}, 100, id="not requested"),
        pytest.param({GPU: "1"}, {GPU: "0"}, 100, id="none on the node"),
        pytest.param({GPU: "1"}, {}, 100, id="unknown to the node"),
    ],
)
def test_extended_resource_counts_where_it_is_requested_and_offered(
    requests: dict[str, str], capacity: dict[str, str], score: int
) -> None:
    # Rule 14, and TestFitScore "with Extended resources".
    args = strategy("LeastAllocated", cpu=1, **{GPU: 3})
    pod = make_pod(requests={"cpu": "0", **requests})
    assert score_on_node(pod, capacity=capacity, args=args) == score


@pytest.mark.parametrize(
    "name", ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
)
def test_nodes_without_any_scored_resource_score_0(name: str) -> None:
    shape = TO_THE_EMPTY if name == "RequestedToCapacityRatio" else None
    args = strategy(name, shape, **{FOO: 1, BAR: 1})
    nodes = [make_node(name="a", capacity={FOO: "2"}), make_node(name="b")]
    harness = PluginHarness(NodeResourcesFit, args=args, nodes=nodes)
    assert harness.score(make_pod())["b"] == 0
    assert harness.score(make_pod(requests={FOO: "1", BAR: "1"}))["b"] == 0


def test_the_number_of_pods_is_no_resource_to_score() -> None:
    args = strategy("MostAllocated", pods=1)
    assert score_on_node(make_pod(), running(), capacity={}, args=args) == 0


def test_ignored_resources_are_scored() -> None:
    # Rule 16.
    args = {**strategy("MostAllocated", **{FOO: 1}), "ignoredResources": [FOO]}
    pod = make_pod(requests={FOO: "1"})
    assert score_on_node(pod, capacity={FOO: "2"}, args=args) == 50


@pytest.mark.parametrize("args", [LEAST, MOST, strategy("LeastAllocated", cpu=2)])
def test_score_does_not_need_pre_score(args: Args) -> None:
    # Rule 8, and TestFitScore "if PreScore is not called".
    with_it = score_on_node(POD, capacity=SMALL, args=args)
    assert score_on_node(POD, capacity=SMALL, args=args, pre_score=False) == with_it


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        # TestBrokenLinearFunction, with scores ten times as high.
        pytest.param(
            [(10, 1), (90, 9)],
            {0: 10, 9: 10, 10: 10, 15: 15, 19: 19, 20: 20, 89: 89, 90: 90, 100: 90},
            id="level at both ends",
        ),
        pytest.param(
            [(0, 2), (40, 10), (100, 0)],
            {0: 20, 20: 60, 30: 80, 40: 100, 70: 50, 100: 0},
            id="up and down",
        ),
        pytest.param([(0, 2), (40, 2), (100, 2)], {0: 20, 70: 20, 100: 20}, id="level"),
        pytest.param([(50, 3)], {0: 30, 50: 30, 100: 30}, id="one point"),
        pytest.param(
            [(0, 10), (7, 0), (100, 5)],
            {1: 86, 2: 72, 6: 15, 7: 0, 8: 0, 9: 1},
            id="truncated towards the left corner",
        ),
    ],
)
def test_ratio_follows_the_line(shape: Shape, values: dict[int, int]) -> None:
    args = strategy("RequestedToCapacityRatio", shape, **{FOO: 1})
    nodes = [make_node(name="node", capacity={FOO: "100"})]
    harness = PluginHarness(NodeResourcesFit, args=args, nodes=nodes)
    for utilization, value in values.items():
        pod = make_pod(requests={"cpu": "0", FOO: str(utilization)})
        expected = value if utilization else 0  # not requested, so ignored
        assert harness.score(pod)["node"] == expected, utilization


@pytest.mark.parametrize(
    ("requests", "taken", "score"),
    [
        # TestResourceBinPackingSingleExtended and ...MultipleExtended.
        pytest.param({FOO: "2"}, {}, 25, id="one resource"),
        pytest.param({FOO: "4"}, {FOO: "4"}, 100, id="full"),
        pytest.param({FOO: "4"}, {FOO: "6"}, 100, id="more than full"),
        pytest.param(
            {FOO: "2", BAR: "2"}, {}, round((3 * 25 + 5 * 50) / 8), id="two resources"
        ),
        pytest.param({}, {FOO: "2"}, 0, id="nothing requested"),
    ],
)
def test_ratio_packs_extended_resources(
    requests: dict[str, str], taken: dict[str, str], score: int
) -> None:
    args = strategy("RequestedToCapacityRatio", TO_THE_FULL, **{FOO: 3, BAR: 5})
    pod = make_pod(requests=requests)
    capacity = {FOO: "8", BAR: "4"}
    assert score_on_node(pod, running(**taken), capacity=capacity, args=args) == score


def test_ratio_leaves_resources_that_score_0_out_of_the_mean() -> None:
    # Rule 14.
    args = strategy("RequestedToCapacityRatio", TO_THE_FULL, cpu=1, memory=1)
    pod = make_pod(requests={"cpu": "2", "memory": "0"})
    assert score_on_node(pod, capacity=SMALL, args=args) == 50


@pytest.mark.parametrize(
    ("memory", "score"), [("2500", 38), ("2400", 37)], ids=["half up", "below half"]
)
def test_ratio_rounds_the_mean(memory: str, score: int) -> None:
    # (50 + 25) / 2 is 37.5; (50 + 24) / 2 is 37.
    args = strategy("RequestedToCapacityRatio", TO_THE_FULL, cpu=1, memory=1)
    pod = make_pod(requests={"cpu": "2", "memory": memory})
    assert score_on_node(pod, capacity=SMALL, args=args) == score


def amounts_of(node: NodeInfo, name: str) -> tuple[int, int]:
    """Return a node's offer of a resource and its pods' usage, with defaults."""
    if name == "cpu":
        return node.allocatable.milli_cpu, node.non_zero_milli_cpu
    if name == "memory":
        return node.allocatable.memory, node.non_zero_memory
    return node.allocatable.get(name), node.requested.get(name)


Rate = Callable[[int, int], int]
"""Return the function ``(used, capacity) -> score`` for one resource."""


def rate_free(used: int, capacity: int) -> int:
    return (
        0 if used > capacity else math.floor(Fraction(capacity - used, capacity) * 100)
    )


def rate_used(used: int, capacity: int) -> int:
    return math.floor(Fraction(min(used, capacity), capacity) * 100)


def rate_by_line(shape: Shape) -> Rate:
    def rate(used: int, capacity: int) -> int:
        utilization = rate_used(used, capacity)
        if utilization <= shape[0][0]:
            return 10 * shape[0][1]
        for (left, low), (right, high) in itertools.pairwise(shape):
            if utilization <= right:
                run = Fraction(utilization - left, right - left)
                return 10 * low + math.trunc(10 * (high - low) * run)
        return 10 * shape[-1][1]

    return rate


def scored_by_rule(
    node: NodeInfo, pod: Pod, weights: Mapping[str, int], rate: Rate, *, skip_0: bool
) -> Fraction:
    """Compute the mean of the resources' scores naively."""
    requests = score_requests(pod)
    total = weight_sum = 0
    for name, weight in weights.items():
        capacity, used = amounts_of(node, name)
        request = requests.get(name)
        if capacity == 0 or (request == 0 and "/" in name):
            continue
        score = rate(used + request, capacity)
        if score > 0 or not skip_0:
            total += score * weight
            weight_sum += weight
    return Fraction(total, weight_sum) if weight_sum else Fraction(0)


SHAPES: st.SearchStrategy[list[tuple[int, int]]] = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 10)),
    min_size=1,
    max_size=4,
    unique_by=lambda point: point[0],
).map(sorted)
WEIGHTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", GPU, FOO]),
    st.integers(1, 100),
    min_size=1,
)
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


def harness_of(
    cluster: Sequence[tuple[Mapping[str, str], Mapping[str, str]]], args: Args
) -> PluginHarness:
    """Make nodes with these capacities, each with a pod with these requests."""
    nodes, pods = [], []
    for index, (capacity, amounts) in enumerate(cluster):
        name = f"node-{index}"
        nodes.append(make_node(name=name, capacity=capacity))
        pods.append(make_pod(name=f"running-{index}", node=name, limits=amounts))
    return PluginHarness(NodeResourcesFit, args=args, nodes=nodes, pods=pods)


@given(
    cluster=CLUSTERS,
    requests=AMOUNTS,
    weights=WEIGHTS,
    name=st.sampled_from(["LeastAllocated", "MostAllocated"]),
)
def test_allocated_strategies_count_as_the_rule_says(
    cluster: list[tuple[dict[str, str], dict[str, str]]],
    requests: dict[str, str],
    weights: dict[str, int],
    name: str,
) -> None:
    harness = harness_of(cluster, strategy(name, **weights))
    pod = make_pod(requests=requests)
    rate = rate_free if name == "LeastAllocated" else rate_used
    assert harness.score(pod) == {
        node.name: math.floor(scored_by_rule(node, pod, weights, rate, skip_0=False))
        for node in harness.snapshot
    }


@given(cluster=CLUSTERS, requests=AMOUNTS, weights=WEIGHTS, shape=SHAPES)
def test_ratio_counts_as_the_rule_says(
    cluster: list[tuple[dict[str, str], dict[str, str]]],
    requests: dict[str, str],
    weights: dict[str, int],
    shape: Shape,
) -> None:
    args = strategy("RequestedToCapacityRatio", shape, **weights)
    harness = harness_of(cluster, args)
    pod = make_pod(requests=requests)
    expected = {}
    for node in harness.snapshot:
        mean = scored_by_rule(node, pod, weights, rate_by_line(shape), skip_0=True)
        expected[node.name] = math.floor(mean + Fraction(1, 2))
    assert harness.score(pod) == expected


@given(
    # Up to 2**53 // 101 floats are exact; above that integers take over.
    capacity=st.integers(1, 2**53 // 101) | st.integers(2**53 // 101, 2**62),
    share=st.fractions(0, 1),
    name=st.sampled_from(["LeastAllocated", "MostAllocated"]),
)
def test_amounts_of_any_size_divide_exactly(
    capacity: int, share: Fraction, name: str
) -> None:
    used = math.floor(capacity * share)
    pod = make_pod(requests={FOO: str(used)})
    rate = rate_free if name == "LeastAllocated" else rate_used
    score = score_on_node(
        pod, capacity={FOO: str(capacity)}, args=strategy(name, **{FOO: 1})
    )
    assert score == (rate(used, capacity) if used else 0)


def test_scores_follow_the_cluster() -> None:
    nodes = [make_node(name=name, capacity={"cpu": "4"}) for name in "abc"]
    args = strategy("LeastAllocated", cpu=1)
    harness = PluginHarness(NodeResourcesFit, args=args, nodes=nodes)
    pod = make_pod(requests={"cpu": "1"})
    assert harness.score(pod) == {"a": 75, "b": 75, "c": 75}
    harness.snapshot.add_pod(make_pod(name="new", node="b", requests={"cpu": "1"}))
    harness.snapshot.add_node(make_node(name="c", capacity={"cpu": "10"}))
    harness.snapshot.remove_node("a")
    assert harness.score(pod) == {"b": 50, "c": 90}
    harness.snapshot.add_node(make_node(name="d", capacity={"cpu": "0"}))
    assert harness.score(pod) == {"b": 50, "c": 90, "d": 0}
