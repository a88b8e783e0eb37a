"""Checks claims of devices, their templates, and classes of devices.

Mirrors ``pkg/apis/resource/validation/validation.go`` (Kubernetes v1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceClass,
    DeviceClassConfiguration,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaimSpec,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.resource_names import is_extended_resource
from quaymaster._api.objects.syntax import (
    CSI_DRIVER_NAME,
    DNS_LABEL,
    LABEL_KEY,
    SUBDOMAIN,
)
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = [
    "CLAIM_OF_POD",
    "check_claim_expressions",
    "check_class_expressions",
    "check_device_claim",
    "check_device_class",
]

CLAIM_OF_POD: Final = "resource.kubernetes.io/pod-claim-name"
"""The annotation of claims that are made of templates, one for each pod."""

_MODES: Final = ("ExactCount", "All")
_OPERATORS: Final = ("Exists", "Equal")
_EFFECTS: Final = ("", "NoExecute", "NoSchedule")
_MOST: Final = 32
"""How many requests, constraints, configurations and selectors there may be."""
_MOST_ALTERNATIVES: Final = 8
_MOST_TOLERATIONS: Final = 16


def check_device_claim(spec: ResourceClaimSpec, path: str, report: Report) -> None:
    """Check the spec of a claim, with its defaults filled in.

    `check_claim_expressions` checks the expressions.
    """
    claim, where = spec.devices, f"{path}.devices"
    _at_most(claim.requests, _MOST, f"{where}.requests", report)
    _at_most(claim.constraints, _MOST, f"{where}.constraints", report)
    _at_most(claim.config, _MOST, f"{where}.config", report)
    _unique_names(claim.requests, f"{where}.requests", report)
    for index, request in enumerate(claim.requests):
        _check_request(request, f"{where}.requests[{index}]", report)
    request_names = _request_names(claim)
    for index, constraint in enumerate(claim.constraints):
        at = f"{where}.constraints[{index}]"
        _check_constraint(constraint, request_names, at, report)
    for index, config in enumerate(claim.config):
        at = f"{where}.config[{index}]"
        _check_names(config.requests, request_names, at, report)
        _check_configuration(config, at, report)


def check_claim_expressions(
    spec: ResourceClaimSpec, path: str, kubernetes: Kubernetes, report: Report
) -> None:
    """Check the expressions in the selectors of a new claim.

    An API server with more of CEL may have stored other expressions, so a claim that
    was read from a cluster is not checked.

    Args:
        spec: The spec of the claim.
        path: The path of the spec.
        kubernetes: The version of the API server that the selectors are sent to.
        report: Collects the problems.
    """
    for index, request in enumerate(spec.devices.requests):
        at = f"{path}.devices.requests[{index}]"
        if request.exactly is not None:
            selectors = request.exactly.selectors
            _check_expressions(selectors, f"{at}.exactly", kubernetes, report)
        for number, subrequest in enumerate(request.first_available):
            where = f"{at}.firstAvailable[{number}]"
            _check_expressions(subrequest.selectors, where, kubernetes, report)


def check_class_expressions(
    device_class: DeviceClass, kubernetes: Kubernetes, report: Report
) -> None:
    """Check the expressions of a class if it is new or its selectors have changed.

    Args:
        device_class: The class.
        kubernetes: The version of the API server that the selectors are sent to.
        report: Collects the problems.
    """
    _check_expressions(device_class.spec.selectors, "spec", kubernetes, report)


def check_device_class(device_class: DeviceClass, report: Report) -> None:
    """Check the selectors and configurations of a class, and its resource's name.

    `check_class_expressions` checks the expressions.
    """
    spec = device_class.spec
    _check_selectors(spec.selectors, "spec", report)
    _at_most(spec.config, _MOST, "spec.config", report)
    for index, config in enumerate(spec.config):
        _check_configuration(config, f"spec.config[{index}]", report)
    name = spec.extended_resource_name
    if name is not None and not is_extended_resource(name):
        expected = "the name of an extended resource such as example.com/gpu"
        report.expect(False, "spec.extendedResourceName", expected, name)


def _request_names(claim: DeviceClaim) -> frozenset[str]:
    """Return the names that constraints and configurations may use."""
    names = {request.name for request in claim.requests}
    names |= {
        # A parent's name matches each of its subrequests, so both forms are valid.
        f"{request.name}/{subrequest.name}"
        for request in claim.requests
        for subrequest in request.first_available
    }
    return frozenset(names)


def _check_request(request: DeviceRequest, path: str, report: Report) -> None:
    report.named(request.name, DNS_LABEL, f"{path}.name")
    if (request.exactly is None) is not bool(request.first_available):
        report.add(path, "expected either exactly or firstAvailable")
    if request.exactly is not None:
        _check_details(request.exactly, f"{path}.exactly", report)
    where = f"{path}.firstAvailable"
    _at_most(request.first_available, _MOST_ALTERNATIVES, where, report)
    _unique_names(request.first_available, where, report)
    for index, subrequest in enumerate(request.first_available):
        report.named(subrequest.name, DNS_LABEL, f"{where}[{index}].name")
        _check_details(subrequest, f"{where}[{index}]", report)


def _check_details(
    request: ExactDeviceRequest | DeviceSubRequest, path: str, report: Report
) -> None:
    report.named(request.device_class_name, SUBDOMAIN, f"{path}.deviceClassName")
    _check_selectors(request.selectors, path, report)
    mode, where = request.allocation_mode, f"{path}.count"
    if mode == "ExactCount":
        report.at_least(request.count, where, 1)
    # The count is left at 0 by `default_claim_of_devices`, so any other value was
    # written by the user.
    elif mode == "All":
        report.expect(not request.count, where, "none beside All", request.count)
    else:
        report.one_of(mode, _MODES, f"{path}.allocationMode")
    tolerations = request.tolerations
    _at_most(tolerations, _MOST_TOLERATIONS, f"{path}.tolerations", report)
    for index, toleration in enumerate(tolerations):
        _check_toleration(toleration, f"{path}.tolerations[{index}]", report)


def _check_selectors(
    selectors: Sequence[DeviceSelector], path: str, report: Report
) -> None:
    where = f"{path}.selectors"
    _at_most(selectors, _MOST, where, report)
    for index, selector in enumerate(selectors):
        if selector.cel is None:
            report.add(f"{where}[{index}].cel", "expected an expression, got none")
        elif not selector.cel.expression:
            at = f"{where}[{index}].cel.expression"
            report.add(at, "expected an expression, got none")


def _check_expressions(
    selectors: Sequence[DeviceSelector],
    path: str,
    kubernetes: Kubernetes,
    report: Report,
) -> None:
    for index, selector in enumerate(selectors):
        if selector.cel is not None and selector.cel.expression:
            at = f"{path}.selectors[{index}].cel.expression"
            _check_expression(selector.cel.expression, at, kubernetes, report)


def _check_expression(
    expression: str, path: str, kubernetes: Kubernetes, report: Report
) -> None:
    # Imported here: it takes 40 ms, and most clusters have no selectors.
    from kubernetes_cel import (  # noqa: PLC0415 - above
        LONGEST_SELECTOR,
        SELECTOR_COST_LIMIT,
        CelCompilationError,
        compile_selector,
    )
    from quaymaster._api.cel import of_new_selectors  # noqa: PLC0415 - above

    # Bytes, as in Go. The limit comes before compiling, so that a huge text is never
    # parsed.
    size = len(expression.encode())
    if size > LONGEST_SELECTOR:
        report.expect(False, path, f"at most {LONGEST_SELECTOR} bytes", size)
    else:
        try:
            cost = compile_selector(expression, of_new_selectors(kubernetes)).max_cost
        except CelCompilationError as error:
            report.add(path, f"{error}, in {expression!r}")
        else:
            expected = f"an estimated cost of at most {SELECTOR_COST_LIMIT}"
            # The cost is estimated for the largest device that the API allows. Each
            # evaluation has the same limit in the scheduler.
            report.expect(cost <= SELECTOR_COST_LIMIT, path, expected, cost)


def _check_toleration(toleration: DeviceToleration, path: str, report: Report) -> None:
    if toleration.key:
        report.formed(toleration.key, LABEL_KEY, f"{path}.key")
    report.one_of(toleration.operator or "Equal", _OPERATORS, f"{path}.operator")
    is_there = toleration.operator == "Exists"
    if is_there and toleration.value:
        at = f"{path}.value"
        report.expect(False, at, "none beside Exists", toleration.value)
    if not is_there and not toleration.key:
        report.add(f"{path}.operator", "expected Exists beside an empty key")
    report.one_of(toleration.effect, _EFFECTS, f"{path}.effect")


def _check_constraint(
    constraint: DeviceConstraint,
    request_names: frozenset[str],
    path: str,
    report: Report,
) -> None:
    _check_names(constraint.requests, request_names, path, report)
    match, distinct = constraint.match_attribute, constraint.distinct_attribute
    if (match is None) is (distinct is None):
        report.add(path, "expected either matchAttribute or distinctAttribute")
    for field, name in (("matchAttribute", match), ("distinctAttribute", distinct)):
        if name is not None:
            domain, _, rest = name.partition("/")
            expected = "a name with its domain such as example.com/numa"
            is_full = bool(domain and rest and "/" not in rest)
            report.expect(is_full, f"{path}.{field}", expected, name)


def _check_names(
    names: Sequence[str], request_names: frozenset[str], path: str, report: Report
) -> None:
    where = f"{path}.requests"
    _at_most(names, _MOST, where, report)
    report.unique(
        ((f"{where}[{index}]", name) for index, name in enumerate(names)), "name"
    )
    for index, name in enumerate(names):
        expected = "the name of a request, or request/subrequest"
        report.expect(name in request_names, f"{where}[{index}]", expected, name)


def _check_configuration(
    config: DeviceClaimConfiguration | DeviceClassConfiguration,
    path: str,
    report: Report,
) -> None:
    if config.opaque is None:
        report.add(f"{path}.opaque", "expected a configuration, got none")
    else:
        report.named(config.opaque.driver, CSI_DRIVER_NAME, f"{path}.opaque.driver")


def _unique_names(
    named: Iterable[DeviceRequest | DeviceSubRequest], path: str, report: Report
) -> None:
    names = ((f"{path}[{i}].name", item.name) for i, item in enumerate(named))
    report.unique(names, "name")


def _at_most(items: Sequence[object], most: int, path: str, report: Report) -> None:
    report.expect(len(items) <= most, path, f"at most {most}", len(items))
