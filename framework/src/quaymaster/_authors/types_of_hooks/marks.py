"""Recognises `hookimpl` among the decorators of a method."""

from typing import Final

from mypy.nodes import CallExpr, Decorator, Expression, MemberExpr, NameExpr

__all__ = ["is_marked"]

_MARK: Final = "hookimpl"


def is_marked(method: Decorator) -> bool:
    """Whether a method has the mark, possibly with options or for one hook."""
    decorators = [*method.original_decorators, *method.decorators]
    return any(map(_is_mark, decorators))


def _is_mark(decorator: Expression) -> bool:
    if isinstance(decorator, CallExpr):
        return _is_mark(decorator.callee)
    if isinstance(decorator, MemberExpr):
        return decorator.name == _MARK or _is_mark(decorator.expr)
    return isinstance(decorator, NameExpr) and _MARK in (
        decorator.name,
        decorator.fullname.rpartition(".")[2],
    )
