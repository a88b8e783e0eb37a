"""PodTemplates, which requests for capacity name.

Mirrors ``PodTemplate`` (k8s.io/api v0.37, ``core/v1/types.go``) and
``GetPodFromTemplate`` (``utils/pod/pod.go``).
"""

from typing import ClassVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    Container,
    ObjectMeta,
    Pod,
    PodTemplateSpec,
)
from quaymaster._api.objects.meta import ApiObject

__all__ = ["PodTemplate", "pod_of", "with_requests"]


class PodTemplate(ApiObject, frozen=True, kw_only=True):
    """The shape of pods that may be created later."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "PodTemplate"
    plural: ClassVar[str] = "podtemplates"

    template: PodTemplateSpec = PodTemplateSpec()


def pod_of(template: PodTemplateSpec, namespace: str, name: str) -> Pod:
    """Return a pod of a template, without a node and without an owner."""
    metadata = template.metadata
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            labels=metadata.labels,
            annotations=metadata.annotations,
        ),
        spec=replace(template.spec, node_name=""),
    )


def with_requests(template: PodTemplateSpec) -> PodTemplateSpec:
    """Return a template whose containers request their limits, if nothing else."""
    spec = replace(
        template.spec,
        containers=tuple(map(_requesting, template.spec.containers)),
        init_containers=tuple(map(_requesting, template.spec.init_containers)),
    )
    return replace(template, spec=spec)


def _requesting(container: Container) -> Container:
    resources = container.resources
    requests = {**resources.limits, **resources.requests}
    return replace(container, resources=replace(resources, requests=requests))
