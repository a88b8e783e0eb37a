"""How controllers make pods, and the order in which they delete them.

Mirrors ``pkg/controller/controller_utils.go`` (Kubernetes v1.36).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve
from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodSpec,
    PodTemplateSpec,
    SpecKey,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._core.contract.cluster import (
    AlreadyExistsError,
    ApiError,
    EventNote,
    ForbiddenError,
    InvalidError,
)

__all__ = [
    "add_pods",
    "deletion_order",
    "has_run_time",
    "is_ready",
    "owner_reference",
    "pod_of_template",
    "record_failure",
]

_NANOS = 10**9


def owner_reference(owner: ApiObject) -> OwnerReference:
    """Return the reference by which an object names its controller."""
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.uid,
        controller=True,
        block_owner_deletion=True,
    )


def pod_of_template(
    owner: ApiObject,
    template: PodTemplateSpec,
    *,
    name: str = "",
    base: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Pod:
    """Return a pod of a workload, before admission.

    Args:
        owner: The workload.
        template: The template of the pod.
        name: The pod's name; without it, one is generated.
        base: The prefix of a generated name, instead of the owner's name.
        labels: More labels than those of the template.
        annotations: More annotations than those of the template.
    """
    metadata, spec = template.metadata, template.spec
    return Pod(
        metadata=ObjectMeta(
            name=name,
            generate_name="" if name else base or f"{owner.name}-",
            namespace=owner.namespace,
            labels={**metadata.labels, **(labels or {})},
            annotations={**metadata.annotations, **(annotations or {})},
            finalizers=metadata.finalizers,
            owner_references=(owner_reference(owner),),
        ),
        spec=_WITHOUT_NODE.of_spec(spec) if spec.node_name else spec,
        node_name=spec.node_name,
    )


def _without_node(spec: PodSpec) -> PodSpec:
    """Return the spec that all pods of a template share."""
    return replace(spec, node_name="")


_WITHOUT_NODE: Final = SpecKey(_without_node)


def add_pods(
    cluster: ClusterAccess, owner: ApiObject, pod: Pod, count: int = 1
) -> bool:
    """Create a number of equal pods in the cluster.

    As upstream, a rejected pod leaves a ``FailedCreate`` Event on its owner, and the
    others wait for the next sync of the owner.

    Returns:
        Whether all of them were created.
    """
    added = 0
    try:
        admitted = cluster.admit(pod)
        for _ in range(count):
            cluster.add(admitted)
            added += 1
    except (AlreadyExistsError, ForbiddenError, InvalidError) as error:
        record_failure(cluster, owner, error, count - added)
        return False
    return True


def record_failure(
    cluster: ClusterAccess, owner: ApiObject, error: ApiError, count: int
) -> None:
    """Record that some pods of a workload could not be created, and why.

    Args:
        cluster: The cluster.
        owner: The workload of the pods.
        error: Why a pod was rejected.
        count: How many pods are missing.
    """
    cluster.shortfalls.add(owner, count, refusal=_reason(error))
    cluster.record(
        EventNote(
            regarding=owner,
            type="Warning",
            reason="FailedCreate",
            action="Create",
            note=f"Error creating: {error}",
            reporter=f"{owner.kind.lower()}-controller",
        )
    )


def has_run_time(metadata: ObjectMeta) -> bool:
    """Return whether pods with this metadata end by themselves."""
    return RUN_SECONDS_ANNOTATION in metadata.annotations


def deletion_order(pods: Sequence[Pod], now: float) -> list[Pod]:
    """Sort the pods of a workload in the order of their deletion.

    Unassigned before assigned, pending before running, not ready before ready, cheap
    ones first, crowded nodes first, young ones first (ages compared by their order of
    magnitude), then by uid.
    """
    ready = Counter(pod.node_name for pod in pods if pod.node_name and is_ready(pod))

    def order(pod: Pod) -> tuple[bool, bool, bool, int, int, int, int, str]:
        return (
            bool(pod.node_name),
            pod.status.phase == "Running",
            is_ready(pod),
            _deletion_cost(pod),
            -ready[pod.node_name],
            _magnitude(now - _ready_since(pod)),
            _magnitude(now - (pod.metadata.creation_timestamp or 0.0)),
            pod.metadata.uid,
        )

    return sorted(pods, key=order)


def is_ready(pod: Pod) -> bool:
    """Return whether a pod has the condition Ready."""
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions)


def _ready_since(pod: Pod) -> float:
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "True":
            return condition.last_transition_time or 0.0
    return 0.0


def _deletion_cost(pod: Pod) -> int:
    text = pod.metadata.annotations.get("controller.kubernetes.io/pod-deletion-cost")
    try:
        return int(text or 0)
    except ValueError:
        return 0


def _magnitude(age_seconds: float) -> int:
    nanos = age_seconds * _NANOS
    return -1 if nanos < 1 else int(math.log2(nanos))


def _reason(error: ApiError) -> str:
    if isinstance(error, ForbiddenError):
        return error.reason
    if isinstance(error, AdmissionError):
        problems = (str(evolve(problem, where="")) for problem in error.problems)
        return "; ".join(text.removeprefix("forbidden: ") for text in problems)
    return str(error)
