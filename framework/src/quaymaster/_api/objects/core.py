"""Namespaces, services, events, leases and bindings.

Mirrors k8s.io/api v0.36, ``core/v1``, ``events/v1`` and ``coordination/v1``.
"""

from typing import ClassVar

from msgspec import field

from quaymaster._api.objects.meta import ApiObject, ApiValue, ObjectReference
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.time import MicroTime

__all__ = [
    "Binding",
    "Event",
    "EventSeries",
    "Lease",
    "LeaseSpec",
    "Namespace",
    "Service",
    "ServiceSpec",
]


class Namespace(ApiObject, frozen=True, kw_only=True):
    """A scope for names; selectors across namespaces use its labels."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Namespace"
    namespaced: ClassVar[bool] = False


class ServiceSpec(ApiValue, frozen=True, kw_only=True):
    """The pods that a service leads to; without a selector, it finds none itself."""

    selector: dict[str, str] = {}
    cluster_ip: str = field(default="", name="clusterIP")
    type: str = ""


class Service(ApiObject, frozen=True, kw_only=True):
    """A lasting address for a changing set of pods."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Service"

    spec: ServiceSpec = ServiceSpec()


class EventSeries(ApiValue, frozen=True, kw_only=True):
    """How often an event was repeated, and when last."""

    count: Int32 = 0
    last_observed_time: MicroTime | None = None


class Event(ApiObject, frozen=True, kw_only=True):
    """A record of something that happened to an object.

    Attributes:
        type: ``Normal`` or ``Warning``.
        reason: One word in CamelCase, such as ``FailedScheduling``.
        note: The text.
    """

    api_version: ClassVar[str] = "events.k8s.io/v1"
    kind: ClassVar[str] = "Event"

    event_time: MicroTime | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""


class LeaseSpec(ApiValue, frozen=True, kw_only=True):
    """The holder of a lease, since when and for how long."""

    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: Int32 | None = None


class Lease(ApiObject, frozen=True, kw_only=True):
    """A lease, by which leaders are elected and nodes show that they are alive."""

    api_version: ClassVar[str] = "coordination.k8s.io/v1"
    kind: ClassVar[str] = "Lease"

    spec: LeaseSpec = LeaseSpec()


class Binding(ApiObject, frozen=True, kw_only=True):
    """The order to run the pod of the same name on a node, the `target`."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Binding"

    target: ObjectReference = ObjectReference()
