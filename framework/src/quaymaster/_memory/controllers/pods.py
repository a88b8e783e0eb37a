"""How controllers make pods, and which ones they delete first.

Mirrors ``pkg/controller/controller_utils.go`` (Kubernetes v1.36).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from quaymaster._memory.workbench import Workbench
from quaymaster.cluster import (
    AlreadyExistsError,
    ApiError,
    EventNote,
    InvalidError,
)
from quaymaster.objects import (
    ApiObject,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodTemplateSpec,
)

__all__ = [
    "add_pods",
    "admit_pod",
    "deletion_order",
    "is_ready",
    "owner_reference",
    "pod_of_template",
]

_NANOS = 10**9


def owner_reference(owner: ApiObject) -> OwnerReference:
    """What names the controller of an object."""
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
    """A pod of a workload, before admission.

    Args:
        owner: The workload.
        template: What the pod is made from.
        name: The pod's name; without it, one is generated.
        base: What a generated name begins with, instead of the owner's name.
        labels: More labels than those of the template.
        annotations: More annotations than those of the template.
    """
    metadata = template.metadata
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
        spec=template.spec,
    )


def add_pods(bench: Workbench, owner: ApiObject, pod: Pod, count: int = 1) -> None:
    """Let so many pods of one make into the cluster."""
    admitted = admit_pod(bench, owner, pod)
    if admitted is None:
        return
    try:
        for _ in range(count):
            bench.add(admitted)
    except AlreadyExistsError as error:
        _record_failure(bench, owner, error)


def admit_pod(bench: Workbench, owner: ApiObject, pod: Pod) -> Pod | None:
    """A pod as it would be stored.

    As upstream, one that is refused leaves a ``FailedCreate`` Event on its owner.
    """
    try:
        return bench.admit(pod)
    except InvalidError as error:
        _record_failure(bench, owner, error)
        return None


def deletion_order(pods: Sequence[Pod], now: float) -> list[Pod]:
    """The pods of a workload, those to delete first at the beginning.

    Unassigned before assigned, pending before running, not ready before ready, cheap
    ones first, crowded nodes first, young ones first (ages compared by their order of
    magnitude), then by uid.
    """
    crowd = Counter(pod.node_name for pod in pods if pod.node_name and is_ready(pod))

    def order(pod: Pod) -> tuple[bool, bool, bool, int, int, int, int, str]:
        return (
            bool(pod.node_name),
            pod.status.phase == "Running",
            is_ready(pod),
            _deletion_cost(pod),
            -crowd[pod.node_name],
            _magnitude(now - _ready_since(pod)),
            _magnitude(now - (pod.metadata.creation_timestamp or 0.0)),
            pod.metadata.uid,
        )

    return sorted(pods, key=order)


def is_ready(pod: Pod) -> bool:
    """Whether a pod says that it is ready."""
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


def _record_failure(bench: Workbench, owner: ApiObject, error: ApiError) -> None:
    bench.record(
        EventNote(
            regarding=owner,
            type="Warning",
            reason="FailedCreate",
            action="Create",
            note=f"Error creating: {error}",
            reporter=f"{owner.kind.lower()}-controller",
        )
    )
