"""Devices as expressions see them.

Mirrors ``DeviceMatches`` of ``cel/compile.go`` (k8s.io/dynamic-resource-allocation
v0.36).
"""

from collections.abc import Mapping

from quaymaster._api.cel.errors import CelEvaluationError
from quaymaster._api.cel.libraries.amounts import parse_amount
from quaymaster._api.cel.libraries.quantities import parse_semver
from quaymaster._api.cel.values import DefaultMap, Value
from quaymaster._api.objects.quantity import Quantity

__all__ = ["device_value"]


def device_value(
    driver: str,
    attributes: Mapping[str, Mapping[str, Value]],
    capacity: Mapping[str, Quantity | str],
    *,
    allow_multiple_allocations: bool = False,
) -> dict[str, Value]:
    """Make the value of ``device``.

    Args:
        driver: The name of its driver, which is the domain of names without one.
        attributes: Name -> ``{"int": 1}``, or one of ``bool``, ``string``, ``version``.
        capacity: Name -> amount, or its text.
        allow_multiple_allocations: Whether it may be allocated more than once.

    Raises:
        CelEvaluationError: An attribute has no value, or a version that is none, or a
            text is no quantity.
    """
    by_domain: DefaultMap = DefaultMap()
    for name, attribute in attributes.items():
        domain, identifier = _qualified(name, driver)
        value = _attribute_value(name, attribute)
        by_domain.setdefault(domain, {})[identifier] = value
    amounts: DefaultMap = DefaultMap()
    for name, amount in capacity.items():
        domain, identifier = _qualified(name, driver)
        amounts.setdefault(domain, {})[identifier] = parse_amount(str(amount))
    return {
        "driver": driver,
        "allowMultipleAllocations": allow_multiple_allocations,
        "attributes": by_domain,
        "capacity": amounts,
    }


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute_value(name: str, attribute: Mapping[str, Value]) -> Value:
    for kind in ("int", "bool", "string"):
        value = attribute.get(kind)
        if value is not None:
            return value
    version = attribute.get("version")
    if version is None:
        raise CelEvaluationError(f"attribute {name}: unsupported attribute value")
    try:
        return parse_semver(version)
    except ValueError as error:
        raise CelEvaluationError(
            f"attribute {name}: parse semantic version: {error}"
        ) from error
