"""The rules of allocation, which follow from the version and its feature gates.

Mirrors ``Features`` (k8s.io/dynamic-resource-allocation v0.37,
``structured/internal/types.go``). Upstream chooses one of three allocators by them;
the experimental one does what the incubating one does, and what the gates add.
"""

from typing import Final

import attrs

from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["OPTIONAL_NODE_OPERATIONS", "DeviceRules"]

OPTIONAL_NODE_OPERATIONS: Final = "DRAOptionalNodeOperations"
"""A feature gate, and the feature that nodes declare with it."""


@attrs.frozen(kw_only=True)
class DeviceRules:
    """The rules of one search for devices.

    Attributes:
        is_1_37: Whether the allocator is that of Kubernetes 1.37.
        has_fractions: Whether ranges of capacities are counted in thousandths: the gate
            DRAFractionalCapacityRange.
        compares_lists: Whether attributes may be lists: the gate DRAListTypeAttributes.
        minds_groups: Whether devices that share counters must share a group: the gate
            DRADeviceCompatibilityGroups.
        skips_operations: Whether nodes must declare that they skip operations for some
            devices: the gate DRAOptionalNodeOperations.
    """

    is_1_37: bool
    has_fractions: bool = False
    compares_lists: bool = False
    minds_groups: bool = False
    skips_operations: bool = False

    @classmethod
    def of(cls, kubernetes: Kubernetes) -> "DeviceRules":
        """Return the rules of a version of Kubernetes."""
        return cls(
            is_1_37=kubernetes.has("device-allocator"),
            has_fractions=kubernetes.enabled("DRAFractionalCapacityRange"),
            compares_lists=kubernetes.enabled("DRAListTypeAttributes"),
            minds_groups=kubernetes.enabled("DRADeviceCompatibilityGroups"),
            skips_operations=kubernetes.enabled(OPTIONAL_NODE_OPERATIONS),
        )
