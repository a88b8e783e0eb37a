"""Priority classes and storage classes, as admission looks them up.

Mirrors ``plugin/pkg/admission/priority`` and ``pkg/volume/util/storageclass.go``
(Kubernetes v1.36).
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import ObjectMeta, PodSpec, PriorityClass, StorageClass
from quaymaster._api.objects.report import Report

__all__ = [
    "IMPLIED_STORAGE_CLASS",
    "SYSTEM_PRIORITY_CLASSES",
    "default_storage_class",
    "find_priority_class",
    "resolve_priority",
]

_DEFAULT_CLASS_ANNOTATIONS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)

_USUAL_POLICY: Final = "PreemptLowerPriority"

SYSTEM_PRIORITY_CLASSES: Final = tuple(
    PriorityClass(
        metadata=ObjectMeta(name=f"system-{name}-critical"),
        value=value,
        preemption_policy=_USUAL_POLICY,
    )
    for name, value in (("cluster", 2_000_000_000), ("node", 2_000_001_000))
)
"""The classes that every cluster has."""

IMPLIED_STORAGE_CLASS: Final = StorageClass(
    metadata=ObjectMeta(
        name="standard", annotations={_DEFAULT_CLASS_ANNOTATIONS[0]: "true"}
    ),
    provisioner="volumes.simulation.quaymaster.io",
    volume_binding_mode="WaitForFirstConsumer",
    reclaim_policy="Delete",
)
"""The class of a cluster without any: manifests seldom name one, since most
clusters have a default. Its volumes are made in the zone of the pod's node."""


def resolve_priority(
    spec: PodSpec, classes: Iterable[PriorityClass], report: Report
) -> PodSpec:
    """Return the spec with the priority that its class, or the default class, gives it.

    A priority without a class is kept, although an API server would reject it: most
    test pods are written like that. A priority with a class that does not exist is
    kept, too: such a pod was read from a cluster that had the class.
    """
    name = spec.priority_class_name
    # Before the class is looked up: the default class would otherwise replace the
    # number.
    if not name and spec.priority is not None:
        return replace(spec, preemption_policy=spec.preemption_policy or _USUAL_POLICY)
    priority_class = find_priority_class(name, classes)
    if priority_class is None:
        return _without_class(spec, report)
    # A number that agrees is accepted: kubectl sends it back when a stored pod is
    # created again from its own YAML.
    if spec.priority not in (None, priority_class.value):
        expected = (
            f"{priority_class.value}, the value of its class {priority_class.name}"
        )
        report.expect(False, "priority", expected, spec.priority)
    policy = priority_class.preemption_policy or _USUAL_POLICY
    if spec.preemption_policy not in (None, policy):
        expected = f"{policy}, as its class {priority_class.name} says"
        report.expect(False, "preemptionPolicy", expected, spec.preemption_policy)
    return replace(
        spec,
        priority_class_name=priority_class.name,
        priority=priority_class.value,
        preemption_policy=policy,
    )


def default_storage_class(classes: Iterable[StorageClass]) -> StorageClass | None:
    """Return the class of claims that name none: the youngest one marked as default."""
    marked = [c for c in classes if _is_marked(c)]
    # ``GetDefaultClass`` sorts the newest first, then by name; a class without a time
    # of creation counts as the oldest.
    marked.sort(key=lambda c: (-(c.metadata.creation_timestamp or 0.0), c.name))
    return marked[0] if marked else None


def find_priority_class(
    name: str, classes: Iterable[PriorityClass]
) -> PriorityClass | None:
    """Return the class of a name, or the default class for an empty one, or None."""
    if name:
        return next((c for c in classes if c.name == name), None)
    # With several defaults, after a race, ``getDefaultPriorityClass`` takes the lowest
    # value.
    defaults = [c for c in classes if c.global_default]
    return min(defaults, key=lambda c: c.value, default=None)


def _without_class(spec: PodSpec, report: Report) -> PodSpec:
    name = spec.priority_class_name
    if name and spec.priority is None:
        message = f"no PriorityClass with name {name} was found"
        report.add("priorityClassName", message)
    policy = spec.preemption_policy or _USUAL_POLICY
    return replace(spec, priority=spec.priority or 0, preemption_policy=policy)


def _is_marked(storage_class: StorageClass) -> bool:
    annotations = storage_class.metadata.annotations
    return any(annotations.get(key) == "true" for key in _DEFAULT_CLASS_ANNOTATIONS)
