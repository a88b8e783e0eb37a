"""A group gets one placement: all its pods go to nodes of the same rack."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from quaymaster import (
    ApiObject,
    CycleState,
    NodeTable,
    Pod,
    Status,
    hookimpl,
)
from quaymaster.columns import RowArray
from quaymaster.config import ConfigErrors
from quaymaster.hookspecs import PodGroupAssignments, PodGroupInfo, PodGroupPlacement
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.group_cluster import (
    cpu_nodes,
    gang_objects,
    group_condition,
    harness_with_groups,
    nodes_by_pod,
)

RACK = "example.com/rack"
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
BY_NAME: Mapping[str, object] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"tieBreaker": "name"}],
}


def racks(**nodes: Sequence[str]) -> Sequence[ApiObject]:
    """Return nodes with one CPU each: rack -> names."""
    return [
        make_node(name=name, allocatable={"cpu": "1"}, labels={RACK: rack})
        for rack, names in nodes.items()
        for name in names
    ]


def settled(
    objects: Sequence[ApiObject],
    *,
    plugins: Mapping[str, type] | None = None,
    config: Mapping[str, object] = BY_NAME,
) -> SchedulerHarness:
    """Return a scheduler with both feature gates, after it has tried everything."""
    harness = harness_with_groups(
        objects, plugins=plugins, config=config, TopologyAwareWorkloadScheduling=True
    )
    harness.settle()
    return harness


def config_with(*names: str, **points: object) -> Mapping[str, object]:
    """Return a configuration that enables plugins everywhere, or at points."""
    everywhere = {"enabled": [{"name": name} for name in names]}
    plugins = {"multiPoint": everywhere, **points}
    return {**BY_NAME, "profiles": [{"tieBreaker": "name", "plugins": plugins}]}


def test_gang_stays_in_the_only_rack_with_room() -> None:
    nodes = racks(one=["a", "b"], two=["c", "d", "e"])
    harness = settled([*nodes, *gang_objects(3, topology_key=RACK)])
    assert sorted(nodes_by_pod(harness).values()) == ["c", "d", "e"]
    assert group_condition(harness) == ("True", "Scheduled", "")


def test_gang_that_fits_in_no_rack_gets_the_message_of_the_first() -> None:
    nodes = racks(one=["a", "b"], two=["c"], three=["d"])
    harness = settled([*nodes, *gang_objects(3, topology_key=RACK)])
    assert nodes_by_pod(harness) == {}
    status, reason, message = group_condition(harness)
    first = "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
    text = f"0/3 placements are available, first placement status: {first}"
    assert (status, reason) == ("False", "Unschedulable")
    assert message == f"pod group is unschedulable, {text}, {NO_VICTIMS}"
    # The nodes of that placement count, not all nodes.
    assert harness.message("gang-2") == "0/2 nodes are available: 2 Insufficient cpu."


def test_nodes_without_the_label_are_no_placement() -> None:
    harness = settled([*cpu_nodes("a"), *gang_objects(1, topology_key=RACK)])
    text = f"no feasible placements found, {NO_VICTIMS}"
    assert group_condition(harness) == ("False", "Unschedulable", text)
    assert harness.message("gang-0") == "no feasible placements found"


def test_group_without_constraint_may_use_all_nodes() -> None:
    harness = settled([*racks(one=["a"], two=["b"]), *gang_objects(2)])
    assert sorted(nodes_by_pod(harness).values()) == ["a", "b"]


def test_late_pods_join_the_rack_of_their_group() -> None:
    nodes = racks(one=["a", "b", "c"], two=["d", "e"])
    harness = settled([*nodes, *gang_objects(2, topology_key=RACK)])
    rack = {"a", "b", "c"} if "a" in nodes_by_pod(harness).values() else {"d", "e"}
    for number in range(2):
        late = make_pod(
            name=f"late-{number}", requests={"cpu": "1"}, scheduling_group="gang"
        )
        harness.cluster.create(late)
    harness.settle()
    assert set(nodes_by_pod(harness).values()) <= rack


def test_group_in_two_racks_is_an_error() -> None:
    gang = gang_objects(1, min_count=1, topology_key=RACK)
    bound = [
        make_pod(name=f"bound-{node}", node=node, scheduling_group="gang")
        for node in ("a", "b")
    ]
    harness = settled([*racks(one=["a"], two=["b"]), *gang, *bound])
    text = (
        "cannot determine domain for already scheduled pods: more than 1 domain found"
    )
    assert group_condition(harness)[2].startswith(text)


def test_fuller_rack_wins() -> None:
    nodes = racks(one=["a", "b"], two=["c", "d", "e"])
    running = make_pod(name="running", requests={"cpu": "500m"}, node="c")
    harness = settled([*nodes, running, *gang_objects(2, topology_key=RACK)])
    assert sorted(nodes_by_pod(harness).values()) == ["a", "b", "c"]


def test_rack_for_more_pods_wins() -> None:
    nodes = racks(one=["a", "b"], two=["c", "d", "e"])
    harness = settled([*nodes, *gang_objects(3, basic=True, topology_key=RACK)])
    assert sorted(nodes_by_pod(harness).values()) == ["c", "d", "e"]


def test_equal_racks_are_chosen_by_name() -> None:
    nodes = racks(two=["a"], one=["b"])
    harness = settled([*nodes, *gang_objects(1, topology_key=RACK)])
    assert nodes_by_pod(harness) == {"gang-0": "b"}


def test_nothing_of_the_tried_racks_stays_assumed() -> None:
    nodes = racks(one=["a", "b"], two=["c", "d"], three=["e"])
    harness = settled([*nodes, *gang_objects(2, topology_key=RACK)])
    single = [make_pod(name=f"single-{n}", requests={"cpu": "1"}) for n in range(3)]
    for pod in single:
        harness.cluster.create(pod)
    harness.settle()
    assert sorted(nodes_by_pod(harness).values()) == ["a", "b", "c", "d", "e"]


class Halves:
    """Divides the nodes into an even and an odd half; prefers one of them."""

    favourite = "odd"
    problem = ""

    def __init__(self, *_args: object) -> None:
        pass

    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement] | Status:
        if self.problem == "generate":
            return Status.from_error("no halves today")
        rows: RowArray = nodes.row_numbers(parent.rows)
        if self.problem == "row":
            return [PodGroupPlacement("far", np.array([99], dtype=np.intp))]
        return [
            PodGroupPlacement("even", rows[::2]),
            PodGroupPlacement("odd", rows[1::2]),
        ]

    @hookimpl
    def placement_score(
        self, group: PodGroupInfo, assignments: PodGroupAssignments
    ) -> int:
        if self.problem == "score":
            raise RuntimeError("broken")
        assert len(assignments.attempts) == len(group.pods)
        top = 1000 if self.problem == "range" else 100
        return top if assignments.placement.name == self.favourite else 0


@pytest.mark.parametrize(
    ("favourite", "nodes"), [("odd", ["b", "d"]), ("even", ["a", "c"])]
)
def test_plugin_of_ones_own_divides_and_ranks(
    favourite: str, nodes: Sequence[str]
) -> None:
    plugin = type("Mine", (Halves,), {"favourite": favourite})
    own = {"enabled": [{"name": "Mine", "weight": 5}], "disabled": [{"name": "*"}]}
    config = config_with(placementGenerate=own, placementScore=own)
    objects = [*cpu_nodes("a", "b", "c", "d"), *gang_objects(2)]
    harness = settled(objects, plugins={"Mine": plugin}, config=config)
    assert sorted(nodes_by_pod(harness).values()) == nodes


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        pytest.param("generate", "no halves today", id="no placements"),
        pytest.param(
            "row",
            "failed to assume pod group placement: row 99 of placement 'far' has no "
            "node",
            id="a row without a node",
        ),
        pytest.param(
            "score",
            'running PlacementScore plugins: plugin "Mine" failed with: ',
            id="an exception",
        ),
        pytest.param(
            "range",
            'applying score defaultWeights on PlacementScore plugins: plugin "Mine" '
            "returns an invalid score 1000, it should in the range of [0, 100] after "
            "normalizing",
            id="a score that is too high",
        ),
    ],
)
def test_fault_of_a_plugin_is_the_error_of_the_group(problem: str, text: str) -> None:
    plugin = type("Mine", (Halves,), {"problem": problem})
    own = {"enabled": [{"name": "Mine"}], "disabled": [{"name": "*"}]}
    config = config_with(placementGenerate=own, placementScore=own)
    objects = [*cpu_nodes("a", "b", "c", "d"), *gang_objects(2)]
    harness = settled(objects, plugins={"Mine": plugin}, config=config)
    harness.errors.clear()
    status, reason, message = group_condition(harness)
    assert (status, reason) == ("False", "SchedulerError")
    assert message.startswith(text)
    assert nodes_by_pod(harness) == {}


def test_only_one_plugin_may_divide_the_nodes() -> None:
    # The profile has TopologyPlacement, too, and upstream runs only the first.
    expected = "placementGenerate: expected at most 1 enabled plugin, got "
    with pytest.raises(ConfigErrors, match=expected):
        settled(cpu_nodes("a"), plugins={"Mine": Halves}, config=config_with("Mine"))


class Spy:
    """Notes which nodes a pod's filter sees, and the size of the snapshot."""

    def __init__(self, *_args: object) -> None:
        self.tables: set[int] = set()

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> None:
        self.tables.add(len(nodes))


def test_plugins_see_all_nodes_on_every_placement() -> None:
    nodes = racks(one=["a", "b"], two=["c"])
    objects = [*nodes, *gang_objects(1, topology_key=RACK)]
    harness = settled(objects, plugins={"Spy": Spy}, config=config_with("Spy"))
    assert harness.plugin(Spy).tables == {3}
