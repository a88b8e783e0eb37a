"""The types and labels of Karpenter's kwok provider, which has no cloud.

Mirrors ``kwok/cloudprovider/helpers.go`` and ``kwok/apis/v1alpha1/labels.go``
(sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from quaymaster._api.objects.quantity import Quantity
from quaymaster._studies.autoscaling.karpenter.amounts import amounts_of
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    OS,
    RESTRICTED_DOMAINS,
    WELL_KNOWN_LABELS,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)

__all__ = [
    "KWOK_RESTRICTED_DOMAINS",
    "KWOK_WELL_KNOWN_LABELS",
    "kwok_offering",
    "kwok_type",
]

_GROUP: Final = "karpenter.kwok.sh"
_SIZE: Final = f"{_GROUP}/instance-size"
_FAMILY: Final = f"{_GROUP}/instance-family"
_CPU: Final = f"{_GROUP}/instance-cpu"
_MEMORY: Final = f"{_GROUP}/instance-memory"
_AWS_SIZES: Final = ("nano", "micro", "small", "medium", "large", "metal")
_OVERHEAD: Final = {"cpu": Quantity("100m"), "memory": Quantity("10Mi")}
_PODS: Final = {"pods": Quantity("110")}

KWOK_WELL_KNOWN_LABELS: Final = WELL_KNOWN_LABELS | {_SIZE, _FAMILY, _CPU, _MEMORY}
"""The labels that each new node may have."""

KWOK_RESTRICTED_DOMAINS: Final = RESTRICTED_DOMAINS | {_GROUP}
"""The domains of labels that pods may not require."""


def kwok_offering(
    zone: str, capacity_type: str, price: float, *, available: bool = True
) -> Offering:
    """Return an offering of a type."""
    labels = {ZONE: zone, CAPACITY_TYPE: capacity_type}
    return Offering(
        requirements=Requirements.from_labels(labels), price=price, available=available
    )


def kwok_type(
    *,
    name: str,
    arch: str,
    systems: Iterable[str],
    capacity: Mapping[str, Quantity],
    offerings: Iterable[Offering],
) -> InstanceType:
    """Return a type with the labels and the overhead of the kwok provider."""
    offered = [*offerings]
    capacity = {**_PODS, **capacity}
    cpu = str(capacity.get("cpu", Quantity(0)))
    labels = {
        INSTANCE_TYPE: [name],
        ARCH: [arch],
        OS: [*systems],
        ZONE: [offering.zone for offering in offered],
        CAPACITY_TYPE: [offering.capacity_type for offering in offered],
        _SIZE: [_size(name, cpu)],
        _FAMILY: [_family(name)],
        _CPU: [cpu],
        _MEMORY: [str(capacity.get("memory", Quantity(0)))],
    }
    return InstanceType(
        name=name,
        requirements=Requirements(
            Requirement.of(key, "In", values) for key, values in labels.items()
        ),
        capacity=amounts_of(capacity),
        overhead=amounts_of(_OVERHEAD),
        offerings=offered,
    )


def _size(name: str, cpu: str) -> str:
    """Return the size in a name of AWS, such as ``2xlarge``, or the number of CPUs."""
    family, _, size = name.partition(".")
    count = size.removesuffix("xlarge")
    numbered = count != size and (not count or (count.isascii() and count.isdigit()))
    is_family = family.isascii() and family.replace("_", "a").isalnum()
    return size if is_family and (numbered or size in _AWS_SIZES) else cpu


def _family(name: str) -> str:
    """Return what is before the first dot or dash, or the first letter."""
    family = name.replace("-", ".").partition(".")[0]
    return family if family != name else name[:1]
