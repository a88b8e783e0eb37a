"""Checks that the framework can build a plugin: ``plugin(args, handle)``."""

from mypy.checker import TypeChecker
from mypy.nodes import Context, Decorator, FuncDef, TypeInfo
from mypy.subtypes import is_subtype
from mypy.types import CallableType, get_proper_type

from quaymaster._authors.types_of_hooks.marks import is_marked
from quaymaster._authors.types_of_hooks.specs import handle_type

__all__ = ["constructor_problem"]

_ARGUMENTS = 2
"""The arguments of a plugin, and the handle."""


def constructor_problem(
    method: FuncDef, checker: TypeChecker
) -> tuple[str, Context] | None:
    """Return what is wrong with the constructor of a class, and where.

    Args:
        method: A marked method; only the first of a class has an answer.
        checker: The type checker.
    """
    info = method.info
    # Identity: mypy has one object for each definition, here and below.
    if info.is_abstract or info.is_protocol or _first_marked(info) is not method:
        return None
    constructor = info.get_method("__init__")
    if constructor is None or constructor.info.fullname == "builtins.object":
        return f'"{info.name}" has no constructor: {_EXPECTED}', info
    function = constructor.func if isinstance(constructor, Decorator) else constructor
    if not isinstance(function, FuncDef) or function.type is None:
        return None
    signature = get_proper_type(function.type)
    if not isinstance(signature, CallableType) or _may_be_called(signature, checker):
        return None
    # Identity: as above.
    place: Context = function if function.info is info else info
    return f'"{info.name}" cannot be built: {_EXPECTED}', place


_EXPECTED = "the framework calls it with (args, handle)"


def _first_marked(info: TypeInfo) -> FuncDef | None:
    return next(
        (
            statement.func
            for statement in info.defn.defs.body
            if isinstance(statement, Decorator) and is_marked(statement)
        ),
        None,
    )


def _may_be_called(signature: CallableType, checker: TypeChecker) -> bool:
    """Whether a constructor takes the arguments and a handle, and needs no more."""
    required = signature.min_args - 1
    if required > _ARGUMENTS or _has_required_names(signature):
        return False
    if signature.is_var_arg:
        return True
    positional = signature.max_possible_positional_args() - 1
    if positional < _ARGUMENTS:
        return False
    handle = handle_type(checker)
    return handle is None or is_subtype(handle, signature.arg_types[_ARGUMENTS])


def _has_required_names(signature: CallableType) -> bool:
    kinds = signature.arg_kinds
    return any(kind.is_named() and not kind.is_optional() for kind in kinds)
