"""PodTopologySpread: rules 8 and 22 to 25 of the parity format."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, Pod, Snapshot, Status
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
    PodTemplateSpec,
    ReplicaSet,
    ReplicaSetSpec,
    Toleration,
    TopologySpreadConstraint,
)
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    PluginStatusError,
    SmallCluster,
    make_metadata,
    make_node,
    make_pod,
    make_service,
    make_spread_constraint,
    pods,
)
from quaymaster.testing import clusters as small_clusters
from quaymaster_pod_topology_spread import PodTopologySpread
from quaymaster_pod_topology_spread.constraints import Action, constraints_of
from quaymaster_pod_topology_spread.logarithm import go_log
from quaymaster_pod_topology_spread.scoring import ScoreState, counted

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
APP = {"app": "web"}

UNEVEN = Status.unschedulable("node(s) didn't match pod topology spread constraints")
UNLABELLED = Status.unresolvable(
    "node(s) didn't match pod topology spread constraints (missing required label)"
)


def soft(
    *, topology_key: str = ZONE, max_skew: int = 1, selector: object = APP
) -> TopologySpreadConstraint:
    assert selector is None or isinstance(selector, (dict, LabelSelector))
    return make_spread_constraint(
        selector=selector,
        topology_key=topology_key,
        max_skew=max_skew,
        when_unsatisfiable="ScheduleAnyway",
    )


def hard(
    *, topology_key: str = ZONE, max_skew: int = 1, min_domains: int | None = None
) -> TopologySpreadConstraint:
    return make_spread_constraint(
        selector=APP,
        topology_key=topology_key,
        max_skew=max_skew,
        min_domains=min_domains,
    )


def web_pods(placed: Mapping[str, int], *, labels: object = APP) -> list[Pod]:
    """Make this many pods of the application on each node."""
    assert isinstance(labels, dict)
    return [
        make_pod(name=f"web-{node}-{number}", node=node, labels=labels)
        for node, count in placed.items()
        for number in range(count)
    ]


def two_zones(**placed: int) -> PluginHarness:
    """Make nodes a and b in the east, c and d in the west."""
    nodes = [
        make_node(name="a", zone="east"),
        make_node(name="b", zone="east"),
        make_node(name="c", zone="west"),
        make_node(name="d", zone="west"),
    ]
    return PluginHarness(PodTopologySpread, nodes=nodes, pods=web_pods(placed))


def test_pod_without_constraints_is_left_alone() -> None:
    harness = two_zones(a=3)
    pod = make_pod(labels=APP)
    assert harness.pre_filter(pod) == Status.skip()
    assert harness.score(pod) == {}


@pytest.mark.parametrize(
    ("placed", "max_skew", "rejected"),
    [
        pytest.param({}, 1, "", id="nothing anywhere"),
        pytest.param({"a": 1}, 1, "ab", id="one more in the east"),
        pytest.param({"a": 1, "b": 1}, 2, "ab", id="two more in the east"),
        pytest.param({"a": 1, "b": 1}, 3, "", id="within the skew"),
        pytest.param({"a": 1, "d": 1}, 1, "", id="even"),
        pytest.param({"a": 2, "b": 1, "c": 2}, 1, "ab", id="three to two"),
    ],
)
def test_hard_constraint_rejects_crowded_domains(
    placed: dict[str, int], max_skew: int, rejected: str
) -> None:
    pod = make_pod(labels=APP, spread=[hard(max_skew=max_skew)])
    assert two_zones(**placed).filter(pod) == dict.fromkeys(rejected, UNEVEN)


def test_rule_22_only_nodes_with_all_hard_keys_are_counted() -> None:
    nodes = [
        make_node(name="a", zone="east", labels={"rack": "1"}),
        make_node(name="b", zone="east"),
        make_node(name="c", zone="west", labels={"rack": "2"}),
    ]
    pods = web_pods({"b": 5})
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=pods)
    pod = make_pod(labels=APP, spread=[hard(), hard(topology_key="rack")])
    # Node b has no rack: its pods do not count for the east.
    assert harness.filter(pod) == {"b": UNLABELLED}


def test_rule_22_node_affinity_is_honoured_and_taints_are_ignored_by_default() -> None:
    nodes = [
        make_node(name="a", zone="east", labels={"disk": "ssd"}),
        make_node(
            name="b", zone="west", labels={"disk": "ssd"}, taints=["x:NoExecute"]
        ),
        make_node(name="c", zone="north"),
    ]
    pods = web_pods({"a": 1, "b": 1})
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=pods)
    pod = make_pod(labels=APP, node_selector={"disk": "ssd"}, spread=[hard()])
    # The empty north does not count as a domain, because its node has no such disk.
    assert harness.filter(pod) == {}
    ignoring = make_spread_constraint(selector=APP, node_affinity_policy="Ignore")
    pod = make_pod(labels=APP, node_selector={"disk": "ssd"}, spread=[ignoring])
    assert harness.filter(pod) == {"a": UNEVEN, "b": UNEVEN}


@pytest.mark.parametrize(
    ("taint", "tolerations", "rejected"),
    [
        pytest.param("x:NoSchedule", [], "", id="untolerated: no domain"),
        pytest.param("x:NoExecute", [], "", id="the same to execute"),
        pytest.param("x:NoSchedule", ["x"], "a", id="tolerated"),
        pytest.param("x:PreferNoSchedule", [], "a", id="soft taint"),
    ],
)
def test_rule_22_honoured_taints(
    taint: str, tolerations: list[str], rejected: str
) -> None:
    nodes = [
        make_node(name="a", zone="east"),
        make_node(name="b", zone="west", taints=[taint]),
    ]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=web_pods({"a": 1}))
    honouring = make_spread_constraint(selector=APP, node_taints_policy="Honor")
    pod = make_pod(labels=APP, tolerations=tolerations, spread=[honouring])
    assert harness.filter(pod) == dict.fromkeys(rejected, UNEVEN)


@pytest.mark.parametrize(("is_on", "rejected"), [(True, "a"), (False, "")])
def test_honoured_taints_are_compared_if_the_gate_is_on(
    is_on: bool, rejected: str
) -> None:
    """``matchNodeInclusionPolicies`` (kube-scheduler 1.37.2, ``common.go``)."""
    nodes = [
        make_node(name="a", zone="east"),
        make_node(name="b", zone="west", taints=["sla=950:NoSchedule"]),
    ]
    harness = PluginHarness(
        PodTopologySpread,
        nodes=nodes,
        pods=web_pods({"a": 1}),
        kubernetes=Kubernetes(
            feature_gates={"TaintTolerationComparisonOperators": is_on}
        ),
    )
    pod = make_pod(
        labels=APP,
        tolerations=[Toleration(key="sla", operator="Gt", value="750")],
        spread=[make_spread_constraint(selector=APP, node_taints_policy="Honor")],
    )
    # A west that counts is empty, so the east has one pod too many.
    assert harness.filter(pod) == dict.fromkeys(rejected, UNEVEN)


def test_rule_22_cordoned_nodes_are_counted() -> None:
    nodes = [
        make_node(name="a", zone="east"),
        make_node(name="b", zone="west", unschedulable=True),
    ]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=web_pods({"a": 1}))
    assert harness.filter(make_pod(labels=APP, spread=[hard()])) == {"a": UNEVEN}


def test_rule_22_node_without_the_label_is_unresolvable() -> None:
    nodes = [make_node(name="a", zone="east"), make_node(name="b")]
    harness = PluginHarness(PodTopologySpread, nodes=nodes)
    assert harness.filter(make_pod(spread=[hard()])) == {"b": UNLABELLED}


@pytest.mark.parametrize(
    ("min_domains", "rejected"),
    [(None, ""), (1, ""), (2, ""), (3, "abcd")],
)
def test_rule_22_too_few_domains_make_the_minimum_0(
    min_domains: int | None, rejected: str
) -> None:
    harness = two_zones(a=1, c=1)
    pod = make_pod(labels=APP, spread=[hard(min_domains=min_domains)])
    assert harness.filter(pod) == dict.fromkeys(rejected, UNEVEN)


def test_rule_22_first_violated_constraint_decides() -> None:
    nodes = [make_node(name="a", zone="east"), make_node(name="b", zone="west")]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=web_pods({"a": 1}))
    crowded, missing = hard(), hard(topology_key="rack", max_skew=9)
    # No node has a rack, so none is counted and no domain is crowded.
    pod = make_pod(labels=APP, spread=[crowded, missing])
    assert harness.filter(pod) == {"a": UNLABELLED, "b": UNLABELLED}
    nodes = [
        make_node(name="a", zone="east", labels={"rack": "1"}),
        make_node(name="b", zone="west", labels={"rack": "1"}),
        make_node(name="c", zone="east"),
    ]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=web_pods({"a": 1}))
    pod = make_pod(labels=APP, spread=[crowded, missing])
    assert harness.filter(pod) == {"a": UNEVEN, "c": UNEVEN}
    pod = make_pod(labels=APP, spread=[missing, crowded])
    assert harness.filter(pod) == {"a": UNEVEN, "c": UNLABELLED}


def leaving(name: str, node: str) -> Pod:
    return make_pod(name=name, node=node, labels=APP, deletion_timestamp=1)


def test_rule_23_terminating_pods_are_not_counted() -> None:
    nodes = [make_node(name="a", zone="east"), make_node(name="b", zone="west")]
    gone = leaving("gone", "a")
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=[gone])
    assert harness.filter(make_pod(labels=APP, spread=[hard()])) == {}
    for key in (ZONE, HOST):
        scores = harness.score(make_pod(labels=APP, spread=[soft(topology_key=key)]))
        assert scores == {"a": 0, "b": 0}


def test_rule_23_removing_a_terminating_pod_lowers_the_count_nevertheless() -> None:
    nodes = [make_node(name="a", zone="east"), make_node(name="b", zone="west")]
    gone = leaving("gone", "a")
    pods = [gone, *web_pods({"a": 1})]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=pods)
    pod = make_pod(labels=APP, spread=[hard()])
    assert harness.filter(pod) == {"a": UNEVEN}
    node = harness.snapshot.nodes.get("a")
    assert node is not None
    node, state = node.clone(), harness.state.clone()
    node.remove_pod(gone)
    assert harness.handle.filters.remove_pod(state, pod, gone, node) is None
    assert harness.handle.filters.run(state, pod, node) is None
    # The original of the clone has not changed.
    assert harness.handle.filters.run(harness.state, pod, node) is not None


def test_added_and_removed_pods_change_the_counts_and_the_minimum() -> None:
    harness = two_zones(a=1, c=1)
    pod = make_pod(labels=APP, spread=[hard()])
    assert harness.filter(pod) == {}
    handle, state = harness.handle, harness.state.clone()
    a, c = harness.snapshot.nodes.get("a"), harness.snapshot.nodes.get("c")
    assert a is not None
    assert c is not None
    nominated = make_pod(name="nominated", labels=APP)
    assert handle.filters.add_pod(state, pod, nominated, a) is None
    rejection = handle.filters.run(state, pod, a)
    assert rejection is not None
    assert rejection.reasons == UNEVEN.reasons
    assert handle.filters.run(state, pod, c) is None
    assert handle.filters.remove_pod(state, pod, nominated, a) is None
    assert handle.filters.run(state, pod, a) is None
    victim = next(iter(c.pods.values()))
    assert handle.filters.remove_pod(state, pod, victim, c) is None
    assert handle.filters.run(state, pod, a) is not None


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(make_pod(name="x", labels={"app": "db"}), id="another label"),
        pytest.param(
            make_pod(name="x", namespace="other", labels=APP), id="another namespace"
        ),
    ],
)
def test_pods_that_do_not_count_change_nothing(other: Pod) -> None:
    harness = two_zones()
    pod = make_pod(labels=APP, spread=[hard()])
    harness.filter(pod)
    node = harness.snapshot.nodes.get("a")
    assert node is not None
    assert harness.handle.filters.add_pod(harness.state, pod, other, node) is None
    assert harness.handle.filters.run(harness.state, pod, node) is None


def test_add_pod_without_pre_filter_is_an_error() -> None:
    harness = two_zones()
    node = next(iter(harness.snapshot))
    pod = make_pod(labels=APP, spread=[hard()])
    for change in (harness.handle.filters.add_pod, harness.handle.filters.remove_pod):
        status = change(harness.state, pod, make_pod(name="x"), node)
        assert status is not None
        assert status.is_error


def test_rule_24_empty_selector_counts_no_pods_but_matches_itself() -> None:
    harness = two_zones(a=5)
    everything = make_spread_constraint(selector=LabelSelector(), min_domains=3)
    pod = make_pod(labels=APP, spread=[everything])
    assert harness.filter(pod) == {}
    # With the pod itself, a hypothetical pod makes two, and the minimum is 0.
    node = harness.snapshot.nodes.get("a")
    assert node is not None
    other = make_pod(name="other")
    assert harness.handle.filters.add_pod(harness.state, pod, other, node) is None
    assert harness.handle.filters.run(harness.state, pod, node) is not None
    for key in (ZONE, HOST):
        constraint = soft(topology_key=key, selector=LabelSelector())
        scores = harness.score(make_pod(labels=APP, spread=[constraint]))
        assert set(scores.values()) == {0}


def test_rule_24_no_selector_matches_nothing() -> None:
    harness = two_zones(a=5)
    nothing = make_spread_constraint(selector=None, min_domains=3)
    assert harness.filter(make_pod(labels=APP, spread=[nothing])) == {}


def test_rule_24_match_label_keys_narrow_the_selector() -> None:
    nodes = [make_node(name="a", zone="east"), make_node(name="b", zone="west")]
    pods = [
        *web_pods({"a": 3}, labels={**APP, "version": "1"}),
        make_pod(name="new", node="b", labels={**APP, "version": "2"}),
    ]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=pods)
    constraint = make_spread_constraint(
        selector=APP, match_label_keys=["version", "missing"]
    )
    for version, rejected in (("1", "a"), ("2", "b"), ("3", "")):
        pod = make_pod(labels={**APP, "version": version}, spread=[constraint])
        assert harness.filter(pod) == dict.fromkeys(rejected, UNEVEN)
    pod = make_pod(labels=APP, spread=[constraint])
    assert harness.filter(pod) == {"a": UNEVEN}


def test_rule_25_raw_score_is_the_count_weighted_by_the_number_of_domains() -> None:
    harness = two_zones(a=3, c=1)
    pod = make_pod(labels=APP, spread=[soft(max_skew=4)])
    east, west = round(3 * math.log(4) + 3), round(1 * math.log(4) + 3)
    assert harness.score(pod) == {"a": east, "b": east, "c": west, "d": west}
    normalized = harness.normalized(pod)
    assert normalized == {
        "a": 100 * west // east,
        "b": 100 * west // east,
        "c": 100,
        "d": 100,
    }


def test_rule_25_hosts_are_asked_for_their_own_pods() -> None:
    """Even if two nodes share a host name, and with any inclusion policies."""
    nodes = [
        make_node(name="a", labels={HOST: "shared"}, taints=["x:NoSchedule"]),
        make_node(name="b", labels={HOST: "shared"}),
    ]
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=web_pods({"a": 4}))
    constraint = make_spread_constraint(
        selector=APP,
        topology_key=HOST,
        when_unsatisfiable="ScheduleAnyway",
        node_taints_policy="Honor",
    )
    scores = harness.score(make_pod(labels=APP, spread=[constraint]))
    assert scores == {"a": round(4 * math.log(4)), "b": 0}


def test_rule_25_domains_are_those_of_the_feasible_nodes() -> None:
    harness = two_zones(a=2, c=1)
    pod = make_pod(labels=APP, spread=[soft()])
    nodes, state = harness.snapshot.nodes, harness.state
    rows = nodes.rows_of(["a", "b"])
    plugin = harness.plugin
    assert isinstance(plugin, PodTopologySpread)
    assert plugin.pre_score(state, pod, nodes, rows) is None
    scores = plugin.score_nodes(state, rows)
    # One domain is left, so the two pods weigh log(3) each.
    assert isinstance(scores, np.ndarray)
    assert scores.tolist() == [round(2 * math.log(3))] * 2
    assert [plugin.score(state, info) for info in nodes.infos_at(rows)] == (
        scores.tolist()
    )


def test_zones_that_have_lost_their_nodes_leave_the_others_as_they_are() -> None:
    snapshot = Snapshot()
    for name, zone in zip("xyz", "abc", strict=True):
        snapshot.add_node(make_node(name=name, zone=zone))
    for number, node in enumerate("yzz"):
        snapshot.add_pod(make_pod(name=f"p{number}", node=node, labels=APP))
    assert len(snapshot.counts.domains(ZONE).existing) == 3
    snapshot.add_node(make_node(name="x", zone="b"))
    constraints = constraints_of(
        make_pod(labels=APP, spread=[soft()]), Action.SCHEDULE_ANYWAY
    )
    state = ScoreState(
        counted(constraints, snapshot.counts),
        snapshot.nodes,
        snapshot.nodes.rows,
        require_all_keys=True,
    )
    raw = state.score_rows(snapshot.nodes.rows)
    assert raw.tolist() == [state.score(info) for info in snapshot]
    quick = state.normalize(raw.view(), snapshot.nodes.rows)
    assert quick.tolist() == state.normalize(raw.copy(), snapshot.nodes.rows).tolist()


def test_rule_25_nodes_without_a_key_get_0() -> None:
    nodes = [
        make_node(name="a", zone="east"),
        make_node(name="b"),
        make_node(name="c", zone="west"),
    ]
    pods = web_pods({"a": 2, "b": 7, "c": 1})
    harness = PluginHarness(PodTopologySpread, nodes=nodes, pods=pods)
    pod = make_pod(labels=APP, spread=[soft(), soft(topology_key=HOST)])
    weight = math.log(4)
    assert harness.score(pod) == {
        "a": round(4 * weight),
        "b": 0,
        "c": round(2 * weight),
    }
    assert harness.normalized(pod) == {"a": 100 * 3 // 6, "b": 0, "c": 100}


def test_rule_25_all_nodes_ignored_get_0() -> None:
    nodes = [make_node(name="a"), make_node(name="b")]
    harness = PluginHarness(PodTopologySpread, nodes=nodes)
    pod = make_pod(labels=APP, spread=[soft()])
    assert harness.normalized(pod) == {"a": 0, "b": 0}


def test_cluster_without_nodes_is_not_scored() -> None:
    harness = PluginHarness(PodTopologySpread)
    assert harness.score(make_pod(labels=APP, spread=[soft()])) == {}


def test_rule_25_without_pods_all_nodes_are_the_best() -> None:
    pod = make_pod(labels=APP, spread=[soft()])
    assert set(two_zones().normalized(pod).values()) == {100}


def test_rule_25_system_defaults_keep_nodes_without_a_zone() -> None:
    nodes = [
        make_node(name="a", zone="east"),
        make_node(name="b", zone="west"),
        make_node(name="c"),
    ]
    pods = web_pods({"a": 4, "b": 1, "c": 2})
    harness = PluginHarness(
        PodTopologySpread,
        nodes=nodes,
        pods=pods,
        objects=[make_service(selector=APP)],
    )
    # Three hosts; two zones and no zone at all make three domains.
    host, zone = math.log(5), math.log(5)
    assert harness.score(make_pod(labels=APP)) == {
        "a": round(4 * host + 2 + (4 * zone + 4)),
        "b": round(1 * host + 2 + (1 * zone + 4)),
        "c": round(2 * host + 2),
    }


def test_rule_25_empty_zone_and_no_zone_are_one_domain_of_the_defaults() -> None:
    nodes = [make_node(name="a", zone=""), make_node(name="b")]
    pods = web_pods({"a": 1, "b": 2})
    harness = PluginHarness(
        PodTopologySpread,
        nodes=nodes,
        pods=pods,
        objects=[make_service(selector=APP)],
    )
    assert harness.score(make_pod(labels=APP)) == {
        "a": round(math.log(4) + 2 + (3 * math.log(3) + 4)),
        "b": round(2 * math.log(4) + 2),
    }


BROKEN = LabelSelector(
    match_expressions=(LabelSelectorRequirement(key="app", operator="Sometimes"),)
)


def replica_set(selector: LabelSelector | None) -> ReplicaSet:
    metadata = make_metadata(ReplicaSet, name="owner", namespace="default")
    template = PodTemplateSpec(metadata=ObjectMeta(labels=APP), spec=make_pod().spec)
    spec = ReplicaSetSpec(selector=selector, template=template, replicas=0)
    return ReplicaSet(metadata=metadata, spec=spec)


def test_rule_25_pods_of_a_replica_set_are_spread_by_default() -> None:
    owner = replica_set(LabelSelector(match_labels=APP))
    nodes = [make_node(name="a", zone="east"), make_node(name="b", zone="east")]
    harness = PluginHarness(
        PodTopologySpread, nodes=nodes, pods=web_pods({"a": 2}), objects=[owner]
    )
    assert harness.score(make_pod(labels=APP, owner=owner)) == {
        "a": round(2 * math.log(4) + 2 + (2 * math.log(3) + 4)),
        "b": round(0 * math.log(4) + 2 + (2 * math.log(3) + 4)),
    }


LISTED = {
    "defaultingType": "List",
    "defaultConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
        },
        {
            "maxSkew": 2,
            "topologyKey": "rack",
            "whenUnsatisfiable": "ScheduleAnyway",
        },
    ],
}


def test_rule_25_listed_defaults_apply_only_to_pods_without_constraints() -> None:
    nodes = [
        make_node(name="a", zone="east", labels={"rack": "1"}),
        make_node(name="b", zone="west"),
    ]
    harness = PluginHarness(
        PodTopologySpread,
        args=LISTED,
        nodes=nodes,
        pods=web_pods({"a": 1}),
        objects=[make_service(selector=APP)],
    )
    pod = make_pod(labels=APP)
    assert harness.filter(pod) == {"a": UNEVEN}
    # Unlike the system's defaults, these ignore nodes that lack a key.
    assert harness.score(pod) == {"a": round(math.log(3) + 1), "b": 0}
    pod = make_pod(labels=APP, spread=[soft()])
    assert harness.filter(pod) == {}
    pod = make_pod(labels=APP, spread=[hard()])
    assert harness.score(pod) == {}


def test_rule_8_score_without_pre_score_is_an_error() -> None:
    pod = make_pod(labels=APP, spread=[soft()])
    with pytest.raises(PluginStatusError, match=r"error reading .* not found"):
        two_zones().score(pod, pre_score=False)


def test_rule_8_filter_without_pre_filter_is_an_error() -> None:
    pod = make_pod(labels=APP, spread=[hard()])
    error = Status.from_error(
        'reading "PreFilterPodTopologySpread" from cycleState: not found'
    )
    harness = two_zones()
    for status in harness.filter(pod, pre_filter=False).values():
        assert status == error


@pytest.mark.parametrize("action", ["DoNotSchedule", "ScheduleAnyway"])
def test_broken_selector_is_an_error(action: str) -> None:
    constraint = make_spread_constraint(selector=BROKEN, when_unsatisfiable=action)
    pod = make_pod(spread=[constraint])
    harness = two_zones()
    run = harness.filter if action == "DoNotSchedule" else harness.score
    with pytest.raises(PluginStatusError, match="topology spread constraints: "):
        run(pod)
    plugin = harness.plugin
    assert isinstance(plugin, PodTopologySpread)
    assert plugin.sign_pod(pod) is None


def test_pods_are_signed_by_what_decides_about_them() -> None:
    plugin = two_zones().plugin
    assert isinstance(plugin, PodTopologySpread)
    signature, same = (
        make_pod(name=name, labels=APP, spread=[hard(), soft()]) for name in "xy"
    )
    assert plugin.sign_pod(signature) == plugin.sign_pod(same)
    others: Iterable[Pod] = (
        make_pod(labels={"app": "db"}, spread=[hard(), soft()]),
        make_pod(namespace="other", labels=APP, spread=[hard(), soft()]),
        make_pod(labels=APP, spread=[hard(max_skew=2), soft()]),
        make_pod(labels=APP, spread=[hard(), soft()], node_selector={"a": "b"}),
    )
    for other in others:
        assert plugin.sign_pod(signature) != plugin.sign_pod(other)
    assert plugin.sign_pod(make_pod(labels=APP)) == plugin.sign_pod(make_pod())


@pytest.mark.long
def test_logarithm_is_go_s_own_where_c_libraries_differ() -> None:
    # From Go 1.26 on amd64.
    assert go_log(3.0).hex() == "0x1.193ea7aad030ap+0"
    assert go_log(14.0).hex() == "0x1.51cca16d7bba8p+1"
    assert go_log(48.0).hex() == "0x1.ef8383c50bb74p+1"
    for number in range(1, 5000):
        assert go_log(number) == pytest.approx(math.log(number), rel=1e-15)


CONSTRAINTS = st.builds(
    make_spread_constraint,
    selector=st.sampled_from([APP, None, LabelSelector(), {"tier": "x"}]),
    topology_key=st.sampled_from([ZONE, HOST, "rack"]),
    max_skew=st.integers(1, 3),
    when_unsatisfiable=st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    min_domains=st.sampled_from([None, 1, 2, 4]),
    node_affinity_policy=st.sampled_from([None, "Honor", "Ignore"]),
    node_taints_policy=st.sampled_from([None, "Honor", "Ignore"]),
    match_label_keys=st.sampled_from([[], ["tier"]]),
)
POD_LABELS = st.fixed_dictionaries(
    {}, optional={"app": st.just("web"), "tier": st.sampled_from("xy")}
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    nodes = []
    for number in range(draw(st.integers(1, 6))):
        labels = draw(st.sampled_from([{}, {"rack": "1"}, {"rack": "2", "disk": "x"}]))
        taints = draw(st.sampled_from([[], ["x:NoSchedule"]]))
        zone = draw(st.sampled_from([None, "", "east", "west"]))
        node = make_node(name=f"n{number}", zone=zone, labels=labels, taints=taints)
        nodes.append(node)
    pods = [
        make_pod(
            name=f"p{number}",
            node=draw(st.sampled_from(nodes)).name,
            labels=draw(POD_LABELS),
            namespace=draw(st.sampled_from(["default", "other"])),
            deletion_timestamp=draw(st.sampled_from([None, None, 1])),
        )
        for number in range(draw(st.integers(0, 8)))
    ]
    return nodes, pods


class TestContract(PluginContract):
    plugin = PodTopologySpread
    objects = (make_service(selector=APP),)

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        # None that is being deleted: a new PreFilter does not count it, but AddPod and
        # RemovePod do, as upstream's.
        own = st.builds(
            make_pod,
            labels=POD_LABELS,
            namespace=st.sampled_from(["default", "other"]),
            spread=st.lists(CONSTRAINTS, max_size=3),
            tolerations=st.sampled_from([[], ["x"]]),
            node_selector=st.sampled_from([None, {"disk": "x"}]),
        )
        racks = st.builds(
            make_node,
            zone=st.sampled_from([None, "", "east", "west"]),
            labels=st.sampled_from([{}, {"rack": "1"}, {"rack": "2", "disk": "x"}]),
            taints=st.sampled_from([[], ["x:NoSchedule"]]),
        )
        return small_clusters(nodes=racks, pods=own | pods())


def verdict(status: Status | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if status is None else (status.code.label, status.reasons)


@given(
    cluster=clusters(),
    constraints=st.lists(
        CONSTRAINTS.filter(
            lambda case: (
                case.label_selector != LabelSelector()
                and case.when_unsatisfiable == "DoNotSchedule"
            )
        ),
        min_size=1,
        max_size=3,
    ),
    labels=POD_LABELS,
    data=st.data(),
)
def test_imagined_pods_count_as_real_ones(
    cluster: tuple[list[Node], list[Pod]],
    constraints: list[TopologySpreadConstraint],
    labels: dict[str, str],
    data: st.DataObject,
) -> None:
    """Pods count on the node that they are added to, unless terminating."""
    nodes, pods = cluster
    name = data.draw(st.sampled_from(nodes)).name
    moving = make_pod(name="moving", node=name, labels=data.draw(POD_LABELS))
    without = PluginHarness(PodTopologySpread, nodes=nodes, pods=pods)
    with_it = PluginHarness(PodTopologySpread, nodes=nodes, pods=[*pods, moving])
    pod = make_pod(labels=labels, spread=constraints)
    for harness, other in ((without, with_it), (with_it, without)):
        expected = other.filter(pod).get(name)
        harness.filter(pod)
        node = harness.snapshot.nodes.get(name)
        assert node is not None
        node, state, handle = node.clone(), harness.state.clone(), harness.handle
        if harness is without:
            node.add_pod(moving)
            assert handle.filters.add_pod(state, pod, moving, node) is None
        else:
            node.remove_pod(moving)
            assert handle.filters.remove_pod(state, pod, moving, node) is None
        assert verdict(handle.filters.run(state, pod, node)) == verdict(expected)
