"""Karpenter adds, replaces and removes nodes while a simulation runs."""

import itertools
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.autoscaling import AutoscaledNode, AutoscalerError, read_autoscaler
from quaymaster.objects import Deployment, PodDisruptionBudget, from_wire
from quaymaster.simulation import Simulation
from tests.kit.internals.karpenter import NodeClaim, NodePool

Tree = dict[str, Any]
ZONE: Final = "topology.kubernetes.io/zone"


def instance_type(name: str, cpu: int, price: float) -> Tree:
    return {
        "name": name,
        "capacity": {"cpu": cpu, "memory": f"{4 * cpu}Gi", "pods": 50},
        "offerings": [
            {"zone": "z", "capacityType": "on-demand", "price": price},
            {"zone": "z", "capacityType": "spot", "price": 0.6 * price},
        ],
    }


TYPES: Final = [instance_type("small", 2, 0.2), instance_type("large", 8, 0.8)]


def node_pool(
    after: str = "30s", limits: Tree | None = None, **template: object
) -> Tree:
    requirement = {
        "key": "karpenter.sh/capacity-type",
        "operator": "In",
        "values": ["on-demand"],
    }
    spec = {"requirements": [requirement], **template}
    budgets = [{"nodes": "1"}]
    return {
        "metadata": {"name": "general"},
        "spec": {
            "limits": limits or {},
            "disruption": {"consolidateAfter": after, "budgets": budgets},
            "template": {"spec": spec},
        },
    }


class Run:
    """A simulation with Karpenter."""

    def __init__(self, folder: Path, *objects: ApiObject, **settings: object) -> None:
        document = {
            "apiVersion": "simulation.quaymaster.io/v1alpha1",
            "kind": "Karpenter",
            "types": TYPES,
            "nodePools": [node_pool()],
            "times": {"launch": "1s", "registration": "20s", "readiness": "9s"},
            **settings,
        }
        file = folder / "karpenter.json"
        file.write_bytes(msgspec.json.encode(document))
        self.simulation = Simulation(objects, autoscaler=read_autoscaler(str(file)))
        self.cluster = self.simulation.cluster

    def settle(self) -> list[AutoscaledNode]:
        self.simulation.settle()
        return self.lives

    def scale(self, size: int) -> None:
        [web] = self.cluster.list(Deployment).items
        spec = msgspec.structs.replace(web.spec, replicas=size)
        self.cluster.update(msgspec.structs.replace(web, spec=spec))

    @property
    def lives(self) -> list[AutoscaledNode]:
        assert self.simulation.autoscaler is not None
        return [*self.simulation.autoscaler.nodes()]

    @property
    def pending(self) -> list[str]:
        pods = self.cluster.list(Pod).items
        return [pod.key for pod in pods if not pod.node_name]

    def why(self, node: str) -> str:
        assert self.simulation.autoscaler is not None
        return self.simulation.autoscaler.reasons_to_stay()[node]

    def types(self) -> list[str]:
        nodes = self.cluster.list(Node).items
        return sorted(n.labels["node.kubernetes.io/instance-type"] for n in nodes)


def web(size: int, pod: Tree | None = None, /, **annotations: str) -> ApiObject:
    requests = {"cpu": "900m"}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    tree = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": annotations},
                "spec": {"containers": [container], **(pod or {})},
            },
        },
    }
    return from_wire(tree, Deployment)


def test_pending_pods_get_the_cheapest_type_that_holds_them(tmp_path: Path) -> None:
    run = Run(tmp_path, web(5))
    [life] = run.settle()
    assert run.pending == []
    assert run.types() == ["large"]
    # One second without new pods, then the launch, the registration and the start.
    assert (life.ordered, life.registered, life.ready) == (1.0, 22.0, 31.0)
    assert life.added_for.endswith("and 4 others")
    assert life.cost == pytest.approx(0.8 * life.hours)


def test_lone_pod_gets_another_zone_in_a_later_round(tmp_path: Path) -> None:
    # Both zones are equal for the constraint, but only z has a type for the pod.
    scant = {"cpu": "500m", "memory": "1Gi", "pods": 50}
    tiny = {**instance_type("tiny", 1, 0.1), "capacity": scant}
    tiny["offerings"] = [{**each, "zone": "a"} for each in tiny["offerings"]]
    spread: Tree = {
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    run = Run(
        tmp_path, web(1, {"topologySpreadConstraints": [spread]}), types=[tiny, *TYPES]
    )
    [life] = run.settle()
    assert run.pending == []
    assert life.ordered == 12.0


def test_claim_and_node_have_the_objects_of_karpenter(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1))
    run.settle()
    [claim] = run.cluster.list(NodeClaim).items
    [node] = run.cluster.list(Node).items
    assert {each.type for each in claim.status.conditions} >= {
        "Launched",
        "Registered",
        "Initialized",
        "Ready",
    }
    assert claim.status.provider_id == node.spec.provider_id
    assert node.labels["karpenter.sh/nodepool"] == "general"
    assert node.labels["karpenter.sh/initialized"] == "true"
    assert node.spec.taints == ()


def test_each_pool_has_its_own_reason_not_to_grow(tmp_path: Path) -> None:
    requirement = {"key": ZONE, "operator": "In", "values": ["nowhere"]}
    taint = {"key": "team", "effect": "NoSchedule"}
    pools = [node_pool(requirements=[requirement]), node_pool(taints=[taint])]
    pools[1]["metadata"] = {"name": "team"}
    run = Run(tmp_path, web(1), nodePools=pools)
    run.settle()
    assert run.simulation.autoscaler is not None
    [reasons] = run.simulation.autoscaler.reasons_not_to_grow().values()
    assert reasons == {
        "general": (
            "NodePool requirements filtered out all compatible available instance types"
        ),
        "team": "did not tolerate taint (taint=team:NoSchedule)",
    }


def test_limits_leave_pods_pending(tmp_path: Path) -> None:
    run = Run(tmp_path, web(9), nodePools=[node_pool(limits={"cpu": 4})])
    run.settle()
    assert run.types() == ["small", "small"]
    assert len(run.pending) == 5
    assert run.simulation.autoscaler is not None
    reasons = run.simulation.autoscaler.reasons_not_to_grow()
    assert "exceed limits" in reasons[run.pending[0]]["general"]


def test_empty_node_goes_after_its_delay(tmp_path: Path) -> None:
    run = Run(tmp_path, web(2))
    run.settle()
    run.scale(0)
    start = run.simulation.now
    [life] = run.settle()
    assert life.removed_for == "Empty"
    assert life.removed is not None
    # The pods end in 30 s, consolidateAfter is 30 s, the check comes 15 s later.
    assert 75 <= life.removed - start <= 95


def test_node_is_replaced_before_it_goes(tmp_path: Path) -> None:
    run = Run(tmp_path, web(7))
    run.settle()
    run.scale(1)
    old, new = run.settle()
    assert run.types() == ["small"]
    assert old.removed_for == f"Underutilized, replaced by {new.node}"
    assert new.added_for == f"to replace {old.node} (Underutilized)"
    assert old.removed is not None
    assert new.ready is not None
    assert new.ready <= old.removed
    assert run.pending == []


def test_nodes_with_pods_stay_while_no_pool_is_ready(tmp_path: Path) -> None:
    run = Run(tmp_path, web(7))
    run.settle()
    [pool] = run.cluster.list(NodePool).items
    unready = {"conditions": [{"type": "Ready", "status": "False"}]}
    status = from_wire({"status": unready}, NodePool).status
    run.cluster.update(msgspec.structs.replace(pool, status=status))
    run.scale(1)
    [life] = run.settle()
    assert life.removed is None
    assert run.why(life.node) == (
        "no NodePool can be used, and Karpenter moves no pods without one"
    )


def test_annotation_of_a_pod_keeps_its_node(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1, **{"karpenter.sh/do-not-disrupt": "true"}))
    [life] = run.settle()
    assert life.removed is None
    assert 'Pod has "karpenter.sh/do-not-disrupt" annotation' in run.why(life.node)


def test_budget_of_pods_keeps_a_node(tmp_path: Path) -> None:
    budget = {
        "metadata": {"name": "all", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}},
    }
    run = Run(tmp_path, web(1), from_wire(budget, PodDisruptionBudget))
    [life] = run.settle()
    expected = "Pdb prevents pod evictions (PodDisruptionBudget=[default/all])"
    assert run.why(life.node) == expected


def test_budget_of_a_pool_lets_one_node_go_at_a_time(tmp_path: Path) -> None:
    run = Run(tmp_path, web(6), types=TYPES[:1])
    run.settle()
    run.scale(0)
    removed = sorted(life.removed or 0.0 for life in run.settle())
    assert len(removed) == 3
    waits = [after - before for before, after in itertools.pairwise(removed)]
    assert min(waits) > 10


def test_pool_that_never_consolidates_keeps_nodes(tmp_path: Path) -> None:
    run = Run(tmp_path, web(2), nodePools=[node_pool(after="Never")])
    run.settle()
    run.scale(0)
    [life] = run.settle()
    assert life.removed is None
    assert run.why(life.node) == 'NodePool "general" has consolidation disabled'


def test_expired_node_goes_at_once(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1), nodePools=[node_pool(expireAfter="10m")])
    run.simulation.run_until(660)
    old, _new = run.lives
    assert old.removed_for == "Expired"
    assert old.removed is not None
    assert 601 <= old.removed <= 640
    assert run.pending == []


def test_drifted_node_is_replaced(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1))
    run.settle()
    [pool] = run.cluster.list(NodePool).items
    tree = node_pool()["spec"]["template"]["spec"]["requirements"]
    spot = [{**tree[0], "values": ["spot"]}]
    changed = from_wire(node_pool(requirements=spot), NodePool)
    run.cluster.update(msgspec.structs.replace(pool, spec=changed.spec))
    old, new = run.settle()
    assert old.removed_for == f"Drifted, replaced by {new.node}"
    assert new.price == pytest.approx(0.12)


def test_offering_that_is_missing_is_not_launched(tmp_path: Path) -> None:
    both = [
        {
            "key": "karpenter.sh/capacity-type",
            "operator": "In",
            "values": ["spot", "on-demand"],
        }
    ]
    settings = {
        "nodePools": [node_pool(after="Never", requirements=both)],
        "failures": [{"capacityType": "spot", "until": "1h"}],
    }
    run = Run(tmp_path, web(1), **settings)
    [life] = run.settle()
    assert life.price == pytest.approx(0.2)


def test_claim_fails_while_the_cloud_has_nothing(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1), failures=[{"until": "5m"}])
    run.simulation.run_until(600)
    *failed, life = run.lives
    assert {each.removed_for for each in failed} == {"insufficient capacity"}
    assert life.ready is not None
    assert life.ready > 300
    assert run.pending == []


def test_claim_whose_node_never_registers_is_given_up(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1), failures=[{"until": "5m", "registers": False}])
    first, second = run.settle()
    assert first.removed_for == "its node did not register within 15 minutes"
    assert (first.ordered, first.registered, first.removed) == (1.0, None, 901.0)
    assert first.cost == pytest.approx(first.hours * 0.2)
    assert second.ordered is not None
    assert second.ordered >= 901.0
    assert second.ready is not None
    assert run.pending == []


@pytest.mark.parametrize(
    ("times", "reason", "seconds"),
    [
        ({"registration": "20m"}, "its node did not register within 15 minutes", 900),
        ({"launch": "6m"}, "it was not launched within 5 minutes", 300),
    ],
)
def test_claim_that_takes_too_long_is_given_up(
    tmp_path: Path, times: Tree, reason: str, seconds: float
) -> None:
    run = Run(tmp_path, web(1), times=times)
    run.simulation.run_until(2 * seconds)
    first, _ = run.lives
    assert (first.removed_for, first.removed) == (reason, 1.0 + seconds)
    assert run.pending != []


@pytest.mark.long
@pytest.mark.parametrize("times", [{"registration": "20m"}, {"launch": "6m"}])
def test_simulation_ends_though_no_node_ever_comes(tmp_path: Path, times: Tree) -> None:
    run = Run(tmp_path, web(1), times=times)
    lives = run.settle()
    assert len(lives) > 1
    assert lives[-1].until < 3600
    assert run.pending != []


def test_startup_taints_delay_pods(tmp_path: Path) -> None:
    taint = {"key": "example.com/agent", "effect": "NoSchedule"}
    times = {"launch": "1s", "registration": "1s", "startupTaints": "1m"}
    pool = node_pool(startupTaints=[taint])
    run = Run(tmp_path, web(1), nodePools=[pool], times=times)
    run.simulation.run_until(60)
    assert len(run.pending) == 1
    run.settle()
    assert run.pending == []


def test_node_of_the_input_needs_no_claim(tmp_path: Path) -> None:
    labels = {
        "karpenter.sh/nodepool": "general",
        "karpenter.sh/capacity-type": "on-demand",
        "node.kubernetes.io/instance-type": "large",
        ZONE: "z",
    }
    tree = {
        "metadata": {"name": "old", "labels": labels},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "50"}},
    }
    run = Run(tmp_path, web(1), from_wire(tree, Node))
    old, new = run.settle()
    assert (old.node, old.ordered, old.price) == ("old", None, 0.8)
    assert old.removed_for == f"Underutilized, replaced by {new.node}"


def test_node_that_is_deleted_is_ordered_again(tmp_path: Path) -> None:
    run = Run(tmp_path, web(1))
    run.settle()
    [node] = run.cluster.list(Node).items
    run.cluster.delete(Node, node.name)
    for pod in run.cluster.list(Pod).items:
        run.cluster.delete(Pod, pod.key, grace_period_seconds=0)
    old, new = run.settle()
    assert old.removed_for == "its node was deleted"
    assert new.removed is None
    assert run.pending == []


def test_simulation_without_a_pool_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AutoscalerError, match="expected a NodePool"):
        Run(tmp_path, web(1), nodePools=[])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"types": []}, "expected types or a catalogue"),
        ({"types": [TYPES[0], TYPES[0]]}, "'small' is there twice"),
        ({"flags": ["--batch-idle=1s"]}, "flags: --batch-idle=1s: expected one of"),
        ({"flags": ["--batch-idle-duration=soon"]}, "expected a duration"),
        ({"flags": ["--feature-gates=NodeRepair=true"]}, "can be turned on"),
        ({"now": "monday"}, "now: expected a time"),
        ({"failures": [{"zones": "a"}]}, r"failures\[0\]"),
        ({"catalogue": "none.csv"}, r"json: catalogue: .*none.csv: no such file"),
    ],
)
def test_wrong_file_is_one_clear_error(
    tmp_path: Path, settings: Tree, message: str
) -> None:
    with pytest.raises(Exception, match=message):
        Run(tmp_path, **settings)


@pytest.mark.parametrize(
    ("disruption", "message"),
    [
        ({"consolidateAfter": "later"}, "consolidateAfter: expected a duration"),
        ({"budgets": [{"nodes": "many"}]}, r"budgets\[0\].nodes: expected a number"),
        ({"budgets": [{"nodes": "1", "schedule": "@daily"}]}, "together"),
        ({"consolidationPolicy": "Always"}, "consolidationPolicy: expected"),
    ],
)
def test_wrong_pool_is_one_clear_error(
    tmp_path: Path, disruption: Tree, message: str
) -> None:
    pool = node_pool()
    pool["spec"]["disruption"] |= disruption
    with pytest.raises(AutoscalerError, match=f"NodePool general: .*{message}"):
        Run(tmp_path, nodePools=[pool])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"limitss": {"cpu": 1}}, "spec.limitss: unknown field; did you mean 'limits'"),
        (
            {"template": {"spec": {"taints": [{"key": "a", "efect": "NoSchedule"}]}}},
            r"spec.template.spec.taints\[0\].efect: unknown field",
        ),
    ],
)
def test_unknown_field_of_a_pool_is_one_clear_error(
    tmp_path: Path, spec: Tree, message: str
) -> None:
    pool = node_pool()
    pool["spec"] |= spec
    with pytest.raises(AutoscalerError, match=rf"nodePools\[0\]: {message}"):
        Run(tmp_path, nodePools=[pool])


def test_catalogue_is_a_table(tmp_path: Path) -> None:
    table = (
        "name,cpu,memory,pods,gpus,on-demand $/h,spot $/h\n"
        "m5.large,2,8Gi,29,0,0.1,0.03\n"
        "g5.xlarge,4,16Gi,58,1,1,\n"
    )
    (tmp_path / "types.csv").write_text(table)
    settings = {"types": [], "catalogue": "types.csv", "zones": ["z"]}
    run = Run(tmp_path, web(1), **settings)
    run.settle()
    [node] = run.cluster.list(Node).items
    assert node.labels["node.kubernetes.io/instance-type"] == "m5.large"
    assert node.labels["karpenter.k8s.aws/instance-category"] == "m"
    assert node.labels["karpenter.k8s.aws/instance-generation"] == "5"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "name,cpu,memory,on-demand $/h\nm5.large,2,8Gi,0.1\n",
            r"types.csv: row 1: expected the columns name, cpu, .* missing: pods",
        ),
        ("name,cpu,memory,pods\n", "missing: on-demand"),
        ("name,cpu,pods,spot $/h\nm5.large,2,8Gi,0.1\n", "row 1: .* missing: memory"),
        (
            "name,cpu,memory,pods,spot $/h\na,1,1Gi,9,1\nb,1,1Gi,,1\n",
            "types.csv: row 3: pods: expected an amount, got nothing",
        ),
        (
            "name,cpu,memory,pods,spot $/h\na,1,1Gi,9\n",
            "types.csv: row 2: expected 5 values, got 4",
        ),
    ],
)
def test_wrong_catalogue_is_one_clear_error(
    tmp_path: Path, table: str, message: str
) -> None:
    (tmp_path / "types.csv").write_text(table)
    with pytest.raises(AutoscalerError, match=message):
        Run(tmp_path, types=[], catalogue="types.csv", zones=["z"])


def test_types_of_the_file_need_room_for_pods(tmp_path: Path) -> None:
    capacity = {"cpu": "1", "memory": "1Gi"}
    bad = {**TYPES[0], "capacity": capacity}
    with pytest.raises(AutoscalerError, match=r"types \(small\): .*expected pods"):
        Run(tmp_path, types=[bad])
