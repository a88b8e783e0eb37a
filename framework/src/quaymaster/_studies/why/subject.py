"""The object to edit to change a pod: the pod, or the workload that creates it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

import attrs
import msgspec

from quaymaster._api.objects import ApiObject, Pod, PodSpec, PodTemplateSpec
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.simulation.owners import owners_of

__all__ = ["EditSpec", "Subject", "Subjects"]

EditSpec: TypeAlias = Callable[[PodSpec], PodSpec]
"""Changes the spec of a pod."""

_STABLE: Final = frozenset({"Pod", "StatefulSet"})
_POD_PATH: Final = "spec"
_TEMPLATE_PATH: Final = "spec.template.spec"


@attrs.frozen
class Subject:
    """A pod of the input, or a workload of the input with all its pods.

    Attributes:
        kind: Its kind.
        namespace: Its namespace.
        name: Its name.
    """

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}"

    @property
    def has_stable_names(self) -> bool:
        """Whether its pods have the same names when it is changed."""
        return self.kind in _STABLE

    @property
    def path(self) -> str:
        """The path of the spec of its pods."""
        return _POD_PATH if self.kind == "Pod" else _TEMPLATE_PATH

    def owns(self, pod: Pod, cluster: InMemoryCluster) -> bool:
        """Whether a pod is the subject, or one of its pods."""
        return self in _line(pod, cluster)

    def spec(self, objects: Sequence[ApiObject]) -> PodSpec | None:
        """Return the spec of its pods in the input, or None."""
        for obj in objects:
            if self._is(obj):
                return obj.spec if isinstance(obj, Pod) else _template(obj)
        return None

    def edited(
        self, objects: Sequence[ApiObject], edit: EditSpec, cluster: InMemoryCluster
    ) -> list[ApiObject]:
        """Change the spec of its pods, and return the objects of the input.

        Pending pods of a workload in the input are changed as well, since the workload
        would create them again.

        Args:
            objects: The input.
            edit: The change.
            cluster: The cluster, to look up the owners of pods.
        """
        return [self._edited(obj, edit, cluster) for obj in objects]

    def _edited(
        self, obj: ApiObject, edit: EditSpec, cluster: InMemoryCluster
    ) -> ApiObject:
        if isinstance(obj, Pod):
            if obj.node_name or not (self._is(obj) or self.owns(_placed(obj), cluster)):
                return obj
            return msgspec.structs.replace(obj, spec=edit(obj.spec))
        if not self._is(obj):
            return obj
        spec = obj.spec  # type: ignore[attr-defined]  # every kind of `_template` has it
        template = msgspec.structs.replace(spec.template, spec=edit(spec.template.spec))
        spec = msgspec.structs.replace(spec, template=template)
        return msgspec.structs.replace(obj, spec=spec)

    def _is(self, obj: ApiObject) -> bool:
        namespace = obj.namespace or "default"
        return (obj.kind, namespace, obj.name) == attrs.astuple(self)


class Subjects:
    """Finds the subjects of pods.

    Args:
        objects: The input.
    """

    def __init__(self, objects: Sequence[ApiObject]) -> None:
        self._given = {
            Subject(obj.kind, obj.namespace or "default", obj.name)
            for obj in objects
            if isinstance(obj, Pod) or _template(obj) is not None
        }

    def of(self, pod: Pod, cluster: InMemoryCluster) -> Subject:
        """Return the topmost owner of a pod in the input, or the pod itself.

        Args:
            pod: The pod.
            cluster: The cluster, to look up the owners of pods.
        """
        subject = Subject("Pod", pod.namespace, pod.name)
        for owner in _line(pod, cluster):
            if owner in self._given:
                subject = owner
        return subject


def _line(pod: Pod, cluster: InMemoryCluster) -> Iterator[Subject]:
    """Yield the pod, its controller, the controller's own controller, and so on."""
    yield Subject("Pod", pod.namespace, pod.name)
    for owner in owners_of(pod, cluster):
        yield Subject(owner.kind, pod.namespace, owner.name)


def _placed(pod: Pod) -> Pod:
    """Return a pod of the input with the namespace that it has in a cluster."""
    if pod.namespace:
        return pod
    metadata = msgspec.structs.replace(pod.metadata, namespace="default")
    return msgspec.structs.replace(pod, metadata=metadata)


def _template(obj: ApiObject) -> PodSpec | None:
    template = getattr(getattr(obj, "spec", None), "template", None)
    return template.spec if isinstance(template, PodTemplateSpec) else None
