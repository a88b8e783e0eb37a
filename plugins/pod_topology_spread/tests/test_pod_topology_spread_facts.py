"""The facts of PodTopologySpread: pods per domain, and the skew."""

import re

from hypothesis import given

from quaymaster import Node, Pod
from quaymaster.objects import TopologySpreadConstraint
from quaymaster.testing import (
    PluginHarness,
    SmallCluster,
    clusters,
    make_node,
    make_pod,
    make_spread_constraint,
    pods,
)
from quaymaster_pod_topology_spread import PodTopologySpread

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WEB = {"app": "web"}


def spread(
    key: str = ZONE,
    *,
    min_domains: int | None = None,
    node_taints_policy: str | None = None,
    match_label_keys: tuple[str, ...] = (),
) -> TopologySpreadConstraint:
    return make_spread_constraint(
        topology_key=key,
        selector=WEB,
        min_domains=min_domains,
        node_taints_policy=node_taints_policy,
        match_label_keys=match_label_keys,
    )


def zones(**counts: int) -> tuple[list[Node], list[Pod]]:
    """Make a node for each zone, with that many web pods."""
    nodes = [make_node(name=f"n-{zone}", zone=zone) for zone in counts]
    running = [
        make_pod(name=f"{zone}-{number}", node=f"n-{zone}", labels=WEB)
        for zone, count in counts.items()
        for number in range(count)
    ]
    return nodes, running


def facts_of(
    pod: Pod, nodes: list[Node], running: list[Pod]
) -> dict[str, tuple[str, ...]]:
    return PluginHarness(PodTopologySpread, nodes=nodes, pods=running).explain_filter(
        pod
    )


def test_pods_per_domain_and_the_skew_are_named() -> None:
    pod = make_pod(labels=WEB, spread=[spread()])
    summary = (
        f"constraint over {ZONE} counts pods with app=web: a 2, b 1, c 0 (smallest)"
    )
    assert facts_of(pod, *zones(a=2, b=1, c=0)) == {
        "n-a": (
            summary,
            "a would have 3 with this pod, 3 above the smallest (0); maxSkew is 1",
        ),
        "n-b": (
            summary,
            "b would have 2 with this pod, 2 above the smallest (0); maxSkew is 1",
        ),
    }


def test_smallest_domain_that_is_tainted_is_named() -> None:
    nodes, running = zones(a=1)
    nodes.append(make_node(name="cp", zone="cp", taints=["master:NoSchedule"]))
    facts = facts_of(make_pod(labels=WEB, spread=[spread()]), nodes, running)
    assert facts["n-a"][0].endswith(
        "a 1, cp 0 (smallest; tainted, but nodeTaintsPolicy is Ignore)"
    )


def test_domains_of_tainted_nodes_that_do_not_count_are_named() -> None:
    nodes, running = zones(a=2, b=0)
    nodes.append(make_node(name="cp", zone="cp", taints=["master:NoSchedule"]))
    pod = make_pod(labels=WEB, spread=[spread(node_taints_policy="Honor")])
    assert facts_of(pod, nodes, running)["n-a"][0].endswith(
        "a 2, b 0 (smallest); does not count cp (tainted, nodeTaintsPolicy Honor)"
    )


def test_domains_that_the_node_selector_excludes_are_named() -> None:
    nodes, running = zones(a=2, b=0)
    nodes = [
        *(
            make_node(name=node.name, labels={**node.labels, "disk": "ssd"})
            for node in nodes
        ),
        make_node(name="old", zone="old"),
    ]
    pod = make_pod(labels=WEB, node_selector={"disk": "ssd"}, spread=[spread()])
    assert facts_of(pod, nodes, running)["n-a"][0].endswith(
        "does not count old (excluded by the pod's node affinity)"
    )


def test_too_few_domains_are_named() -> None:
    pod = make_pod(labels=WEB, spread=[spread(min_domains=3)])
    facts = facts_of(pod, *zones(a=1, b=1))["n-a"]
    assert facts[0].endswith(
        "2 domains are fewer than minDomains 3, so the smallest counts as 0"
    )
    assert facts[1].startswith("a would have 2 with this pod, 2 above the smallest (0)")


def test_labels_from_match_label_keys_are_named() -> None:
    labels = {**WEB, "pod-template-hash": "x1"}
    nodes, _ = zones(a=0, b=0)
    running = [make_pod(name="old", node="n-a", labels=labels)]
    pod = make_pod(
        labels=labels, spread=[spread(match_label_keys=("pod-template-hash",))]
    )
    assert (
        "app=web,pod-template-hash=x1 (matchLabelKeys pod-template-hash): a 1"
        in (facts_of(pod, nodes, running)["n-a"][0])
    )


def test_pod_that_does_not_match_its_own_selector_is_reported() -> None:
    facts = facts_of(make_pod(spread=[spread()]), *zones(a=2, b=0))["n-a"]
    assert facts[1] == (
        "a has 2 (this pod itself does not match), 2 above the smallest (0); "
        "maxSkew is 1"
    )


def test_missing_label_is_named() -> None:
    pod = make_pod(labels=WEB, spread=[spread("rack")])
    assert facts_of(pod, [make_node(name="a")], []) == {
        "a": ("the node has no label rack, over which the pod must be spread",)
    }


def test_of_many_domains_only_the_smallest_and_the_largest_are_listed() -> None:
    counts = {f"z{number:02}": number for number in range(12)}
    facts = facts_of(make_pod(labels=WEB, spread=[spread()]), *zones(**counts))
    assert facts["n-z11"][0].endswith(
        "12 domains, from z00 0, z01 1, z02 2 to z09 9, z10 10, z11 11"
    )


SPREAD = {
    "spread": [spread()],
    "labels": WEB,
}


@given(cluster=clusters(pods=pods(SPREAD, {"spread": [spread(HOST, min_domains=3)]})))
def test_facts_agree_with_the_verdict(cluster: SmallCluster) -> None:
    harness = PluginHarness(PodTopologySpread, nodes=cluster.nodes, pods=cluster.pods)
    for pod in cluster.pending:
        for facts in harness.explain_filter(pod).values():
            assert facts
            if len(facts) > 1:
                match = re.search(r", (-?\d+) above .* maxSkew is (\d+)", facts[1])
                assert match is not None
                assert int(match[1]) > int(match[2])
