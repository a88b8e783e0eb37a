"""ProvisioningRequests: pods that need capacity at the same time.

Mirrors ``apis/config/crd/autoscaling.x-k8s.io_provisioningrequests.yaml``,
``provisioningrequest/supported_classes.go`` and ``provisioningrequest/pods/pods.go``.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._api.objects.meta import ApiObject, ApiValue, Conversion
from quaymaster._api.objects.numbers import Int32
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import (
    NamedObject,
    unchanged,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.object_conditions import (
    Condition,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    PodTemplate,
    pod_of,
    with_requests,
)

__all__ = [
    "ACCEPTED",
    "ATOMIC",
    "BOOKING_EXPIRED",
    "CHECK_CAPACITY",
    "FAILED",
    "PROVISIONED",
    "PodSet",
    "ProvisioningRequest",
    "checks_capacity",
    "is_request_pod",
    "is_supported",
    "request_name",
    "request_pods",
]

CHECK_CAPACITY: Final = "check-capacity.autoscaling.x-k8s.io"
ATOMIC: Final = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
ACCEPTED: Final = "Accepted"
PROVISIONED: Final = "Provisioned"
FAILED: Final = "Failed"
BOOKING_EXPIRED: Final = "BookingExpired"
_CONSUMES: Final = "autoscaling.x-k8s.io/consume-provisioning-request"
_CONSUMED_BEFORE: Final = (
    "cluster-autoscaler.kubernetes.io/consume-provisioning-request"
)
_CLASS: Final = "autoscaling.x-k8s.io/provisioning-class-name"
_INSTANCE: Final = "processorInstance"


class PodSet(ApiValue, frozen=True, kw_only=True):
    """A number of pods of one template."""

    count: Int32 = 0
    pod_template_ref: NamedObject = NamedObject()


class RequestSpec(ApiValue, frozen=True, kw_only=True):
    """The pods of a request, and how capacity is found for them."""

    pod_sets: tuple[PodSet, ...] = ()
    provisioning_class_name: str = ""
    parameters: dict[str, str] = {}


class RequestStatus(ApiValue, frozen=True, kw_only=True):
    """The state of a request."""

    conditions: tuple[Condition, ...] = ()
    provisioning_class_details: dict[str, str] = {}


class ProvisioningRequest(ApiObject, frozen=True, kw_only=True):
    """A request for capacity for some pods."""

    api_version: ClassVar[str] = "autoscaling.x-k8s.io/v1"
    kind: ClassVar[str] = "ProvisioningRequest"
    plural: ClassVar[str] = "provisioningrequests"
    conversions: ClassVar[Mapping[str, Conversion]] = {
        "autoscaling.x-k8s.io/v1beta1": unchanged
    }

    spec: RequestSpec = RequestSpec()
    status: RequestStatus = RequestStatus()

    @property
    def pod_count(self) -> int:
        """The number of its pods."""
        return sum(each.count for each in self.spec.pod_sets)


def checks_capacity(request: ProvisioningRequest, instance: str) -> bool:
    """Return whether a request is one of the class ``check-capacity``.

    Args:
        request: The request.
        instance: The name of the autoscaler's instance; mostly empty.
    """
    name = request.spec.provisioning_class_name
    own = request.spec.parameters.get(_INSTANCE, "")
    if not instance or own:
        return own == instance and name == CHECK_CAPACITY
    return name == f"{instance}{CHECK_CAPACITY}"


def is_supported(request: ProvisioningRequest, instance: str) -> bool:
    """Return whether the autoscaler handles a request."""
    if request.spec.provisioning_class_name == ATOMIC:
        return not instance
    return checks_capacity(request, instance)


def request_name(pod: Pod) -> str | None:
    """Return the name of the request whose capacity a pod uses, or None."""
    annotations = pod.annotations
    return annotations.get(_CONSUMES, annotations.get(_CONSUMED_BEFORE))


def is_request_pod(pod: Pod) -> bool:
    """Return whether a pod counts as a virtual one of a request."""
    return _CONSUMES in pod.annotations


def request_pods(
    request: ProvisioningRequest, templates: Sequence[PodTemplate]
) -> Sequence[Pod]:
    """Return the virtual pods of a request, which has all its templates."""
    marks = {
        _CONSUMES: request.name,
        _CLASS: request.spec.provisioning_class_name,
    }
    pods = []
    sets = zip(request.spec.pod_sets, templates, strict=True)
    for number, (pod_set, template) in enumerate(sets):
        pod = pod_of(with_requests(template.template), request.namespace, "")
        metadata = replace(
            pod.metadata,
            annotations={**pod.annotations, **marks},
            creation_timestamp=request.metadata.creation_timestamp,
            owner_references=(owner_reference(request),),
        )
        for each in range(pod_set.count):
            name = f"{request.name}-{number}-{each}"
            uid = f"{request.namespace}/{name}"
            own = replace(metadata, name=name, uid=uid)
            pods.append(replace(pod, metadata=own))
    return pods
