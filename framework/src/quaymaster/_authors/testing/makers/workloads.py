"""Makers of workloads, services and disruption budgets."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from quaymaster._api.objects import (
    CronJob,
    CronJobSpec,
    DaemonSet,
    DaemonSetSpec,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    JobTemplateSpec,
    LabelSelector,
    ObjectMeta,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSpec,
    PodTemplateSpec,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
    Service,
    ServiceSpec,
    StatefulSet,
    StatefulSetSpec,
)
from quaymaster._authors.testing.makers.groups import scheduling_of_job
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.makers.pods import make_container
from quaymaster._authors.testing.shorthand import to_label_selector

__all__ = [
    "make_cron_job",
    "make_daemon_set",
    "make_deployment",
    "make_job",
    "make_pod_disruption_budget",
    "make_replica_set",
    "make_replication_controller",
    "make_service",
    "make_stateful_set",
]


def make_replica_set(
    *,
    name: str = "replica-set",
    namespace: str = "default",
    selector: LabelSelector | Mapping[str, str] | None = None,
    replicas: int = 1,
) -> ReplicaSet:
    """Make a replica set, which can be the ``owner`` of pods.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods.
        replicas: How many pods it runs.
    """
    return ReplicaSet(
        metadata=make_metadata(ReplicaSet, name=name, namespace=namespace),
        spec=ReplicaSetSpec(replicas=replicas, selector=to_label_selector(selector)),
    )


def make_replication_controller(
    *,
    name: str = "replication-controller",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
    replicas: int = 1,
    pod: Pod | None = None,
) -> ReplicationController:
    """Make a replication controller; as the ``owner`` of pods it makes them a set.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods; by default ``app`` with its name.
        replicas: How many pods it runs.
        pod: What its pods are like, see `make_pod`; by default, one container.
    """
    labels = _labels(name, selector)
    return ReplicationController(
        metadata=make_metadata(ReplicationController, name=name, namespace=namespace),
        spec=ReplicationControllerSpec(
            replicas=replicas, selector=labels, template=_template(pod, labels)
        ),
    )


def make_deployment(
    *,
    name: str = "deployment",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
    replicas: int = 1,
    pod: Pod | None = None,
) -> Deployment:
    """Make a deployment.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods; by default ``app`` with its name.
        replicas: How many pods it runs.
        pod: What its pods are like, see `make_pod`; by default, one container.
    """
    labels = _labels(name, selector)
    return Deployment(
        metadata=make_metadata(Deployment, name=name, namespace=namespace),
        spec=DeploymentSpec(
            replicas=replicas,
            selector=to_label_selector(labels),
            template=_template(pod, labels),
        ),
    )


def make_stateful_set(
    *,
    name: str = "stateful-set",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
    replicas: int = 1,
    pod: Pod | None = None,
    claims: Iterable[PersistentVolumeClaim] = (),
) -> StatefulSet:
    """Make a stateful set; as the ``owner`` of pods it makes them a set.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods; by default ``app`` with its name.
        replicas: How many pods it runs.
        pod: What its pods are like, see `make_pod`; by default, one container.
        claims: The claims that each of its pods gets, see
        `make_persistent_volume_claim`.
    """
    labels = _labels(name, selector)
    return StatefulSet(
        metadata=make_metadata(StatefulSet, name=name, namespace=namespace),
        spec=StatefulSetSpec(
            replicas=replicas,
            selector=to_label_selector(labels),
            template=_template(pod, labels),
            volume_claim_templates=tuple(claims),
        ),
    )


def make_daemon_set(
    *,
    name: str = "daemon-set",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
    pod: Pod | None = None,
) -> DaemonSet:
    """Make a daemon set.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods; by default ``app`` with its name.
        pod: What its pods are like, see `make_pod`; by default, one container.
    """
    labels = _labels(name, selector)
    return DaemonSet(
        metadata=make_metadata(DaemonSet, name=name, namespace=namespace),
        spec=DaemonSetSpec(
            selector=to_label_selector(labels), template=_template(pod, labels)
        ),
    )


def make_job(
    *,
    name: str = "job",
    namespace: str = "default",
    completions: int | None = 1,
    parallelism: int = 1,
    indexed: bool = False,
    suspend: bool = False,
    gang: bool = False,
    min_count: int | None = None,
    topology_key: str | None = None,
    pod: Pod | None = None,
) -> Job:
    """Make a job.

    Args:
        name: Its name.
        namespace: Its namespace.
        completions: How many of its pods must succeed; None: any one.
        parallelism: How many run at once.
        indexed: Whether its pods are numbered.
        suspend: Whether it creates no pods for now.
        gang: Whether its pods are scheduled together, with the feature gate
            WorkloadWithJob.
        min_count: How many pods of the gang must fit together; None: ``parallelism``.
        topology_key: The label of nodes whose value its pods must share, with this
            gate and TopologyAwareWorkloadScheduling.
        pod: What its pods are like, see `make_pod`; by default, one container.
    """
    template = _template(pod, {})
    return Job(
        metadata=make_metadata(Job, name=name, namespace=namespace),
        spec=JobSpec(
            completions=completions,
            parallelism=parallelism,
            completion_mode="Indexed" if indexed else "NonIndexed",
            suspend=suspend,
            scheduling=scheduling_of_job(
                is_gang=gang or min_count is not None,
                min_count=min_count,
                topology_key=topology_key,
            ),
            template=replace(
                template, spec=replace(template.spec, restart_policy="Never")
            ),
        ),
    )


def make_cron_job(
    *,
    name: str = "cron-job",
    namespace: str = "default",
    schedule: str = "0 3 * * *",
    suspend: bool = False,
    job: Job | None = None,
) -> CronJob:
    """Make a CronJob.

    Args:
        name: Its name.
        namespace: Its namespace.
        schedule: When it creates Jobs.
        suspend: Whether it creates none for now.
        job: What its Jobs are like, see `make_job`.
    """
    spec = (job or make_job()).spec
    return CronJob(
        metadata=make_metadata(CronJob, name=name, namespace=namespace),
        spec=CronJobSpec(
            schedule=schedule, suspend=suspend, job_template=JobTemplateSpec(spec=spec)
        ),
    )


def make_service(
    *,
    name: str = "service",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
) -> Service:
    """Make a service.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods; None for no pods.
    """
    return Service(
        metadata=make_metadata(Service, name=name, namespace=namespace),
        spec=ServiceSpec(selector=dict(selector or {})),
    )


def make_pod_disruption_budget(
    *,
    name: str = "budget",
    namespace: str = "default",
    selector: LabelSelector | Mapping[str, str] | None = None,
    disruptions_allowed: int = 0,
    min_available: int | str | None = None,
    max_unavailable: int | str | None = None,
) -> PodDisruptionBudget:
    """Make a disruption budget, which limits evictions.

    Args:
        name: Its name.
        namespace: Its namespace.
        selector: The labels of its pods.
        disruptions_allowed: How many of them may be evicted now. In a `PluginHarness`
            it stays so; in a `SchedulerHarness` a controller computes it.
        min_available: How many pods must stay, as a number or as ``"50%"``.
        max_unavailable: How many pods may be missing, as a number or as ``"50%"``.
    """
    return PodDisruptionBudget(
        metadata=make_metadata(PodDisruptionBudget, name=name, namespace=namespace),
        spec=PodDisruptionBudgetSpec(
            selector=to_label_selector(selector),
            min_available=min_available,
            max_unavailable=max_unavailable,
        ),
        status=PodDisruptionBudgetStatus(disruptions_allowed=disruptions_allowed),
    )


def _labels(name: str, selector: Mapping[str, str] | None) -> dict[str, str]:
    return dict(selector or {"app": name})


def _template(pod: Pod | None, labels: Mapping[str, str]) -> PodTemplateSpec:
    """Return a template of pods like the given one, with more labels."""
    if pod is None:
        spec = PodSpec(containers=(make_container(),))
        return PodTemplateSpec(metadata=ObjectMeta(labels=dict(labels)), spec=spec)
    metadata = ObjectMeta(
        labels={**pod.labels, **labels}, annotations=pod.metadata.annotations
    )
    return PodTemplateSpec(metadata=metadata, spec=pod.spec)
