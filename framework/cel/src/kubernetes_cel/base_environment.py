"""The types and functions of all environments.

Mirrors ``pkg/cel/environment/base.go`` (k8s.io/apiserver v0.37). The functions of
authorization are declared too, but no variable has a type that they accept.
"""

from typing import Final

from kubernetes_cel.checker import Environment
from kubernetes_cel.declarations import function, method
from kubernetes_cel.libraries import (
    conversions,
    formats,
    lists,
    networks,
    operators,
    optionals,
    quantities,
    regexes,
    strings,
    times,
    urls,
)
from kubernetes_cel.types import type_named, type_type
from kubernetes_cel.values import Value

__all__ = ["OVERLOADS", "VARIABLES", "VERSIONS", "Environment"]

VERSIONS: Final = ("1.36", "1.37")
"""The supported minor versions of Kubernetes, in order."""


def _unreachable(*_: Value) -> Value:
    raise AssertionError("no expression can call this function")


_PREFIX: Final = "kubernetes.authorization."
_AUTHORIZATION: Final = tuple(
    method(
        name, f"{_PREFIX}{signature}", _unreachable
    )
    for name, signature in (
        ("decision_allowed", "Decision.allowed() -> bool"),
        ("decision_error", "Decision.error() -> string"),
        ("decision_errored", "Decision.errored() -> bool"),
        ("decision_reason", "Decision.reason() -> string"),
        (
            "pathcheck_check",
            f"PathCheck.check(string) -> {_PREFIX}Decision",
        ),
        (
            "resourcecheck_check",
            f"ResourceCheck.check(string) -> {_PREFIX}Decision",
        ),
        (
            "authorizer_group",
            f"Authorizer.group(string) -> {_PREFIX}GroupCheck",
        ),
        (
            "authorizer_path",
            f"Authorizer.path(string) -> {_PREFIX}PathCheck",
        ),
        (
            "authorizer_serviceaccount",
            f"Authorizer.serviceAccount(string, string) -> {_PREFIX}Authorizer",
        ),
        (
            "groupcheck_resource",
            f"GroupCheck.resource(string) -> {_PREFIX}ResourceCheck",
        ),
        *(
            (
                f"{owner}_{called.lower()}",
                f"ResourceCheck.{called}(string) -> {_PREFIX}ResourceCheck",
            )
            for owner, called in (
                ("authorizer", "fieldSelector"),
                ("authorizer", "labelSelector"),
                ("resourcecheck", "name"),
                ("resourcecheck", "namespace"),
                ("resourcecheck", "subresource"),
            )
        ),
    )
)  # fmt: skip

_INSERTIONS: Final = tuple(
    function(name, f"cel.@mapInsert({arguments}) -> map(K, V)", _unreachable)
    for name, arguments in (
        ("@mapInsert_map_key_value", "map(K, V), K, V"),
        ("@mapInsert_map_map", "map(K, V), map(K, V)"),
    )
)
"""Functions that only macros call; the compiler replaces them with loops."""

_TYPES: Final = {
    str(named): type_type(named)
    for named in map(
        type_named,
        (
            "bool",
            "bytes",
            "double",
            "duration",
            "int",
            "null_type",
            "string",
            "timestamp",
            "uint",
            "net.IP",
            "net.CIDR",
        ),
    )
}

VARIABLES: Final = {
    **_TYPES,
    "list": type_type(type_named("list(dyn)")),
    "map": type_type(type_named("map(dyn, dyn)")),
    "optional_type": type_type(type_named("optional(dyn)")),
    "type": type_type(),
}
OVERLOADS: Final = (
    *operators.OVERLOADS,
    *conversions.OVERLOADS,
    *times.OVERLOADS,
    *strings.OVERLOADS,
    *regexes.OVERLOADS,
    *lists.OVERLOADS,
    *optionals.OVERLOADS,
    *quantities.OVERLOADS,
    *networks.OVERLOADS,
    *urls.OVERLOADS,
    *formats.OVERLOADS,
    *_INSERTIONS,
    *_AUTHORIZATION,
)
