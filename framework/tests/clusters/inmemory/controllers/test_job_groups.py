"""Jobs get a Workload and a PodGroup, with the feature gate WorkloadWithJob.

Cases follow ``pkg/controller/job/job_scheduling_manager_test.go`` (Kubernetes v1.37).
"""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    Job,
    JobCondition,
    JobStatus,
    ObjectMeta,
    OwnerReference,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupTemplate,
    Time,
    TypedLocalObjectReference,
    Workload,
    WorkloadSpec,
)
from quaymaster.testing import make_job, make_pod, make_pod_group, make_priority_class
from tests.kit.clusters import make_cluster, pods_of, react
from tests.kit.internals.job_groups import group_of_template, workload_of

GATES = {
    "GenericWorkload": True,
    "TopologyAwareWorkloadScheduling": True,
    "WorkloadWithJob": True,
}
RACK = "topology.example.com/rack"


def cluster_with(*objects: ApiObject) -> InMemoryCluster:
    return make_cluster(*objects, nodes=1, kubernetes=Kubernetes("1.37", GATES))


def group_names(cluster: InMemoryCluster) -> set[str]:
    return {pod.group_key.partition("/")[2] for pod in pods_of(cluster)}


def min_counts(cluster: InMemoryCluster) -> Iterator[int]:
    """Yield the minimum of the only Workload and of the only PodGroup."""
    (workload,), (group,) = cluster.list(Workload).items, cluster.list(PodGroup).items
    (template,) = workload.spec.pod_group_templates
    for policy in (template.scheduling_policy, group.spec.scheduling_policy):
        assert policy.gang is not None
        yield policy.gang.min_count


def test_gang_of_a_job_has_as_many_members_as_the_job_runs_at_once() -> None:
    job = make_job(parallelism=3, completions=5, gang=True, topology_key=RACK)
    cluster = cluster_with(job)
    assert list(min_counts(cluster)) == [3, 3]
    (group,) = cluster.list(PodGroup).items
    assert group.spec.scheduling_constraints is not None
    assert [t.key for t in group.spec.scheduling_constraints.topology] == [RACK]
    assert group_names(cluster) == {group.name}
    assert len(pods_of(cluster)) == 3


def test_job_that_says_nothing_gets_a_basic_group() -> None:
    cluster = cluster_with(make_job())
    (group,) = cluster.list(PodGroup).items
    assert group.spec.scheduling_policy.basic is not None
    assert group_names(cluster) == {group.name}


def test_names_are_made_as_upstream_makes_them() -> None:
    uid = "00000000-0000-4000-8000-000000000001"
    job = replace(make_job(), metadata=replace(make_job().metadata, uid=uid))
    cluster = cluster_with(job)
    (workload,), (group,) = cluster.list(Workload).items, cluster.list(PodGroup).items
    (job,) = cluster.list(Job).items
    # FNV-1a of "(types.UID)00000000-0000-4000-8000-000000000001" is 3310995436.
    assert workload.name == "job-7754ff987b"
    assert group.name.startswith("job-7754ff987b-job-pgt-0-")
    references = group.metadata.owner_references
    assert [(r.kind, r.name, r.controller) for r in references] == [
        ("Job", "job", True),
        ("Workload", workload.name, None),
    ]
    reference = TypedLocalObjectReference(api_group="batch", kind="Job", name="job")
    assert workload.spec.controller_ref == reference


@pytest.mark.parametrize(
    ("job_length", "template_length"),
    [(300, 10), (10, 300), (300, 300), (120, 120)],
    ids=["long workload", "long template", "both long", "short enough"],
)
def test_long_names_are_cut(job_length: int, template_length: int) -> None:
    job = replace(make_job(), metadata=ObjectMeta(name="j" * job_length, uid="u"))
    workload = workload_of(job)
    assert len(workload.name) <= 253
    workload = replace(workload, metadata=ObjectMeta(name="w" * job_length))
    template = PodGroupTemplate(name="t" * template_length)
    group = group_of_template(job, workload, template, owned=True)
    assert len(group.name) == min(253, job_length + template_length + 12)


def test_events_report_what_was_created() -> None:
    cluster = cluster_with(make_job())
    events = [e for e in cluster.events() if e.regarding.kind == "Job"]
    assert [event.reason for event in events] == ["WorkloadCreated", "PodGroupCreated"]
    (workload,) = cluster.list(Workload).items
    assert events[0].note == f"Created Workload {workload.name} for Job job"


def test_changed_parallelism_changes_the_gang() -> None:
    cluster = cluster_with(make_job(parallelism=3, completions=5, gang=True))
    (job,) = cluster.list(Job).items
    cluster.update(replace(job, spec=replace(job.spec, parallelism=2)))
    react(cluster)
    assert list(min_counts(cluster)) == [2, 2]


def test_minimum_of_the_job_stays_when_its_parallelism_changes() -> None:
    cluster = cluster_with(make_job(parallelism=3, completions=5, min_count=2))
    (job,) = cluster.list(Job).items
    cluster.update(replace(job, spec=replace(job.spec, parallelism=4)))
    react(cluster)
    assert list(min_counts(cluster)) == [2, 2]


def test_suspended_job_has_its_group_and_keeps_it_when_resumed() -> None:
    cluster = cluster_with(make_job(parallelism=2, gang=True, suspend=True))
    (group,) = cluster.list(PodGroup).items
    assert pods_of(cluster) == []
    (job,) = cluster.list(Job).items
    cluster.update(replace(job, spec=replace(job.spec, suspend=False)))
    react(cluster)
    assert cluster.list(PodGroup).items == (group,)
    assert group_names(cluster) == {group.name}


@pytest.mark.parametrize(
    "status",
    [
        JobStatus(start_time=Time(0.0)),
        JobStatus(failed=1),
        JobStatus(conditions=(JobCondition(type="Suspended", status="False"),)),
    ],
    ids=["started", "with a failed pod", "resumed"],
)
def test_job_that_was_started_without_a_group_stays_without(status: JobStatus) -> None:
    cluster = cluster_with(replace(make_job(completions=3), status=status))
    assert cluster.list(Workload).items == ()
    assert group_names(cluster) == {""}


def test_job_whose_template_names_a_group_keeps_that_group() -> None:
    job = make_job(gang=True, pod=make_pod(scheduling_group="group"))
    cluster = cluster_with(make_pod_group(min_count=1), job)
    assert cluster.list(Workload).items == ()
    assert group_names(cluster) == {"group"}


def owned(job: Job, template: str | None) -> Job:
    """Return the Job of a JobSet, which may delegate a group to it."""
    owner = OwnerReference(
        api_version="jobset.x-k8s.io/v1alpha2",
        kind="JobSet",
        name="set",
        uid="set-uid",
        controller=True,
    )
    key = "scheduling.k8s.io/group-template-name"
    annotations = {} if template is None else {key: template}
    metadata = replace(job.metadata, owner_references=(owner,), annotations=annotations)
    return replace(job, metadata=metadata)


def workload_of_set(count: int) -> Workload:
    reference = TypedLocalObjectReference(
        api_group="jobset.x-k8s.io", kind="JobSet", name="set"
    )
    templates = make_pod_group(min_count=count).spec.scheduling_policy
    return Workload(
        metadata=ObjectMeta(name="of-set", namespace="default"),
        spec=WorkloadSpec(
            controller_ref=reference,
            pod_group_templates=(
                PodGroupTemplate(name="workers", scheduling_policy=templates),
            ),
        ),
    )


def test_job_of_another_object_gets_no_group_of_its_own() -> None:
    cluster = cluster_with(workload_of_set(2), owned(make_job(), None))
    assert cluster.list(PodGroup).items == ()
    assert group_names(cluster) == {""}


def test_delegated_group_is_made_from_the_workload_of_the_owner() -> None:
    cluster = cluster_with(workload_of_set(2), owned(make_job(), "workers"))
    (group,) = cluster.list(PodGroup).items
    assert group.name.startswith("of-set-workers-")
    assert group.min_count == 2
    assert [r.kind for r in group.metadata.owner_references] == ["Job"]
    assert group_names(cluster) == {group.name}


def test_delegated_group_follows_its_template() -> None:
    cluster = cluster_with(
        workload_of_set(2), owned(make_job(parallelism=2), "workers")
    )
    stored = cluster.get(Workload, "default/of-set")
    (template,) = stored.spec.pod_group_templates
    gang = make_pod_group(min_count=1).spec.scheduling_policy
    template = replace(template, scheduling_policy=gang)
    spec = replace(stored.spec, pod_group_templates=(template,))
    cluster.update(replace(stored, spec=spec))
    (job,) = cluster.list(Job).items
    cluster.update(replace(job, spec=replace(job.spec, backoff_limit=1)))
    react(cluster)
    (group,) = cluster.list(PodGroup).items
    assert group.min_count == 1


@pytest.mark.parametrize("template", ["workers", "other"])
def test_delegated_group_needs_the_workload_and_the_template(template: str) -> None:
    loaded = [] if template == "workers" else [workload_of_set(2)]
    cluster = cluster_with(*loaded, owned(make_job(), template))
    assert cluster.list(PodGroup).items == ()
    assert group_names(cluster) == {""}


def test_rejected_workload_keeps_the_pods_of_its_job_away() -> None:
    job = make_job(gang=True)
    template = job.spec.template
    pod_spec = replace(template.spec, priority_class_name="high")
    spec = replace(job.spec, template=replace(template, spec=pod_spec))
    cluster = cluster_with(replace(job, spec=spec))
    (job,) = cluster.list(Job).items
    assert pods_of(cluster) == []
    assert "high" in cluster.why_short(job)
    cluster.create(make_priority_class(name="high", value=1000))
    react(cluster)
    (group,) = cluster.list(PodGroup).items
    assert (group.priority, len(pods_of(cluster))) == (1000, 1)


def test_removed_job_takes_its_group_with_it() -> None:
    cluster = cluster_with(make_job(gang=True, parallelism=2))
    cluster.delete(Job, "default/job")
    react(cluster)
    for kind in (Pod, PodGroup, Workload):
        assert cluster.list(kind).items == ()


def test_workload_of_another_form_keeps_new_pods_away() -> None:
    cluster = cluster_with(make_job(gang=True, suspend=True))
    (workload,) = cluster.list(Workload).items
    (template,) = workload.spec.pod_group_templates
    policy: PodGroupSchedulingPolicy = template.scheduling_policy
    other = PodGroupTemplate(name="other", scheduling_policy=policy)
    spec = replace(workload.spec, pod_group_templates=(template, other))
    cluster.delete(Workload, workload.key)
    cluster.create(replace(workload, spec=spec))
    (job,) = cluster.list(Job).items
    cluster.update(replace(job, spec=replace(job.spec, suspend=False)))
    react(cluster)
    assert pods_of(cluster) == []
    assert "expected 1 podGroupTemplate, got 2" in cluster.why_short(job)


def test_without_the_gate_jobs_have_no_groups() -> None:
    gates = {**GATES, "WorkloadWithJob": False}
    cluster = make_cluster(make_job(gang=True), kubernetes=Kubernetes("1.37", gates))
    assert cluster.list(Workload).items == ()
    (job,) = cluster.list(Job).items
    assert job.spec.scheduling is None


def test_objects_of_a_loaded_job_are_used_again() -> None:
    """A dump without uids keeps the Workload and the PodGroup that it has."""
    cluster = cluster_with(make_job(gang=True, parallelism=2))
    kept = [
        obj for kind in (Workload, PodGroup, Job) for obj in cluster.list(kind).items
    ]
    bare = [replace(obj, metadata=_without_uids(obj.metadata)) for obj in kept]
    again = cluster_with(*bare)
    assert len(again.list(Workload).items) == len(again.list(PodGroup).items) == 1
    assert group_names(again) == {kept[1].name}


def _without_uids(metadata: ObjectMeta) -> ObjectMeta:
    references = tuple(replace(r, uid="") for r in metadata.owner_references)
    return replace(metadata, uid="", owner_references=references)
