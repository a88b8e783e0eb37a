"""Objects without a controller here get notices; mappings may run their pods."""

from collections.abc import Callable
from pathlib import Path

import pytest

from quaymaster.config import ConfigErrors
from quaymaster.manifests import (
    Loaded,
    ManifestErrors,
    NoticeReason,
    has_missing_pods,
    load,
    shipped_mappings,
)
from quaymaster.objects import CronJob, Job

Reader = Callable[..., Loaded]

TEMPLATE = "{spec: {containers: [{name: main, image: nginx}]}}"
CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: db}
spec:
  schedule: "@daily"
  jobTemplate:
    metadata: {labels: {app: backup}}
    spec:
      parallelism: 2
      template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}
"""
JOB_SET = f"""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train}}
spec:
  replicatedJobs:
  - {{name: driver, template: {{spec: {{template: {TEMPLATE}}}}}}}
  - name: Workers
    replicas: 2
    template: {{spec: {{parallelism: 3, template: {TEMPLATE}}}}}
"""
RAY_CLUSTER = f"""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: ray}}
spec:
  headGroupSpec: {{template: {TEMPLATE}}}
  workerGroupSpecs:
  - {{groupName: small, replicas: 3, template: {TEMPLATE}}}
  - {{groupName: wide, minReplicas: 2, numOfHosts: 4, template: {TEMPLATE}}}
  - {{groupName: later, template: {TEMPLATE}}}
"""
LEADER_WORKER_SET = f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: llm}}
spec:
  replicas: 2
  leaderWorkerTemplate: {{size: 4, workerTemplate: {TEMPLATE}}}
"""
VOLCANO_JOB = f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: mpi}}
spec:
  tasks:
  - {{name: master, replicas: 1, template: {TEMPLATE}}}
  - {{name: worker, replicas: 5, template: {TEMPLATE}}}
"""


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def read_text(text: str, **options: object) -> Loaded:
        path = tmp_path / "in.yaml"
        path.write_text(text)
        return load([path], **options)  # type: ignore[arg-type]  # the test's own

    return read_text


def counts(loaded: Loaded) -> dict[str, int | None]:
    return {job.name: job.spec.parallelism for job in loaded.of(Job)}


@pytest.mark.parametrize(
    ("type_", "reason", "message"),
    [
        pytest.param(
            "apiVersion: extensions/v1beta1, kind: Deployment",
            NoticeReason.MISSING_PODS,
            "apiVersion: expected 'apps/v1' for a Deployment, got "
            "'extensions/v1beta1'; its pods are missing",
            id="older version of a workload",
        ),
        pytest.param(
            "apiVersion: batch/v1beta1, kind: CronJob",
            NoticeReason.MISSING_PODS,
            "apiVersion: expected 'batch/v1' for a CronJob, got "
            "'batch/v1beta1'; its pods are missing",
            id="older version of what makes workloads",
        ),
        pytest.param(
            "apiVersion: policy/v1beta1, kind: PodDisruptionBudget",
            NoticeReason.UNKNOWN_VERSION,
            "apiVersion: expected 'policy/v1' for a PodDisruptionBudget, got "
            "'policy/v1beta1'; it was left out",
            id="older version of something else",
        ),
        pytest.param(
            "apiVersion: apps/v1, kind: Deploymnet",
            NoticeReason.MISSING_PODS,
            "kind: no kind 'Deploymnet' in version 'apps/v1'; "
            "did you mean 'Deployment'?; its pods are missing",
            id="misspelt workload",
        ),
        pytest.param(
            "apiVersion: v1, kind: pod",
            NoticeReason.MISSING_PODS,
            "kind: no kind 'pod' in version 'v1'; did you mean 'Pod'?; "
            "its pods are missing",
            id="lower case",
        ),
        pytest.param(
            "apiVersion: v1, kind: Servce",
            NoticeReason.UNKNOWN_KIND,
            "kind: no kind 'Servce' in version 'v1'; did you mean 'Service'?; "
            "it was left out",
            id="misspelt kind without pods",
        ),
        pytest.param(
            "apiVersion: policy/v1, kind: Eviction",
            NoticeReason.UNKNOWN_KIND,
            "kind: no kind 'Eviction' in version 'policy/v1'; it was left out",
            id="kind that is like no other",
        ),
        pytest.param(
            "apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization",
            NoticeReason.MISSING_PODS,
            "the objects of this kustomization are missing; "
            "kubectl kustomize DIR | quaymaster simulate - reads it",
            id="kustomization under a name of its own",
        ),
        pytest.param(
            "apiVersion: kubescheduler.config.k8s.io/v1, "
            "kind: KubeSchedulerConfiguration",
            NoticeReason.UNKNOWN_KIND,
            "the configuration of a scheduler, which --config reads, was left out",
            id="configuration of a scheduler",
        ),
        pytest.param(
            f"apiVersion: x.io/v1, kind: Farm, spec: {{a: [{{template: {TEMPLATE}}}]}}",
            NoticeReason.MISSING_PODS,
            "spec.a[0].template: the pods of this Farm (x.io/v1) are missing; "
            "--custom-kinds FILE describes how many there are",
            id="custom kind with a pod template",
        ),
        pytest.param(
            "apiVersion: mesh.example.com/v1, kind: Service, "
            "spec: {template: {spec: {containers: [{image: x}]}}}",
            NoticeReason.MISSING_PODS,
            "spec.template: the pods of this Service (mesh.example.com/v1) are "
            "missing; --custom-kinds FILE describes how many there are",
            id="custom kind with a pod template that leaves the name open",
        ),
        pytest.param(
            "apiVersion: x.io/v1, kind: Search, "
            "spec: {sets: [{podTemplate: {spec: {containers: [{name: main}]}}}]}",
            NoticeReason.MISSING_PODS,
            "spec.sets[0].podTemplate: the pods of this Search (x.io/v1) are missing; "
            "--custom-kinds FILE describes how many there are",
            id="custom kind with a pod template that leaves the image open",
        ),
    ],
)
def test_missing_demand_is_reported(
    read: Reader, type_: str, reason: NoticeReason, message: str
) -> None:
    loaded = read(f"{{{type_}, metadata: {{name: a}}}}")
    (notice,) = loaded.notices
    assert notice.reason is reason
    assert str(notice).endswith(f"default/a): {message}")
    assert not loaded.skipped


@pytest.mark.parametrize(
    "type_",
    [
        "apiVersion: v1, kind: ConfigMap",
        "apiVersion: networking.k8s.io/v1, kind: Ingress",
        "apiVersion: extensions/v1beta1, kind: Ingress",
        "apiVersion: mesh.example.com/v1, kind: Service",
        "apiVersion: v1, kind: Event",
        "apiVersion: example.com/v1, kind: AllowList, spec: {}",
        (
            "apiVersion: kyverno.io/v1, kind: ClusterPolicy, spec: {validate: "
            "{pattern: {spec: {containers: [{name: '*'}]}}}}"
        ),
        (
            "apiVersion: apps/v1, kind: ControllerRevision, "
            f"data: {{spec: {{template: {TEMPLATE}}}}}"
        ),
        f"apiVersion: v1, kind: PodTemplate, template: {TEMPLATE}",
    ],
)
def test_objects_that_want_no_pods_are_only_counted(read: Reader, type_: str) -> None:
    loaded = read(f"{{{type_}, metadata: {{name: a}}}}")
    assert loaded.notices == ()
    assert loaded.skipped.total() == 1


def test_object_without_a_name_is_reported_by_its_kind(read: Reader) -> None:
    text = "{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}"
    (notice,) = read(text).notices
    assert notice.where.endswith("in.yaml (Kustomization)")


def test_objects_with_the_same_message_share_a_notice(read: Reader) -> None:
    loaded = read(f"{CRON_JOB}---{CRON_JOB.replace('backup', 'report')}")
    (notice,) = loaded.notices
    assert notice.where.endswith("document 1 (CronJob db/backup) and 1 more")
    assert notice.message == (
        "CronJobs do not run, so the pods of their Jobs are missing; "
        "--run-cronjobs makes one Job of each"
    )
    assert has_missing_pods(loaded.notices)


def test_cron_job_runs_once_if_wanted(read: Reader) -> None:
    loaded = read(CRON_JOB, run_cron_jobs=True)
    (job,) = loaded.of(Job)
    assert (job.key, job.metadata.labels) == ("db/backup-0", {"app": "backup"})
    assert job.spec.parallelism == 2
    owner = job.metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name) == ("CronJob", "backup")
    assert loaded.notices == ()


def test_suspended_cron_job_wants_no_pods(read: Reader) -> None:
    text = CRON_JOB.replace("spec:\n  schedule", "spec:\n  suspend: true\n  schedule")
    assert read(text).notices == ()
    [cron_job] = read(text, run_cron_jobs=True).objects
    assert isinstance(cron_job, CronJob)


def test_mistake_in_a_cron_job_has_its_path_there(read: Reader) -> None:
    text = CRON_JOB.replace("image: x", "image: 7")
    with pytest.raises(ManifestErrors) as caught:
        read(text, run_cron_jobs=True)
    assert "in.yaml (CronJob db/backup): spec.jobTemplate.spec.template.spec." in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("mapping", "text", "expected"),
    [
        pytest.param(
            "jobset",
            JOB_SET,
            {"train-driver-0": None, "train-workers-0": 3, "train-workers-1": 3},
            id="JobSet",
        ),
        pytest.param(
            "raycluster",
            RAY_CLUSTER,
            {"ray-head": 1, "ray-small": 3, "ray-wide": 8},
            id="RayCluster",
        ),
        pytest.param(
            "leaderworkerset",
            LEADER_WORKER_SET,
            {
                "llm-leader-0": 1,
                "llm-leader-1": 1,
                "llm-worker-0": 3,
                "llm-worker-1": 3,
            },
            id="LeaderWorkerSet",
        ),
        pytest.param(
            "volcano-job", VOLCANO_JOB, {"mpi-master": 1, "mpi-worker": 5}, id="Volcano"
        ),
    ],
)
def test_custom_kind_runs_as_jobs_by_a_shipped_mapping(
    read: Reader, mapping: str, text: str, expected: dict[str, int]
) -> None:
    (notice,) = read(text).notices
    assert f"--custom-kinds {mapping} runs them" in str(notice)
    loaded = read(text, custom_kinds=[mapping])
    assert counts(loaded) == expected
    # The groups of these kinds need a feature gate.
    has_groups = mapping != "raycluster"
    gated = [NoticeReason.GATED_OBJECTS] * has_groups
    assert [notice.reason for notice in loaded.notices] == gated


def labels_of(loaded: Loaded, name: str) -> dict[str, str]:
    (job,) = [job for job in loaded.of(Job) if job.name == name]
    return dict(job.spec.template.metadata.labels)


def test_pods_of_custom_kinds_have_the_labels_that_their_operators_add(
    read: Reader,
) -> None:
    loaded = read(JOB_SET, custom_kinds=["jobset"])
    prefix = "jobset.sigs.k8s.io"
    assert labels_of(loaded, "train-workers-1") == {
        f"{prefix}/jobset-name": "train",
        f"{prefix}/replicatedjob-name": "Workers",
        f"{prefix}/job-index": "1",
    }
    loaded = read(RAY_CLUSTER, custom_kinds=["raycluster"])
    assert labels_of(loaded, "ray-small")["ray.io/group"] == "small"
    assert labels_of(loaded, "ray-head")["ray.io/node-type"] == "head"


def test_replicated_jobs_keep_their_own_spec(read: Reader) -> None:
    text = JOB_SET.replace("parallelism: 3", "parallelism: 3, completions: 2")
    loaded = read(text, custom_kinds=["jobset"])
    (job, _) = [job for job in loaded.of(Job) if "workers" in job.name]
    spec = job.spec
    assert (spec.parallelism, spec.completions) == (3, 2)
    assert spec.completion_mode == "Indexed"


def test_workers_of_ray_keep_to_their_limits(read: Reader) -> None:
    text = RAY_CLUSTER.replace("replicas: 3,", "replicas: 3, maxReplicas: 2,").replace(
        "minReplicas: 2,", "replicas: 1, minReplicas: 2,"
    )
    loaded = read(text, custom_kinds=["raycluster"])
    assert counts(loaded) == {"ray-head": 1, "ray-small": 2, "ray-wide": 8}


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("spec: {startupPolicy: {startupPolicyOrder: AnyOrder}}", None),
        (
            "spec: {startupPolicy: {startupPolicyOrder: InOrder}}",
            "spec.startupPolicy.startupPolicyOrder",
        ),
        ("spec: {successPolicy: {operator: All}}", None),
        (
            "metadata: {annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: x}}",
            'metadata.annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"]',
        ),
    ],
)
def test_fields_that_are_not_followed_get_a_warning_unless_they_are_defaults(
    read: Reader, field: str, path: str | None
) -> None:
    section, _, content = field.partition(": {")
    text = JOB_SET.replace("metadata: {name: train}", "metadata: {name: train}")
    if section == "metadata":
        text = text.replace("{name: train}", "{name: train, " + content)
    else:
        text = text.replace("spec:\n", "spec:\n  " + content[:-1] + "\n", 1)
    _, *notices = read(text, custom_kinds=["jobset"]).notices
    assert [notice.path for notice in notices] == ([path] if path else [])


def test_suspended_custom_object_wants_no_pods(read: Reader) -> None:
    text = JOB_SET.replace("spec:\n", "spec:\n  suspend: true\n", 1)
    assert read(text, custom_kinds=["jobset"]).objects == ()


def test_custom_object_whose_own_objects_are_there_gets_no_more(read: Reader) -> None:
    owned = """
apiVersion: batch/v1
kind: Job
metadata:
  name: train-driver-0
  ownerReferences: [{apiVersion: x/v1, kind: JobSet, name: train, uid: u-1}]
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
"""
    text = JOB_SET.replace("{name: train}", "{name: train, uid: u-1}")
    loaded = read(f"{text}---{owned}", custom_kinds=["jobset"])
    assert [job.name for job in loaded.of(Job)] == ["train-driver-0"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("replicas: 2", "replicas: many"),
            (
                "spec.replicatedJobs[1].replicas: expected an integer of at least 0, "
                "got 'many'"
            ),
        ),
        (
            (f"template: {{spec: {{template: {TEMPLATE}}}}}", "template: {}"),
            (
                "spec.replicatedJobs[0]: expected a pod template at "
                "spec.replicatedJobs[0].template.spec.template"
            ),
        ),
    ],
)
def test_mistake_in_a_custom_object_has_its_path(
    read: Reader, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(ManifestErrors) as caught:
        read(JOB_SET.replace(*change), custom_kinds=["jobset"])
    assert str(caught.value).endswith(f"in.yaml (JobSet default/train): {expected}")


def test_mistakes_of_a_mapping_come_together(read: Reader, tmp_path: Path) -> None:
    mapping = tmp_path / "kinds.yaml"
    mapping.write_text("""
apiVersion: simulation.quaymaster.io/v1
kind: CustomKinds
kinds:
- {group: x.com, kind: Farm, pods: [{template: [a..b], cuont: []}]}
""")
    with pytest.raises(ConfigErrors) as caught:
        read(JOB_SET, custom_kinds=[str(mapping)])
    assert {problem.path for problem in caught.value.problems} == {
        "apiVersion",
        "kinds[0].pods[0].cuont",
        "kinds[0].pods[0].template[0]",
    }


def test_error_for_an_unknown_mapping_lists_the_existing_ones(read: Reader) -> None:
    with pytest.raises(ConfigErrors, match=r"jobset.*did you mean 'jobset'\?"):
        read(JOB_SET, custom_kinds=["jobsets"])


def test_every_shipped_mapping_is_named_in_the_documentation() -> None:
    page = Path(__file__).parents[4] / "docs/how-to/simulate-custom-workloads.md"
    text = page.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in shipped_mappings())
