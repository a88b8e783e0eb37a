"""NodeAffinity's score: rules 8 and 19 of the parity format.

Cases that mirror upstream's are from ``TestNodeAffinityPriority`` in
``node_affinity_test.go`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeaffinity``).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod, Status
from quaymaster.objects import NodeSelectorRequirement, NodeSelectorTerm
from quaymaster.testing import PluginHarness, PluginStatusError, make_node, make_pod
from quaymaster_node_affinity import NodeAffinity

Args = dict[str, object]

WEIGHTED = [
    (2, {"foo": "bar"}),
    (4, {"key": "value"}),
    (5, {"foo": "bar", "key": "value", "az": "az1"}),
]
NODES = [
    make_node(name="one", labels={"foo": "bar"}),
    make_node(name="two", labels={"key": "value"}),
    make_node(name="three", labels={"az": "az1"}),
    make_node(name="all", labels={"foo": "bar", "key": "value", "az": "az1"}),
]


def added(*preferences: tuple[int, str, str]) -> Args:
    """Make arguments that add preferences: weight, label and value."""
    return {
        "addedAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": weight,
                    "preference": {
                        "matchExpressions": [
                            {"key": key, "operator": "In", "values": [value]}
                        ]
                    },
                }
                for weight, key, value in preferences
            ]
        }
    }


def harness(args: Args | None = None) -> PluginHarness:
    return PluginHarness(NodeAffinity, args=args, nodes=NODES)


def test_score_is_the_sum_of_the_weights_that_match() -> None:
    pod = make_pod(preferred_node_affinity=WEIGHTED)
    assert harness().score(pod) == {"one": 2, "two": 4, "three": 0, "all": 11}


def test_the_highest_score_becomes_100() -> None:
    pod = make_pod(preferred_node_affinity=WEIGHTED)
    assert harness().normalized(pod) == {"one": 18, "two": 36, "three": 0, "all": 100}


def test_no_match_anywhere_leaves_all_at_0() -> None:
    pod = make_pod(preferred_node_affinity=[(3, {"nowhere": "x"})])
    assert set(harness().normalized(pod).values()) == {0}


def test_score_does_not_need_pre_score() -> None:
    # Rule 8.
    pod = make_pod(preferred_node_affinity=WEIGHTED)
    assert harness().score(pod, pre_score=False) == harness().score(pod)
    assert set(harness().score(make_pod(), pre_score=False).values()) == {0}


@pytest.mark.parametrize(
    "pod",
    [make_pod(), make_pod(node_selector={"foo": "bar"}), make_pod(node_affinity={})],
    ids=["nothing", "selector", "requirement"],
)
def test_pod_without_preferences_is_not_scored(pod: Pod) -> None:
    # Rule 19.
    assert harness().score(pod) == {}


def test_added_preferences_count_for_every_pod() -> None:
    # Rule 19.
    args = added((1, "foo", "bar"), (3, "key", "value"))
    assert harness(args).score(make_pod()) == {"one": 1, "two": 3, "three": 0, "all": 4}
    pod = make_pod(preferred_node_affinity=[(2, {"foo": "bar"})])
    assert harness(args).score(pod) == {"one": 3, "two": 3, "three": 0, "all": 6}


def preferring(weight: int, *conditions: tuple[str, str, list[str]]) -> Pod:
    expressions = tuple(
        NodeSelectorRequirement(key=key, operator=operator, values=tuple(values))
        for key, operator, values in conditions
    )
    term = NodeSelectorTerm(match_expressions=expressions)
    return make_pod(preferred_node_affinity=[(weight, term)])


def test_empty_preference_matches_nothing() -> None:
    # Rule 19.
    assert set(harness().score(preferring(5)).values()) == {0}


BROKEN = ("invalid key", "In", ["bar"])


def test_broken_preference_fails_the_attempt() -> None:
    # Rule 19.
    with pytest.raises(PluginStatusError, match=r'^Error: \[0\].*"invalid key"'):
        harness().score(preferring(2, BROKEN))


def test_broken_preference_fails_the_attempt_without_pre_score() -> None:
    # Rule 8.
    with pytest.raises(PluginStatusError, match="invalid key"):
        harness().score(preferring(2, BROKEN), pre_score=False)


def test_broken_preference_fails_many_nodes_at_once() -> None:
    cluster = harness()
    plugin, nodes = cluster.plugin, cluster.snapshot.nodes
    assert isinstance(plugin, NodeAffinity)
    answer = plugin.score_nodes(preferring(2, BROKEN), nodes, nodes.rows)
    assert isinstance(answer, Status)
    assert answer.is_error


def test_broken_preference_of_weight_0_is_not_looked_at() -> None:
    assert set(harness().score(preferring(0, BROKEN)).values()) == {0}


KEYS, VALUES = st.sampled_from(["foo", "key"]), st.sampled_from(["1", "2"])
LABELS = st.dictionaries(KEYS, VALUES)
PREFERENCES = st.lists(
    st.tuples(st.integers(1, 100), st.dictionaries(KEYS, VALUES, min_size=1)),
    min_size=1,
    max_size=4,
)


@given(label_sets=st.lists(LABELS, min_size=1, max_size=5), preferences=PREFERENCES)
def test_score_counts_as_the_rule_says(
    label_sets: list[dict[str, str]], preferences: list[tuple[int, dict[str, str]]]
) -> None:
    nodes = [
        make_node(name=f"node-{index}", labels=labels)
        for index, labels in enumerate(label_sets)
    ]
    pod = make_pod(preferred_node_affinity=preferences)
    scores = PluginHarness(NodeAffinity, nodes=nodes).score(pod)
    expected = {
        node.name: sum(
            weight
            for weight, wanted in preferences
            if wanted.items() <= node.labels.items()
        )
        for node in nodes
    }
    assert scores == expected
    highest = max(expected.values())
    assert PluginHarness(NodeAffinity, nodes=nodes).normalized(pod) == {
        name: 100 * score // highest if highest else 0
        for name, score in expected.items()
    }
