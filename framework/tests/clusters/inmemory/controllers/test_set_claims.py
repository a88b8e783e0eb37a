"""The claims of StatefulSets: created when they are missing, deleted by policy."""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster, PodTimes
from quaymaster.objects import (
    ObjectMeta,
    PersistentVolumeClaim,
    StatefulSet,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
)
from quaymaster.testing import make_storage_class
from tests.kit.clusters import (
    make_cluster,
    names_of,
    object_names,
    pass_time,
    react,
    schedule,
)
from tests.kit.workloads import make_stateful_set, scale


def claims(cluster: InMemoryCluster) -> list[str]:
    return object_names(cluster.list(PersistentVolumeClaim).items)


def retaining_set(replicas: int, *, deleted: str = "", scaled: str = "") -> StatefulSet:
    owner = make_stateful_set(replicas, claims=["data"])
    policy = StatefulSetPersistentVolumeClaimRetentionPolicy(
        when_deleted=deleted, when_scaled=scaled
    )
    spec = replace(owner.spec, persistent_volume_claim_retention_policy=policy)
    return replace(owner, spec=spec)


def settled(owner: StatefulSet) -> InMemoryCluster:
    times = PodTimes(termination_seconds=0.0)
    # Claims of this class are bound before their pods have a node.
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    storage = replace(
        make_storage_class(name="instant", volume_binding_mode="Immediate"),
        metadata=ObjectMeta(name="instant", annotations=annotations),
    )
    cluster = make_cluster(storage, owner, nodes=1, times=times)
    schedule(cluster)
    return cluster


def test_missing_claim_of_a_pending_pod_is_created() -> None:
    cluster = make_cluster(make_stateful_set(1, claims=["data"]), nodes=1)
    before = cluster.get(PersistentVolumeClaim, "default/data-web-0")
    cluster.delete(PersistentVolumeClaim, "default/data-web-0")
    react(cluster)
    after = cluster.get(PersistentVolumeClaim, "default/data-web-0")
    assert after.uid != before.uid


def test_missing_claim_of_a_running_pod_is_not_created() -> None:
    cluster = settled(make_stateful_set(1, claims=["data"]))
    before = cluster.get(PersistentVolumeClaim, "default/data-web-0")
    cluster.delete(PersistentVolumeClaim, "default/data-web-0")
    pass_time(cluster, 0)
    # The claim is protected while its pod runs.
    used = cluster.get(PersistentVolumeClaim, "default/data-web-0")
    assert used.metadata.deletion_timestamp is not None
    cluster.delete(Pod, "default/web-0")
    pass_time(cluster, 0)
    after = cluster.get(PersistentVolumeClaim, "default/data-web-0")
    assert after.uid != before.uid


def test_claims_stay_by_default() -> None:
    cluster = settled(retaining_set(2))
    scale(cluster, StatefulSet, 1)
    pass_time(cluster, 0)
    cluster.delete(StatefulSet, "default/web")
    pass_time(cluster, 0)
    assert names_of(cluster) == []
    assert claims(cluster) == ["data-web-0", "data-web-1"]


def test_claims_of_surplus_pods_are_deleted_by_policy() -> None:
    cluster = settled(retaining_set(3, scaled="Delete"))
    scale(cluster, StatefulSet, 1)
    pass_time(cluster, 0)
    assert claims(cluster) == ["data-web-0"]
    cluster.delete(Pod, "default/web-0")
    pass_time(cluster, 0)
    assert claims(cluster) == ["data-web-0"]


def test_claims_are_deleted_with_their_set_by_policy() -> None:
    cluster = settled(retaining_set(2, deleted="Delete"))
    scale(cluster, StatefulSet, 1)
    pass_time(cluster, 0)
    assert claims(cluster) == ["data-web-0", "data-web-1"]
    cluster.delete(StatefulSet, "default/web")
    pass_time(cluster, 0)
    assert claims(cluster) == []
