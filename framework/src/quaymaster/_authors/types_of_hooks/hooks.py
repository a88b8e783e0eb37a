"""Compares a marked method with the hookspec of its name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mypy.checker import TypeChecker
from mypy.messages import format_type
from mypy.nodes import ARG_NAMED, ARG_POS, ARG_STAR, ARG_STAR2, FuncDef
from mypy.plugin import MethodContext
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    Type,
    UnionType,
    get_proper_type,
)

from quaymaster._authors.types_of_hooks.constructors import constructor_problem
from quaymaster._authors.types_of_hooks.specs import HOOK, hook_types
from quaymaster._base.suggestions import did_you_mean

__all__ = ["check_hook"]

_ITERATED: Final = frozenset({"events_to_register"})
"""Hooks that may be generators."""


def check_hook(context: MethodContext) -> Type:
    """Report what is wrong with a method that `hookimpl` marks.

    Args:
        context: The call of the mark.

    Returns:
        The type of the marked method, which is unchanged.
    """
    checker = context.api
    assert isinstance(checker, TypeChecker)
    method = _method_of(context)
    specs = hook_types(checker)
    # A partial run of mypy may lack the hookspecs.
    if method is not None and specs:
        for problem in _problems(method, specs, checker):
            checker.fail(problem, context.context, code=HOOK)
        _check_constructor(method, checker)
    return context.default_return_type


def _method_of(context: MethodContext) -> CallableType | None:
    """Return the marked method; None if the call passes options or no method."""
    types = [kind for kinds in context.arg_types for kind in kinds]
    if len(types) != 1:
        return None
    method = get_proper_type(types[0])
    if not isinstance(method, CallableType):
        return None
    definition = method.definition
    is_method = isinstance(definition, FuncDef) and bool(definition.info)
    return method if is_method else None


def _check_constructor(method: CallableType, checker: TypeChecker) -> None:
    """Check the constructor of the class, once: beside its first marked method."""
    definition = method.definition
    assert isinstance(definition, FuncDef)
    problem = constructor_problem(definition, checker)
    if problem is not None:
        text, place = problem
        checker.fail(text, place, code=HOOK)


def _problems(
    method: CallableType, specs: Mapping[str, CallableType], checker: TypeChecker
) -> Iterator[str]:
    definition = method.definition
    assert definition is not None
    spec = specs.get(definition.name)
    if spec is None:
        hint = did_you_mean(definition.name, specs)
        yield f'no hook is called "{definition.name}"{hint}'
        return
    yield from _argument_problems(definition.name, method, spec, checker)
    yield from _result_problems(definition.name, method, spec, checker)


def _argument_problems(
    hook: str, method: CallableType, spec: CallableType, checker: TypeChecker
) -> Iterator[str]:
    offered = dict(zip(spec.arg_names[1:], spec.arg_types[1:], strict=True))
    names = [name for name in offered if name]
    arguments = zip(
        method.arg_names[1:], method.arg_types[1:], method.arg_kinds[1:], strict=True
    )
    for name, kind, how in arguments:
        if how in (ARG_STAR, ARG_STAR2):
            yield f'hook "{hook}": *{name} never gets a value'
        elif name not in offered:
            if how in (ARG_POS, ARG_NAMED):
                yield _unknown(hook, str(name), names)
        elif not is_subtype(offered[name], kind):
            expected = format_type(offered[name], checker.options)
            actual = format_type(kind, checker.options)
            yield f'hook "{hook}": argument "{name}" is {expected}, not {actual}'
        elif how != ARG_POS:
            yield f'hook "{hook}": argument "{name}" must be plain, without a default'


def _unknown(hook: str, name: str, names: Sequence[str]) -> str:
    hint = did_you_mean(name, names) or f"; it has {', '.join(names) or 'none'}"
    return f'hook "{hook}" has no argument "{name}"{hint}'


def _result_problems(
    hook: str, method: CallableType, spec: CallableType, checker: TypeChecker
) -> Iterator[str]:
    result = get_proper_type(method.ret_type)
    expected = spec.ret_type
    if isinstance(result, AnyType):
        return
    if hook in _ITERATED and _is_iterated(result, expected):
        return
    if not is_subtype(result, expected) or _has_bool(result, expected):
        formatted = format_type(expected, checker.options)
        actual = format_type(result, checker.options)
        yield f'hook "{hook}" returns {formatted}, not {actual}'


def _is_iterated(result: Type, expected: Type) -> bool:
    """Whether a generator yields what a sequence is expected to have."""
    sequence = get_proper_type(expected)
    if not isinstance(result, Instance) or not isinstance(sequence, Instance):
        return False
    kinds = ("typing.Iterator", "typing.Iterable", "typing.Generator")
    return result.type.fullname in kinds and is_subtype(
        result.args[0], sequence.args[0]
    )


def _has_bool(result: Type, expected: Type) -> bool:
    """Whether a bool would count as a number, which the framework rejects."""
    return "builtins.bool" in _classes(result) and not (
        {"builtins.bool", "builtins.object", "typing.Hashable"} & _classes(expected)
    )


def _classes(kind: Type) -> set[str]:
    kind = get_proper_type(kind)
    if isinstance(kind, UnionType):
        return {name for item in kind.items for name in _classes(item)}
    return {kind.type.fullname} if isinstance(kind, Instance) else set()
