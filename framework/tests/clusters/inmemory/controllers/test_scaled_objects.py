"""ScaledObjects and ScaledJobs size workloads as KEDA does without metrics.

As ``pkg/scaling/executor`` and ``controllers/keda`` (kedacore/keda v2.20).
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from quaymaster import ApiObject
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.manifests import load
from quaymaster.objects import Deployment, HorizontalPodAutoscaler, Job
from quaymaster.scheduler import VirtualClock
from tests.kit.clusters import make_cluster, pass_time, pods_of
from tests.kit.workloads import make_deployment, scale

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"
FORCED = "autoscaling.keda.sh/force-activation"
SCALE_OUT_PAUSED = "autoscaling.keda.sh/paused-scale-out"


def make_keda_object(
    kind: str, annotations: Mapping[str, str], spec: Mapping[str, object]
) -> ApiObject:
    document = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": kind,
        "metadata": {"name": "web", "annotations": annotations},
        "spec": {"triggers": [{"type": "kafka"}], **spec},
    }
    (obj,) = load([msgspec.json.encode(document)]).objects
    return obj


def make_scaled_object(
    annotations: Mapping[str, str] | None = None, **spec: object
) -> ApiObject:
    spec = {"scaleTargetRef": {"name": "web"}, **spec}
    return make_keda_object("ScaledObject", annotations or {}, spec)


def make_scaled_job(
    annotations: Mapping[str, str] | None = None, **spec: object
) -> ApiObject:
    template: dict[str, Any] = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"jobTargetRef": {"template": template}, **spec}
    return make_keda_object("ScaledJob", annotations or {}, spec)


def scalers_of(cluster: InMemoryCluster) -> dict[str, tuple[int | None, int]]:
    return {
        scaler.name: (scaler.spec.min_replicas, scaler.spec.max_replicas)
        for scaler in cluster.list(HorizontalPodAutoscaler).items
    }


@pytest.mark.parametrize(
    ("replicas", "spec", "annotations", "expected"),
    [
        pytest.param(1, {"minReplicaCount": 4}, {}, 4, id="too few"),
        pytest.param(0, {"minReplicaCount": 4}, {}, 4, id="inactive"),
        pytest.param(0, {}, {}, 0, id="scaled to zero"),
        pytest.param(3, {}, {}, 3, id="between"),
        pytest.param(9, {"maxReplicaCount": 5}, {}, 5, id="too many"),
        pytest.param(
            0, {"minReplicaCount": 4, "idleReplicaCount": 0}, {}, 0, id="idle"
        ),
        pytest.param(
            1, {"minReplicaCount": 4, "idleReplicaCount": 0}, {}, 4, id="not idle"
        ),
        pytest.param(9, {"maxReplicaCount": 5}, {PAUSED: "true"}, 9, id="paused"),
        pytest.param(9, {"maxReplicaCount": 5}, {PAUSED: "yes"}, 9, id="no boolean"),
        pytest.param(9, {"maxReplicaCount": 5}, {PAUSED: "false"}, 5, id="not paused"),
        pytest.param(
            9, {"maxReplicaCount": 5}, {PAUSED_REPLICAS: "7"}, 7, id="paused at 7"
        ),
        pytest.param(3, {}, {PAUSED_REPLICAS: "0"}, 0, id="paused at none"),
        pytest.param(0, {}, {FORCED: "true"}, 1, id="forced"),
        pytest.param(
            0, {}, {FORCED: "true", SCALE_OUT_PAUSED: "true"}, 0, id="not scaled out"
        ),
    ],
)
def test_a_workload_has_the_size_that_keda_gives_it(
    replicas: int,
    spec: Mapping[str, object],
    annotations: Mapping[str, str],
    expected: int,
) -> None:
    scaled = make_scaled_object(annotations, **spec)
    cluster = make_cluster(make_deployment(replicas), scaled)
    assert len(pods_of(cluster)) == expected


def test_keda_creates_an_autoscaler() -> None:
    cluster = make_cluster(make_deployment(1), make_scaled_object())
    assert scalers_of(cluster) == {"keda-hpa-web": (1, 100)}
    advanced = {"horizontalPodAutoscalerConfig": {"name": "own"}}
    scaled = make_scaled_object(advanced=advanced, minReplicaCount=2, maxReplicaCount=3)
    cluster = make_cluster(make_deployment(1), scaled)
    assert scalers_of(cluster) == {"own": (2, 3)}


def test_the_autoscaler_is_deleted_with_its_scaled_object() -> None:
    advanced = {"restoreToOriginalReplicaCount": True}
    scaled = make_scaled_object(minReplicaCount=3, advanced=advanced)
    cluster = make_cluster(make_deployment(1), scaled)
    assert len(pods_of(cluster)) == 3
    cluster.delete(type(scaled), "default/web")
    pass_time(cluster, 60.0)
    assert scalers_of(cluster) == {}
    assert len(pods_of(cluster)) == 1


def test_a_paused_workload_has_no_autoscaler() -> None:
    cluster = make_cluster(make_deployment(1), make_scaled_object({PAUSED: "true"}))
    assert scalers_of(cluster) == {}


def test_a_workload_that_comes_later_is_sized_at_once() -> None:
    cluster = make_cluster(make_scaled_object(minReplicaCount=2))
    assert scalers_of(cluster) == {}
    cluster.create(make_deployment(1))
    pass_time(cluster, 0.0)
    assert len(pods_of(cluster)) == 2


def test_a_changed_size_is_corrected_at_the_next_poll() -> None:
    clock = VirtualClock()
    scaled = make_scaled_object(minReplicaCount=2, pollingInterval=20)
    cluster = make_cluster(make_deployment(2), scaled, clock=clock)
    pass_time(cluster, 5.0)
    scale(cluster, Deployment, 0)
    pass_time(cluster, 14.0)
    assert pods_of(cluster) == []
    pass_time(cluster, 1.0)
    assert len(pods_of(cluster)) == 2


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"minReplicaCount": 5, "maxReplicaCount": 4}, "spec.maxReplicaCount"),
        ({"minReplicaCount": 2, "idleReplicaCount": 2}, "spec.idleReplicaCount"),
        ({"idleReplicaCount": 0}, "spec.idleReplicaCount"),
        ({"triggers": []}, "spec.triggers"),
        ({"scaleTargetRef": {}}, "spec.scaleTargetRef.name"),
    ],
)
def test_invalid_scaled_objects_are_rejected(
    spec: Mapping[str, object], path: str
) -> None:
    with pytest.raises(AdmissionError, match=path):
        make_cluster(make_scaled_object({}, **spec))


def test_scaled_jobs_create_the_least_number_of_jobs() -> None:
    cluster = make_cluster(make_scaled_job(minReplicaCount=3))
    jobs = cluster.list(Job).items
    assert len(jobs) == len(pods_of(cluster)) == 3
    assert {job.labels["scaledjob.keda.sh/name"] for job in jobs} == {"web"}
    cluster.delete(Job, jobs[0].key)
    pass_time(cluster, 30.0)
    assert len(cluster.list(Job).items) == 3


def test_a_scaled_job_without_a_minimum_creates_nothing() -> None:
    assert make_cluster(make_scaled_job()).list(Job).items == ()
    paused = make_scaled_job({PAUSED: "true"}, minReplicaCount=3)
    assert make_cluster(paused).list(Job).items == ()


def test_the_jobs_of_a_changed_scaled_job_are_replaced() -> None:
    cluster = make_cluster(make_scaled_job(minReplicaCount=2))
    before = {job.name for job in cluster.list(Job).items}
    cluster.update(make_scaled_job(minReplicaCount=3))
    pass_time(cluster, 0.0)
    after = {job.name for job in cluster.list(Job).items}
    assert len(after) == 3
    assert not before & after


def test_the_jobs_of_a_scaled_job_are_checked_when_it_is_created() -> None:
    scaled = make_scaled_job(jobTargetRef={"parallelism": -1, "template": {}})
    with pytest.raises(AdmissionError, match=r"spec\.jobTargetRef\.parallelism"):
        make_cluster(scaled)
