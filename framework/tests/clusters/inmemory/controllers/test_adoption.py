"""Workloads that are loaded with their pods adopt them."""

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from quaymaster.testing import make_pod
from tests.kit.clusters import make_cluster, names_of, pods_of, react, schedule
from tests.kit.workloads import (
    LABELS,
    make_daemon_set,
    make_deployment,
    make_job,
    make_replica_set,
    make_stateful_set,
)


def dump(*objects: ApiObject) -> list[ApiObject]:
    """Return all objects of a cluster as ``kubectl get -o json`` does."""
    cluster = make_cluster(*objects, nodes=1)
    schedule(cluster)
    kinds = (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, Pod, Node)
    return [obj for kind in kinds for obj in cluster.list(kind).items]


def without_uid(obj: ApiObject) -> ApiObject:
    """Remove the uid of an object, as tools that clean manifests do."""
    return replace(obj, metadata=replace(obj.metadata, uid=""))


def without_owner_uids(obj: ApiObject) -> ApiObject:
    """Remove the uids of the owners of an object."""
    metadata = obj.metadata
    references = tuple(replace(r, uid="") for r in metadata.owner_references)
    return replace(obj, metadata=replace(metadata, owner_references=references))


def without_owners(obj: ApiObject) -> ApiObject:
    """Remove the owner references of an object."""
    return replace(obj, metadata=replace(obj.metadata, uid="", owner_references=()))


def as_it_was(obj: ApiObject) -> ApiObject:
    """Return the object itself."""
    return obj


@pytest.mark.parametrize(
    "strip", [as_it_was, without_uid, without_owner_uids, without_owners]
)
@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(make_deployment(3), id="Deployment"),
        pytest.param(make_replica_set(3), id="ReplicaSet"),
        pytest.param(make_stateful_set(3), id="StatefulSet"),
        pytest.param(make_daemon_set(), id="DaemonSet"),
    ],
)
def test_pods_that_came_with_their_workload_are_kept(
    workload: ApiObject, strip: Callable[[ApiObject], ApiObject]
) -> None:
    objects = dump(workload)
    cluster = make_cluster(*(strip(obj) for obj in objects), seed=99)
    assert {pod.key for pod in pods_of(cluster)} == keys_of_pods(objects)
    check_owners(cluster)


@pytest.mark.parametrize("strip", [as_it_was, without_uid, without_owner_uids])
@pytest.mark.parametrize("indexed", [False, True], ids=["plain", "indexed"])
def test_pods_that_came_with_their_job_are_kept(
    strip: Callable[[ApiObject], ApiObject], indexed: bool
) -> None:
    objects = dump(
        make_job(parallelism=2, completions=4, indexed=indexed, run_for=None)
    )
    cluster = make_cluster(*(strip(obj) for obj in objects), seed=99)
    assert {pod.key for pod in pods_of(cluster)} == keys_of_pods(objects)
    check_owners(cluster)


def keys_of_pods(objects: Iterable[ApiObject]) -> set[str]:
    return {obj.key for obj in objects if isinstance(obj, Pod)}


def check_owners(cluster: InMemoryCluster) -> None:
    """Check that every pod names an existing workload by its uid."""
    kinds = (ReplicaSet, StatefulSet, DaemonSet, Job)
    uids = {each.uid for kind in kinds for each in cluster.list(kind).items}
    for pod in pods_of(cluster):
        owner = pod.metadata.controller
        assert owner is not None
        assert owner.uid in uids


def test_adopted_pods_are_replaced_like_others() -> None:
    cluster = make_cluster(
        *(without_uid(obj) for obj in dump(make_deployment(2))), seed=99
    )
    cluster.delete(Pod, pods_of(cluster)[0].key, grace_period_seconds=0)
    react(cluster)
    assert len(pods_of(cluster)) == 2


def test_deployment_with_pods_but_without_its_replica_set_keeps_them() -> None:
    objects = [o for o in dump(make_deployment(3)) if not isinstance(o, ReplicaSet)]
    cluster = make_cluster(*objects, seed=99)
    assert {pod.key for pod in pods_of(cluster)} == keys_of_pods(objects)
    (replica_set,) = cluster.list(ReplicaSet).items
    assert replica_set.name in pods_of(cluster)[0].name
    cluster.delete(Pod, pods_of(cluster)[0].key, grace_period_seconds=0)
    react(cluster)
    assert len(pods_of(cluster)) == 3


def test_pods_whose_owner_is_missing_stay_unchanged() -> None:
    objects = [o for o in dump(make_deployment(3)) if isinstance(o, Pod | Node)]
    cluster = make_cluster(*objects, seed=99)
    cluster.delete(Pod, pods_of(cluster)[0].key, grace_period_seconds=0)
    react(cluster)
    assert len(pods_of(cluster)) == 2


def test_owner_that_comes_after_its_pods_takes_them_over() -> None:
    objects = dump(make_deployment(3))
    cluster = make_cluster(
        *(obj for obj in objects if isinstance(obj, Pod | Node)), seed=99
    )
    cluster.load(obj for obj in objects if not isinstance(obj, Pod | Node))
    assert len(pods_of(cluster)) == 3


def test_orphan_that_is_created_later_is_adopted_and_counts() -> None:
    cluster = make_cluster(make_replica_set(1), nodes=1)
    schedule(cluster)
    cluster.create(make_pod(name="mine", labels=LABELS))
    react(cluster)
    assert "mine" not in names_of(cluster)
    assert len(pods_of(cluster)) == 1


def test_stateful_set_adopts_only_pods_with_its_names() -> None:
    cluster = make_cluster(
        make_stateful_set(2),
        make_pod(name="web-0", labels=LABELS, node="n0"),
        make_pod(name="other", labels=LABELS),
        nodes=1,
    )
    assert sorted(names_of(cluster)) == ["other", "web-0", "web-1"]
