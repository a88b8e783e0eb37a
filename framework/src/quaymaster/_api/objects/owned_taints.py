"""The taints of devices: those of their slices, and those that rules add.

Mirrors ``Tracker`` (k8s.io/dynamic-resource-allocation v0.37,
``resourceslice/tracker/tracker.go``). Upstream adds the taints of rules in any order;
here it is that of the rules' names.
"""

from collections.abc import Collection, Sequence

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects.device_taints import DeviceTaintRule, DeviceTaintSelector
from quaymaster._api.objects.devices import Device, DeviceTaint, ResourceSlice
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = [
    "OwnedTaint",
    "as_read_by",
    "owned_taints",
    "taints_devices_of",
    "with_rule_taints",
]


class OwnedTaint(msgspec.Struct, frozen=True):
    """A taint of a device, and its origin.

    Attributes:
        taint: The taint.
        rule: The name of the rule that adds it; empty if the slice has it.
    """

    taint: DeviceTaint
    rule: str = ""

    @property
    def text(self) -> str:
        """The taint and its rule, such as ``key=value:NoSchedule of rule repair``."""
        taint = self.taint
        value = f"={taint.value}" if taint.value else ""
        text = f"{taint.key}{value}:{taint.effect}"
        return f"{text} of DeviceTaintRule {self.rule}" if self.rule else text


def as_read_by(rule: DeviceTaintRule, kubernetes: Kubernetes) -> DeviceTaintRule:
    """Return a rule with the device selection of a version of Kubernetes.

    A rule without a selector selects no device since Kubernetes 1.37, and all devices
    before.
    """
    if rule.spec.device_selector is not None or kubernetes.since("1.37"):
        return rule
    return replace(rule, spec=replace(rule.spec, device_selector=DeviceTaintSelector()))


def owned_taints(
    resource_slice: ResourceSlice, device: Device, rules: Collection[DeviceTaintRule]
) -> Sequence[OwnedTaint]:
    """Return the taints of a device, those of its slice first.

    Args:
        resource_slice: The slice that lists the device.
        device: The device.
        rules: All rules.
    """
    own = [OwnedTaint(taint) for taint in device.taints]
    if not rules:
        return own
    driver, pool = resource_slice.spec.driver, resource_slice.spec.pool.name
    added = [
        OwnedTaint(rule.spec.taint, rule.name)
        for rule in rules
        if rule.selects(driver, pool, device.name)
    ]
    return [*own, *sorted(added, key=lambda owned: owned.rule)]


def taints_devices_of(rule: DeviceTaintRule, resource_slice: ResourceSlice) -> bool:
    """Return whether a rule taints any device of a slice."""
    spec = resource_slice.spec
    driver, pool = spec.driver, spec.pool.name
    return any(rule.selects(driver, pool, device.name) for device in spec.devices)


def with_rule_taints(
    resource_slice: ResourceSlice, rules: Collection[DeviceTaintRule]
) -> ResourceSlice:
    """Return a slice whose devices have the taints of rules beside their own."""
    effective = [rule for rule in rules if taints_devices_of(rule, resource_slice)]
    if not effective:
        return resource_slice
    devices = tuple(
        replace(
            device,
            taints=tuple(
                owned.taint for owned in owned_taints(resource_slice, device, effective)
            ),
        )
        for device in resource_slice.spec.devices
    )
    return replace(resource_slice, spec=replace(resource_slice.spec, devices=devices))
