"""What allocating devices depends on: the version of Kubernetes and its gates.

Mirrors ``Features`` (k8s.io/dynamic-resource-allocation v0.37,
``structured/internal/types.go``). Upstream chooses one of three allocators by them;
the experimental one does what the incubating one does, and what the gates add.
"""

import attrs

from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["DeviceRules"]


@attrs.frozen(kw_only=True)
class DeviceRules:
    """The rules of one search for devices.

    Attributes:
        is_1_37: Whether the allocator is that of Kubernetes 1.37.
        has_fractions: Whether ranges of capacities are counted in thousandths: the gate
            DRAFractionalCapacityRange.
    """

    is_1_37: bool
    has_fractions: bool = False

    @classmethod
    def of(cls, kubernetes: Kubernetes) -> "DeviceRules":
        """Return the rules of a Kubernetes."""
        return cls(
            is_1_37=kubernetes.has("device-allocator"),
            has_fractions=kubernetes.enabled("DRAFractionalCapacityRange"),
        )
