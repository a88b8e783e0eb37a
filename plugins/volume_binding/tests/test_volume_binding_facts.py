"""The facts of VolumeBinding: the claim, its volume, its class, and capacity."""

from hypothesis import given

from quaymaster import ApiObject
from quaymaster.testing import (
    PluginHarness,
    SmallCluster,
    clusters,
    make_csi_driver,
    make_csi_storage_capacity,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import NO_PROVISIONER, SELECTED_NODE
from quaymaster_volume_binding import VolumeBinding

ZONE = "topology.kubernetes.io/zone"
NODE = make_node(name="n", zone="a")
POD = make_pod(claims=["claim"])
CLAIM = "claim default/claim (1Gi, class standard)"
LOCAL = make_storage_class(provisioner=NO_PROVISIONER)


def facts_of(*objects: ApiObject) -> tuple[str, ...]:
    """Explain why the node in zone a is rejected."""
    harness = PluginHarness(VolumeBinding, nodes=[NODE], objects=objects)
    return harness.explain_filter(POD)["n"]


def test_volume_in_another_zone_is_named() -> None:
    claim = make_persistent_volume_claim(volume="pv-c")
    volume = make_persistent_volume(name="pv-c", claim=claim, node_labels={ZONE: "c"})
    assert facts_of(claim, volume, make_storage_class()) == (
        f"claim default/claim is volume pv-c, which needs {ZONE}=c",
        f"{ZONE}=a here",
    )


def test_volume_that_does_not_exist_is_named() -> None:
    claim = make_persistent_volume_claim(volume="lost")
    assert facts_of(claim, make_storage_class()) == (
        "claim default/claim is volume lost, which does not exist",
    )


def test_volumes_of_the_class_on_other_nodes_are_named() -> None:
    volumes = [
        make_persistent_volume(name=f"pv-{zone}", node_labels={ZONE: zone})
        for zone in ("b", "c")
    ]
    elsewhere = f"suitable ones are elsewhere: pv-b ({ZONE}=b), pv-c ({ZONE}=c)"
    assert facts_of(make_persistent_volume_claim(), LOCAL, *volumes) == (
        f"{CLAIM} needs an existing volume; {elsewhere}",
        f"{ZONE}=a here",
    )


def test_missing_volumes_of_the_class_are_reported() -> None:
    (fact,) = facts_of(make_persistent_volume_claim(), LOCAL)
    assert fact.endswith("needs an existing volume: there is none of the class")


def test_largest_available_volume_is_named() -> None:
    small = make_persistent_volume(storage="5Gi")
    (fact,) = facts_of(make_persistent_volume_claim(storage="7Gi"), LOCAL, small)
    assert fact.endswith("the largest available one of the class has 5Gi")


def test_zones_that_the_class_allows_are_named() -> None:
    storage_class = make_storage_class(allowed_topologies=[{ZONE: ["b", "c"]}])
    assert facts_of(make_persistent_volume_claim(), storage_class) == (
        f"{CLAIM}: the class allows only {ZONE} in (b,c)",
        f"{ZONE}=a here",
    )


def test_storage_capacity_of_the_node_is_named() -> None:
    capacity = make_csi_storage_capacity(node_topology={ZONE: "a"}, capacity="3Mi")
    facts = facts_of(
        make_persistent_volume_claim(),
        make_storage_class(),
        make_csi_driver(storage_capacity=True),
        capacity,
    )
    assert facts == (
        f"{CLAIM}: the driver reports too little storage capacity",
        "CSIStorageCapacity default/capacity has 3Mi",
    )


def test_missing_storage_capacity_is_reported() -> None:
    facts = facts_of(
        make_persistent_volume_claim(),
        make_storage_class(),
        make_csi_driver(storage_capacity=True),
    )
    assert facts[1] == "no CSIStorageCapacity of the class covers this node"


def test_node_that_was_selected_earlier_is_named() -> None:
    claim = make_persistent_volume_claim(annotations={SELECTED_NODE: "other"})
    assert facts_of(claim, make_storage_class()) == (
        "node other was selected for claim default/claim earlier",
    )


def test_unbound_claim_of_a_class_that_binds_at_once_is_named() -> None:
    objects = [
        make_persistent_volume_claim(),
        make_storage_class(volume_binding_mode="Immediate"),
    ]
    harness = PluginHarness(VolumeBinding, nodes=[NODE], objects=objects)
    (fact,) = harness.explain_pre_filter(POD)
    assert fact == (
        "claim default/claim has no volume; its class standard has "
        "volumeBindingMode Immediate"
    )


def test_unbound_claim_without_a_class_is_named() -> None:
    claim = make_persistent_volume_claim(storage_class="")
    harness = PluginHarness(VolumeBinding, nodes=[NODE], objects=[claim])
    assert harness.explain_pre_filter(POD) == (
        "claim default/claim has no volume and no class",
    )


@given(cluster=clusters())
def test_every_rejected_node_has_facts(cluster: SmallCluster) -> None:
    harness = PluginHarness(VolumeBinding, nodes=cluster.nodes, objects=cluster.objects)
    for pod in cluster.pending:
        if harness.pre_filter(pod) is None:
            assert all(harness.explain_filter(pod).values())
