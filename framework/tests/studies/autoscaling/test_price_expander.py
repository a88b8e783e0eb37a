"""The expander ``price``, its prices, and chains of expanders."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    AutoscalerError,
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    FlagError,
    GroupSettings,
    read_autoscaler,
    read_flags,
)
from quaymaster.objects import Quantity
from quaymaster.simulation import Simulation, explain_pod
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.autoscaling import (
    Expansion,
    PodPrices,
    PriceExpander,
    Template,
)

STABLE = 0.5 * 0.033174 + 500 / 1024 * 0.004446
POD = 0.033174 + 0.004446
HEAD = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: ClusterAutoscaler\n"
GROUPS = """
flags: [--expander=price]
catalogue: types.csv
groups:
- {name: a, max: 3, instanceType: m5.large, resources: {cpu: 2, memory: 8Gi}}
- name: b
  max: 3
  zone: z2
  instanceType: m5.xlarge
  labels: {eks.amazonaws.com/capacityType: SPOT}
  resources: {cpu: 4, memory: 16Gi}
"""
TYPES = """name,zone,cpu,memory,pods,on-demand $/h,spot $/h
m5.large,,2,8Gi,29,0.1,0.04
m5.xlarge,z1,4,16Gi,58,0.2,0.08
m5.xlarge,z2,4,16Gi,58,0.2,0.07
"""


def pods(count: int) -> list[Pod]:
    requests = {"cpu": "1", "memory": "1Gi"}
    return [make_pod(name=f"p{n}", requests=requests) for n in range(count)]


def expander(cluster_size: int) -> PriceExpander:
    return PriceExpander({"g": 0.4}, PodPrices(), lambda: cluster_size)


def node(cpu: int, **capacity: str) -> Node:
    return make_node(capacity={"cpu": str(cpu), "memory": "32Gi", **capacity})


@pytest.mark.parametrize(
    ("size", "preferred"),
    [(0, 1), (2, 1), (3, 2), (6, 2), (7, 4), (20, 4), (60, 8), (200, 16), (201, 32)],
)
def test_score_follows_from_prices_and_the_size_of_the_cluster(
    size: int, preferred: int
) -> None:
    option = Expansion(group="g", nodes=1, pods=pods(2))
    unfitness = max(8 / preferred, preferred / 8)
    expected = unfitness * (0.4 + STABLE) / (2 * POD + STABLE)
    assert expander(size).score(option, node(8)) == pytest.approx(expected)


def test_many_nodes_suppress_that_they_do_not_match() -> None:
    option = Expansion(group="g", nodes=16, pods=pods(40))
    unfitness = 3 * (1 - math.tanh(1)) + 1
    expected = unfitness * (16 * 0.4 + STABLE) / (40 * POD + STABLE)
    assert expander(3).score(option, node(8)) == pytest.approx(expected)


def test_nodes_with_gpus_are_last() -> None:
    option = Expansion(group="g", nodes=1, pods=pods(2))
    gpu = node(8, **{"nvidia.com/gpu": "1"})
    expected = 1000 * (0.4 + STABLE) / (2 * POD + STABLE)
    assert expander(3).score(option, gpu) == pytest.approx(expected)


def test_group_without_a_price_is_dropped() -> None:
    option = Expansion(group="other", nodes=1, pods=pods(2))
    assert expander(3).score(option, node(8)) is None
    templates = {"other": Template(node=node(8), pods=())}
    assert expander(3)([option], templates) == []


def settings(name: str, cpu: int, price: float | None) -> GroupSettings:
    resources = {"cpu": Quantity(cpu), "memory": Quantity(f"{4 * cpu}Gi")}
    return GroupSettings(name=name, max=5, price=price, resources=resources)


def added(groups: Sequence[GroupSettings], *expanders: str) -> list[str]:
    options = ClusterAutoscalerOptions(expander=expanders)
    setup = ClusterAutoscalerSetup(groups=groups, options=options)
    with Simulation(pods(2), autoscaler=setup) as simulation:
        simulation.settle()
        assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
        return [life.group for life in simulation.autoscaler.nodes()]


@pytest.mark.long
def test_group_that_costs_least_for_its_pods_grows() -> None:
    large = settings("large", 2, 0.3)
    # The empty cluster prefers nodes of one core: those of two cost twice as much.
    assert added([settings("small", 1, 0.2), large], "price") == ["small", "small"]
    assert added([settings("small", 1, 0.4), large], "price") == ["large"]


@pytest.mark.long
def test_each_expander_of_a_chain_filters_for_the_next() -> None:
    groups = [settings("a", 2, 0.5), settings("b", 4, 0.1), settings("c", 8, 9.0)]
    assert added(groups, "price") == ["b"]
    assert added(groups, "least-nodes", "price") == ["b"]
    assert added(groups, "least-nodes", "least-waste") == ["a"]


def test_expander_price_needs_a_price_for_each_group() -> None:
    groups = [settings("a", 2, 0.5), settings("b", 4, None)]
    with pytest.raises(AutoscalerError, match=r"groups \(b\): price: expected one"):
        added(groups, "price")


def test_prices_are_those_of_the_catalogue(tmp_path: Path) -> None:
    (tmp_path / "autoscaler.yaml").write_text(HEAD + GROUPS)
    (tmp_path / "types.csv").write_text(TYPES)
    setup = read_autoscaler(str(tmp_path / "autoscaler.yaml"))
    assert isinstance(setup, ClusterAutoscalerSetup)
    assert [offer.price for offer in setup.offers([])] == [0.1, 0.07]
    assert setup.files == [tmp_path / "types.csv"]


@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        ("--expander=grpc", "'grpc' asks a program outside of the simulation"),
        ("--expander=price,grpc", "expected some of .*price"),
        ("--expander=price,least-waste,price", "expected each expander once"),
    ],
)
def test_impossible_chain_is_one_clear_error(flag: str, problem: str) -> None:
    with pytest.raises(FlagError, match=problem):
        read_flags([flag])


def test_explanation_has_the_scores() -> None:
    groups = [settings("small", 1, 0.4), settings("large", 2, 0.3)]
    options = ClusterAutoscalerOptions(expander=("price",))
    setup = ClusterAutoscalerSetup(groups=groups, options=options)
    explained = explain_pod("p0", pods(2), autoscaler=setup)
    assert explained.scaling is not None
    [small] = [each for each in explained.scaling.groups if each.group == "small"]
    assert small.why == "price: score 8.71; large: score 6.782"
