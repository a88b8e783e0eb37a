"""What is wrong with amounts of resources.

Mirrors ``validateResourceRequirements``, ``ValidateResourceQuantityValue`` and
``validatePodResourceConsistency`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``), but for one thing: a device may be
requested without the limit that an API server insists on, since only the request
matters here.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._memory.admission.defaults import is_overcommit_allowed
from quaymaster._memory.admission.problems import Report
from quaymaster.objects import Pod, PodSpec, ResourceRequirements
from quaymaster.quantity import Quantity
from quaymaster.resources import is_extended_resource, pod_request_list

__all__ = ["check_amounts", "check_container_resources", "check_pod_resources"]

_ZERO: Final = Quantity(0)
_WHOLE: Final = 10**9
_HUGE_PAGES: Final = "hugepages-"
_CONTAINER_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
_POD_RESOURCES: Final = ("cpu", "memory")


def check_amounts(amounts: Mapping[str, Quantity], path: str, report: Report) -> None:
    """Amounts must not be negative; those of extended resources must be whole."""
    for name, amount in amounts.items():
        where = f"{path}[{name}]"
        if amount < _ZERO:
            report.expect(False, where, "an amount of at least 0", amount)
        elif amount.nanos % _WHOLE and (name == "pods" or is_extended_resource(name)):
            report.expect(False, where, "a whole number", amount)


def check_container_resources(
    resources: ResourceRequirements, path: str, report: Report
) -> None:
    """Requests must not exceed limits, and must equal them where nothing is shared."""
    _check_resources(resources, path, report)
    for name in {**resources.limits, **resources.requests}:
        is_known = (
            name in _CONTAINER_RESOURCES
            or name.startswith(_HUGE_PAGES)
            or ("/" in name and is_overcommit_allowed(name))
            or is_extended_resource(name)
        )
        expected = "cpu, memory, ephemeral-storage, hugepages-SIZE or a resource such "
        report.expect(is_known, path, f"{expected}as nvidia.com/gpu", name)
    for name, amount in resources.requests.items():
        limit = resources.limits.get(name, amount)
        if amount < limit and not is_overcommit_allowed(name):
            where = f"{path}.requests[{name}]"
            report.expect(False, where, f"the limit of {limit}", amount)


def check_pod_resources(spec: PodSpec, report: Report) -> None:
    """What a pod requests as a whole must hold what its containers request."""
    resources = spec.resources
    if resources is None:
        return
    _check_resources(resources, "resources", report)
    for name in {**resources.limits, **resources.requests}:
        is_known = name in _POD_RESOURCES or name.startswith(_HUGE_PAGES)
        report.expect(is_known, "resources", "cpu, memory or hugepages-SIZE", name)
    together = pod_request_list(Pod(spec=spec), pod_level=False, overhead=False)
    for name, least in together.items():
        amount = resources.requests.get(name, least)
        where = f"resources.requests[{name}]"
        expected = f"at least {least}, what the containers request together"
        report.expect(amount >= least, where, expected, amount)
    for index, container in enumerate(spec.containers):
        for name, amount in container.resources.limits.items():
            most = resources.limits.get(name, amount)
            where = f"containers[{index}].resources.limits[{name}]"
            expected = f"at most {most}, the limit of the pod"
            report.expect(amount <= most, where, expected, amount)


def _check_resources(
    resources: ResourceRequirements, path: str, report: Report
) -> None:
    check_amounts(resources.limits, f"{path}.limits", report)
    check_amounts(resources.requests, f"{path}.requests", report)
    for name, amount in resources.requests.items():
        limit = resources.limits.get(name, amount)
        where = f"{path}.requests[{name}]"
        report.expect(amount <= limit, where, f"at most the limit of {limit}", amount)
