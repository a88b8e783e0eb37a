"""Small workloads; all of them select the pods of one app."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, InMemoryCluster
from quaymaster.objects import (
    DaemonSet,
    DaemonSetSpec,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    LabelSelector,
    ObjectMeta,
    PodSpec,
    PodTemplateSpec,
    ReplicaSet,
    ReplicaSetSpec,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetSpec,
)
from quaymaster.testing import make_container, make_persistent_volume_claim
from tests.kit.clusters import react

__all__ = [
    "LABELS",
    "SELECTOR",
    "make_daemon_set",
    "make_deployment",
    "make_job",
    "make_replica_set",
    "make_stateful_set",
    "make_template",
    "scale",
]

LABELS = {"app": "web"}
SELECTOR = LabelSelector(match_labels=LABELS)


def make_template(
    spec: PodSpec | None = None,
    *,
    labels: Mapping[str, str] = LABELS,
    cpu: str = "100m",
    run_for: str | None = None,
) -> PodTemplateSpec:
    """Make the template of a workload's pods: one container.

    Args:
        spec: Further fields of the pods.
        labels: The labels of the pods.
        cpu: The CPU request of the container.
        run_for: The seconds that the pods run; they never end by default.

    Returns:
        The template.
    """
    annotations = {} if run_for is None else {RUN_SECONDS_ANNOTATION: run_for}
    container = make_container(requests={"cpu": cpu})
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=dict(labels), annotations=annotations),
        spec=replace(spec or PodSpec(), containers=(container,)),
    )


def make_deployment(
    replicas: int, template: PodTemplateSpec | None = None, *, name: str = "web"
) -> Deployment:
    """Make a Deployment of some replicas."""
    template = template or make_template()
    selector = LabelSelector(match_labels=template.metadata.labels)
    return Deployment(
        metadata=ObjectMeta(name=name),
        spec=DeploymentSpec(replicas=replicas, selector=selector, template=template),
    )


def make_replica_set(replicas: int) -> ReplicaSet:
    """Make a ReplicaSet of some replicas."""
    return ReplicaSet(
        metadata=ObjectMeta(name="web"),
        spec=ReplicaSetSpec(
            replicas=replicas, selector=SELECTOR, template=make_template()
        ),
    )


def make_stateful_set(
    replicas: int,
    template: PodTemplateSpec | None = None,
    *,
    name: str = "web",
    policy: str = "",
    start: int | None = None,
    claims: Iterable[str] = (),
) -> StatefulSet:
    """Make a StatefulSet of some replicas.

    Args:
        replicas: The number of replicas.
        template: The template of its pods.
        name: The set's name.
        policy: The order of its pods: ``OrderedReady``, the default, or ``Parallel``.
        start: The ordinal of its first pod.
        claims: The names of its claim templates.

    Returns:
        The StatefulSet.
    """
    template = template or make_template()
    templates = (
        make_persistent_volume_claim(name=c, storage_class=None) for c in claims
    )
    return StatefulSet(
        metadata=ObjectMeta(name=name),
        spec=StatefulSetSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels=template.metadata.labels),
            template=template,
            pod_management_policy=policy,
            ordinals=None if start is None else StatefulSetOrdinals(start=start),
            volume_claim_templates=tuple(templates),
        ),
    )


def make_daemon_set(template: PodTemplateSpec | None = None) -> DaemonSet:
    """Make a DaemonSet with pods from its template."""
    template = template or make_template()
    selector = LabelSelector(match_labels=template.metadata.labels)
    return DaemonSet(
        metadata=ObjectMeta(name="agent"),
        spec=DaemonSetSpec(selector=selector, template=template),
    )


def make_job(
    template: PodTemplateSpec | None = None,
    *,
    name: str = "sum",
    run_for: str | None = "10",
    indexed: bool = False,
    **spec: Any,
) -> Job:
    """Make a Job whose pods run for some seconds.

    Args:
        template: The template of its pods; they never restart.
        name: The Job's name.
        run_for: The seconds that its pods run, unless there is a template.
        indexed: Whether each pod has an index.
        **spec: More fields of its spec.

    Returns:
        The Job.
    """
    template = template or make_template(run_for=run_for)
    never = replace(template.spec, restart_policy="Never")
    return Job(
        metadata=ObjectMeta(name=name),
        spec=JobSpec(
            template=replace(template, spec=never),
            completion_mode="Indexed" if indexed else None,
            **spec,
        ),
    )


def scale(
    cluster: InMemoryCluster,
    kind: type[Deployment] | type[ReplicaSet] | type[StatefulSet],
    count: int,
) -> None:
    """Set the number of replicas of the only workload of a kind."""
    (workload,) = cluster.list(kind).items
    cluster.update(replace(workload, spec=replace(workload.spec, replicas=count)))
    react(cluster)
