"""How controllers make pods.

Mirrors ``pkg/controller/controller_utils.go`` (Kubernetes v1.36).
"""

from collections.abc import Mapping
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
    "has_run_time",
    "is_ready",
    "owner_reference",
    "pod_of_template",
    "reason_of",
    "record_failure",
]


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
        # One spec for all pods of a template: what is computed from a spec is kept by
        # its identity.
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
        # Admitted once for all: they differ only in the generated ends of their names.
        admitted = cluster.admit(pod)
        for _ in range(count):
            cluster.add(admitted)
            added += 1
    # Names of indexes and ordinals are given, so a pod may exist already.
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
    cluster.shortfalls.add(owner, count, refusal=reason_of(error))
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


def is_ready(pod: Pod) -> bool:
    """Return whether a pod has the condition Ready."""
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions)


def reason_of(error: ApiError) -> str:
    """Return why the cluster rejected an object, without the object's name."""
    if isinstance(error, ForbiddenError):
        return error.reason
    if isinstance(error, AdmissionError):
        problems = (str(evolve(problem, where="")) for problem in error.problems)
        return "; ".join(text.removeprefix("forbidden: ") for text in problems)
    return str(error)
