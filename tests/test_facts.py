"""Every built-in plugin that rejects a node says why, with facts about this node."""

import pytest
from hypothesis import given

from quaymaster.objects import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    PluginHarness,
    PluginStatusError,
    SchedulerHarness,
    SmallCluster,
    clusters,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import NO_PROVISIONER
from tests.kit.profiles import fewer

REGISTRY = PluginRegistry.discover()
FILTERS = [
    name
    for name in REGISTRY
    if any(point.key == "filter" for point in REGISTRY[name].extension_points)
]


@pytest.mark.house
def test_every_built_in_filter_explains_its_rejections() -> None:
    assert FILTERS
    assert [
        name for name in FILTERS if not hasattr(REGISTRY[name].load(), "explain_filter")
    ] == []


@pytest.mark.parametrize("name", FILTERS)
@fewer(4)
@given(cluster=clusters())
def test_every_rejected_node_has_facts(name: str, cluster: SmallCluster) -> None:
    with PluginHarness(
        REGISTRY[name].load(),
        nodes=cluster.nodes,
        pods=cluster.pods,
        objects=cluster.objects,
    ) as harness:
        for pod in cluster.pending:
            try:
                facts = harness.explain_filter(pod)
            except PluginStatusError:  # PreFilter has rejected the pod
                continue
            assert all(lines and all(lines) for lines in facts.values()), facts


def test_facts_stand_beside_the_reasons_of_an_explained_pod() -> None:
    harness = SchedulerHarness(
        [
            make_node(name="full", capacity={"cpu": "2"}),
            make_node(name="spot", taints=["spot:NoSchedule"]),
            make_pod(name="low", node="full", requests={"cpu": "1"}),
            make_pod(name="new", requests={"cpu": "2"}),
        ]
    )
    found = harness.explain("default/new")
    assert [
        (rejection.node, rejection.details, rejection.post_filter)
        for rejection in found.rejections
    ] == [
        (
            "full",
            ("wants cpu 2", "free cpu 1 of 2"),
            (NO_VICTIMS,),
        ),
        ("spot", ("does not tolerate spot:NoSchedule",), ()),
    ]


NO_VICTIMS = (
    "preemption: all pods there have priority 0, and this pod has 0, "
    "so none can be preempted"
)


def test_room_that_is_kept_for_a_nominated_pod_is_a_fact() -> None:
    harness = SchedulerHarness(
        [
            make_node(name="n", capacity={"cpu": "2"}),
            make_pod(
                name="first", priority=9, requests={"cpu": "2"}, nominated_node="n"
            ),
            make_pod(name="new", requests={"cpu": "1"}),
        ]
    )
    (rejection,) = harness.explain("default/new").rejections
    assert rejection.details == (
        "wants cpu 1",
        "free cpu 0 of 2",
        "room is kept for the nominated pod default/first",
    )


def test_pod_that_pre_filter_rejects_has_facts() -> None:
    harness = SchedulerHarness(
        [
            make_node(name="n"),
            make_storage_class(
                provisioner=NO_PROVISIONER, volume_binding_mode="Immediate"
            ),
            make_persistent_volume_claim(),
            make_pod(name="new", claims=["claim"]),
        ]
    )
    (rejection,) = harness.explain("default/new").rejections
    assert rejection.reasons == ("pod has unbound immediate PersistentVolumeClaims",)
    (fact,) = rejection.details
    assert fact.startswith("claim default/claim has no volume; its class standard")


def test_node_that_pre_filter_left_out_has_facts() -> None:
    name = NodeSelectorRequirement(key="metadata.name", operator="In", values=("a",))
    affinity = NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),)
    )
    nodes = [make_node(name="a", unschedulable=True), make_node(name="b")]
    pod = make_pod(name="new", node_affinity=affinity)
    rejections = SchedulerHarness([*nodes, pod]).explain("default/new").rejections
    facts = {rejection.node: rejection.details for rejection in rejections}
    assert facts["b"] == ("node affinity needs metadata.name=a",)
