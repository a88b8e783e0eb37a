"""The pods that a CapacityBuffer copies: those of a PodTemplate or of a workload.

Mirrors ``capacitybuffer/translators/scalable_objects`` and
``capacitybuffer/fakepods``.
"""

from typing import Final

import attrs

from quaymaster._api.objects import (
    ApiObject,
    Deployment,
    Job,
    LabelSelector,
    ObjectMeta,
    Pod,
    PodTemplateSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.kinds import group_of
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import (
    CapacityBuffer,
    ScalableObject,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.lookups import FindFn
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    PodTemplate,
    pod_of,
    with_requests,
)

__all__ = ["BufferSource", "BufferSourceError", "BufferSources"]

_WORKLOADS: Final[tuple[type[ApiObject], ...]] = (
    Deployment,
    ReplicaSet,
    StatefulSet,
    ReplicationController,
    Job,
)
_CORE: Final = "core"
_SCALED: Final = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


class BufferSourceError(ValueError):
    """A buffer whose pods cannot be made."""


@attrs.frozen(kw_only=True)
class BufferSource:
    """What the pods of a buffer are like.

    Attributes:
        template: Their template, filled in.
        pods: The number of pods of the workload; None without one.
    """

    template: PodTemplateSpec
    pods: int | None = None


class BufferSources:
    """Finds what the pods of buffers are like.

    Args:
        cluster: The cluster.
        find: Returns an object by kind and key, or None.
        admits: Whether pods of templates are filled in as the API server would do it,
            by a dry run; otherwise only their requests are.
    """

    def __init__(self, cluster: InMemoryCluster, find: FindFn, *, admits: bool) -> None:
        self._cluster = cluster
        self._find = find
        self._admits = admits

    def of(self, buffer: CapacityBuffer) -> BufferSource | None:
        """Return what the pods of a buffer are like; None if it names nothing.

        As upstream, a workload wins if there is a template, too.

        Raises:
            BufferSourceError: The template or the workload is missing or wrong.
        """
        spec, namespace = buffer.spec, buffer.namespace
        if spec.scalable_ref is not None:
            return self._of_workload(spec.scalable_ref, namespace)
        if spec.pod_template_ref is None:
            return None
        name = spec.pod_template_ref.name
        template = self._find(PodTemplate, f"{namespace}/{name}")
        if not isinstance(template, PodTemplate):
            problem = f'podtemplate "{name}" not found'
            raise BufferSourceError(problem)
        return BufferSource(template=self._filled(template.template, namespace))

    def _of_workload(self, ref: ScalableObject, namespace: str) -> BufferSource:
        """Return what the newest pod of a workload is like, or else its template."""
        kind = _kind_of(ref)
        if kind is None:
            name = f"{ref.api_group}/{ref.kind}"
            problem = f"kind {name} is not supported to use pod template"
            raise BufferSourceError(problem)
        workload = self._find(kind, f"{namespace}/{ref.name}")
        if workload is None:
            problem = f'failed to get {ref.kind}: "{ref.name}" not found'
            raise BufferSourceError(problem)
        if isinstance(workload, Job):
            # A Job has no scale, so upstream never looks at its pods.
            template = self._filled(workload.spec.template, namespace)
            return BufferSource(template=template, pods=workload.spec.parallelism)
        pods = self._pods_of(workload)
        if not pods:
            assert isinstance(workload, _SCALED)
            template = self._filled(
                workload.spec.template or PodTemplateSpec(), namespace
            )
            replicas = workload.spec.replicas
            return BufferSource(
                template=template, pods=1 if replicas is None else replicas
            )
        newest = max(pods, key=lambda pod: pod.metadata.creation_timestamp or 0.0)
        active = [pod for pod in pods if not (pod.is_finished or pod.is_terminating)]
        return BufferSource(template=_template_of(newest), pods=len(active))

    def _pods_of(self, workload: ApiObject) -> list[Pod]:
        matches = compile_label_selector(_selector_of(workload)).matches
        namespace = workload.namespace
        return [
            pod
            for pod in self._cluster.list(Pod).items
            if pod.namespace == namespace and matches(pod.labels)
        ]

    def _filled(self, template: PodTemplateSpec, namespace: str) -> PodTemplateSpec:
        if not self._admits:
            return with_requests(template)
        pod = pod_of(template, namespace, "fake-pod")
        try:
            return _template_of(self._cluster.admitted(pod))
        except QuaymasterError as error:
            problem = f"failed to create fake pod: {error}"
            raise BufferSourceError(problem) from error


def _kind_of(ref: ScalableObject) -> type[ApiObject] | None:
    for kind in _WORKLOADS:
        group = group_of(kind.api_version)
        if ref.kind == kind.kind and ref.api_group in (group, group or _CORE):
            return kind
    return None


def _selector_of(workload: ApiObject) -> LabelSelector | None:
    if isinstance(workload, ReplicationController):
        # It may select nothing, as a nil selector does.
        labels = workload.spec.selector
        return LabelSelector(match_labels=labels) if labels else None
    assert isinstance(workload, Deployment | ReplicaSet | StatefulSet)
    return workload.spec.selector


def _template_of(pod: Pod) -> PodTemplateSpec:
    metadata = ObjectMeta(labels=pod.labels, annotations=pod.annotations)
    return PodTemplateSpec(metadata=metadata, spec=pod.spec)
