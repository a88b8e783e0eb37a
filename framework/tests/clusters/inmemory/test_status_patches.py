"""Patches of the status of any object."""

import pytest
from msgspec.structs import replace

from quaymaster.cluster import ConflictError, InvalidError, NotFoundError
from quaymaster.objects import Namespace
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import Fault, FaultyCluster
from tests.kit.clusters import make_cluster
from tests.kit.kinds import PodGroup, PodGroupStatus, make_group


def test_fields_that_are_not_given_stay() -> None:
    cluster = make_cluster()
    group = cluster.create(make_group(least=3))
    group = cluster.patch_status(group, {"phase": "Pending"})
    group = cluster.patch_status(group, {"scheduled": 2})
    assert group.status == PodGroupStatus(phase="Pending", scheduled=2)
    assert group.spec.min_member == 3
    assert cluster.get(PodGroup, "default/gang") == group


def test_equal_patch_is_not_an_event() -> None:
    cluster = make_cluster()
    group = cluster.patch_status(cluster.create(make_group()), {"scheduled": 1})
    before = cluster.resource_version
    assert cluster.patch_status(group, {"scheduled": 1}) == group
    assert cluster.resource_version == before


def test_patch_of_an_older_version_is_a_conflict() -> None:
    cluster = make_cluster()
    old = cluster.create(make_group())
    cluster.patch_status(old, {"scheduled": 1})
    with pytest.raises(ConflictError, match="read it again"):
        cluster.patch_status(old, {"scheduled": 2})
    cluster.patch_status(make_group(), {"scheduled": 3})
    assert cluster.get(PodGroup, "default/gang").status.scheduled == 3


def test_another_object_of_the_name_is_not_patched() -> None:
    cluster = make_cluster()
    gone = cluster.create(make_group())
    cluster.delete(PodGroup, gone.key)
    with pytest.raises(NotFoundError):
        cluster.patch_status(gone, {"scheduled": 1})
    cluster.create(make_group())
    gone = replace(gone, metadata=replace(gone.metadata, resource_version=""))
    with pytest.raises(ConflictError, match="its uid is"):
        cluster.patch_status(gone, {"scheduled": 1})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"phas": ""}, "status.phas: unknown field; did you mean 'phase'?"),
        ({"scheduled": "2"}, "status.scheduled: expected `int`, got `str`"),
    ],
    ids=["an unknown field", "a wrong value"],
)
def test_wrong_changes_are_refused(changes: dict[str, object], problem: str) -> None:
    cluster = make_cluster()
    group = cluster.create(make_group())
    with pytest.raises(InvalidError) as caught:
        cluster.patch_status(group, changes)
    assert str(caught.value) == f"PodGroup default/gang: {problem}"


def test_object_without_a_status_is_refused() -> None:
    cluster = make_cluster()
    cluster.create(make_group())
    namespace = cluster.get(Namespace, "default")
    with pytest.raises(InvalidError, match="status: a Namespace has none"):
        cluster.patch_status(namespace, {"phase": "Active"})


def test_status_patches_fail_like_other_calls() -> None:
    clock = VirtualClock()
    cluster = make_cluster(clock=clock)
    group = cluster.create(make_group())
    faulty = FaultyCluster(cluster, clock=clock, rates={Fault.CONFLICT: 1})
    with pytest.raises(ConflictError, match="injected"):
        faulty.patch_status(group, {"scheduled": 1})
    assert cluster.get(PodGroup, group.key).status.scheduled == 0
