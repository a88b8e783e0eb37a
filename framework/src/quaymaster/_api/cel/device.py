"""Devices as expressions see them.

Mirrors ``DeviceMatches`` of ``cel/compile.go`` (k8s.io/dynamic-resource-allocation
v0.37).
"""

from collections.abc import Mapping, Sequence
from typing import Final

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
    has_lists: bool = True,
) -> dict[str, Value]:
    """Make the value of ``device``.

    Args:
        driver: The name of its driver, which is the domain of names without one.
        attributes: Name -> ``{"int": 1}``, or one of ``bool``, ``string``, ``version``,
            or a list of them: ``{"ints": [1, 2]}``.
        capacity: Name -> amount, or its text.
        allow_multiple_allocations: Whether it may be allocated more than once.
        has_lists: Whether lists are values of attributes; if not, they are ignored.

    Raises:
        CelEvaluationError: An attribute has no value, or a version that is none, or a
            text is no quantity.
    """
    by_domain: DefaultMap = DefaultMap()
    for name, attribute in attributes.items():
        domain, identifier = _qualified(name, driver)
        value = _list_value(name, attribute) if has_lists else None
        if value is None:
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


_LISTS: Final = ("ints", "bools", "strings")


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
    return _version(name, version)


def _list_value(name: str, attribute: Mapping[str, Value]) -> Value:
    """The list of an attribute, or None if it is of one value."""
    for kind in _LISTS:
        values: Sequence[Value] | None = attribute.get(kind)
        if values is not None:
            return list(values)
    versions: Sequence[str] | None = attribute.get("versions")
    return None if versions is None else [_version(name, each) for each in versions]


def _version(name: str, version: str) -> Value:
    try:
        return parse_semver(version)
    except ValueError as error:
        raise CelEvaluationError(
            f"attribute {name}: parse semantic version: {error}"
        ) from error
