"""Finds the device classes that serve extended resources of containers.

Mirrors ``ExtendedResourceCache`` (k8s.io/dynamic-resource-allocation v0.36,
``deviceclass/extendedresourcecache``).
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import DeviceClass
from quaymaster._api.objects.resource_names import is_extended_resource
from quaymaster._core.contract.informers import Informers

__all__ = ["ExtendedResources", "may_be_served_by_devices"]

_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def may_be_served_by_devices(resource: str) -> bool:
    """Return whether a device class may serve a resource.

    Mirrors ``IsDRAExtendedResourceName`` (kube-scheduler 1.36.2,
    ``pkg/scheduler/util/utils.go``).
    """
    return resource.startswith(_PREFIX) or is_extended_resource(resource)


class ExtendedResources:
    """Finds the class of the devices that serve a resource.

    If several classes name a resource, the newest one serves it; of equally old ones,
    the first by name.

    Args:
        informers: Where the classes come from; the kind must be one that is followed.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._changes = informers.changes(DeviceClass)
        self._revision = -1
        self._classes: dict[str, DeviceClass] = {}

    @property
    def revision(self) -> int:
        """A number that grows with each change of a class."""
        return self._changes.revision

    def class_of(self, resource: str) -> DeviceClass | None:
        """Return the class that serves a resource, or None."""
        if self._revision != self.revision:
            self._classes = _by_resource(self._informers.list(DeviceClass))
            self._revision = self.revision
        return self._classes.get(resource)


def _by_resource(classes: Iterable[DeviceClass]) -> dict[str, DeviceClass]:
    served: dict[str, DeviceClass] = {}
    by_age = sorted(classes, key=lambda item: item.name)
    # The newest class serves a resource that several classes name, and the first by
    # name among those of one moment: a stable sort after the sort by name.
    by_age.sort(key=lambda item: item.metadata.creation_timestamp or 0.0, reverse=True)
    for device_class in by_age:
        if device_class.spec.extended_resource_name:
            served.setdefault(device_class.spec.extended_resource_name, device_class)
        served[f"{_PREFIX}{device_class.name}"] = device_class
    return served
