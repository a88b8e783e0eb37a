"""NodeAffinity's filter: rules 8 and 19 of the parity format.

Cases that mirror upstream's are from ``node_affinity_test.go`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeaffinity``).
"""

from collections.abc import Mapping
from typing import ClassVar

import pytest
from hypothesis import strategies as st

from quaymaster import Pod, PreFilterResult, Status
from quaymaster.objects import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    SmallCluster,
    clusters,
    make_node,
    make_pod,
    nodes,
)
from quaymaster_node_affinity import NodeAffinity

MISMATCH = Status.unresolvable("node(s) didn't match Pod's node affinity/selector")
NOT_ENFORCED = Status.unresolvable(
    "node(s) didn't match scheduler-enforced node affinity"
)
CONFLICT = Status.unresolvable("pod affinity terms conflict")

NAME = "metadata.name"


def need(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def term(
    *expressions: NodeSelectorRequirement,
    fields: tuple[NodeSelectorRequirement, ...] = (),
) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=expressions, match_fields=fields)


def named(*names: str, operator: str = "In") -> NodeSelectorTerm:
    """Make a term that allows, or forbids, nodes by name."""
    return term(fields=(need(NAME, operator, *names),))


def requires(
    *terms: NodeSelectorTerm, node_selector: Mapping[str, str] | None = None
) -> Pod:
    affinity = NodeSelector(node_selector_terms=terms)
    return make_pod(node_affinity=affinity, node_selector=node_selector)


def matches(pod: Pod, *, name: str = "node", **labels: str) -> bool:
    """Whether the filter passes a single node with these labels."""
    nodes = [make_node(name=name, labels=labels)]
    rejected = PluginHarness(NodeAffinity, nodes=nodes).filter(pod)
    assert rejected in ({}, {name: MISMATCH})
    return not rejected


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        # The cases of TestNodeAffinity about node selectors.
        pytest.param({}, {}, True, id="no selector"),
        pytest.param({"foo": "bar"}, {}, False, id="missing label"),
        pytest.param({"foo": "bar"}, {"foo": "bar"}, True, id="same label"),
        pytest.param({"foo": "bar"}, {"foo": "x"}, False, id="other value"),
        pytest.param(
            {"foo": "bar"}, {"foo": "bar", "baz": "blah"}, True, id="labels are more"
        ),
        pytest.param(
            {"foo": "bar", "baz": "blah"}, {"foo": "bar"}, False, id="labels are fewer"
        ),
    ],
)
def test_node_selector_asks_for_every_label(
    selector: dict[str, str], labels: dict[str, str], expected: bool
) -> None:
    assert matches(make_pod(node_selector=selector), **labels) is expected


@pytest.mark.parametrize(
    ("requirement", "labels", "expected"),
    [
        pytest.param(need("foo", "In", "bar", "b"), {"foo": "b"}, True, id="in"),
        pytest.param(need("foo", "In", "bar"), {"foo": "x"}, False, id="not in"),
        pytest.param(need("foo", "In", "bar"), {}, False, id="in, no label"),
        pytest.param(need("foo", "NotIn", "bar"), {"foo": "x"}, True, id="NotIn"),
        pytest.param(
            need("foo", "NotIn", "bar"), {"foo": "bar"}, False, id="not NotIn"
        ),
        pytest.param(need("foo", "NotIn", "bar"), {}, True, id="NotIn, no label"),
        pytest.param(need("foo", "Exists"), {"foo": ""}, True, id="exists"),
        pytest.param(need("foo", "Exists"), {}, False, id="does not exist"),
        pytest.param(need("foo", "DoesNotExist"), {}, True, id="DoesNotExist"),
        pytest.param(need("foo", "DoesNotExist"), {"foo": ""}, False, id="not so"),
        pytest.param(need("kernel", "Gt", "0204"), {"kernel": "0206"}, True, id="Gt"),
        pytest.param(
            need("kernel", "Gt", "206"), {"kernel": "206"}, False, id="not Gt"
        ),
        pytest.param(need("kernel", "Lt", "7"), {"kernel": "6"}, True, id="Lt"),
        pytest.param(need("kernel", "Lt", "7"), {"kernel": "x"}, False, id="no number"),
        pytest.param(need("kernel", "Lt", "7"), {}, False, id="Lt, no label"),
    ],
)
def test_operators_compare_a_label(
    requirement: NodeSelectorRequirement, labels: dict[str, str], expected: bool
) -> None:
    assert matches(requires(term(requirement)), **labels) is expected


IS_A = term(need("foo", "In", "a"))
IS_B = term(need("foo", "In", "b"))
BROKEN = term(need("foo", "In"), need("foo", "Sometimes", "a"))
EMPTY = term()


@pytest.mark.parametrize(
    ("terms", "labels", "expected"),
    [
        pytest.param([IS_A, IS_B], {"foo": "b"}, True, id="one term is enough"),
        pytest.param([IS_A, IS_B], {"foo": "c"}, False, id="no term matches"),
        pytest.param([], {"foo": "a"}, False, id="no terms"),
        pytest.param([EMPTY], {"foo": "a"}, False, id="empty term"),
        pytest.param([EMPTY, IS_A], {"foo": "a"}, True, id="empty term and another"),
        pytest.param([BROKEN], {"foo": "a"}, False, id="broken term"),
        pytest.param([BROKEN, IS_A], {"foo": "a"}, True, id="broken term and another"),
        pytest.param(
            [term(need("foo", "In", "a"), need("baz", "Exists"))],
            {"foo": "a"},
            False,
            id="every requirement of a term",
        ),
        pytest.param(
            [term(need("foo", "In", "a"), fields=(need(NAME, "In", "node"),))],
            {"foo": "b"},
            False,
            id="name matches, label does not",
        ),
        pytest.param(
            [term(need("foo", "In", "a"), fields=(need(NAME, "NotIn", "node"),))],
            {"foo": "a"},
            False,
            id="label matches, name does not",
        ),
        pytest.param(
            [term(fields=(need(NAME, "NotIn", "another"),))], {}, True, id="other name"
        ),
        pytest.param(
            [term(fields=(need("spec.x", "In", "y"),))], {}, False, id="unknown field"
        ),
        pytest.param(
            [term(fields=(need("spec.x", "NotIn", "y"),))],
            {},
            True,
            id="unknown field is empty",
        ),
    ],
)
def test_some_term_must_match(
    terms: list[NodeSelectorTerm], labels: dict[str, str], expected: bool
) -> None:
    # Rule 19.
    assert matches(requires(*terms), **labels) is expected


def test_selector_and_affinity_must_both_match() -> None:
    pod = requires(IS_A, node_selector={"baz": "x"})
    assert matches(pod, foo="a", baz="x")
    assert not matches(pod, foo="a")
    assert not matches(pod, baz="x")


def test_filter_does_not_need_pre_filter() -> None:
    # Rule 8.
    nodes = [make_node(name="a", labels={"foo": "a"}), make_node(name="b")]
    harness = PluginHarness(NodeAffinity, nodes=nodes)
    pod = requires(IS_A)
    assert harness.filter(pod, pre_filter=False) == {"b": MISMATCH}
    assert harness.filter(make_pod(), pre_filter=False) == {}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(), Status.skip(), id="no requirements"),
        pytest.param(
            make_pod(preferred_node_affinity=[(1, {"foo": "a"})]),
            Status.skip(),
            id="only preferences",
        ),
        pytest.param(make_pod(node_selector={"foo": "a"}), None, id="selector"),
        pytest.param(requires(IS_A), None, id="labels"),
        pytest.param(requires(), None, id="no terms"),
        pytest.param(requires(named("a")), {"a"}, id="name"),
        pytest.param(requires(named("a"), named("b")), {"a", "b"}, id="several names"),
        pytest.param(requires(named("a", "b")), {"a", "b"}, id="names in one field"),
        pytest.param(requires(named("a"), IS_A), None, id="a term without a name"),
        pytest.param(requires(named("a"), EMPTY), None, id="an empty term"),
        pytest.param(
            requires(term(need("foo", "In", "a"), fields=(need(NAME, "In", "a"),))),
            {"a"},
            id="name and label",
        ),
        pytest.param(
            requires(term(fields=(need(NAME, "In", "a"), need(NAME, "In", "b")))),
            CONFLICT,
            id="two names at once",
        ),
        pytest.param(
            requires(
                term(fields=(need(NAME, "In", "a"), need(NAME, "In", "b"))), named("c")
            ),
            {"c"},
            id="two names at once, or another",
        ),
        pytest.param(requires(named("a", operator="NotIn")), None, id="forbidden name"),
        pytest.param(
            requires(term(fields=(need("spec.x", "In", "y"),))), None, id="other field"
        ),
    ],
)
def test_pre_filter_finds_the_nodes_that_are_named(
    pod: Pod, expected: set[str] | Status | None
) -> None:
    # Rule 19.
    answer = PluginHarness(NodeAffinity).pre_filter(pod)
    if isinstance(expected, set):
        assert answer == PreFilterResult(frozenset(expected))
    else:
        assert answer == expected


ENFORCED: dict[str, object] = {
    "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
            ]
        }
    }
}


def test_added_affinity_is_asked_first_and_has_its_own_reason() -> None:
    # The added affinity cases of TestNodeAffinity.
    nodes = [
        make_node(name="both", labels={"zone": "z", "foo": "a"}),
        make_node(name="added", labels={"zone": "z"}),
        make_node(name="own", labels={"foo": "a"}),
        make_node(name="neither"),
    ]
    harness = PluginHarness(NodeAffinity, args=ENFORCED, nodes=nodes)
    assert harness.filter(requires(IS_A)) == {
        "added": MISMATCH,
        "own": NOT_ENFORCED,
        "neither": NOT_ENFORCED,
    }
    assert harness.filter(make_pod()) == {"own": NOT_ENFORCED, "neither": NOT_ENFORCED}


def test_added_affinity_leaves_no_pod_out() -> None:
    assert PluginHarness(NodeAffinity, args=ENFORCED).pre_filter(make_pod()) is None


def fragment(pod: Pod) -> object:
    plugin = PluginHarness(NodeAffinity).plugin
    return plugin.sign_pod(pod)


@pytest.mark.parametrize(
    ("pod", "other", "is_same"),
    [
        pytest.param(
            make_pod(node_selector={"a": "b", "c": "d"}, labels={"app": "web"}),
            make_pod(node_selector={"c": "d", "a": "b"}),
            True,
            id="equal selectors",
        ),
        pytest.param(requires(IS_A), requires(IS_A), True, id="equal terms"),
        pytest.param(requires(IS_A), requires(IS_B), False, id="other terms"),
        pytest.param(
            make_pod(preferred_node_affinity=[(1, {"foo": "a"})]),
            make_pod(preferred_node_affinity=[(2, {"foo": "a"})]),
            False,
            id="other weights",
        ),
    ],
)
def test_fragment_tells_apart_what_the_plugin_does(
    pod: Pod, other: Pod, is_same: bool
) -> None:
    assert (fragment(pod) == fragment(other)) is is_same
    assert (hash(fragment(pod)) == hash(fragment(other))) is is_same


KEYS = st.sampled_from(["foo", "bar", "kernel", "zone"])
VALUES = st.sampled_from(["a", "b", "1", "07", "3", ""])
LABELS = st.dictionaries(KEYS, VALUES)
REQUIREMENTS = st.builds(
    need,
    KEYS,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Never"]),
    VALUES,
) | st.builds(need, KEYS, st.sampled_from(["In", "NotIn"]), VALUES, VALUES)
FIELDS = st.builds(
    need,
    st.sampled_from([NAME, "spec.x"]),
    st.sampled_from(["In", "NotIn", "Exists"]),
    st.sampled_from(["n0", "n1", "nowhere", ""]),
)
TERMS = st.builds(
    lambda expressions, fields: term(*expressions, fields=tuple(fields)),
    st.lists(REQUIREMENTS, max_size=3),
    st.lists(FIELDS, max_size=2),
)
PODS = st.builds(
    lambda selector, terms: make_pod(
        node_selector=selector,
        node_affinity=(
            None if terms is None else NodeSelector(node_selector_terms=tuple(terms))
        ),
    ),
    LABELS,
    st.none() | st.lists(TERMS, max_size=3),
)


class TestContract(PluginContract):
    plugin = NodeAffinity

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        labels = LABELS | st.just({"foo": "a", "zone": "z"})
        preferring = st.builds(
            lambda labels: make_pod(preferred_node_affinity=[(1, labels)]),
            st.sampled_from([{"foo": "a"}, {"foo": "b"}]),
        )
        return clusters(
            nodes=st.builds(lambda labels: make_node(labels=labels), labels) | nodes(),
            pods=PODS | preferring,
        )


class TestContractOfAnEnforcedAffinity(TestContract):
    args = ENFORCED
    opt_outs: ClassVar[dict[str, str]] = {
        "events": "as upstream's, the hint ignores the added affinity of the old node"
    }
