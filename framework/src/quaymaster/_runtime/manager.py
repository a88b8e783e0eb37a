"""What pluggy is given to look through, so that it finds hooks fast.

pluggy looks at every name of a plugin the slow way, so as to run no code of it, and at
each hook twice (measured: more than half of the time that it takes to build a profile).
Methods that an object holds by itself, already bound, it takes as they are.
"""

from collections.abc import Mapping, Sequence
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType

import pluggy

__all__ = ["PluginManager", "hooks_of"]

_UNUSUAL = (staticmethod, classmethod, MethodType, MemberDescriptorType)
"""What pluggy may find a hook behind in a class, beside functions."""


class PluginManager(pluggy.PluginManager):
    """Looks for hooks behind ordinary names only; most of a class are Python's own."""

    def parse_hookspec_opts(
        self, module_or_class: ModuleType | type, name: str
    ) -> pluggy.HookspecOpts | None:
        """What a specification says of itself, or None if it is not one."""
        if name.startswith("__"):
            return None
        return super().parse_hookspec_opts(module_or_class, name)

    def parse_hookimpl_opts(
        self, plugin: object, name: str
    ) -> pluggy.HookimplOpts | None:
        """What an implementation says of itself, or None if it is not one."""
        if name.startswith("__"):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def hooks_of(plugin: object) -> object:
    """What to register in a plugin's place.

    Returns:
        The plugin's hooks; or the plugin itself, if there may be hooks behind anything
        but methods of its class.
    """
    methods = _marked_methods(plugin)
    return plugin if methods is None else _Hooks(plugin, methods)


class _Hooks:
    """The hooks of a plugin, and nothing else of it."""

    def __init__(self, plugin: object, methods: Mapping[str, MethodType]) -> None:
        self.__dict__.update(methods)
        self.__plugin = plugin

    def __dir__(self) -> Sequence[str]:
        return list(self.__dict__)

    def __repr__(self) -> str:
        return repr(self.__plugin)


def _marked_methods(plugin: object) -> Mapping[str, MethodType] | None:
    """The methods that somebody has marked as something, or None if it has others.

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
