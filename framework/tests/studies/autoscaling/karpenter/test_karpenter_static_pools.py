"""NodePools with a fixed number of nodes, hashes of templates, and interruptions."""

from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.autoscaling import AutoscaledNode, AutoscalerError, read_autoscaler
from quaymaster.objects import from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_deployment,
    make_pod,
    make_pod_disruption_budget,
)
from tests.kit.internals.karpenter import NodeClaim, NodePool, template_hash

Tree = dict[str, Any]
APP: Final = {"app": "web"}
TIMES: Final = {"launch": "1s", "registration": "20s", "readiness": "9s"}


def instance_type(name: str, cpu: int) -> Tree:
    offerings = [
        {"zone": zone, "capacityType": kind, "price": share * cpu}
        for zone in ("a", "b")
        for kind, share in (("on-demand", 0.1), ("spot", 0.06))
    ]
    capacity = {"cpu": cpu, "memory": f"{4 * cpu}Gi", "pods": 50}
    return {"name": name, "capacity": capacity, "offerings": offerings}


def pool(kind: str, **spec: Any) -> Tree:
    requirement = {
        "key": "karpenter.sh/capacity-type",
        "operator": "In",
        "values": [kind],
    }
    disruption = {"consolidateAfter": "30s", "budgets": [{"nodes": "1"}]}
    template = {"spec": {"requirements": [requirement]}}
    return {
        "metadata": {"name": "general"},
        "spec": {"disruption": disruption, "template": template, **spec},
    }


def started(
    folder: Path, own: Tree, *objects: ApiObject, **settings: object
) -> Simulation:
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Karpenter",
        "flags": ["--feature-gates=StaticCapacity=true"],
        "types": [instance_type("small", 2), instance_type("large", 8)],
        "nodePools": [own],
        "times": TIMES,
        **settings,
    }
    file = folder / "karpenter.json"
    file.write_bytes(msgspec.json.encode(document))
    return Simulation(objects, autoscaler=read_autoscaler(str(file)))


def lives(simulation: Simulation) -> list[AutoscaledNode]:
    assert simulation.autoscaler is not None
    return [*simulation.autoscaler.nodes()]


def nodes(simulation: Simulation) -> int:
    return len(simulation.cluster.list(Node).items)


def change(simulation: Simulation, **spec: object) -> None:
    [own] = simulation.cluster.list(NodePool).items
    changed = msgspec.structs.replace(own.spec, **spec)
    simulation.cluster.update(msgspec.structs.replace(own, spec=changed))


def relabel(simulation: Simulation) -> None:
    [own] = simulation.cluster.list(NodePool).items
    template = own.spec.template
    metadata = msgspec.structs.replace(template.metadata, labels={"team": "b"})
    change(simulation, template=msgspec.structs.replace(template, metadata=metadata))


def web(size: int) -> ApiObject:
    pod = make_pod(labels=APP, requests={"cpu": "900m"})
    return make_deployment(name="web", replicas=size, selector=APP, pod=pod)


def test_static_pool_has_its_replicas_without_pods(tmp_path: Path) -> None:
    with started(tmp_path, pool("on-demand", replicas=3)) as simulation:
        simulation.settle()
        assert nodes(simulation) == 3
        assert {each.price for each in lives(simulation)} == {0.2}
        assert lives(simulation)[0].added_for == "one of 3 replicas"


def test_static_pool_shrinks_by_its_empty_nodes(tmp_path: Path) -> None:
    with started(tmp_path, pool("on-demand", replicas=3), web(2)) as simulation:
        simulation.settle()
        change(simulation, replicas=1)
        simulation.settle()
        assert nodes(simulation) == 1
        removed = [each for each in lives(simulation) if each.removed is not None]
        assert [each.removed_for for each in removed] == ["overprovisioned"] * 2


def test_limit_of_nodes_counts_for_static_pools(tmp_path: Path) -> None:
    own = pool("on-demand", replicas=3, limits={"nodes": 2})
    with started(tmp_path, own) as simulation:
        simulation.settle()
        assert nodes(simulation) == 2


def test_without_the_gate_static_pools_have_no_nodes(tmp_path: Path) -> None:
    own = pool("on-demand", replicas=3)
    with started(tmp_path, own, flags=[]) as simulation:
        simulation.settle()
        assert nodes(simulation) == 0


def test_template_that_changes_makes_static_nodes_drift(tmp_path: Path) -> None:
    with started(tmp_path, pool("on-demand", replicas=2)) as simulation:
        simulation.settle()
        relabel(simulation)
        simulation.settle()
        present = simulation.cluster.list(Node).items
        assert [node.labels["team"] for node in present] == ["b", "b"]
        assert len(lives(simulation)) == 4


def test_template_that_changes_makes_nodes_drift(tmp_path: Path) -> None:
    with started(tmp_path, pool("on-demand"), web(2)) as simulation:
        simulation.settle()
        relabel(simulation)
        simulation.settle()
        [node] = simulation.cluster.list(Node).items
        assert node.labels["team"] == "b"
        assert lives(simulation)[0].removed_for.startswith("Drifted, replaced by")


def test_claim_has_the_hash_of_its_pool(tmp_path: Path) -> None:
    with started(tmp_path, pool("on-demand"), web(1)) as simulation:
        simulation.settle()
        [claim] = simulation.cluster.list(NodeClaim).items
        [own] = simulation.cluster.list(NodePool).items
        key = "karpenter.sh/nodepool-hash"
        assert claim.annotations[key] == own.annotations[key] == template_hash(own)


CLASS: Final = {
    "group": "karpenter.k8s.aws",
    "kind": "EC2NodeClass",
    "name": "default",
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            {"spec": {"nodeClassRef": CLASS, "expireAfter": "720h"}},
            "6821555240594823858",
        ),
        (
            {
                "metadata": {"labels": {"team": "a", "tier": "web"}},
                "spec": {
                    "nodeClassRef": CLASS,
                    "expireAfter": "Never",
                    "terminationGracePeriod": "48h",
                },
            },
            "13070655914590894825",
        ),
        (
            {
                "metadata": {"labels": {"team": "a"}, "annotations": {"note": "x"}},
                "spec": {
                    "taints": [
                        {
                            "key": "dedicated",
                            "value": "batch",
                            "effect": "NoSchedule",
                        },
                        {"key": "gpu", "effect": "NoExecute"},
                    ],
                    "startupTaints": [
                        {
                            "key": "node.cilium.io/agent-not-ready",
                            "value": "true",
                            "effect": "NoExecute",
                        }
                    ],
                    "nodeClassRef": {
                        "group": "karpenter.azure.com",
                        "kind": "AKSNodeClass",
                        "name": "gpu",
                    },
                    "expireAfter": "1h30m",
                },
            },
            "3091147979064772154",
        ),
    ],
    ids=["plain", "labels", "taints"],
)
def test_hash_is_that_of_karpenter(template: Tree, expected: str) -> None:
    """The expected values are those of hashstructure v2.0.2."""
    tree = {"metadata": {"name": "a"}, "spec": {"template": template}}
    assert template_hash(from_wire(tree, NodePool)) == expected


def test_interrupted_node_is_replaced_elsewhere(tmp_path: Path) -> None:
    rules = [{"at": "5m"}]
    with started(tmp_path, pool("spot"), web(2), interruptions=rules) as simulation:
        simulation.run_until(299)
        [zone] = {
            node.labels["topology.kubernetes.io/zone"]
            for node in simulation.cluster.list(Node).items
        }
        simulation.settle()
        gone = lives(simulation)[0]
        assert gone.removed_for == "SpotInterrupted"
        assert 300 < (gone.removed or 0) < 420
        pods = simulation.cluster.list(Pod).items
        assert all(pod.node_name for pod in pods)
        [node] = simulation.cluster.list(Node).items
        assert node.labels["topology.kubernetes.io/zone"] != zone


def test_notice_ends_in_spite_of_budgets(tmp_path: Path) -> None:
    guard = make_pod_disruption_budget(name="guard", selector=APP, max_unavailable=0)
    rules = [{"at": "5m", "zone": "*"}]
    with started(
        tmp_path, pool("spot"), web(2), guard, interruptions=rules
    ) as simulation:
        simulation.settle()
        assert lives(simulation)[0].removed == pytest.approx(420)
        assert all(pod.node_name for pod in simulation.cluster.list(Pod).items)


@pytest.mark.long
def test_interruptions_by_chance_follow_the_seed(tmp_path: Path) -> None:
    ends = []
    for _ in range(2):
        rules = [{"perHour": 0.9}]
        with started(tmp_path, pool("spot"), web(2), interruptions=rules) as simulation:
            simulation.run_until(6 * 3600)
            ends.append([each.removed for each in lives(simulation)])
    assert ends[0] == ends[1]
    assert any(end is not None for end in ends[0])


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({}, "expected either at or perHour"),
        ({"at": "5m", "perHour": 0.1}, "expected either at or perHour"),
        ({"perHour": 5.0}, "perHour: expected a number between 0 and 1, got 5"),
    ],
    ids=["neither", "both", "percent"],
)
def test_wrong_interruption_is_one_clear_error(
    tmp_path: Path, rule: Tree, problem: str
) -> None:
    with pytest.raises(AutoscalerError, match=problem):
        started(tmp_path, pool("spot"), interruptions=[rule])
