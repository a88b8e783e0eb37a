"""Finds methods that are named like a hook but have no mark."""

from collections.abc import Iterator
from typing import Final

from mypy.nodes import ClassDef, Decorator, FuncDef
from mypy.plugin import ClassDefContext
from mypy.types import CallableType, Type, UnboundType

from quaymaster._authors.types_of_hooks.marks import is_marked
from quaymaster._authors.types_of_hooks.specs import HOOK
from quaymaster._core.contract.extension_points import EXTENSION_POINTS

__all__ = ["report_unmarked_hooks"]

_HOOKS: Final = frozenset(hook for point in EXTENSION_POINTS for hook in point.hooks)


def report_unmarked_hooks(context: ClassDefContext) -> None:
    """Report the methods of a plugin that the framework will never call.

    Args:
        context: A class. It is a plugin if one of its methods is marked, or if its
            constructor takes a handle.
    """
    unmarked = list(_unmarked(context.cls))
    if not unmarked or not _is_plugin(context.cls):
        return
    for method in unmarked:
        text = f'method "{method.name}" has the name of a hook, but no @hookimpl'
        context.api.fail(text, method, code=HOOK)


def _unmarked(definition: ClassDef) -> Iterator[FuncDef]:
    for statement in definition.defs.body:
        if isinstance(statement, FuncDef) and statement.name in _HOOKS:
            yield statement


def _is_plugin(definition: ClassDef) -> bool:
    return any(
        (isinstance(statement, Decorator) and is_marked(statement))
        or (isinstance(statement, FuncDef) and _takes_handle(statement))
        for statement in definition.defs.body
    )


def _takes_handle(method: FuncDef) -> bool:
    """Whether a method is a constructor with an argument of the type `Handle`."""
    signature = method.unanalyzed_type or method.type
    if method.name != "__init__" or not isinstance(signature, CallableType):
        return False
    return any(map(_is_handle, signature.arg_types))


def _is_handle(kind: Type) -> bool:
    # Types have no full names yet when mypy looks at a class for the first time.
    return isinstance(kind, UnboundType) and kind.name.split(".")[-1] == "Handle"
