"""What is wrong with amounts of resources.

Mirrors ``validateResourceRequirements`` and ``ValidateResourceQuantityValue``
(Kubernetes v1.36, ``pkg/apis/core/validation/validation.go``).
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._memory.admission.defaults import is_overcommit_allowed
from quaymaster._memory.admission.problems import Report
from quaymaster.objects import ResourceRequirements
from quaymaster.quantity import Quantity
from quaymaster.resources import is_extended_resource

__all__ = ["check_amounts", "check_resources"]

_ZERO: Final = Quantity(0)
_WHOLE: Final = 10**9


def check_amounts(amounts: Mapping[str, Quantity], path: str, report: Report) -> None:
    """Amounts must not be negative; those of extended resources must be whole."""
    for name, amount in amounts.items():
        where = f"{path}[{name}]"
        if amount < _ZERO:
            report.expect(False, where, "an amount of at least 0", amount)
        elif amount.nanos % _WHOLE and (name == "pods" or is_extended_resource(name)):
            report.expect(False, where, "a whole number", amount)


def check_resources(
    resources: ResourceRequirements,
    path: str,
    report: Report,
    *,
    overcommit: bool = False,
) -> None:
    """Requests must not exceed limits, and must equal them where nothing is shared.

    Args:
        resources: Requests and limits.
        path: Where they are.
        report: What is wrong goes here.
        overcommit: Whether resources may be shared that containers may not share.
    """
    limits = resources.limits
    check_amounts(limits, f"{path}.limits", report)
    check_amounts(resources.requests, f"{path}.requests", report)
    for name, amount in resources.requests.items():
        where = f"{path}.requests[{name}]"
        limit = limits.get(name)
        is_shared = overcommit or is_overcommit_allowed(name)
        if limit is None:
            if not is_shared:
                report.add(
                    f"{path}.limits[{name}]",
                    f"expected a limit of {amount}, as requested ({name} cannot be "
                    "overcommitted), got none",
                )
        elif amount > limit:
            report.expect(False, where, f"at most the limit of {limit}", amount)
        elif amount != limit and not is_shared:
            report.expect(False, where, f"the limit of {limit}", amount)
