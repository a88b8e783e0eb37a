"""The facts of VolumeZone."""

from quaymaster.testing import (
    PluginHarness,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
)
from quaymaster_volume_zone import VolumeZone

ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def facts_in(zone: str, **labels: str) -> tuple[str, ...]:
    claim = make_persistent_volume_claim(volume="pv-c")
    volume = make_persistent_volume(name="pv-c", claim=claim, labels=labels)
    harness = PluginHarness(
        VolumeZone, nodes=[make_node(name="n", zone=zone)], objects=[claim, volume]
    )
    return harness.explain_filter(make_pod(claims=["claim"]))["n"]


def test_the_volume_its_zone_and_the_nodes_are_named() -> None:
    assert facts_in("a", **{ZONE: "c"}) == (
        f"claim default/claim is volume pv-c, labelled {ZONE}=c",
        f"{ZONE}=a here",
    )


def test_an_old_label_is_compared_with_the_current_one() -> None:
    assert facts_in("a", **{OLD_ZONE: "b__c"}) == (
        f"claim default/claim is volume pv-c, labelled {OLD_ZONE}=b__c",
        f"{ZONE}=a here",
    )
