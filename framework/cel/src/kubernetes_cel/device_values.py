"""The values of devices in expressions.

Mirrors ``DeviceMatches`` of ``cel/compile.go`` (k8s.io/dynamic-resource-allocation
v0.37).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.amounts import parse_amount
from kubernetes_cel.libraries.quantities import parse_semver
from kubernetes_cel.values import DefaultMap, Value

__all__ = ["device_value"]


def device_value(
    driver: str, device: Mapping[str, Value], *, list_attributes: bool = True
) -> dict[str, Value]:
    """Return the value of ``device`` for a device of a ResourceSlice.

    Args:
        driver: The name of the driver: the domain of names without a domain.
        device: The device as in the API (``attributes``, ``capacity`` and
            ``allowMultipleAllocations``); other fields are ignored. Fields may be None.
        list_attributes: Whether attributes may be lists; if not, lists are ignored. See
            `DeviceEnvironment`.

    Raises:
        CelEvaluationError: An attribute has no value or an invalid version, or a
            capacity is not a quantity.
    """
    # Domains without attributes are empty maps rather than errors, so
    # ``device.attributes['x'].a`` fails only at ``a``.
    by_domain: DefaultMap = DefaultMap()
    for name, attribute in (device.get("attributes") or {}).items():
        domain, identifier = _qualified(name, driver)
        value = _list_value(name, attribute) if list_attributes else None
        if value is None:
            value = _attribute_value(name, attribute)
        by_domain.setdefault(domain, {})[identifier] = value
    amounts: DefaultMap = DefaultMap()
    for name, capacity in (device.get("capacity") or {}).items():
        domain, identifier = _qualified(name, driver)
        amount = parse_amount(str(capacity["value"]))
        amounts.setdefault(domain, {})[identifier] = amount
    return {
        "driver": driver,
        "allowMultipleAllocations": bool(device.get("allowMultipleAllocations")),
        "attributes": by_domain,
        "capacity": amounts,
    }


_LISTS: Final = ("ints", "bools", "strings")


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    # A name without a domain belongs to the driver's own.
    return (domain, identifier) if slash else (driver, name)


def _attribute_value(name: str, attribute: Mapping[str, Value]) -> Value:
    # In upstream's order; validation allows only one of them.
    for kind in ("int", "bool", "string"):
        value = attribute.get(kind)
        if value is not None:
            return value
    version = attribute.get("version")
    if version is None:
        raise CelEvaluationError(f"attribute {name}: unsupported attribute value")
    return _version(name, version)


def _list_value(name: str, attribute: Mapping[str, Value]) -> Value:
    """Return the list value of an attribute, or None if it has a single value."""
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
