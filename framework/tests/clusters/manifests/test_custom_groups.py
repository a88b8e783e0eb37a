"""Custom objects get PodGroups, and their pods become members of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from quaymaster.config import ConfigErrors, Kubernetes
from quaymaster.manifests import Loaded, ManifestErrors, load
from quaymaster.objects import Job, PodGroup, encode

GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
RACK = "topology.example.com/rack"
MAPPINGS = ("coscheduling", "jobset", "kueue", "leaderworkerset", "volcano-job")
SPEC: Mapping[str, Any] = {"containers": [{"name": "main", "image": "busybox"}]}
TEMPLATE: Mapping[str, Any] = {"spec": SPEC}


def loaded(*documents: Mapping[str, Any], **gates: bool) -> Loaded:
    text = yaml.safe_dump_all(documents)
    kubernetes = Kubernetes("1.37", {**GATES, **gates})
    return load([text], custom_kinds=MAPPINGS, kubernetes=kubernetes)


def groups_of(result: Loaded) -> dict[str, Any]:
    """Return the specs of PodGroups by name."""
    return {
        group.name: yaml.safe_load(encode(group))["spec"]
        for group in result.of(PodGroup)
    }


def members_of(result: Loaded) -> dict[str, str | None]:
    """Return the group of each Job's pods."""
    specs = {job.name: job.spec.template.spec for job in result.of(Job)}
    return {
        name: group.pod_group_name if (group := spec.scheduling_group) else None
        for name, spec in specs.items()
    }


def gang(count: int, topology: str | None = None) -> dict[str, Any]:
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": count}}}
    if topology is not None:
        spec["schedulingConstraints"] = {"topology": [{"key": topology}]}
    return spec


def job_set(*jobs: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train"},
        "spec": {"replicatedJobs": list(jobs), **spec},
    }


def replicated(
    name: str,
    pods: int,
    replicas: int = 1,
    annotations: Mapping[str, str] | None = None,
    pod_annotations: Mapping[str, str] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    template = {**TEMPLATE, "metadata": {"annotations": dict(pod_annotations or {})}}
    spec = {"parallelism": pods, "completions": pods, "template": template}
    metadata = {"annotations": dict(annotations or {})}
    job = {"metadata": metadata, "spec": spec}
    return {"name": name, "replicas": replicas, "template": job, **fields}


def test_all_pods_of_a_job_set_are_one_gang() -> None:
    result = loaded(job_set(replicated("driver", 1), replicated("worker", 2, 3)))
    assert groups_of(result) == {"train": gang(7)}
    assert set(members_of(result).values()) == {"train"}


def test_jobs_with_a_topology_domain_of_their_own_are_gangs_of_their_own() -> None:
    exclusive = {"alpha.jobset.sigs.k8s.io/exclusive-topology": RACK}
    result = loaded(job_set(replicated("worker", 2, 2, annotations=exclusive)))
    groups = {"train-worker-0": gang(2, RACK), "train-worker-1": gang(2, RACK)}
    assert groups_of(result) == groups
    assert members_of(result) == {name: name for name in groups}


def test_replicated_jobs_with_a_topology_of_kueue_or_in_order_are_gangs() -> None:
    required = {"kueue.x-k8s.io/podset-required-topology": RACK}
    worker = replicated("worker", 2, 2, pod_annotations=required)
    later = replicated("later", 1, dependsOn=[{"name": "worker"}])
    result = loaded(job_set(worker, later))
    assert groups_of(result) == {"train-worker": gang(4, RACK), "train-later": gang(1)}


def worker_set(
    scheduling: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    if scheduling is not None:
        spec["scheduling"] = scheduling
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm", "annotations": dict(annotations or {})},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 3, "workerTemplate": TEMPLATE},
            **spec,
        },
    }


BASIC: Final[Mapping[str, Any]] = {"schedulingPolicy": {"basic": {}}}
REPLICAS: Final = {"llm-0": gang(3), "llm-1": gang(3)}
ALL: Final[Mapping[str, Any]] = {"disruptionMode": {"all": {}}}


@pytest.mark.parametrize(
    ("document", "groups"),
    [
        pytest.param(worker_set(), REPLICAS, id="a gang for each replica"),
        pytest.param(worker_set({}), REPLICAS, id="scheduling that says nothing"),
        pytest.param(
            worker_set(startupPolicy="LeaderReady"),
            {"llm-0": BASIC, "llm-1": BASIC},
            id="no gang where workers wait for their leader",
        ),
        pytest.param(
            worker_set({"schedulingPolicy": {"gang": {}}}),
            {"llm-lws": gang(6)},
            id="a gang for the set",
        ),
        pytest.param(
            worker_set({"disruptionMode": {"all": {}}}),
            {"llm-lws": {**BASIC, **ALL}},
            id="a basic group for the set",
        ),
        pytest.param(
            worker_set(
                {"replica": {"schedulingConstraints": {"topology": [{"key": RACK}]}}}
            ),
            {"llm-0": gang(3, RACK), "llm-1": gang(3, RACK)},
            id="the topology of replicas",
        ),
        pytest.param(
            worker_set({"replica": {"worker": {"schedulingPolicy": {"gang": {}}}}}),
            {
                "llm-0-leader": BASIC,
                "llm-1-leader": BASIC,
                "llm-0-worker": gang(2),
                "llm-1-worker": gang(2),
            },
            id="a group for each role",
        ),
        pytest.param(
            worker_set(
                annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": RACK}
            ),
            {"llm-0": gang(3, RACK), "llm-1": gang(3, RACK)},
            id="exclusive topology",
        ),
    ],
)
def test_leader_worker_sets_have_groups(
    document: Mapping[str, Any], groups: Mapping[str, Any]
) -> None:
    result = loaded(document)
    assert groups_of(result) == groups
    assert set(members_of(result).values()) == groups.keys()


def volcano_job(**spec: Any) -> dict[str, Any]:
    tasks = [
        {"name": "ps", "replicas": 1, "template": TEMPLATE},
        {"name": "worker", "replicas": 3, "template": TEMPLATE},
    ]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "mpi"},
        "spec": {"tasks": tasks, **spec},
    }


def test_minimum_of_a_volcano_job_is_the_minimum_of_its_gang() -> None:
    assert groups_of(loaded(volcano_job(minAvailable=2))) == {"mpi": gang(2)}
    assert groups_of(loaded(volcano_job())) == {"mpi": gang(4)}


def test_group_has_the_priority_class_of_its_pods() -> None:
    groups = groups_of(loaded(volcano_job(priorityClassName="high")))
    assert groups["mpi"]["priorityClassName"] == "high"


def test_minimum_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ManifestErrors, match=r"minAvailable: expected an integer"):
        loaded(volcano_job(minAvailable="many"))


def plain_job(
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    metadata = {"labels": dict(labels or {}), "annotations": dict(annotations or {})}
    template = {"metadata": metadata, "spec": {**SPEC, "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"parallelism": 3, "completions": 3, "template": template},
    }


@pytest.mark.parametrize(
    ("version", "labels", "annotations"),
    [
        pytest.param(
            "scheduling.x-k8s.io/v1alpha1",
            {"scheduling.x-k8s.io/pod-group": "group"},
            {},
            id="coscheduling",
        ),
        pytest.param(
            "scheduling.volcano.sh/v1beta1",
            {},
            {"scheduling.k8s.io/group-name": "group"},
            id="volcano",
        ),
    ],
)
def test_pods_that_name_a_pod_group_of_another_project_are_its_members(
    version: str, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> None:
    group = {
        "apiVersion": version,
        "kind": "PodGroup",
        "metadata": {"name": "group"},
        "spec": {"minMember": 2, "minResources": {"cpu": "4"}},
    }
    result = loaded(plain_job(labels, annotations), group)
    assert groups_of(result) == {"group": gang(2)}
    assert members_of(result) == {"train": "group"}
    (notice,) = result.notices
    assert notice.path == "spec.minResources"


def test_pods_whose_group_does_not_exist_stay_alone() -> None:
    result = loaded(plain_job({"scheduling.x-k8s.io/pod-group": "other"}))
    assert (groups_of(result), members_of(result)) == ({}, {"train": None})


def kueue_workload(**metadata: Any) -> dict[str, Any]:
    workers = {
        "name": "workers",
        "count": 4,
        "minCount": 3,
        "template": TEMPLATE,
        "topologyRequest": {"required": RACK},
    }
    driver = {"name": "driver", "count": 1, "template": TEMPLATE}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "run", **metadata},
        "spec": {"podSets": [driver, workers]},
    }


def test_pod_sets_of_a_kueue_workload_are_gangs() -> None:
    result = loaded(kueue_workload())
    assert groups_of(result) == {"run": gang(1), "run-workers": gang(3, RACK)}
    assert members_of(result) == {"run-driver": "run", "run-workers": "run-workers"}


def test_workload_of_another_object_has_no_pods_of_its_own() -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}
    result = loaded(kueue_workload(ownerReferences=[owner]))
    assert (groups_of(result), members_of(result)) == ({}, {})


def test_plain_pods_of_kueue_form_the_group_that_their_label_names() -> None:
    labels = {"kueue.x-k8s.io/pod-group-name": "group"}
    annotations = {
        "kueue.x-k8s.io/pod-group-total-count": "3",
        "kueue.x-k8s.io/podset-required-topology": RACK,
        "kueue.x-k8s.io/pod-group-fast-admission": "true",
    }
    result = loaded(plain_job(labels, annotations))
    assert groups_of(result) == {"group": gang(3, RACK)}
    assert members_of(result) == {"train": "group"}
    assert "fast-admission" in result.notices[0].path


def test_mistakes_in_plain_pods_of_kueue_name_the_first_object() -> None:
    labels = {"kueue.x-k8s.io/pod-group-name": "group"}
    annotations = {"kueue.x-k8s.io/pod-group-total-count": "many"}
    with pytest.raises(
        ManifestErrors, match=r"^Job default/train: metadata.annotations"
    ):
        loaded(plain_job(labels, annotations))


@pytest.mark.parametrize("count", [-2, 0, "two"])
def test_wrong_quorum_of_a_leader_worker_set_is_one_problem(count: object) -> None:
    scheduling = {"schedulingPolicy": {"gang": {"minCount": count}}}
    workers = {"size": 2, "workerTemplate": TEMPLATE}
    leaders = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "serve"},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": workers,
            "scheduling": scheduling,
        },
    }
    with pytest.raises(ManifestErrors) as error:
        loaded(leaders)
    (problem,) = error.value.problems
    assert problem.path == "spec.scheduling.schedulingPolicy.gang.minCount"
    assert problem.message == f"expected an integer of at least 1, got {count!r}"


def test_without_the_gate_pods_are_alone_and_a_notice_names_the_gate() -> None:
    off = dict.fromkeys(GATES, False)
    result = loaded(volcano_job(minAvailable=2), **off)
    assert (groups_of(result), set(members_of(result).values())) == ({}, {None})
    (notice,) = result.notices
    assert "--feature-gates GenericWorkload=true" in notice.message


def test_dropped_topology_is_a_notice() -> None:
    result = loaded(kueue_workload(), TopologyAwareWorkloadScheduling=False)
    assert groups_of(result) == {"run": gang(1), "run-workers": gang(3)}
    assert "TopologyAwareWorkloadScheduling is off" in result.notices[0].message


def test_template_that_names_a_group_keeps_it() -> None:
    spec = {**SPEC, "schedulingGroup": {"podGroupName": "own"}}
    job = replicated("worker", 2)
    job["template"]["spec"]["template"] = {"spec": spec}
    result = loaded(job_set(job))
    assert (groups_of(result), set(members_of(result).values())) == ({}, {"own"})


def test_mapping_needs_pods_or_members(tmp_path: Path) -> None:
    mapping = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "CustomKinds",
        "kinds": [{"group": "example.com", "kind": "Farm"}],
    }
    file = tmp_path / "kinds.yaml"
    file.write_text(yaml.safe_dump(mapping))
    with pytest.raises(ConfigErrors, match=r"kinds\[0\].pods: expected at least one"):
        load([], custom_kinds=[str(file)])


def test_topology_of_pods_without_a_group_is_not_followed() -> None:
    required = {"kueue.x-k8s.io/podset-required-topology": RACK}
    result = loaded(plain_job(annotations=required))
    assert (groups_of(result), members_of(result)) == ({}, {"train": None})
    (notice,) = result.notices
    assert "podset-required-topology" in notice.path
    assert notice.where == "Job default/train"
