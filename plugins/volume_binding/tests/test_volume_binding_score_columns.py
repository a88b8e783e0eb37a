"""Scores of all nodes at once equal those of the nodes one by one."""

from collections.abc import Sequence
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject
from quaymaster.config import Kubernetes
from quaymaster.objects import CSIDriver, CSIDriverSpec
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
from quaymaster_volume_binding import VolumeBinding

ZONE: Final = "topology.kubernetes.io/zone"
HOST: Final = "kubernetes.io/hostname"
DRIVER: Final = "csi.example.com"
NODES = [
    make_node(name=name, labels={ZONE: zone, HOST: name})
    for name, zone in (("n0", "a"), ("n1", "a"), ("n2", "b"), ("n3", "b"))
]
TRACKED = CSIDriver(
    metadata=make_metadata(CSIDriver, name=DRIVER),
    spec=CSIDriverSpec(storage_capacity=True),
)
# The last sizes exceed the limit of the column computation.
SIZES = st.sampled_from(["1Gi", "3Gi", "100Gi", "5Pi", "9Ei"])
CLASSES = st.sampled_from(["x", "y"])
TOPOLOGIES = st.fixed_dictionaries(
    {},
    optional={
        ZONE: st.sampled_from("ab"),
        HOST: st.sampled_from([node.name for node in NODES]),
    },
)
CAPACITIES: st.SearchStrategy[Sequence[ApiObject]] = st.lists(
    st.builds(
        make_csi_storage_capacity,
        name=st.sampled_from("cdefg"),
        storage_class=CLASSES,
        capacity=st.just("0") | SIZES,
        node_topology=TOPOLOGIES,
    ),
    max_size=6,
    unique_by=lambda item: item.name,
)
VOLUMES: st.SearchStrategy[Sequence[ApiObject]] = st.lists(
    st.builds(
        make_persistent_volume,
        name=st.sampled_from("pqrstu"),
        storage_class=CLASSES,
        storage=SIZES,
        node_labels=st.none() | TOPOLOGIES.filter(bool),
    ),
    max_size=4,
    unique_by=lambda item: item.name,
)
CLAIMS = st.lists(st.tuples(CLASSES, SIZES), min_size=1, max_size=3)


@given(capacities=CAPACITIES, volumes=st.just(()) | VOLUMES, wanted=CLAIMS)
def test_all_nodes_at_once_score_what_each_scores(
    capacities: Sequence[ApiObject],
    volumes: Sequence[ApiObject],
    wanted: Sequence[tuple[str, str]],
) -> None:
    claims = [
        make_persistent_volume_claim(name=f"c{at}", storage_class=name, storage=size)
        for at, (name, size) in enumerate(wanted)
    ]
    classes = [make_storage_class(name=name, provisioner=DRIVER) for name in "xy"]
    harness = PluginHarness(
        VolumeBinding,
        nodes=NODES,
        objects=[TRACKED, *classes, *claims, *capacities, *volumes],
        kubernetes=Kubernetes("1.37"),
    )
    pod = make_pod(claims=[claim.name for claim in claims])
    rejected = harness.filter(pod)
    plugin, state, nodes = harness.plugin, harness.state, harness.snapshot.nodes
    assert isinstance(plugin, VolumeBinding)
    plugin.pre_score()
    infos = [info for info in harness.snapshot if info.name not in rejected]
    rows = nodes.rows_of([info.name for info in infos])
    one_by_one = [plugin.score(state, info) for info in infos]
    assert plugin.score_nodes(state, nodes, rows).tolist() == one_by_one
