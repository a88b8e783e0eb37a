"""Plans for real deployments agree with a search through all node counts."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config, load_config
from quaymaster.inmemory import InMemoryCluster, make_nodes
from quaymaster.manifests import load
from quaymaster.planning import Loss, Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation, simulate
from tests.kit.nightly import with_rest_at_night
from tests.kit.workloads import make_deployment, make_template

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
DATA = Path(__file__).parent / "data"
EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"
NEW_NODE = (
    "cpu=32,memory=64Gi,ephemeral-storage=61255492Ki,"
    "label:node-role.kubernetes.io/worker="
)
"""The node that open-simulator's examples may have more of (newnode/demo_1)."""


def read(*files: str | Path) -> Sequence[ApiObject]:
    return load([str(DATA / file) for file in files]).objects


def planned(
    objects: Sequence[ApiObject], *specs: str, loss: Loss | None = None
) -> Plan:
    """Plan nodes that are bought at once, as `by_hand` buys them."""
    return plan(
        objects,
        groups=[parse_node_group(spec) for spec in specs],
        config=CONFIG,
        registry=REGISTRY,
        tolerate_loss=loss,
        in_rounds=False,
    )


def by_hand(objects: Sequence[ApiObject], spec: str) -> int:
    """Return the smallest number of nodes that places all pods, by trying."""
    for count in range(100):
        nodes = make_nodes([f"{count}:{spec}"])
        result = simulate([*nodes, *objects], config=CONFIG, registry=REGISTRY)
        if not result.unscheduled:
            return count
    raise AssertionError("no number of nodes suffices")


@pytest.mark.long
@pytest.mark.parametrize("spec", ["cpu=1,memory=2Gi", "cpu=500m,memory=1Gi,zones=3"])
def test_online_boutique_takes_as_many_nodes_as_by_hand(spec: str) -> None:
    objects = read(EXAMPLES / "online-boutique")
    found = planned(objects, spec)
    assert len(found.nodes) == by_hand(objects, spec)
    assert found.is_final


@pytest.mark.long
@pytest.mark.parametrize(
    "spec", ["cpu=2,memory=700Mi", "cpu=310m,memory=4Gi", "cpu=4,memory=16Gi,pods=3"]
)
def test_online_boutique_takes_as_many_odd_nodes_as_by_hand(spec: str) -> None:
    objects = read(EXAMPLES / "online-boutique")
    assert len(planned(objects, spec).nodes) == by_hand(objects, spec)


@pytest.mark.long
@pytest.mark.parametrize("spec", ["cpu=500m,memory=1Gi", "cpu=1,memory=500Mi,pods=4"])
def test_kube_prometheus_takes_as_many_nodes_as_by_hand(spec: str) -> None:
    objects = read("kube-prometheus.yaml")
    found = planned(objects, spec)
    assert len(found.nodes) == by_hand(objects, spec)
    assert found.is_final


OPEN_SIMULATOR = (
    (("simple",), 4),
    (("complicated",), 8),
    (("simple", "complicated"), 10),
    (("simple", "complicated", "more-pods"), 18),
)
"""Its applications, and how many new nodes they take; it documents no numbers for
these, so they were found by simulating every number from 0 on."""


@pytest.mark.long
@pytest.mark.parametrize(("names", "nodes"), OPEN_SIMULATOR)
def test_examples_of_open_simulator_take_as_many_new_nodes_as_by_hand(
    names: Sequence[str], nodes: int
) -> None:
    files = [f"open-simulator-{name}.yaml" for name in ("cluster", *names)]
    objects = read(*files)
    found = planned(objects, NEW_NODE)
    assert len(found.nodes) == nodes == by_hand(objects, NEW_NODE)
    assert found.is_final
    assert found.lower_bound == nodes


WEB = make_deployment(6, make_template(cpu="1"))


def survives_by_hand(nodes: Sequence[Node], *, zone: str = "", node: str = "") -> bool:
    """Report whether all pods have a node again after nodes were deleted."""
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([*nodes, WEB])
    with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
        simulation.settle()
        for candidate in nodes:
            at = candidate.labels.get("topology.kubernetes.io/zone", "")
            if node == candidate.name or (zone and zone == at):
                cluster.delete(Node, candidate.name)
        simulation.settle()
        there = {item.name for item in cluster.list(Node).items}
        pods = cluster.list(Pod).items
        return len(pods) == 6 and all(pod.node_name in there for pod in pods)


@pytest.mark.long
def test_a_plan_survives_the_loss_of_any_node_and_a_smaller_one_does_not() -> None:
    spec = "cpu=2,memory=4Gi"
    found = planned([WEB], spec, loss=Loss.NODE)
    assert len(found.nodes) == 4
    assert all(survives_by_hand(found.nodes, node=node.name) for node in found.nodes)
    fewer = make_nodes([f"3:{spec}"])
    assert not all(survives_by_hand(fewer, node=node.name) for node in fewer)


@pytest.mark.long
def test_a_plan_survives_the_loss_of_any_zone_and_a_smaller_one_does_not() -> None:
    spec = "cpu=2,memory=4Gi,zones=2"
    found = planned([WEB], spec, loss=Loss.ZONE)
    assert len(found.nodes) == 6
    assert found.is_final
    zones = ("zone-a", "zone-b")
    assert all(survives_by_hand(found.nodes, zone=zone) for zone in zones)
    fewer = make_nodes([f"5:{spec}"])
    assert not all(survives_by_hand(fewer, zone=zone) for zone in zones)


@pytest.mark.parametrize(
    "names",
    with_rest_at_night(
        [("x",), ("cx",), ("sx",), ("csx",)],
        ["x", "cx", "sx", "csx"],
        nightly=["csx"],
    ),
)
def test_more_groups_do_not_make_the_plan_worse(names: str) -> None:
    """With nodes of ``c`` and ``s``, the scheduler's choices never place all pods.

    Bought in rounds they do, so a plan in rounds may be cheaper. Pods of DaemonSets
    come in order: if they come first, the scheduler's choices do place all pods.
    """
    specs = {
        "c": "name=c,cpu=4,memory=8Gi,price=0.16,zones=3,max=12",
        "s": "name=s,cpu=2,memory=8Gi,price=0.1,zones=3,max=12",
        "x": "name=x,cpu=8,memory=32Gi,price=0.37,zones=3,max=12",
    }
    at_once, in_rounds = (
        plan(
            read("mixed-groups.yaml"),
            groups=[parse_node_group(specs[name]) for name in names],
            config=load_config("bin-packing", REGISTRY),
            registry=REGISTRY,
            in_rounds=in_rounds,
            daemon_sets_first=False,
        )
        for in_rounds in (False, True)
    )
    assert (str(at_once.cost), at_once.is_final) == ("1.48", True)
    assert at_once.cost is not None
    assert in_rounds.cost is not None
    assert in_rounds.cost <= at_once.cost
