"""The environment of device selectors, by version of Kubernetes.

Mirrors ``newCompiler`` and ``sizeEstimator`` of ``cel/compile.go``
(k8s.io/dynamic-resource-allocation v0.36 and v0.37). The API server compiles new
selectors by its feature gates. A scheduler compiles selectors that are stored, which
may use the features of all gates.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from kubernetes_cel.base_environment import OVERLOADS, VARIABLES, VERSIONS, Environment
from kubernetes_cel.costs import call_cost, call_cost_1_36
from kubernetes_cel.declarations import functions_of
from kubernetes_cel.errors import CelVersionError
from kubernetes_cel.libraries import conversions, lists
from kubernetes_cel.ranges import Range, just
from kubernetes_cel.types import (
    ANY,
    BOOL,
    DYN,
    STRING,
    Kind,
    Type,
    map_type,
    type_named,
)

__all__ = ["DeviceEnvironment", "device_environment"]

_DEVICE: Final = Type(Kind.STRUCT, "kubernetes.DRADevice")

_NAMES: Final = 63
_ENTRIES: Final = 32
_TEXTS: Final = 64
_IDENTIFIERS: Final = 32
"""The limits of the API for the parts of devices: lengths and counts."""


@attrs.frozen(eq=False)
class DeviceEnvironment(Environment):
    """The environment of device selectors: it declares ``device``.

    Attributes:
        attribute_type: The type of attributes of devices.
        list_attributes: Whether attributes may be lists.
    """

    attribute_type: Type = DYN
    list_attributes: bool = True


def device_environment(
    version: str = VERSIONS[-1], *, list_attributes: bool = True
) -> DeviceEnvironment:
    """Return the environment of device selectors.

    Args:
        version: The minor version of Kubernetes, such as ``1.37``.
        list_attributes: Whether selectors may use the features of the gate
            DRAListTypeAttributes. A scheduler compiles stored selectors with them. The
            API server compiles new selectors with them only if the gate is enabled.

    Raises:
        CelVersionError: The version is not supported.
    """
    if version not in VERSIONS:
        raise CelVersionError(version, VERSIONS)
    # The API server without the gate: attributes have any single type, and ``includes``
    # does not exist.
    if not list_attributes:
        return _environment(version, ANY, "", list_attributes=False)
    if version == "1.36":
        return _environment(version, ANY, "dra_includes_dyn_dyn", list_attributes=False)
    return _environment(version, DYN, "list_includes_dyn_dyn", list_attributes=True)


@functools.cache
def _environment(
    version: str, attribute: Type, includes: str, *, list_attributes: bool
) -> DeviceEnvironment:
    """Make an environment.

    Args:
        version: The minor version of Kubernetes.
        attribute: The type of attributes.
        includes: The overload of ``includes``; empty if there is no such function.
        list_attributes: Whether attributes may be lists.
    """
    overloads = [each for each in lists.INCLUDES if each.name == includes]
    if version == "1.36":
        overloads += conversions.OVERLOADS_1_36
    return DeviceEnvironment(
        variables={**VARIABLES, "device": _DEVICE},
        functions=functions_of((*OVERLOADS, *overloads)),
        fields={_DEVICE.name: _fields(attribute)},
        inputs=("device",),
        size_at=_size_at,
        converts_optionals=version == "1.36",
        call_cost=call_cost_1_36 if version == "1.36" else call_cost,
        attribute_type=attribute,
        list_attributes=list_attributes,
    )


def _fields(attribute: Type) -> Mapping[str, Type]:
    return {
        "driver": STRING,
        "allowMultipleAllocations": BOOL,
        "attributes": map_type(STRING, map_type(STRING, attribute)),
        "capacity": map_type(STRING, type_named("map(string, kubernetes.Quantity)")),
    }


def _size_at(path: Sequence[str]) -> Range | None:
    """Return the size limits of a part of a device, or None if they are unknown."""
    match path:
        case ("device",):
            return just(0)
        case ("device", "driver"):
            return Range(0, _NAMES)
        case ("device", "allowMultipleAllocations"):
            return Range(0, 1)
        case ("device", "attributes" | "capacity"):
            return Range(0, _ENTRIES)
        case ("device", "attributes" | "capacity", "@keys"):
            return Range(0, _NAMES)
        case ("device", "attributes" | "capacity", "@items" | "@values"):
            return Range(0, _ENTRIES)
        case ("device", "attributes" | "capacity", "@items" | "@values", "@keys"):
            return Range(0, _IDENTIFIERS)
        case ("device", "attributes", "@items" | "@values", "@items" | "@values"):
            return Range(0, _TEXTS)
        # A selection by name, such as ``device.attributes['a'].model``, has the size of
        # one text.
        case ("device", "attributes", "@items" | "@values", name) if name[0] != "@":
            return Range(0, _TEXTS)
    return None
