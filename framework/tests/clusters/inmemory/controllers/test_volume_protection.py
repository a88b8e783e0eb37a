"""Claims and volumes in use are not deleted, as the protection controllers require."""

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.cluster import NotFoundError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster.testing import (
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
)
from tests.kit.clusters import make_cluster, pass_time, schedule

KEY = "default/data"
CLAIM = make_persistent_volume_claim(name="data", volume="disk")
VOLUME = make_persistent_volume(name="disk", claim=CLAIM)
PROTECTION = ("kubernetes.io/pvc-protection",)


def cluster_with_claim(*, bind: bool = True) -> InMemoryCluster:
    """Return a cluster with a claim and a pod that uses it."""
    cluster = make_cluster(CLAIM, make_pod(name="p", claims=["data"]), VOLUME, nodes=1)
    if bind:
        schedule(cluster)
    pass_time(cluster, 0)
    return cluster


def claim_of(cluster: InMemoryCluster) -> PersistentVolumeClaim | None:
    try:
        return cluster.get(PersistentVolumeClaim, KEY)
    except NotFoundError:
        return None


def test_claim_of_a_pod_with_a_node_stays_until_the_pod_is_gone() -> None:
    cluster = cluster_with_claim()
    cluster.delete(PersistentVolumeClaim, KEY)
    pass_time(cluster, 3600)
    claim = claim_of(cluster)
    assert claim is not None
    assert claim.metadata.finalizers == PROTECTION
    cluster.delete(Pod, "default/p", grace_period_seconds=0)
    pass_time(cluster, 0)
    assert claim_of(cluster) is None


def test_claim_of_a_finished_pod_stays() -> None:
    cluster = cluster_with_claim()
    pod = cluster.get(Pod, "default/p")
    cluster.update(replace(pod, status=replace(pod.status, phase="Succeeded")))
    cluster.delete(PersistentVolumeClaim, KEY)
    pass_time(cluster, 0)
    assert claim_of(cluster) is not None


def test_claim_of_a_pending_pod_goes_at_once() -> None:
    cluster = cluster_with_claim(bind=False)
    cluster.delete(PersistentVolumeClaim, KEY)
    assert claim_of(cluster) is None


def test_claim_whose_finalizer_was_removed_by_hand_goes() -> None:
    cluster = cluster_with_claim()
    cluster.delete(PersistentVolumeClaim, KEY)
    claim = cluster.get(PersistentVolumeClaim, KEY)
    cluster.update(replace(claim, metadata=replace(claim.metadata, finalizers=())))
    assert claim_of(cluster) is None


def test_loaded_claim_with_the_finalizer_can_be_deleted() -> None:
    metadata = replace(CLAIM.metadata, finalizers=PROTECTION)
    cluster = make_cluster(replace(CLAIM, metadata=metadata), VOLUME, nodes=1)
    cluster.delete(PersistentVolumeClaim, KEY)
    assert claim_of(cluster) is None


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
def test_bound_volume_stays_until_its_claim_is_gone(policy: str) -> None:
    cluster = cluster_with_claim()
    volume = cluster.get(PersistentVolume, "disk")
    spec = replace(volume.spec, persistent_volume_reclaim_policy=policy)
    cluster.update(replace(volume, spec=spec))
    cluster.delete(PersistentVolume, "disk")
    pass_time(cluster, 3600)
    assert cluster.get(PersistentVolume, "disk").status.phase == "Bound"
    cluster.delete(Pod, "default/p", grace_period_seconds=0)
    cluster.delete(PersistentVolumeClaim, KEY)
    pass_time(cluster, 0)
    assert [volume.name for volume in cluster.list(PersistentVolume).items] == []
