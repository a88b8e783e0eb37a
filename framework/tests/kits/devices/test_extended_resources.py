"""Extended resources are mapped to the device class that serves them."""

import pytest
from msgspec.structs import replace

from quaymaster.devices import ExtendedResources, may_be_served_by_devices
from quaymaster.objects import DeviceClass, Time
from quaymaster.testing import make_device_class
from tests.kit.informers import HeldObjects

GPU = "example.com/gpu"


def created_at(seconds: float, name: str) -> DeviceClass:
    made = make_device_class(name=name, extended_resource_name=GPU)
    metadata = replace(made.metadata, creation_timestamp=Time(seconds))
    return replace(made, metadata=metadata)


def class_of(resource: str, *classes: DeviceClass) -> str | None:
    found = ExtendedResources(HeldObjects(classes)).class_of(resource)
    return None if found is None else found.name


def test_a_class_serves_the_resource_that_it_names_and_its_implicit_one() -> None:
    gpu = make_device_class(name="gpu", extended_resource_name=GPU)
    assert class_of(GPU, gpu) == "gpu"
    assert class_of("deviceclass.resource.kubernetes.io/gpu", gpu) == "gpu"
    assert class_of("deviceclass.resource.kubernetes.io/nic", gpu) is None
    assert class_of("example.com/nic", gpu) is None


def test_of_several_classes_the_newest_is_taken_and_then_the_first_by_name() -> None:
    older, b, a = created_at(1, "0"), created_at(2, "b"), created_at(2, "a")
    assert class_of(GPU, older, b, a) == "a"
    assert class_of(GPU, b, older) == "b"


def test_classes_that_come_and_go_are_followed() -> None:
    objects = HeldObjects()
    resources = ExtendedResources(objects)
    assert resources.class_of(GPU) is None
    gpu = make_device_class(name="gpu", extended_resource_name=GPU)
    objects.put(gpu)
    assert resources.class_of(GPU) == gpu
    objects.remove(gpu)
    assert resources.class_of(GPU) is None


@pytest.mark.parametrize(
    ("resource", "may_be"),
    [
        (GPU, True),
        ("deviceclass.resource.kubernetes.io/gpu", True),
        ("cpu", False),
        ("hugepages-2Mi", False),
        ("node.kubernetes.io/something", False),
    ],
)
def test_only_extended_resources_may_be_served(resource: str, may_be: bool) -> None:
    assert may_be_served_by_devices(resource) is may_be
