"""The facts of VolumeRestrictions."""

from quaymaster.objects import AWSElasticBlockStoreVolumeSource, Volume
from quaymaster.testing import (
    PluginHarness,
    make_node,
    make_persistent_volume_claim,
    make_pod,
)
from quaymaster_volume_restrictions import VolumeRestrictions

DISK = Volume(
    name="data",
    aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id="vol-1"),
)


def test_disk_and_the_pods_that_mount_it_are_named() -> None:
    user = make_pod(name="first", node="n", volumes=[DISK])
    harness = PluginHarness(
        VolumeRestrictions,
        nodes=[make_node(name="n"), make_node(name="m")],
        pods=[user],
    )
    assert harness.explain_filter(make_pod(volumes=[DISK])) == {
        "n": (
            "wants volume data (EBS volume vol-1), which pods on one node cannot share",
            "in use by pod default/first",
        )
    }


def test_claim_for_one_pod_and_its_user_are_named_on_every_node() -> None:
    claim = make_persistent_volume_claim(
        name="only", access_modes=["ReadWriteOncePod"], volume="pv"
    )
    user = make_pod(name="first", node="n", claims=["only"])
    harness = PluginHarness(
        VolumeRestrictions,
        nodes=[make_node(name="n"), make_node(name="m")],
        pods=[user],
        objects=[claim],
    )
    fact = (
        "claim default/only (ReadWriteOncePod) is for one pod only; "
        "in use by pod default/first on n"
    )
    facts = harness.explain_filter(make_pod(claims=["only"]))
    assert facts == {"n": (fact,), "m": (fact,)}
