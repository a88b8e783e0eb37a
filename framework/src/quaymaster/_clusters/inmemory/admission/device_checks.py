"""Checks slices of devices.

Mirrors ``pkg/apis/resource/validation/validation.go`` (Kubernetes v1.36).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster._api.objects import (
    Counter,
    Device,
    DeviceCounterConsumption,
    DeviceTaint,
    ResourceSlice,
    ResourceSliceSpec,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    CSI_DRIVER_NAME,
    DNS_LABEL,
    LABEL_KEY,
    LABEL_VALUE,
    SUBDOMAIN,
)
from quaymaster._clusters.inmemory.admission.device_values import (
    check_values,
    has_lists,
    number_of_values,
)
from quaymaster._clusters.inmemory.admission.placement_checks import check_node_selector

__all__ = ["check_device_taint", "check_resource_slice"]

_EFFECTS: Final = ("None", "NoSchedule", "NoExecute")
# ``ResourceSliceMaxDevices`` and other constants of k8s.io/api, resource/v1/types.go.
_MOST_DEVICES: Final = 128
_MOST_DEVICES_OF_ADVANCED_FEATURES: Final = 64
_MOST_COUNTER_SETS: Final = 8
_MOST_PROPERTIES: Final = 32
_MOST_ATTRIBUTE_VALUES: Final = 48
_MOST_CONDITIONS: Final = 4
_MOST_COUNTERS: Final = 32
_MOST_CONSUMPTIONS: Final = 2
_MOST_TAINTS: Final = 16


def check_resource_slice(resource_slice: ResourceSlice, report: Report) -> None:
    """Check that a slice has a driver, a pool, nodes, and devices or counters."""
    spec = resource_slice.spec
    report.named(spec.driver, CSI_DRIVER_NAME, "spec.driver")
    _check_pool(spec, report)
    _check_nodes(spec, report)
    if spec.devices and spec.shared_counters:
        report.add("spec", "expected either devices or sharedCounters")
    _check_counters(spec, report)
    _check_number(spec.devices, report)
    names = ((f"spec.devices[{i}].name", d.name) for i, d in enumerate(spec.devices))
    report.unique(names, "name")
    per_device = bool(spec.per_device_node_selection)
    for index, device in enumerate(spec.devices):
        _check_device(device, per_device, f"spec.devices[{index}]", report)


def _check_pool(spec: ResourceSliceSpec, report: Report) -> None:
    pool, path = spec.pool, "spec.pool"
    if not pool.name:
        report.add(f"{path}.name", "expected a name, got none")
    for part in pool.name.split("/") if pool.name else ():
        report.named(part, SUBDOMAIN, f"{path}.name")
    report.at_least(pool.generation, f"{path}.generation", 0)
    report.at_least(pool.resource_slice_count, f"{path}.resourceSliceCount", 1)


def _check_nodes(spec: ResourceSliceSpec, report: Report) -> None:
    """Check that the nodes are named in one of the four ways."""
    given = _ways(spec) + bool(spec.per_device_node_selection)
    if given != 1:
        ways = "nodeName, nodeSelector, allNodes or perDeviceNodeSelection"
        report.add("spec", f"expected exactly one of {ways}, got {given}")
    if spec.node_name is not None:
        report.named(spec.node_name, SUBDOMAIN, "spec.nodeName")
    if spec.node_selector is not None:
        path = "spec.nodeSelector"
        check_node_selector(spec.node_selector, path, report)
        terms = len(spec.node_selector.node_selector_terms)
        # One term can be merged with the selectors of other slices by appending
        # requirements; the alternatives of several terms cannot.
        report.expect(terms == 1, f"{path}.nodeSelectorTerms", "one term", terms)


def _check_counters(spec: ResourceSliceSpec, report: Report) -> None:
    sets, path = spec.shared_counters, "spec.sharedCounters"
    expected = f"at most {_MOST_COUNTER_SETS}"
    report.expect(len(sets) <= _MOST_COUNTER_SETS, path, expected, len(sets))
    report.unique(((f"{path}[{i}].name", s.name) for i, s in enumerate(sets)), "name")
    for index, counter_set in enumerate(sets):
        report.named(counter_set.name, DNS_LABEL, f"{path}[{index}].name")
        where = f"{path}[{index}].counters"
        _check_counter_names(counter_set.counters, where, report)


def _check_number(devices: Sequence[Device], report: Report) -> None:
    is_advanced = any(
        device.taints or device.consumes_counters or has_lists(device)
        for device in devices
    )
    most = _MOST_DEVICES_OF_ADVANCED_FEATURES if is_advanced else _MOST_DEVICES
    got = len(devices)
    report.expect(got <= most, "spec.devices", f"at most {most} devices", got)


def _check_device(device: Device, per_device: bool, path: str, report: Report) -> None:
    report.named(device.name, DNS_LABEL, f"{path}.name")
    number = len(device.attributes) + len(device.capacity)
    expected = f"at most {_MOST_PROPERTIES} attributes and capacities"
    report.expect(number <= _MOST_PROPERTIES, path, expected, number)
    number = number_of_values(device)
    expected = f"at most {_MOST_ATTRIBUTE_VALUES} attribute values"
    report.expect(number <= _MOST_ATTRIBUTE_VALUES, path, expected, number)
    check_values(device, path, report)
    _check_device_nodes(device, per_device, path, report)
    taints, expected = len(device.taints), f"at most {_MOST_TAINTS} taints"
    report.expect(taints <= _MOST_TAINTS, f"{path}.taints", expected, taints)
    for index, taint in enumerate(device.taints):
        check_device_taint(taint, f"{path}.taints[{index}]", report)
    _check_consumption(device.consumes_counters, f"{path}.consumesCounters", report)
    _check_conditions(device, path, report)


def _check_device_nodes(
    device: Device, per_device: bool, path: str, report: Report
) -> None:
    """Check that a device names its nodes in one way, if it may."""
    ways, name = _ways(device), device.node_name
    if not per_device:
        is_set = ways or device.all_nodes is not None
        ways += not ways and device.all_nodes is not None
        if is_set:
            message = "expected none of nodeName, nodeSelector and allNodes"
            report.add(path, f"{message}, got {ways}")
        return
    if name:
        report.formed(name, SUBDOMAIN, f"{path}.nodeName")
    elif name is not None:
        report.add(f"{path}.nodeName", "expected a name, got none")
        # An empty name was counted as a way by `_ways`, but upstream counts only names
        # that are not empty.
        ways -= 1
    if device.node_selector is not None:
        check_node_selector(device.node_selector, f"{path}.nodeSelector", report)
    if device.all_nodes is False:
        report.add(f"{path}.allNodes", "expected true or nothing, got false")
    if ways != 1:
        message = "expected exactly one of nodeName, nodeSelector and allNodes"
        report.add(path, f"{message}, got {ways}")


def _check_consumption(
    parts: Sequence[DeviceCounterConsumption], path: str, report: Report
) -> None:
    """Check what a device takes of which counter sets."""
    expected = f"at most {_MOST_CONSUMPTIONS}"
    report.expect(len(parts) <= _MOST_CONSUMPTIONS, path, expected, len(parts))
    sets = ((f"{path}[{i}]", part.counter_set) for i, part in enumerate(parts))
    report.unique(sets, "counter set")
    for index, part in enumerate(parts):
        where = f"{path}[{index}]"
        report.named(part.counter_set, DNS_LABEL, f"{where}.counterSet")
        _check_counter_names(part.counters, f"{where}.counters", report)


def _check_counter_names(
    counters: Mapping[str, Counter], path: str, report: Report
) -> None:
    if not counters:
        report.add(path, "expected a counter, got none")
    expected = f"at most {_MOST_COUNTERS}"
    report.expect(len(counters) <= _MOST_COUNTERS, path, expected, len(counters))
    for name in counters:
        report.formed(name, DNS_LABEL, path)


def _check_conditions(device: Device, path: str, report: Report) -> None:
    binding, failing = device.binding_conditions, device.binding_failure_conditions
    for field, conditions in (
        ("bindingConditions", binding),
        ("bindingFailureConditions", failing),
    ):
        expected, got = f"at most {_MOST_CONDITIONS}", len(conditions)
        is_few = got <= _MOST_CONDITIONS
        report.expect(is_few, f"{path}.{field}", expected, got)
        for index, condition in enumerate(conditions):
            report.named(condition, LABEL_KEY, f"{path}.{field}[{index}]")
        names = ((f"{path}.{field}[{i}]", name) for i, name in enumerate(conditions))
        report.unique(names, "condition")
    for index, condition in enumerate(failing):
        where = f"{path}.bindingFailureConditions[{index}]"
        expected = "a condition that is not in bindingConditions"
        report.expect(condition not in binding, where, expected, condition)
    # A device that binds on a condition must be able to fail, or the scheduler would
    # wait until its timeout each time.
    if bool(binding) is not bool(failing):
        missing = "bindingFailureConditions" if binding else "bindingConditions"
        report.add(f"{path}.{missing}", "expected some beside the other, got none")


def check_device_taint(taint: DeviceTaint, path: str, report: Report) -> None:
    """Check the key, the value and the effect of a taint."""
    report.named(taint.key, LABEL_KEY, f"{path}.key")
    if taint.value:
        report.formed(taint.value, LABEL_VALUE, f"{path}.value")
    report.one_of(taint.effect, _EFFECTS, f"{path}.effect")


def _ways(owner: Device | ResourceSliceSpec) -> int:
    """Return how many of the common ways to name nodes a slice or device uses."""
    named = owner.node_name is not None, owner.node_selector is not None
    return sum(named) + bool(owner.all_nodes)
