"""The names of callbacks, for messages."""

import inspect
from collections.abc import Callable
from functools import partial

__all__ = ["callback_name"]


def callback_name(callback: Callable[..., object]) -> str:
    """Return the module and the name of a callback, which identify a plugin."""
    inner = inspect.unwrap(callback)
    while isinstance(inner, partial):
        inner = inspect.unwrap(inner.func)
    module = getattr(inner, "__module__", "")
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    return f"{module}.{name}"
