"""Device classes, as far as extended resources may stand for them.

Mirrors k8s.io/api v0.36, ``resource/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._objects.meta import ApiObject, ApiValue

__all__ = ["DeviceClass", "DeviceClassSpec"]


class DeviceClassSpec(ApiValue, frozen=True, kw_only=True):
    """The properties that the devices of a class share.

    Attributes:
        extended_resource_name: A request for this resource is one for such a device.
    """

    extended_resource_name: str | None = None


class DeviceClass(ApiObject, frozen=True, kw_only=True):
    """A kind of device that pods may claim."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "DeviceClass"
    namespaced: ClassVar[bool] = False

    spec: DeviceClassSpec = DeviceClassSpec()
