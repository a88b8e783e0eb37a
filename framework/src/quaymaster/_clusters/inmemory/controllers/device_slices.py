"""Drivers of simple devices: they publish the devices in the annotation of a node.

A driver without a class gets one with its own name.
"""

from typing import Final

from quaymaster._api.objects import (
    CELDeviceSelector,
    Device,
    DeviceClass,
    DeviceClassSpec,
    DeviceSelector,
    Node,
    ObjectMeta,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._clusters.inmemory.simulated_devices import devices_of

__all__ = ["add_slices", "remove_slices"]

_MOST_DEVICES: Final = 128
"""How many devices a slice may have."""


def add_slices(cluster: ClusterAccess, node: Node) -> None:
    """Publish the devices of a node; existing slices of the same names are kept."""
    slices, classes = cluster.objects(ResourceSlice), cluster.objects(DeviceClass)
    for driver, count in devices_of(node.metadata.annotations).items():
        for slice_ in _slices(node, driver, count):
            # A driver of the input publishes better slices than the annotation can
            # describe.
            if slice_.name not in slices:
                cluster.add(cluster.admit(slice_))
        if driver not in classes:
            cluster.add(cluster.admit(_class_of(driver)))


def remove_slices(cluster: ClusterAccess, node: Node) -> None:
    """Remove the slices that `add_slices` created for a removed node."""
    slices = cluster.objects(ResourceSlice)
    for driver, count in devices_of(node.metadata.annotations).items():
        for slice_ in _slices(node, driver, count):
            stored = slices.get(slice_.name)
            if stored is not None:
                cluster.delete(stored)


def _slices(node: Node, driver: str, count: int) -> list[ResourceSlice]:
    starts = range(0, count, _MOST_DEVICES)
    return [
        ResourceSlice(
            metadata=ObjectMeta(
                name=f"{node.name}-{driver}" + (f"-{number}" if number else ""),
                owner_references=(owner_reference(node),),
            ),
            spec=ResourceSliceSpec(
                driver=driver,
                pool=ResourcePool(
                    # The number of slices makes a pool complete: the allocator ignores
                    # pools of which slices are missing.
                    name=node.name,
                    generation=1,
                    resource_slice_count=len(starts),
                ),
                node_name=node.name,
                devices=tuple(
                    # The numbers go on from slice to slice, since names must be unique
                    # within a pool, not within a slice.
                    Device(name=f"device-{index}")
                    for index in range(start, min(start + _MOST_DEVICES, count))
                ),
            ),
        )
        for number, start in enumerate(starts)
    ]


def _class_of(driver: str) -> DeviceClass:
    expression = f"device.driver == '{driver}'"
    selector = DeviceSelector(cel=CELDeviceSelector(expression=expression))
    return DeviceClass(
        metadata=ObjectMeta(name=driver), spec=DeviceClassSpec(selectors=(selector,))
    )
