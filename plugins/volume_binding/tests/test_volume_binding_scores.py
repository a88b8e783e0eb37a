"""Scores by storage, with the feature gate StorageCapacityScoring.

Scalar hook and twin are both called.
"""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject
from quaymaster.config import ConfigErrors, Kubernetes
from quaymaster.objects import CSIDriver, CSIDriverSpec, CSIStorageCapacity
from quaymaster.testing import (
    PluginHarness,
    make_csi_storage_capacity,
    make_metadata,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import NO_PROVISIONER
from quaymaster_volume_binding import VolumeBinding

ZONE = "topology.kubernetes.io/zone"
DRIVER = "csi.example.com"
NEW = Kubernetes("1.37")
SCORED = [NEW, Kubernetes("1.36", {"StorageCapacityScoring": True})]
NODES = [make_node(name=zone, labels={ZONE: zone}) for zone in "ab"]
TRACKED = CSIDriver(
    metadata=make_metadata(CSIDriver, name=DRIVER),
    spec=CSIDriverSpec(storage_capacity=True),
)
MADE = make_storage_class(provisioner=DRIVER)
STATIC = make_storage_class(provisioner=NO_PROVISIONER)
MOST_USED = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]


def scores(
    *objects: ApiObject,
    claims: Sequence[str] = ("claim",),
    kubernetes: Kubernetes = NEW,
    shape: list[dict[str, int]] | None = None,
) -> dict[str, int]:
    harness = PluginHarness(
        VolumeBinding,
        args={} if shape is None else {"shape": shape},
        nodes=NODES,
        objects=objects,
        kubernetes=kubernetes,
    )
    pod = make_pod(claims=claims)
    harness.filter(pod)
    plugin, state, nodes = harness.plugin, harness.state, harness.snapshot.nodes
    assert isinstance(plugin, VolumeBinding)
    assert plugin.pre_score() is None
    found = {node.name: plugin.score(state, node) for node in harness.snapshot}
    twin = plugin.score_nodes(state, nodes, nodes.rows)
    assert list(found.values()) == twin.tolist()
    return found


def claim_of(storage: str, name: str = "claim") -> ApiObject:
    return make_persistent_volume_claim(name=name, storage=storage)


def room(zone: str, capacity: str, name: str = "") -> CSIStorageCapacity:
    return make_csi_storage_capacity(
        name=name or f"room-{zone}", capacity=capacity, node_topology={ZONE: zone}
    )


@pytest.mark.parametrize("kubernetes", SCORED, ids=str)
def test_by_default_free_storage_is_best(kubernetes: Kubernetes) -> None:
    objects = [MADE, TRACKED, claim_of("25Gi"), room("a", "100Gi"), room("b", "50Gi")]
    assert scores(*objects, kubernetes=kubernetes) == {"a": 75, "b": 50}


def test_a_shape_turns_it_round() -> None:
    objects = [MADE, TRACKED, claim_of("25Gi"), room("a", "100Gi"), room("b", "50Gi")]
    assert scores(*objects, shape=MOST_USED) == {"a": 25, "b": 50}


def test_volumes_that_exist_are_scored_by_their_sizes() -> None:
    objects = [
        STATIC,
        claim_of("10Gi"),
        make_persistent_volume(name="a", storage="40Gi", node_labels={ZONE: "a"}),
        make_persistent_volume(name="b", storage="10Gi", node_labels={ZONE: "b"}),
    ]
    assert scores(*objects) == {"a": 75, "b": 0}


def test_two_volumes_share_the_room_of_a_node() -> None:
    claims = [claim_of("25Gi", "one"), claim_of("25Gi", "two")]
    found = scores(MADE, TRACKED, *claims, room("a", "100Gi"), claims=["one", "two"])
    assert found["a"] == 50


def test_storage_of_unknown_capacity_scores_nothing() -> None:
    assert scores(MADE, claim_of("25Gi")) == {"a": 0, "b": 0}


def test_pods_without_volumes_score_nothing() -> None:
    assert scores(claims=()) == {"a": 0, "b": 0}


def test_of_several_capacities_the_first_by_name_counts() -> None:
    objects = [
        MADE,
        TRACKED,
        claim_of("25Gi"),
        room("a", "100Gi", "second"),
        room("a", "50Gi", "first"),
        room("a", "10Gi", "a-too-small"),
    ]
    assert scores(*objects)["a"] == 50


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([], "shape: expected at least one point, got none"),
        (
            [{"utilization": 50, "score": 1}, {"utilization": 50, "score": 2}],
            r"shape\[1\].utilization: expected more than 50, got 50",
        ),
    ],
)
def test_wrong_shapes_are_refused(shape: list[dict[str, int]], message: str) -> None:
    with pytest.raises(ConfigErrors, match=message):
        PluginHarness(VolumeBinding, args={"shape": shape}, kubernetes=NEW)


@given(
    corners=st.lists(
        st.tuples(st.integers(0, 100), st.integers(0, 10)),
        min_size=1,
        max_size=5,
        unique_by=lambda corner: corner[0],
    ).map(sorted),
    requested=st.integers(1, 120),
)
def test_scores_are_on_the_broken_line(
    corners: list[tuple[int, int]], requested: int
) -> None:
    shape = [{"utilization": at, "score": score} for at, score in corners]
    volume = make_persistent_volume(name="v", storage="100Gi", node_labels={ZONE: "a"})
    found = scores(STATIC, claim_of(f"{min(requested, 100)}Gi"), volume, shape=shape)
    at, line = min(requested, 100), [(u, 10 * s) for u, s in corners]
    before = max((point for point in line if point[0] <= at), default=line[0])
    after = min((point for point in line if point[0] >= at), default=line[-1])
    exact = Fraction(before[1])
    if after[0] > before[0]:
        rise, run = after[1] - before[1], after[0] - before[0]
        exact += Fraction(rise * (at - before[0]), run)
    # Rounded towards the point before.
    assert abs(found["a"] - exact) < 1
    assert min(before[1], after[1]) <= found["a"] <= max(before[1], after[1])
