"""Fills in and checks the taints of devices, and the rules that add taints.

Mirrors ``pkg/apis/resource/v1/defaults.go``, ``pkg/apis/resource/validation`` and
``pkg/registry/resource/devicetaintrule/strategy.go`` (Kubernetes v1.37).
"""

import math
from collections.abc import Callable

from msgspec.structs import replace

from quaymaster._api.objects import (
    Device,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    ResourceSlice,
    Time,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    CSI_DRIVER_NAME,
    DNS_LABEL,
    SUBDOMAIN,
)
from quaymaster._clusters.inmemory.admission.device_checks import check_device_taint

__all__ = ["TaintTimes", "check_taint_rule"]


def check_taint_rule(rule: DeviceTaintRule, report: Report) -> None:
    """Check the selector and the taint of a rule."""
    selector = rule.spec.device_selector
    if selector is not None:
        _check_selector(selector, report)
    check_device_taint(rule.spec.taint, "spec.taint", report)


def _check_selector(selector: DeviceTaintSelector, report: Report) -> None:
    path = "spec.deviceSelector"
    if selector.driver is not None:
        report.named(selector.driver, CSI_DRIVER_NAME, f"{path}.driver")
    if selector.pool is not None:
        for part in selector.pool.split("/"):
            report.named(part, SUBDOMAIN, f"{path}.pool")
    if selector.device is not None:
        report.named(selector.device, DNS_LABEL, f"{path}.device")


class TaintTimes:
    """Records since when devices have their taints.

    Args:
        now: Returns the time.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def of_slice(self, resource_slice: ResourceSlice) -> ResourceSlice:
        """Return a slice in which every taint has a time."""
        spec = resource_slice.spec
        if all(_is_dated(device) for device in spec.devices):
            return resource_slice
        devices = tuple(self._of_device(device) for device in spec.devices)
        return replace(resource_slice, spec=replace(spec, devices=devices))

    def of_rule(self, rule: DeviceTaintRule) -> DeviceTaintRule:
        """Return a rule whose taint has a time."""
        spec = rule.spec
        return replace(rule, spec=replace(spec, taint=self._dated(spec.taint)))

    def of_changed_rule(
        self, new: DeviceTaintRule, old: DeviceTaintRule
    ) -> DeviceTaintRule:
        """Return a changed rule: another effect starts now, another spec counts up."""
        taint, before = new.spec.taint, old.spec.taint
        # Only if the user left the time alone: a time that was set together with the
        # effect is kept, as ``PrepareForUpdate`` does.
        if taint.effect != before.effect and taint.time_added == before.time_added:
            taint = replace(taint, time_added=self._moment())
            new = replace(new, spec=replace(new.spec, taint=taint))
        generation = old.metadata.generation or 1
        if new.spec != old.spec:
            generation += 1
        metadata = replace(new.metadata, generation=generation)
        # Updates of the spec cannot change the status, and the generation counts
        # changes of the spec alone (Kubernetes API conventions).
        return replace(new, metadata=metadata, status=old.status)

    def _of_device(self, device: Device) -> Device:
        if _is_dated(device):
            return device
        return replace(device, taints=tuple(map(self._dated, device.taints)))

    def _dated(self, taint: DeviceTaint) -> DeviceTaint:
        if taint.time_added is not None:
            return taint
        return replace(taint, time_added=self._moment())

    def _moment(self) -> Time:
        # The API has whole seconds; a fraction would be lost when the object is stored.
        return Time(math.floor(self._now()))


def _is_dated(device: Device) -> bool:
    return all(taint.time_added is not None for taint in device.taints)
