"""Plans with the nodes that Karpenter may launch, beside what it launches."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quaymaster import ApiObject
from quaymaster.autoscaling import AutoscalerFactory, OffersNodes, read_autoscaler
from quaymaster.config import default_config
from quaymaster.objects import TopologySpreadConstraint
from quaymaster.planning import plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_deployment, make_node, make_pod

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE = "topology.kubernetes.io/zone"


def instance_type(name: str, cpu: int, price: float, memory: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "capacity": {"cpu": cpu, "memory": f"{memory or 4 * cpu}Gi", "pods": 50},
        "offerings": [
            {"zone": zone, "capacityType": kind, "price": share * price}
            for zone in ("a", "b")
            for kind, share in (("on-demand", 1.0), ("spot", 0.5))
        ],
    }


TYPES = [
    instance_type("small", 2, 0.2),
    instance_type("old-small", 2, 0.3),
    instance_type("large", 8, 0.8),
    instance_type("fat", 8, 0.85, memory=16),
]


def setup(folder: Path, *types: dict[str, Any], **spec: Any) -> AutoscalerFactory:
    requirement = {"key": "karpenter.sh/capacity-type", "operator": "In"}
    pool = {
        "metadata": {"name": "general"},
        "spec": {
            "template": {
                "spec": {"requirements": [{**requirement, "values": ["on-demand"]}]}
            },
            **spec,
        },
    }
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Karpenter",
        "types": types or TYPES,
        "nodePools": [pool],
    }
    file = folder / "karpenter.yaml"
    file.write_bytes(msgspec.yaml.encode(document))
    return read_autoscaler(str(file))


def names_of_offers(factory: AutoscalerFactory, *objects: ApiObject) -> list[str]:
    assert isinstance(factory, OffersNodes)
    return [offer.name for offer in factory.offers(objects)]


def web(replicas: int = 3, **pod: Any) -> ApiObject:
    pod.setdefault("requests", {"cpu": "1500m", "memory": "1Gi"})
    return make_deployment(name="web", replicas=replicas, pod=make_pod(**pod))


def test_offers_that_another_one_replaces_are_left_out(tmp_path: Path) -> None:
    assert names_of_offers(setup(tmp_path), web()) == [
        "general-small-on-demand",
        "general-large-on-demand",
    ]


def test_type_is_kept_if_pods_select_it(tmp_path: Path) -> None:
    selector = {"node.kubernetes.io/instance-type": "old-small"}
    names = names_of_offers(setup(tmp_path), web(node_selector=selector))
    assert "general-old-small-on-demand" in names
    assert "general-fat-on-demand" in names


def test_zones_count_if_pods_spread_over_them(tmp_path: Path) -> None:
    spread = TopologySpreadConstraint(
        max_skew=1, topology_key=ZONE, when_unsatisfiable="DoNotSchedule"
    )
    names = names_of_offers(setup(tmp_path), web(spread=[spread]))
    assert names == [
        "general-small-on-demand-a",
        "general-large-on-demand-a",
        "general-small-on-demand-b",
        "general-large-on-demand-b",
    ]


def test_resources_count_if_pods_request_them(tmp_path: Path) -> None:
    gpu = instance_type("gpu", 8, 1.5)
    gpu["capacity"]["nvidia.com/gpu"] = 1
    factory = setup(tmp_path, *TYPES, gpu)
    requests = {"cpu": "1", "nvidia.com/gpu": "1"}
    assert "general-gpu-on-demand" not in names_of_offers(factory, web())
    assert "general-gpu-on-demand" in names_of_offers(factory, web(requests=requests))


def test_limits_of_a_pool_count_its_nodes(tmp_path: Path) -> None:
    factory = setup(tmp_path, limits={"cpu": "10"})
    assert isinstance(factory, OffersNodes)
    own = make_node(
        name="n",
        labels={"karpenter.sh/nodepool": "general"},
        capacity={"cpu": "4", "memory": "8Gi"},
    )
    offers = factory.offers([own, web()])
    assert {offer.name: offer.most for offer in offers} == {
        "general-small-on-demand": 3
    }


@pytest.mark.long
def test_plan_is_beside_what_karpenter_launches(tmp_path: Path) -> None:
    found = plan(
        [web()],
        autoscaler=setup(tmp_path),
        config=CONFIG,
        registry=REGISTRY,
        max_trials=10,
    )
    assert {each.group.name: each.nodes for each in found.groups} == {
        "general-small-on-demand": 3,
        "general-large-on-demand": 0,
    }
    assert found.cost == Decimal("0.6")
    assert found.scaled is not None
    assert found.scaled.nodes == {
        "general-small-on-demand": 0,
        "general-large-on-demand": 1,
    }
    assert found.scaled.cost == Decimal("0.8")
