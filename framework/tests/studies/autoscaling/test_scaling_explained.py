"""Why a group of nodes grows for a pod or not, and why a node is removed or stays."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import attrs
import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.autoscaling import (
    Autoscaler,
    AutoscalerContext,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    ExplainsScaling,
    GroupSettings,
    GroupVerdict,
    NodeGroupFate,
    NodeScaling,
    PodFate,
    PodScaling,
    explain_node,
)
from quaymaster.objects import Quantity, Taint
from quaymaster.simulation import Simulation, explain_pod
from quaymaster.testing import (
    make_deployment,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_stateful_set,
)

QUICK = ClusterAutoscalerOptions(
    scale_down_delay_after_add=0,
    scale_down_unneeded_time=20,
    scale_down_unready_time=20,
    unremovable_node_recheck_timeout=20,
)
POOL = {"pool": "a"}
APP = {"app": "web"}


def group(
    name: str, cpu: int = 2, most: int = 10, taints: Sequence[Taint] = ()
) -> GroupSettings:
    return GroupSettings(
        name=name,
        max=most,
        price=0.1 * cpu,
        resources={"cpu": Quantity(str(cpu)), "memory": Quantity("8Gi")},
        taints=tuple(taints),
    )


def scaling_of(
    pod: Pod,
    *groups: GroupSettings,
    nodes: Sequence[Node] = (),
    options: ClusterAutoscalerOptions | None = None,
) -> PodScaling:
    setup = ClusterAutoscalerSetup(groups=groups, options=options or QUICK)
    explained = explain_pod(pod.name, [*nodes, pod], autoscaler=setup)
    assert explained.scaling is not None
    return explained.scaling


def verdicts(
    pod: Pod, *groups: GroupSettings, options: ClusterAutoscalerOptions | None = None
) -> Mapping[str, GroupVerdict]:
    scaling = scaling_of(pod, *groups, options=options)
    return {verdict.group: verdict for verdict in scaling.groups}


def web(cpu: str = "1", priority: int = 0) -> Pod:
    return make_pod(name="web", requests={"cpu": cpu}, priority=priority)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            attrs.evolve(QUICK, scale_up_from_zero=False, startup_taints=("boot",)),
            "no node is ready, and --scale-up-from-zero is false",
        ),
        (
            attrs.evolve(
                QUICK,
                startup_taints=("boot",),
                ok_total_unready_count=0,
                max_total_unready_percentage=0,
                max_node_startup_time=0,
            ),
            "too many nodes of the cluster are not ready",
        ),
    ],
)
def test_pods_have_a_reason_if_no_group_is_looked_at(
    options: ClusterAutoscalerOptions, why: str
) -> None:
    boot = Taint(key="boot", effect="NoSchedule")
    capacity = {"cpu": "2", "memory": "8Gi"}
    node = make_node(name="old", labels=POOL, capacity=capacity, taints=[boot])
    pool = attrs.evolve(group("a"), nodes=POOL, min=1)
    assert scaling_of(web(), pool, nodes=[node], options=options).summary == why
    setup = ClusterAutoscalerSetup(groups=[pool], options=options)
    with Simulation([node, web()], autoscaler=setup) as simulation:
        simulation.run_until(60)
        assert simulation.autoscaler is not None
        reasons = simulation.autoscaler.reasons_not_to_grow()
    assert reasons == {"default/web": {"a": why}}


def test_group_that_grows_is_reported_with_its_nodes_and_their_price() -> None:
    verdict = verdicts(web(), group("a"))["a"]
    assert verdict.fate is NodeGroupFate.GROWS
    assert verdict.nodes == 1
    assert verdict.price == pytest.approx(0.2)


def test_expander_says_why_another_group_was_not_chosen() -> None:
    reasons = verdicts(web(), group("a"), group("b", cpu=16))
    assert reasons["b"].fate is NodeGroupFate.NOT_CHOSEN
    assert reasons["b"].why == (
        "least-waste: 97% of its new nodes unused; a: 75% of its new nodes unused"
    )


@pytest.mark.parametrize("expander", ["least-nodes", "most-pods", "random"])
def test_chance_decides_between_equal_options(expander: str) -> None:
    options = attrs.evolve(QUICK, expander=(expander,))
    reasons = verdicts(web(), group("a"), group("b"), options=options)
    [loser] = [
        each for each in reasons.values() if each.fate is NodeGroupFate.NOT_CHOSEN
    ]
    assert loser.why.startswith("random: chance has chosen")


def test_plugin_that_rejects_the_pod_is_named_with_its_facts() -> None:
    taint = Taint(key="team", value="x", effect="NoSchedule")
    reasons = verdicts(web("4"), group("a"), group("b", cpu=8, taints=[taint]))
    assert (reasons["a"].fate, reasons["a"].plugin) == (
        NodeGroupFate.REJECTED,
        "NodeResourcesFit",
    )
    assert "free cpu 2 of 2" in reasons["a"].why
    assert reasons["b"].plugin == "TaintToleration"


def test_full_group_is_limited() -> None:
    verdict = verdicts(web(), group("a", most=0))["a"]
    assert verdict.fate is NodeGroupFate.LIMITED
    assert verdict.why == "it has its largest size, 0 nodes"


def test_full_group_rejects_pods_if_they_are_tried_on_it() -> None:
    options = attrs.evolve(
        QUICK, scaleup_simulation_for_skipped_node_groups_enabled=True
    )
    verdict = verdicts(web("4"), group("a", most=0), options=options)["a"]
    assert verdict.fate is NodeGroupFate.REJECTED
    assert verdict.plugin == "NodeResourcesFit"
    verdict = verdicts(web(), group("a", most=0), options=options)["a"]
    assert verdict.fate is NodeGroupFate.LIMITED


def test_group_of_whole_size_is_limited_by_the_nodes_of_the_cluster() -> None:
    whole = attrs.evolve(group("a", most=4), zero_or_max=True)
    options = attrs.evolve(QUICK, max_nodes_total=3)
    verdict = verdicts(web(), whole, options=options)["a"]
    assert verdict.fate is NodeGroupFate.LIMITED
    assert verdict.why == "atomic scale-up exceeds cluster node count limit"


def test_group_in_backoff_is_limited_until_a_time() -> None:
    late = attrs.evolve(group("late"), registration=timedelta(hours=1))
    options = ClusterAutoscalerOptions(
        max_node_provision_time=60, initial_node_group_backoff_duration=7200
    )
    setup = ClusterAutoscalerSetup(groups=[late], options=options)

    def factory(context: AutoscalerContext) -> Autoscaler:
        return setup(attrs.evolve(context, explains=True))

    with Simulation([web()], autoscaler=factory) as simulation:
        simulation.run_until(600)
        assert isinstance(simulation.autoscaler, ExplainsScaling)
        scaling = simulation.autoscaler.scaling_of_pod("default/web")
    assert scaling is not None
    [verdict] = scaling.groups
    assert verdict.fate is NodeGroupFate.LIMITED
    assert verdict.why.startswith("its last scale-up failed, so it may not grow before")


def test_pod_with_a_low_priority_is_left_out() -> None:
    scaling = scaling_of(web(priority=-20), group("a"))
    assert scaling.groups == ()
    assert scaling.summary == "no group grows for pods with a priority below -10"


def test_largest_cluster_is_a_reason() -> None:
    node = make_node(name="own", capacity={"cpu": "1", "memory": "1Gi"})
    options = attrs.evolve(QUICK, max_nodes_total=1)
    scaling = scaling_of(web("2"), group("a"), nodes=[node], options=options)
    assert scaling.summary == "the cluster has its largest size, 1 node"


def test_of_a_workload_a_pod_is_explained_that_the_autoscaler_has_looked_at() -> None:
    node = make_node(name="own", capacity={"cpu": "2", "memory": "8Gi"})
    pod = make_pod(requests={"cpu": "1"})
    workload = make_deployment(name="web", replicas=3, selector=APP, pod=pod)
    setup = ClusterAutoscalerSetup(groups=[group("a")], options=QUICK)
    explained = explain_pod("deploy/web", [node, workload], autoscaler=setup)
    assert explained.scaling is not None
    assert explained.scaling.summary == "a grows from 0 to 1 node"


def pool(count: int, **annotations: str) -> Sequence[Node]:
    capacity = {"cpu": "4", "memory": "16Gi"}
    return [
        make_node(
            name=f"node-{number}",
            labels=POOL,
            capacity=capacity,
            annotations=annotations if number == 0 else {},
        )
        for number in range(count)
    ]


def running(name: str, cpu: str, node: str = "node-0") -> Pod:
    return make_pod(name=name, node=node, requests={"cpu": cpu})


def node_0(
    *objects: ApiObject, options: ClusterAutoscalerOptions | None = None
) -> NodeScaling:
    setup = ClusterAutoscalerSetup(
        groups=[GroupSettings(name="a", max=9, nodes=POOL)],
        options=options or QUICK,
    )
    return explain_node("node-0", objects, setup).scaling


def test_empty_node_is_removed_after_it_was_unneeded_long_enough() -> None:
    scaling = node_0(*pool(2), running("busy", "3", "node-1"))
    assert scaling.removed == pytest.approx(45, abs=15)
    assert scaling.why == "empty"
    assert [each.why for each in scaling.history][-1] == (
        "it has not been unneeded long enough"
    )


def test_blocking_pod_does_not_hide_what_happens_to_the_others() -> None:
    scaling = node_0(*pool(1), running("a", "1"), running("b", "1"))
    assert [each.fate for each in scaling.pods] == [PodFate.BLOCKS, PodFate.BLOCKS]
    assert scaling.pods[0].why == "no controller would create it again"


def test_pod_without_a_place_has_the_reasons_of_the_other_nodes() -> None:
    safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    pod = make_pod(
        name="wide", node="node-0", annotations=safe, requests={"cpu": "1900m"}
    )
    scaling = node_0(*pool(2), pod, running("busy", "3", "node-1"))
    assert scaling.why == "its pods fit on no other nodes"
    assert [(each.fate, each.why) for each in scaling.pods] == [
        (PodFate.NO_PLACE, "1 Insufficient cpu")
    ]


def test_facts_have_the_utilization_and_its_threshold() -> None:
    scaling = node_0(*pool(1), running("a", "3"))
    facts = {fact.name: fact.value for fact in scaling.facts}
    assert facts["utilization"] == "cpu 75%, memory 0%; needed above 50%"
    assert facts["group"] == "a: 1 node, at least 0, at most 9"


def test_annotation_is_a_fact() -> None:
    key = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
    scaling = node_0(*pool(1, **{key: "true"}))
    assert scaling.removed is None
    assert f"{key}: true" in [fact.value for fact in scaling.facts]


def test_scale_down_that_is_off_is_the_reason() -> None:
    options = attrs.evolve(QUICK, scale_down_enabled=False)
    scaling = node_0(*pool(1), options=options)
    assert scaling.why == "--scale-down-enabled=false: no node is removed"


def test_budget_that_allows_no_eviction_is_named() -> None:
    pod = make_pod(requests={"cpu": "1"})
    owner = make_stateful_set(name="web", selector=APP, pod=pod)
    pod = make_pod(
        name="web-0", node="node-0", labels=APP, owner=owner, requests={"cpu": "1"}
    )
    guard = make_pod_disruption_budget(name="guard", selector=APP, min_available=1)
    scaling = node_0(*pool(2), owner, pod, guard, running("busy", "3", "node-1"))
    assert [(each.pod, each.why) for each in scaling.pods] == [
        ("default/web-0", "the disruption budget guard allows no eviction")
    ]


def test_last_nodes_of_a_group_stay_while_others_are_being_removed() -> None:
    own = attrs.evolve(group("a"), nodes=POOL, min=1)
    setup = ClusterAutoscalerSetup(groups=[own], options=QUICK)
    history = [
        reason.why
        for node in ("node-0", "node-1", "node-2")
        for reason in explain_node(node, pool(3), setup).scaling.history
    ]
    text = "its group has its smallest size without the nodes that are being removed"
    assert text in history


def test_node_of_an_autoscaler_that_explains_nothing_has_its_reason_to_stay() -> None:
    def factory(context: AutoscalerContext) -> Autoscaler:
        return Silent(ClusterAutoscalerSetup(groups=[])(context))

    explained = explain_node("node-0", pool(1), factory)
    assert explained.scaling.why == "it is in no group of the autoscaler"
    assert explained.scaling.facts == ()


def test_pod_of_such_an_autoscaler_shows_the_node_that_came_for_it() -> None:
    setup = ClusterAutoscalerSetup(groups=[group("a")], options=QUICK)
    explained = explain_pod("web", [web()], autoscaler=lambda each: Silent(setup(each)))
    assert explained.scaling is not None
    assert explained.scaling.summary == "a grows by the node a-0"
    [verdict] = explained.scaling.groups
    assert (verdict.fate, verdict.why) == (NodeGroupFate.GROWS, "a-0, for default/web")


class Silent:
    """An autoscaler with the methods that every autoscaler has."""

    def __init__(self, inner: Autoscaler) -> None:
        self.start, self.close = inner.start, inner.close
        self.nodes, self.reasons_to_stay = inner.nodes, inner.reasons_to_stay
        self.reasons_not_to_grow = inner.reasons_not_to_grow
        self._inner = inner

    @property
    def is_settled(self) -> bool:
        """As the other one."""
        return self._inner.is_settled
