"""Why each NodePool gets a node for a pod or not, and why Karpenter keeps a node."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from quaymaster import ApiObject, Pod
from quaymaster.autoscaling import (
    AutoscalerFactory,
    GroupVerdict,
    NodeGroupFate,
    NodeScaling,
    PodFate,
    PodScaling,
    explain_node,
    read_autoscaler,
)
from quaymaster.simulation import explain_pod
from quaymaster.testing import (
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_stateful_set,
)

Tree = dict[str, Any]
ZONE: Final = "topology.kubernetes.io/zone"
APP: Final = {"app": "web"}


def instance_type(name: str, cpu: int) -> Tree:
    offerings = [
        {"zone": zone, "capacityType": "on-demand", "price": 0.1 * cpu}
        for zone in ("a", "b")
    ]
    capacity = {"cpu": cpu, "memory": f"{4 * cpu}Gi", "pods": 50}
    return {"name": name, "capacity": capacity, "offerings": offerings}


def pool(name: str, *requirements: Tree, **spec: Any) -> Tree:
    template = {"requirements": [*requirements], **spec.pop("template", {})}
    disruption = {"consolidateAfter": "30s", "budgets": [{"nodes": "1"}]}
    return {
        "metadata": {"name": name},
        "spec": {"disruption": disruption, "template": {"spec": template}, **spec},
    }


def only(key: str, *values: str) -> Tree:
    return {"key": key, "operator": "In", "values": [*values]}


def karpenter(folder: Path, *pools: Tree, **settings: object) -> AutoscalerFactory:
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Karpenter",
        "types": [instance_type("small", 2), instance_type("large", 8)],
        "nodePools": [*pools],
        **settings,
    }
    file = folder / "karpenter.json"
    file.write_bytes(msgspec.json.encode(document))
    return read_autoscaler(str(file))


def scaling_of(pod: Pod, factory: AutoscalerFactory) -> PodScaling:
    explained = explain_pod(pod.name, [pod], autoscaler=factory)
    assert explained.scaling is not None
    return explained.scaling


def verdicts(pod: Pod, factory: AutoscalerFactory) -> Mapping[str, GroupVerdict]:
    return {each.group: each for each in scaling_of(pod, factory).groups}


def web(cpu: str = "1", **node_selector: str) -> Pod:
    return make_pod(name="web", requests={"cpu": cpu}, node_selector=node_selector)


@pytest.mark.long
def test_pool_that_grows_has_its_node_offering_and_price(tmp_path: Path) -> None:
    scaling = scaling_of(web(), karpenter(tmp_path, pool("general")))
    [verdict] = scaling.groups
    assert scaling.summary.startswith("general grows by the node general-")
    assert verdict.fate is NodeGroupFate.GROWS
    assert verdict.price == pytest.approx(0.2)
    assert ": small, " in verdict.why
    assert verdict.why.endswith("2 instance types were possible")


@pytest.mark.parametrize(
    ("weights", "loser", "why"),
    [
        ((10, 5), "b", "a comes first by its weight 10; b: 5"),
        ((5, 10), "a", "b comes first by its weight 10; a: 5"),
        ((5, 5), "a", "b comes first by its name: "),
    ],
    ids=["heavier", "lighter", "by name"],
)
def test_order_of_pools_and_not_the_price_decides(
    tmp_path: Path, weights: tuple[int, int], loser: str, why: str
) -> None:
    pools = [
        pool(name, weight=weight)
        for name, weight in zip(("a", "b"), weights, strict=True)
    ]
    verdict = verdicts(web(), karpenter(tmp_path, *pools))[loser]
    assert verdict.fate is NodeGroupFate.NOT_CHOSEN
    assert verdict.price == pytest.approx(0.2)
    assert verdict.why.startswith(why)


def test_taint_is_named(tmp_path: Path) -> None:
    taint = {"key": "team", "value": "x", "effect": "NoSchedule"}
    factory = karpenter(tmp_path, pool("a", template={"taints": [taint]}))
    verdict = verdicts(web(), factory)["a"]
    assert verdict.fate is NodeGroupFate.REJECTED
    assert verdict.why == "did not tolerate taint (taint=team=x:NoSchedule)"


def test_types_that_are_too_small_are_counted(tmp_path: Path) -> None:
    family = only("node.kubernetes.io/instance-type", "small")
    result = verdicts(web("12"), karpenter(tmp_path, pool("a"), pool("b", family)))
    assert "no instance type has enough resources" in result["a"].why
    assert result["a"].why.endswith(
        "of 2 instance types, 2 too small: cpu 12 of at most 8"
    )
    assert result["b"].why.endswith(
        "of 2 instance types, 1 too small: cpu 12 of at most 2, "
        "1 not node.kubernetes.io/instance-type In [small] (NodePool)"
    )


def test_requirement_of_the_pod_that_no_type_meets_is_named(tmp_path: Path) -> None:
    verdict = verdicts(web(**{ZONE: "c"}), karpenter(tmp_path, pool("a")))["a"]
    assert verdict.why.endswith(f"of 2 instance types, 2 not {ZONE} In [c] (pod)")


def test_limits_are_shown_with_what_is_left(tmp_path: Path) -> None:
    factory = karpenter(tmp_path, pool("a", limits={"cpu": 1}))
    verdict = verdicts(web(), factory)["a"]
    assert verdict.fate is NodeGroupFate.LIMITED
    assert verdict.why.endswith(
        "limits: cpu 1, left 1; of 2 instance types, 2 above the limits (left: cpu 1)"
    )


def test_pool_without_a_type_names_its_requirement(tmp_path: Path) -> None:
    factory = karpenter(
        tmp_path, pool("a", only("node.kubernetes.io/instance-type", "x"))
    )
    verdict = verdicts(web(), factory)["a"]
    assert verdict.fate is NodeGroupFate.REJECTED
    assert verdict.why.endswith(
        "of 2 instance types, 2 not node.kubernetes.io/instance-type In [x] (NodePool)"
    )


def test_missing_capacity_is_a_reason(tmp_path: Path) -> None:
    factory = karpenter(tmp_path, pool("a"), failures=[{}])
    verdict = verdicts(web(), factory)["a"]
    assert verdict.why.endswith("of 2 instance types, 2 without capacity at the moment")


def test_ignored_pod_has_the_reason(tmp_path: Path) -> None:
    pod = web(**{"karpenter.sh/registered": "true"})
    scaling = scaling_of(pod, karpenter(tmp_path, pool("a")))
    assert scaling.groups == ()
    assert scaling.summary.startswith("Karpenter ignores the pod: ")


def test_without_pools_that_can_be_used_the_reason_remains(tmp_path: Path) -> None:
    verdict = verdicts(web(), karpenter(tmp_path, pool("a", replicas=0)))["a"]
    assert verdict.fate is NodeGroupFate.LIMITED
    assert verdict.why == "it has a fixed number of nodes, spec.replicas"


def test_pod_that_fits_needs_no_node(tmp_path: Path) -> None:
    pods = [make_pod(name=name, requests={"cpu": "1"}) for name in ("a", "b")]
    explained = explain_pod("b", pods, autoscaler=karpenter(tmp_path, pool("a")))
    assert explained.scaling is not None
    assert "for 2 pods" in explained.scaling.groups[0].why


def node_0(folder: Path, *objects: ApiObject, count: int = 1) -> NodeScaling:
    labels = {
        "karpenter.sh/nodepool": "a",
        "karpenter.sh/capacity-type": "on-demand",
        "node.kubernetes.io/instance-type": "large",
        ZONE: "a",
    }
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "50"}
    nodes = [
        make_node(name=f"node-{number}", labels=labels, capacity=capacity)
        for number in range(count)
    ]
    factory = karpenter(folder, pool("a", limits={"cpu": 100}))
    return explain_node("node-0", [*nodes, *objects], factory).scaling


def facts(scaling: NodeScaling) -> Mapping[str, str]:
    return {fact.name: fact.value for fact in scaling.facts}


def owned(cpu: str, **annotations: str) -> tuple[ApiObject, Pod]:
    template = make_pod(requests={"cpu": cpu}, annotations=annotations)
    owner = make_stateful_set(name="web", selector=APP, pod=template)
    pod = make_pod(
        name="web-0",
        node="node-0",
        labels=APP,
        owner=owner,
        requests={"cpu": cpu},
        annotations=annotations,
    )
    return owner, pod


def test_node_without_a_cheaper_replacement_has_the_price_of_a_new_one(
    tmp_path: Path,
) -> None:
    scaling = node_0(tmp_path, *owned("5"))
    assert scaling.why == "Can't replace with a cheaper node"
    shown = facts(scaling)
    assert shown["offering"] == "large, a, on-demand, 0.80 per hour"
    assert shown["without it"] == "1 new node needed: a from 0.80 per hour (large)"
    assert shown["NodePool"] == "a: 1 node, cpu 8 of 100"
    assert shown["budget"] == "nodes 1: allows 1 of 1 node at once"
    assert shown["expires"] == "at 720h0m0s (720h)"
    [pod] = scaling.pods
    assert (pod.fate, pod.why) == (PodFate.MOVES, "to a new node of a")


def test_annotation_of_a_pod_blocks(tmp_path: Path) -> None:
    scaling = node_0(tmp_path, *owned("1", **{"karpenter.sh/do-not-disrupt": "true"}))
    assert [(each.fate, each.why) for each in scaling.pods] == [
        (PodFate.BLOCKS, "karpenter.sh/do-not-disrupt: true")
    ]


def test_budget_that_allows_no_eviction_blocks(tmp_path: Path) -> None:
    guard = make_pod_disruption_budget(name="guard", selector=APP, min_available=1)
    scaling = node_0(tmp_path, *owned("1"), guard)
    assert [(each.fate, each.why) for each in scaling.pods] == [
        (PodFate.BLOCKS, "the disruption budget default/guard allows no eviction")
    ]


def test_pod_without_a_controller_ends_with_its_node(tmp_path: Path) -> None:
    pod = make_pod(name="one", node="node-0", requests={"cpu": "5"})
    scaling = node_0(tmp_path, pod)
    [fate] = scaling.pods
    assert fate.fate is PodFate.ENDS
    assert fate.why.startswith("no controller creates it again; Karpenter keeps room")


def test_removed_node_has_its_history(tmp_path: Path) -> None:
    scaling = node_0(tmp_path, count=2)
    assert scaling.removed is not None
    assert scaling.why == "Empty"
    assert [each.why for each in scaling.history] == [
        "its pods have changed within consolidateAfter (30s)"
    ]
