"""Checks amounts of resources.

Mirrors ``validateResourceRequirements``, ``ValidateResourceQuantityValue`` and
``validatePodResourceConsistency`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``), and ``pkg/apis/core/helper``.
"""

from collections.abc import Callable
from typing import Final

from quaymaster._api.objects import Pod, PodSpec, ResourceClaimRef, ResourceRequirements
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.resource_names import (
    is_extended_resource,
    is_overcommit_allowed,
)
from quaymaster._api.objects.syntax import DNS_LABEL, LABEL_KEY
from quaymaster._base.errors import QuantityError
from quaymaster._clusters.inmemory.admission.pod_level import container_limits

__all__ = [
    "check_amount",
    "check_amounts",
    "check_container_resources",
    "check_overhead",
    "check_pod_resources",
    "is_for_containers",
]

_ZERO: Final = Quantity(0)
_WHOLE: Final = 10**9
_HUGE_PAGES: Final = "hugepages-"
_COMPUTE: Final = ("cpu", "memory")
_CONTAINER_RESOURCES: Final = (*_COMPUTE, "ephemeral-storage")
# ``integerResources`` of ``pkg/apis/core/helper``.
_COUNTED: Final = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
)

CheckName = Callable[[str], bool]


def check_amount(name: str, amount: Quantity, path: str, report: Report) -> None:
    """Check that an amount is not negative, and whole for an extended resource."""
    if amount < _ZERO:
        report.expect(False, path, "an amount of at least 0", amount)
    # A tenth of a GPU or of a pod does not exist; cpu and memory have fractions
    # (``ValidateResourceQuantityValue``).
    is_counted = name in _COUNTED or is_extended_resource(name)
    if is_counted and amount.nanos % _WHOLE:
        report.expect(False, path, "a whole number", amount)


def check_amounts(amounts: ResourceList, path: str, report: Report) -> None:
    """Check each amount of a list."""
    for name, amount in amounts.items():
        check_amount(name, amount, f"{path}[{name}]", report)


def check_container_resources(
    resources: ResourceRequirements, claims: frozenset[str], path: str, report: Report
) -> None:
    """Check the requests, limits and claims of a container.

    Args:
        resources: The requests, limits and claims.
        claims: The names of the pod's claims for devices.
        path: The path of the resources.
        report: Collects the problems.
    """
    expected = "cpu, memory, ephemeral-storage, hugepages-SIZE or a resource such as "
    _check_resources(
        resources, is_for_containers, f"{expected}nvidia.com/gpu", path, report
    )
    _check_claims(resources.claims, claims, f"{path}.claims", report)


def check_overhead(overhead: ResourceList, path: str, report: Report) -> None:
    """Check the overhead of a runtime class, by the rules for container limits."""
    if overhead:
        limits = ResourceRequirements(limits=overhead)
        check_container_resources(limits, frozenset(), path, report)


def check_pod_resources(spec: PodSpec, path: str, report: Report) -> None:
    """Check that the resources of the whole pod cover those of its containers."""
    resources = spec.resources
    if resources is None:
        return
    if resources.claims:
        report.add(f"{path}.claims", "expected none but in containers")
        claim_names = frozenset(claim.name for claim in spec.resource_claims)
        _check_claims(resources.claims, claim_names, f"{path}.claims", report)
    expected = "cpu, memory or hugepages-SIZE"
    _check_resources(resources, _is_for_pods, expected, path, report)
    # Without the pod's own resources, or the sum would be compared with itself.
    together = pod_request_list(Pod(spec=spec), pod_level=False, overhead=False)
    for name, least in together.items():
        # A resource that the pod does not name has been filled in by `pod_level`, if it
        # may be; otherwise the containers decide alone.
        amount = resources.requests.get(name, least)
        expected = f"at least {least}, what the containers request together"
        where = f"{path}.requests[{name}]"
        report.expect(amount >= least, where, expected, amount)
    _check_limits_inside(spec, resources.limits, path, report)


def _check_limits_inside(
    spec: PodSpec, limits: ResourceList, path: str, report: Report
) -> None:
    for name, least in container_limits(spec).items():
        # Only huge pages: limits of cpu and memory may be overcommitted, so their sum
        # may exceed the pod's limit, which then holds.
        if name.startswith(_HUGE_PAGES):
            amount = limits.get(name, least)
            expected = f"at least {least}, what the containers may use together"
            where = f"{path}.limits[{name}]"
            report.expect(amount >= least, where, expected, amount)
    # One container alone must not exceed the limit of the pod, though all together may.
    for index, container in enumerate(spec.containers):
        for name, amount in container.resources.limits.items():
            most = limits.get(name, amount)
            where = f"{path}.containers[{index}][{name}].limits"
            expected = f"at most {most}, the limit of the pod"
            report.expect(amount <= most, where, expected, amount)


def _check_resources(
    resources: ResourceRequirements,
    is_known: CheckName,
    expected: str,
    path: str,
    report: Report,
) -> None:
    amounts = (("limits", resources.limits), ("requests", resources.requests))
    for field, those in amounts:
        for name, amount in those.items():
            where = f"{path}.{field}[{name}]"
            report.expect(is_known(name), where, expected, name)
            check_amount(name, amount, where, report)
            _check_pages(name, amount, where, report)
    _check_against_limits(resources, path, report)
    names = resources.limits.keys() | resources.requests.keys()
    if any(name.startswith(_HUGE_PAGES) for name in names) and not any(
        name in names for name in _COMPUTE
    ):
        report.add(path, "expected cpu or memory beside huge pages")


def _check_against_limits(
    resources: ResourceRequirements, path: str, report: Report
) -> None:
    limits = resources.limits
    for name, amount in resources.requests.items():
        limit = limits.get(name)
        if is_overcommit_allowed(name):
            if limit is not None and amount > limit:
                expected = f"at most the limit of {limit} {name}"
                report.expect(False, f"{path}.requests", expected, amount)
        elif limit is None:
            message = f"expected a limit of {name}, which cannot be overcommitted"
            report.add(f"{path}.limits", message)
        elif amount != limit:
            expected = f"the limit of {limit} {name}"
            report.expect(False, f"{path}.requests", expected, amount)


def _check_pages(name: str, amount: Quantity, path: str, report: Report) -> None:
    """Check that an amount of huge pages is a multiple of their size."""
    if not name.startswith(_HUGE_PAGES):
        return
    try:
        size = Quantity(name.removeprefix(_HUGE_PAGES))
    except QuantityError:
        report.expect(False, path, "a size of pages such as 2Mi", name)
        return
    is_size = size > _ZERO and size.nanos % _WHOLE == 0
    if not is_size or amount.value % size.value:
        report.expect(False, path, f"a multiple of {size}", amount)


def _check_claims(
    claims: tuple[ResourceClaimRef, ...],
    claim_names: frozenset[str],
    path: str,
    report: Report,
) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        where = f"{path}[{index}]"
        if not claim.name:
            report.add(where, "expected the name of a claim, got none")
            continue
        key = f"{claim.name}/{claim.request}" if claim.request else claim.name
        if claim.request:
            report.formed(claim.request, DNS_LABEL, f"{where}.request")
        # Whole claims and single requests of the same claim must not be mixed.
        is_covered = claim.name in seen or key in seen
        if not claim.request:
            # One entry uses the whole claim, another uses one of its requests.
            is_covered |= any(other.startswith(f"{claim.name}/") for other in seen)
        if is_covered:
            report.add(where, f"expected a claim of its own, got {key!r} again")
        seen.add(key)
        if claim.name not in claim_names:
            expected = "the name of one of the pod's resourceClaims"
            report.expect(False, where, expected, claim.name)


def is_for_containers(name: str) -> bool:
    """Return whether a container may request a resource of this name."""
    if "/" not in name:
        return name in _CONTAINER_RESOURCES or _is_pages(name)
    # ``ValidateContainerResourceName`` accepts any native name with a prefix.
    if "kubernetes.io/" in name:
        return LABEL_KEY.fits(name)
    return is_extended_resource(name)


def _is_for_pods(name: str) -> bool:
    return name in _COMPUTE or _is_pages(name)


def _is_pages(name: str) -> bool:
    return name.startswith(_HUGE_PAGES) and LABEL_KEY.fits(name)
