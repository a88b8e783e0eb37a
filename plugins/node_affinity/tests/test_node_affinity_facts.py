"""The facts of NodeAffinity."""

from quaymaster import Node, Pod
from quaymaster.objects import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_affinity import NodeAffinity

ZONE = "topology.kubernetes.io/zone"


def needs(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def pod_with(*terms: NodeSelectorTerm, **selector: str) -> Pod:
    required = NodeSelector(node_selector_terms=terms) if terms else None
    return make_pod(node_selector=selector, node_affinity=required)


def facts_of(pod: Pod, node: Node) -> tuple[str, ...]:
    harness = PluginHarness(NodeAffinity, nodes=[node])
    return harness.explain_filter(pod)[node.name]


def test_the_unmet_label_of_the_node_selector_and_the_nodes_value_are_named() -> None:
    node = make_node(labels={"disk": "hdd", "arch": "amd64"})
    assert facts_of(pod_with(disk="ssd", arch="amd64", gpu="a100"), node) == (
        "node selector needs disk=ssd and gpu=a100",
        "disk=hdd here",
        "no label gpu here",
    )


def test_each_unmet_term_of_the_node_affinity_is_named() -> None:
    pod = pod_with(
        NodeSelectorTerm(
            match_expressions=(needs(ZONE, "In", "a", "b"), needs("disk", "Exists"))
        ),
        NodeSelectorTerm(match_expressions=(needs("cores", "Gt", "8"),)),
    )
    node = make_node(labels={ZONE: "c", "disk": "ssd", "cores": "4"})
    assert facts_of(pod, node) == (
        f"node affinity needs {ZONE} in (a,b), or cores>8",
        f"{ZONE}=c here",
        "cores=4 here",
    )


def test_the_name_of_a_node_is_a_requirement() -> None:
    term = NodeSelectorTerm(match_fields=(needs("metadata.name", "NotIn", "a"),))
    assert facts_of(pod_with(term), make_node(name="a")) == (
        "node affinity needs metadata.name!=a",
    )


def test_names_that_exclude_each_other_are_named() -> None:
    names = (needs("metadata.name", "In", "a"), needs("metadata.name", "In", "b"))
    harness = PluginHarness(NodeAffinity, nodes=[make_node(name="a")])
    pod = pod_with(NodeSelectorTerm(match_fields=names))
    assert harness.explain_pre_filter(pod) == (
        "no node can have all of these names: metadata.name=a, metadata.name=b",
    )


def test_selector_and_affinity_may_both_be_unmet() -> None:
    pod = pod_with(
        NodeSelectorTerm(match_expressions=(needs("disk", "NotIn", "hdd"),)),
        arch="arm64",
    )
    assert facts_of(pod, make_node(labels={"disk": "hdd", "arch": "amd64"})) == (
        "node selector needs arch=arm64; node affinity needs disk!=hdd",
        "arch=amd64 here",
        "disk=hdd here",
    )


def test_the_affinity_that_the_profile_adds_is_named() -> None:
    term = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a"]}]}
    required = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}
    }
    harness = PluginHarness(
        NodeAffinity, args={"addedAffinity": required}, nodes=[make_node(name="b")]
    )
    assert harness.explain_filter(make_pod()) == {
        "b": ("the profile's addedAffinity needs pool=a", "no label pool here")
    }


def test_invalid_terms_are_reported() -> None:
    term = NodeSelectorTerm(match_expressions=(needs("disk", "Near", "ssd"),))
    (fact,) = facts_of(pod_with(term), make_node())
    assert fact.startswith("node affinity has a term that matches nothing: ")
