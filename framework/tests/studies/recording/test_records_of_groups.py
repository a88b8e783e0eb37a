"""Records have groups, if the feature gates of the recorded cluster are on."""

from pathlib import Path

import pytest

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodGroup, Workload
from quaymaster.recording import ClusterRecorder, RecordWriter, read_objects
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_pod, make_pod_group, make_workload
from tests.kit.internals.groups import kubernetes_with_groups


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.jsonl"


def record(file: Path, kubernetes: Kubernetes) -> InMemoryCluster:
    cluster = InMemoryCluster(VirtualClock(), kubernetes=kubernetes)
    with RecordWriter(file) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        cluster.create(make_workload())
        cluster.create(make_pod_group(name="a", min_count=2, workload="workload"))
        cluster.create(make_pod(scheduling_group="a"))
        recorder.close()
    return cluster


def test_record_has_groups_workloads_and_the_pods_in_groups(file: Path) -> None:
    cluster = record(file, kubernetes_with_groups())
    objects = read_objects(file).objects
    (group,) = (obj for obj in objects if isinstance(obj, PodGroup))
    stored = cluster.get(PodGroup, "default/a")
    assert (group.spec, group.uid) == (stored.spec, stored.uid)
    assert group.metadata.finalizers == stored.metadata.finalizers
    assert [obj.key for obj in objects if isinstance(obj, Workload)] == [
        "default/workload"
    ]
    assert [obj.group_key for obj in objects if isinstance(obj, Pod)] == ["default/a"]


def test_record_has_no_groups_while_the_gate_is_off(file: Path) -> None:
    record(file, Kubernetes())
    objects = read_objects(file).objects
    assert not any(isinstance(obj, PodGroup | Workload) for obj in objects)
    assert [obj.group_key for obj in objects if isinstance(obj, Pod)] == [""]
