"""Fields whose feature gates are off are dropped, as an API server does."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.manifests import Loaded, ManifestErrors, NoticeReason, Validation, load
from quaymaster.objects import CSIDriver, Job, StatefulSet

CONTAINER: dict[str, Any] = {"name": "a", "image": "x"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}


def an_object(kind: str, spec: Mapping[str, Any], **metadata: str) -> dict[str, Any]:
    api_version, _, name = kind.rpartition(" ")
    return {
        "apiVersion": api_version,
        "kind": name,
        "metadata": {"name": "a", **metadata},
        "spec": spec,
    }


def a_pod(**spec: Any) -> dict[str, Any]:
    return an_object("v1 Pod", {"containers": [CONTAINER], **spec})


def a_stateful_set(**metadata: str) -> dict[str, Any]:
    spec = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": TEMPLATE,
        "updateStrategy": {"rollingUpdate": {"maxUnavailable": 3}},
    }
    return an_object("apps/v1 StatefulSet", spec, **metadata)


def loaded(
    folder: Path,
    *trees: object,
    version: str = "1.37",
    gates: Mapping[str, bool] | None = None,
    stored: object = None,
    **options: Any,
) -> Loaded:
    path = folder / "a.json"
    items = {"apiVersion": "v1", "kind": "List", "items": trees}
    path.write_text(json.dumps(items))
    kubernetes = Kubernetes(version, gates or {})
    held = [("cluster", json.dumps(stored).encode())] if stored else []
    return load([path], stored=held, kubernetes=kubernetes, **options)


def dropped(result: Loaded) -> list[str]:
    return [
        f"{notice.path} ({notice.message.split()[5]})"
        for notice in result.notices
        if notice.reason is NoticeReason.DROPPED_FIELDS
    ]


def max_unavailable(result: Loaded) -> object:
    (workload,) = result.of(StatefulSet)
    strategy = workload.spec.update_strategy
    assert strategy is not None
    assert strategy.rolling_update is not None
    return strategy.rolling_update.max_unavailable


def in_container(**fields: Any) -> dict[str, Any]:
    volumes = [{"name": "v", "emptyDir": {}}]
    return a_pod(containers=[{**CONTAINER, **fields}], volumes=volumes)


def in_volume(**source: Any) -> dict[str, Any]:
    return a_pod(volumes=[{"name": "v", **source}])


def in_device(**fields: Any) -> dict[str, Any]:
    return an_object(
        "resource.k8s.io/v1 ResourceSlice",
        {"driver": "d.example.com", "devices": [{"name": "d", **fields}]},
    )


@pytest.mark.parametrize(
    ("tree", "finding"),
    [
        (
            an_object(
                "batch/v1 Job",
                {"template": TEMPLATE, "scheduling": {"resourceClaims": [{}]}},
            ),
            "spec.scheduling (WorkloadWithJob)",
        ),
        (
            a_pod(evictionResponders=[{"name": "example.com/a", "priority": 10000}]),
            "spec.evictionResponders (EvictionRequestAPI)",
        ),
        (
            in_container(
                volumeMounts=[
                    {"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}
                ]
            ),
            (
                "spec.containers[0].volumeMounts[0].bindMountOptions "
                "(VolumeBindMountOptions)"
            ),
        ),
        (
            in_volume(emptyDir={"mode": 0}),
            "spec.volumes[0].emptyDir.mode (EmptyDirVolumeMode)",
        ),
        (
            in_volume(secret={"secretName": "s", "defaultUser": 4}),
            "spec.volumes[0].secret.defaultUser (AtomicWriteVolumeUserFields)",
        ),
        (
            in_container(livenessProbe={"grpc": {"port": 1, "mode": "TLS"}}),
            "spec.containers[0].livenessProbe.grpc.mode (GRPCContainerProbeTLS)",
        ),
        (
            in_container(startupProbe={"httpGet": {"port": 1, "protocol": "h2c"}}),
            "spec.containers[0].startupProbe.httpGet.protocol (H2CContainerProbe)",
        ),
        (
            an_object(
                "v1 Node",
                {"podPreemptionPolicy": {"disableResizePreemption": ["a.com/b"]}},
            ),
            "spec.podPreemptionPolicy (InPlacePodVerticalScalingSchedulerPreemption)",
        ),
        (
            an_object("v1 PersistentVolumeClaim", {})
            | {"status": {"healthStatus": {"healthConditions": [{}]}}},
            "status.healthStatus (CSIVolumeHealth)",
        ),
        (
            in_device(consumesCounters=[{"compatibilityGroups": ["a"]}]),
            (
                "spec.devices[0].consumesCounters[0].compatibilityGroups "
                "(DRADeviceCompatibilityGroups)"
            ),
        ),
        (
            in_device(nodeAllocatableResources={"cpu": {}}),
            "spec.devices[0].nodeAllocatableResources (DRANodeAllocatableResources)",
        ),
    ],
)
def test_new_field_of_1_37_is_known_and_dropped(
    tree: object, finding: str, tmp_path: Path
) -> None:
    result = loaded(tmp_path, tree)
    assert len(result.objects) == 1
    assert dropped(result) == [finding]


def test_warning_names_the_object_the_gate_and_the_version(tmp_path: Path) -> None:
    (notice,) = loaded(tmp_path, in_volume(emptyDir={"mode": 493})).notices
    assert str(notice).removeprefix(f"{tmp_path}/") == (
        "a.json: items[0] (Pod default/a): spec.volumes[0].emptyDir.mode: dropped, as "
        "the feature gate EmptyDirVolumeMode is off in Kubernetes 1.37"
    )


def test_field_is_kept_where_its_gate_is_on_by_default(tmp_path: Path) -> None:
    result = loaded(tmp_path, a_stateful_set())
    assert dropped(result) == []
    assert max_unavailable(result) == 3


def test_dropped_field_has_no_effect(tmp_path: Path) -> None:
    result = loaded(tmp_path, a_stateful_set(), version="1.36")
    path = "spec.updateStrategy.rollingUpdate.maxUnavailable"
    assert dropped(result) == [f"{path} (MaxUnavailableStatefulSet)"]
    assert max_unavailable(result) is None


@pytest.mark.parametrize(
    ("version", "is_on", "kept"),
    [("1.36", True, True), ("1.37", False, None), ("1.36", False, None)],
)
def test_feature_gates_that_are_set_decide(
    version: str, is_on: bool, kept: bool | None, tmp_path: Path
) -> None:
    driver = an_object(
        "storage.k8s.io/v1 CSIDriver", {"preventPodSchedulingIfMissing": True}
    )
    gates = {"VolumeLimitScaling": is_on}
    (found,) = loaded(tmp_path, driver, version=version, gates=gates).of(CSIDriver)
    assert found.spec.prevent_pod_scheduling_if_missing is kept


@pytest.mark.parametrize("validation", [None, *Validation])
def test_field_is_dropped_however_strict_the_validation_is(
    validation: Validation | None, tmp_path: Path
) -> None:
    result = loaded(tmp_path, a_stateful_set(), version="1.36", validation=validation)
    assert len(dropped(result)) == 1
    assert max_unavailable(result) is None


def test_stored_object_keeps_its_fields(tmp_path: Path) -> None:
    result = loaded(tmp_path, a_stateful_set(uid="u"), version="1.36")
    assert dropped(result) == []
    assert max_unavailable(result) == 3


@pytest.mark.parametrize("namespace", [{}, {"namespace": "default"}])
def test_update_keeps_fields_of_a_gate_that_the_stored_object_uses(
    namespace: dict[str, str], tmp_path: Path
) -> None:
    given = a_stateful_set(**namespace)
    given["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 2
    old = a_stateful_set(uid="u", namespace="default")
    result = loaded(tmp_path, given, version="1.36", stored=old)
    assert dropped(result) == []
    assert max_unavailable(result) == 2


def test_update_drops_fields_of_other_gates(tmp_path: Path) -> None:
    old = a_stateful_set(uid="u", namespace="default")
    del old["spec"]["updateStrategy"]
    result = loaded(tmp_path, a_stateful_set(), version="1.36", stored=old)
    assert len(dropped(result)) == 1
    assert max_unavailable(result) is None


def test_every_pod_of_a_template_loses_the_field(tmp_path: Path) -> None:
    pod = a_pod(schedulingGroup={"podGroupName": "g"})
    pods = [{**pod, "metadata": {"name": name}} for name in "abc"]
    result = loaded(tmp_path, *pods)
    assert [replica.spec.scheduling_group for replica in result.of(Pod)] == [None] * 3
    assert dropped(result) == ["spec.schedulingGroup (GenericWorkload)"]


def test_job_of_a_cron_job_loses_the_field(tmp_path: Path) -> None:
    template = {
        **TEMPLATE,
        "spec": a_pod(schedulingGroup={"podGroupName": "g"})["spec"],
    }
    spec = {"jobTemplate": {"spec": {"template": template}}}
    cron_job = an_object("batch/v1 CronJob", spec)
    result = loaded(tmp_path, cron_job, run_cron_jobs=True)
    path = "spec.jobTemplate.spec.template.spec.schedulingGroup"
    assert dropped(result) == [f"{path} (GenericWorkload)"]
    (job,) = result.of(Job)
    assert job.spec.template.spec.scheduling_group is None


def test_empty_field_is_dropped_silently(tmp_path: Path) -> None:
    absent, empty = a_pod(evictionResponders=None), a_pod(evictionResponders=[])
    empty["metadata"]["name"] = "b"
    assert loaded(tmp_path, absent, empty).notices == ()


def test_unknown_field_below_a_dropped_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        ManifestErrors, match=r"evictionResponders\[0\]\.nam: unknown field"
    ):
        loaded(tmp_path, a_pod(evictionResponders=[{"nam": "a"}]))


def test_dropped_field_of_a_wrong_type_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ManifestErrors, match=r"emptyDir\.mode: expected an integer"):
        loaded(tmp_path, in_volume(emptyDir={"mode": "rwx"}))
