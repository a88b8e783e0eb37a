"""InterPodAffinity: rules 5, 8, 26 and 27 of the parity format."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, Pod, Status
from quaymaster.config import ConfigErrors
from quaymaster.objects import LabelSelector, LabelSelectorRequirement, PodAffinityTerm
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    PluginStatusError,
    SmallCluster,
    clusters,
    make_affinity_term,
    make_namespace,
    make_node,
    make_pod,
    nodes,
    pods,
)
from quaymaster_inter_pod_affinity import InterPodAffinity

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WEB, DB = {"app": "web"}, {"app": "db"}

FAR = Status.unresolvable("node(s) didn't match pod affinity rules")
NEAR = Status.unschedulable("node(s) didn't match pod anti-affinity rules")
UNWELCOME = Status.unschedulable(
    "node(s) didn't satisfy existing pods anti-affinity rules"
)

NODES = [
    make_node(name="a", zone="east"),
    make_node(name="b", zone="east"),
    make_node(name="c", zone="west"),
    make_node(name="d"),
]
NAMESPACES = [
    make_namespace(name="default", labels={"team": "blue"}),
    make_namespace(name="other", labels={"team": "red"}),
]


def condition(operator: str, *values: str) -> LabelSelector:
    requirement = LabelSelectorRequirement(key="team", operator=operator, values=values)
    return LabelSelector(match_expressions=(requirement,))


def near(
    selector: LabelSelector | Mapping[str, str] | None = WEB,
    *,
    topology_key: str = ZONE,
    namespaces: Sequence[str] = (),
    namespace_selector: LabelSelector | Mapping[str, str] | None = None,
) -> PodAffinityTerm:
    return make_affinity_term(
        selector=selector,
        topology_key=topology_key,
        namespaces=namespaces,
        namespace_selector=namespace_selector,
    )


def harness_of(
    *pods: Pod,
    args: Mapping[str, object] | None = None,
    nodes: Sequence[Node] = NODES,
) -> PluginHarness:
    return PluginHarness(
        InterPodAffinity, args=args, nodes=nodes, pods=pods, objects=NAMESPACES
    )


def web(node: str, *, name: str = "web", namespace: str = "default") -> Pod:
    return make_pod(name=name, node=node, labels=WEB, namespace=namespace)


def test_pod_that_nobody_cares_about_is_left_alone() -> None:
    harness = harness_of(web("a"))
    assert harness.pre_filter(make_pod()) == Status.skip()
    assert harness.score(make_pod()) == {}


def test_rule_5_required_anti_affinity_of_others_alone_is_no_skip() -> None:
    averse = make_pod(name="x", node="a", pod_anti_affinity=[near(WEB)])
    harness = harness_of(averse)
    assert harness.pre_filter(make_pod()) == Status.skip()
    assert harness.pre_filter(make_pod(labels=WEB)) is None


def test_rule_5_aversion_on_nodes_without_the_key_is_a_skip() -> None:
    averse = make_pod(name="x", node="d", pod_anti_affinity=[near(WEB)])
    assert harness_of(averse).pre_filter(make_pod(labels=WEB)) == Status.skip()


def test_rule_26_affinity_is_judged_first_and_is_unresolvable() -> None:
    averse = make_pod(name="x", node="c", labels=DB, pod_anti_affinity=[near(DB)])
    harness = harness_of(web("a"), averse)
    pod = make_pod(labels=DB, pod_affinity=[near(WEB)], pod_anti_affinity=[near(DB)])
    assert harness.filter(pod) == {"c": FAR, "d": FAR}


def test_rule_26_own_anti_affinity_is_judged_before_that_of_others() -> None:
    averse = make_pod(name="x", node="a", labels=DB, pod_anti_affinity=[near(WEB)])
    harness = harness_of(averse)
    pod = make_pod(labels=WEB, pod_anti_affinity=[near(DB, topology_key=HOST)])
    assert harness.filter(pod) == {"a": NEAR, "b": UNWELCOME}


def test_rule_26_affinity_counts_only_pods_that_match_all_terms() -> None:
    both = make_pod(name="both", node="c", labels={"app": "web", "tier": "front"})
    front = make_pod(name="front", node="a", labels={"tier": "front"})
    terms = [near(WEB), near({"tier": "front"})]
    pod = make_pod(pod_affinity=terms)
    # In the east there is one pod for each term, but none for both.
    assert harness_of(web("a"), front, both).filter(pod) == {
        "a": FAR,
        "b": FAR,
        "d": FAR,
    }


def test_rule_26_affinity_needs_such_a_pod_around_every_key() -> None:
    pod = make_pod(pod_affinity=[near(WEB), near(WEB, topology_key=HOST)])
    assert harness_of(web("a")).filter(pod) == dict.fromkeys("bcd", FAR)


def test_rule_26_first_pod_of_a_group_passes_where_the_keys_are() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[near(WEB)])
    assert harness_of().filter(pod) == {"d": FAR}


def test_rule_26_pod_that_does_not_match_itself_is_not_the_first() -> None:
    for terms in (
        [near(WEB)],
        [near(DB, namespaces=["other"])],
        [near(DB), near({"tier": "x"})],
    ):
        pod = make_pod(labels=DB, pod_affinity=terms)
        assert harness_of().filter(pod) == dict.fromkeys("abcd", FAR)


def test_rule_26_first_pod_rule_ends_with_a_pod_anywhere() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[near(WEB)])
    assert harness_of(web("c")).filter(pod) == {"a": FAR, "b": FAR, "d": FAR}
    # A pod on a node without the key is in no domain.
    assert harness_of(web("d")).filter(pod) == {"d": FAR}


def test_rule_26_terminating_pods_count() -> None:
    leaving = make_pod(name="x", node="c", labels=WEB, deletion_timestamp=1)
    harness = harness_of(leaving)
    assert harness.filter(make_pod(pod_anti_affinity=[near(WEB)])) == {"c": NEAR}


@pytest.mark.parametrize(
    ("term", "rejected"),
    [
        pytest.param(near(WEB), "ab", id="neither: the pod's own namespace"),
        pytest.param(near(WEB, namespaces=["other"]), "c", id="named"),
        pytest.param(
            near(WEB, namespaces=["default", "other"]), "abc", id="several named"
        ),
        pytest.param(near(WEB, namespaces=["unknown"]), "", id="unknown"),
        pytest.param(near(WEB, namespace_selector={"team": "red"}), "c", id="selected"),
        pytest.param(
            near(WEB, namespaces=["default"], namespace_selector={"team": "red"}),
            "abc",
            id="named and selected",
        ),
        pytest.param(
            near(WEB, namespace_selector=LabelSelector()), "abc", id="all namespaces"
        ),
        pytest.param(
            near(WEB, namespace_selector=condition("In", "red", "green")),
            "c",
            id="selected by one of several values",
        ),
        pytest.param(
            near(WEB, namespace_selector=condition("NotIn", "blue")),
            "c",
            id="selected, as one without labels would be",
        ),
        pytest.param(near(None), "", id="no selector matches nothing"),
        pytest.param(near(LabelSelector()), "ab", id="empty selector"),
    ],
)
def test_rule_26_namespaces_of_terms(term: PodAffinityTerm, rejected: str) -> None:
    pods = [web("a"), web("c", namespace="other")]
    pod = make_pod(pod_anti_affinity=[term])
    assert harness_of(*pods).filter(pod) == dict.fromkeys(rejected, NEAR)


@pytest.mark.parametrize(
    ("term", "is_rejected"),
    [
        pytest.param(near(WEB), False, id="the carrier's own namespace"),
        pytest.param(near(WEB, namespaces=["default"]), True, id="named"),
        pytest.param(near(WEB, namespace_selector={"team": "blue"}), True, id="label"),
        pytest.param(
            near(WEB, namespace_selector={"team": "red"}), False, id="another label"
        ),
        pytest.param(near(WEB, namespace_selector=LabelSelector()), True, id="all"),
        pytest.param(
            near(WEB, namespace_selector=condition("NotIn", "blue")),
            False,
            id="label that it must not have",
        ),
    ],
)
def test_rule_26_terms_of_others_look_at_the_pod_s_namespace(
    term: PodAffinityTerm, is_rejected: bool
) -> None:
    averse = make_pod(name="x", namespace="other", node="c", pod_anti_affinity=[term])
    rejected = harness_of(averse).filter(make_pod(labels=WEB))
    assert rejected == ({"c": UNWELCOME} if is_rejected else {})


def test_rule_26_label_keys_are_not_read() -> None:
    term = PodAffinityTerm(
        label_selector=LabelSelector(match_labels=WEB),
        topology_key=ZONE,
        match_label_keys=("version",),
        mismatch_label_keys=("tier",),
    )
    running = make_pod(
        name="x", node="c", labels={"app": "web", "version": "1", "tier": "x"}
    )
    pod = make_pod(labels={"version": "2", "tier": "x"}, pod_anti_affinity=[term])
    assert harness_of(running).filter(pod) == {"c": NEAR}


def test_added_and_removed_pods_count_in_the_state() -> None:
    harness = harness_of(web("a"))
    pod = make_pod(
        labels=DB,
        pod_affinity=[near(WEB)],
        pod_anti_affinity=[near(DB, topology_key=HOST)],
    )
    assert harness.filter(pod) == {"c": FAR, "d": FAR}
    handle, state = harness.handle, harness.state.clone()
    a, c = harness.snapshot.nodes.get("a"), harness.snapshot.nodes.get("c")
    assert a is not None
    assert c is not None
    nominated = web("", name="nominated")
    assert handle.filters.add_pod(state, pod, nominated, c) is None
    assert handle.filters.run(state, pod, c) is None
    averse = make_pod(name="averse", pod_anti_affinity=[near(DB)])
    assert handle.filters.add_pod(state, pod, averse, c) is None
    assert reasons(handle.filters.run(state, pod, c)) == UNWELCOME.reasons
    assert handle.filters.remove_pod(state, pod, averse, c) is None
    rival = make_pod(name="rival", labels=DB)
    assert handle.filters.add_pod(state, pod, rival, c) is None
    assert reasons(handle.filters.run(state, pod, c)) == NEAR.reasons
    victim = next(iter(a.pods.values()))
    assert handle.filters.remove_pod(state, pod, victim, a) is None
    assert reasons(handle.filters.run(state, pod, a)) == FAR.reasons
    # The original of the clone has not changed.
    assert handle.filters.run(harness.state, pod, a) is None


def reasons(status: Status | None) -> tuple[str, ...]:
    assert status is not None
    return status.reasons


def test_removing_the_only_pod_makes_the_next_one_the_first() -> None:
    harness = harness_of(web("a"))
    pod = make_pod(labels=WEB, pod_affinity=[near(WEB)])
    harness.filter(pod)
    a, c = harness.snapshot.nodes.get("a"), harness.snapshot.nodes.get("c")
    assert a is not None
    assert c is not None
    victim = next(iter(a.pods.values()))
    assert harness.handle.filters.remove_pod(harness.state, pod, victim, a) is None
    assert harness.handle.filters.run(harness.state, pod, c) is None


def test_pods_added_on_a_node_without_the_key_are_nowhere() -> None:
    harness = harness_of()
    pod = make_pod(labels=WEB, pod_anti_affinity=[near(WEB)])
    harness.filter(pod)
    node = harness.snapshot.nodes.get("d")
    assert node is not None
    assert harness.handle.filters.add_pod(harness.state, pod, web(""), node) is None
    assert harness.handle.filters.run(harness.state, pod, node) is None


def test_rule_8_hooks_without_their_state_are_errors() -> None:
    pod = make_pod(labels=WEB, pod_anti_affinity=[near(WEB)])
    harness = harness_of()
    error = Status.from_error(
        'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    )
    assert harness.filter(pod, pre_filter=False) == dict.fromkeys("abcd", error)
    with pytest.raises(PluginStatusError, match="failed to read"):
        harness.score(pod, pre_filter=False, pre_score=False)
    node = next(iter(harness.snapshot))
    for change in (harness.handle.filters.add_pod, harness.handle.filters.remove_pod):
        status = change(harness.state, pod, web(""), node)
        assert status is not None
        assert status.is_error


def test_rule_27_sums_of_own_preferences_may_be_negative() -> None:
    harness = harness_of(web("a"), web("b", name="w2"), make_pod(node="c", labels=DB))
    pod = make_pod(
        preferred_pod_affinity=[(5, near(DB)), (2, near(WEB, topology_key=HOST))],
        preferred_pod_anti_affinity=[(3, near(WEB))],
    )
    assert harness.score(pod) == {"a": 2 - 6, "b": 2 - 6, "c": 5, "d": 0}
    assert harness.normalized(pod) == {"a": 0, "b": 0, "c": 100, "d": 44}


def test_rule_27_preferences_of_running_pods_count_too() -> None:
    fond = make_pod(name="fond", node="a", preferred_pod_affinity=[(7, near(WEB))])
    averse = make_pod(
        name="averse", node="c", preferred_pod_anti_affinity=[(2, near(WEB))]
    )
    harness = harness_of(fond, averse)
    assert harness.score(make_pod(labels=WEB)) == {"a": 7, "b": 7, "c": -2, "d": 0}
    assert harness.score(make_pod(labels=DB)) == {}


@pytest.mark.parametrize(
    ("weight", "scores"),
    [
        (None, {"a": 1, "b": 1, "c": 0, "d": 0}),
        (10, {"a": 10, "b": 10, "c": 0, "d": 0}),
        (0, {}),
    ],
)
def test_rule_27_required_affinity_of_running_pods_has_the_hard_weight(
    weight: int | None, scores: dict[str, int]
) -> None:
    bound = make_pod(name="x", node="a", labels=WEB, pod_affinity=[near(WEB)])
    args = None if weight is None else {"hardPodAffinityWeight": weight}
    assert harness_of(bound, args=args).score(make_pod(labels=WEB)) == scores


def test_rule_27_pods_on_nodes_without_the_key_contribute_nothing() -> None:
    pod = make_pod(preferred_pod_affinity=[(5, near(WEB))])
    assert harness_of(web("d")).score(pod) == {}


def test_rule_27_entry_with_sum_0_is_no_skip() -> None:
    pod = make_pod(
        preferred_pod_affinity=[(5, near(WEB))],
        preferred_pod_anti_affinity=[(5, near(WEB))],
    )
    harness = harness_of(web("a"))
    assert harness.score(pod) == dict.fromkeys("abcd", 0)
    assert harness.normalized(pod) == dict.fromkeys("abcd", 0)


def test_rule_27_preferences_of_others_can_be_ignored() -> None:
    fond = make_pod(name="fond", node="a", preferred_pod_affinity=[(7, near(WEB))])
    args = {"ignorePreferredTermsOfExistingPods": True}
    harness = harness_of(fond, args=args)
    assert harness.score(make_pod(labels=WEB)) == {}
    # As in upstream, preferences of other pods count for a pod with preferences.
    pod = make_pod(labels=WEB, preferred_pod_affinity=[(1, near(DB))])
    assert harness.score(pod) == {"a": 7, "b": 7, "c": 0, "d": 0}


BROKEN = LabelSelector(
    match_expressions=(LabelSelectorRequirement(key="app", operator="Sometimes"),)
)


def test_broken_term_rejects_the_pod() -> None:
    pod = make_pod(
        pod_affinity=[near(BROKEN)], preferred_pod_anti_affinity=[(1, near(BROKEN))]
    )
    harness = harness_of()
    status = harness.pre_filter(pod)
    assert isinstance(status, Status)
    assert status.message.startswith("parsing pod: [requiredAffinityTerms: ")
    with pytest.raises(PluginStatusError, match="failed to parse pod: "):
        harness.score(pod, pre_filter=False)


@pytest.mark.parametrize(
    ("field", "list_name"),
    [
        ("pod_affinity", "requiredAffinityTerms"),
        ("pod_anti_affinity", "requiredAntiAffinityTerms"),
        ("preferred_pod_affinity", "preferredAffinityTerms"),
        ("preferred_pod_anti_affinity", "preferredAntiAffinityTerms"),
    ],
)
def test_value_that_no_label_can_have_is_told_as_upstream_does(
    field: str, list_name: str
) -> None:
    term = near(LabelSelector(match_labels={"service": "{{.bad-value.}}"}))
    terms = [(1, term)] if field.startswith("preferred") else [term]
    fields: dict[str, Any] = {field: terms}
    status = harness_of().pre_filter(make_pod(**fields))
    assert isinstance(status, Status)
    assert status.code.name == "UNSCHEDULABLE_AND_UNRESOLVABLE"
    assert status.message == (
        f"parsing pod: {list_name}: values[0][service]: Invalid value: "
        '"{{.bad-value.}}": a valid label must be an empty string or consist of '
        "alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
        "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
    )


def test_broken_terms_of_running_pods_count_for_nothing() -> None:
    averse = make_pod(name="x", node="a", pod_anti_affinity=[near(WEB), near(BROKEN)])
    harness = harness_of()
    harness.snapshot.add_pod(averse)
    assert harness.filter(make_pod(labels=WEB)) == {}


def test_pods_are_signed_by_what_decides_about_them() -> None:
    plugin = harness_of().plugin
    assert isinstance(plugin, InterPodAffinity)
    signature, same = (
        make_pod(name=name, labels=WEB, pod_affinity=[near(WEB)]) for name in "xy"
    )
    assert plugin.sign_pod(signature) == plugin.sign_pod(same)
    for other in (
        make_pod(labels=DB, pod_affinity=[near(WEB)]),
        make_pod(labels=WEB, pod_affinity=[near(DB)]),
        make_pod(labels=WEB, pod_anti_affinity=[near(WEB)]),
        make_pod(namespace="other", labels=WEB, pod_affinity=[near(WEB)]),
        make_pod(labels=WEB),
    ):
        assert plugin.sign_pod(signature) != plugin.sign_pod(other)


@pytest.mark.parametrize("weight", [-1, 101, "1", True])
def test_wrong_weight_is_an_error(weight: object) -> None:
    message = "hardPodAffinityWeight: expected an integer from 0 to 100"
    with pytest.raises(ConfigErrors, match=message):
        harness_of(args={"hardPodAffinityWeight": weight})


def test_wrong_flag_or_field_is_an_error() -> None:
    with pytest.raises(ConfigErrors, match="ignorePreferredTermsOfExistingPods"):
        harness_of(args={"ignorePreferredTermsOfExistingPods": "yes"})
    with pytest.raises(ConfigErrors, match="unknown field"):
        harness_of(args={"softPodAffinityWeight": 1})


TERMS = st.builds(
    near,
    st.sampled_from([WEB, DB, None, LabelSelector()]),
    topology_key=st.sampled_from([ZONE, HOST, "rack"]),
    namespaces=st.sampled_from([[], ["other"]]),
    namespace_selector=st.sampled_from(
        [None, None, LabelSelector(), {"team": "blue"}, condition("DoesNotExist")]
    ),
)
WEIGHTED = st.tuples(st.integers(1, 3), TERMS)
PODS: st.SearchStrategy[dict[str, object]] = st.builds(
    dict,
    labels=st.sampled_from([WEB, DB, {}]),
    namespace=st.sampled_from(["default", "other", "unknown"]),
    pod_affinity=st.lists(TERMS, max_size=2),
    pod_anti_affinity=st.lists(TERMS, max_size=2),
    preferred_pod_affinity=st.lists(WEIGHTED, max_size=2),
    preferred_pod_anti_affinity=st.lists(WEIGHTED, max_size=2),
)


class TestContract(PluginContract):
    plugin = InterPodAffinity

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        own = PODS.map(lambda values: make_pod(**values))  # type: ignore[arg-type]  # drawn above
        racks = nodes({"labels": {"rack": "1"}}, {"labels": {"rack": "2"}})
        return clusters(
            nodes=racks, pods=own | pods(), objects=st.sampled_from(NAMESPACES)
        )


def verdict(status: Status | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if status is None else (status.code.label, status.reasons)


@given(
    running=st.lists(st.tuples(st.sampled_from("abcd"), PODS), max_size=4),
    moving=st.tuples(st.sampled_from("abcd"), PODS),
    incoming=PODS.filter(lambda pod: bool(pod["pod_affinity"])),
)
def test_imagined_pods_count_as_real_ones(
    running: list[tuple[str, dict[str, object]]],
    moving: tuple[str, dict[str, object]],
    incoming: dict[str, object],
) -> None:
    pods = [
        make_pod(name=f"p{number}", node=node, **values)  # type: ignore[arg-type]  # drawn above
        for number, (node, values) in enumerate([*running, moving])
    ]
    mover, pod = pods[-1], make_pod(**incoming)  # type: ignore[arg-type]  # drawn above
    without, with_it = harness_of(*pods[:-1]), harness_of(*pods)
    for harness, other in ((without, with_it), (with_it, without)):
        expected = other.filter(pod)
        harness.filter(pod)
        state, handle = harness.state.clone(), harness.handle
        home = harness.snapshot.nodes.get(mover.node_name)
        assert home is not None
        change = (
            handle.filters.add_pod if harness is without else handle.filters.remove_pod
        )
        assert change(state, pod, mover, home) is None
        for node in harness.snapshot:
            got = handle.filters.run(state, pod, node)
            assert verdict(got) == verdict(expected.get(node.name))
