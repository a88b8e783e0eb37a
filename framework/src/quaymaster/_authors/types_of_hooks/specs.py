"""The types of hookspecs, as mypy knows them."""

from collections.abc import Mapping
from typing import Final

from mypy.checker import TypeChecker
from mypy.errorcodes import ErrorCode
from mypy.nodes import Decorator, FuncDef, MypyFile, TypeInfo
from mypy.types import CallableType, Instance, get_proper_type

__all__ = [
    "HANDLE_MODULE",
    "HOOK",
    "SPECS_MODULE",
    "handle_type",
    "hook_types",
    "spec_of",
]

SPECS_MODULE: Final = "quaymaster._core.contract.hookspecs"
HANDLE_MODULE: Final = "quaymaster._core.contract.handle"

HOOK: Final = ErrorCode(
    "hook", "A hook of a scheduler plugin that the framework cannot call", "Plugins"
)
"""The code of all errors of the plugin: ``# type: ignore[hook]``."""


def hook_types(checker: TypeChecker) -> Mapping[str, CallableType]:
    """Return hook -> the type of its hookspec."""
    module = checker.modules.get(SPECS_MODULE)
    if module is None:
        return {}
    points = (symbol.node for symbol in module.names.values())
    return {
        name: hook
        for point in points
        if isinstance(point, TypeInfo) and point.is_protocol
        for name, symbol in point.names.items()
        if (hook := spec_of(symbol.node)) is not None
    }


def spec_of(node: object) -> CallableType | None:
    """Return the type of a hookspec; None for anything else."""
    if isinstance(node, Decorator):
        node = node.func
    if not isinstance(node, FuncDef) or node.type is None:
        return None
    spec = get_proper_type(node.type)
    return spec if isinstance(spec, CallableType) else None


def handle_type(checker: TypeChecker) -> Instance | None:
    """Return the type of the handle that plugins are built with."""
    module: MypyFile | None = checker.modules.get(HANDLE_MODULE)
    symbol = module.names.get("Handle") if module else None
    if symbol is None or not isinstance(symbol.node, TypeInfo):
        return None
    return Instance(symbol.node, [])
