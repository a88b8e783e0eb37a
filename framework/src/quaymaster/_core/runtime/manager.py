"""pluggy's plugin manager, and the objects that are registered with it as plugins.

pluggy rejects a plugin that equals another plugin, so each plugin is registered as an
object that equals no other. pluggy also inspects each name of a plugin and of a
hookspec slowly, without running code of the plugin, and each hook twice. It uses bound
methods in an object's own attributes as they are (measured: the default profile is
built in 6 ms instead of 14). The hookspecs are all functions, so they need no
inspection (0.3 ms instead of 2.2), and they are registered from one module that has no
other names.
"""

from collections.abc import Mapping, Sequence
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Final

import pluggy

from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.contract.hook_marks import PROJECT

__all__ = ["HookManager", "hooks_of"]

_UNUSUAL = (staticmethod, classmethod, MethodType, MemberDescriptorType)
"""The types, besides functions, that pluggy may accept as a hook in a class."""


def _specs() -> ModuleType:
    """Return a module of all hookspecs: pluggy looks up each name of a namespace."""
    specs = ModuleType("hookspecs")
    for point in EXTENSION_POINTS:
        for name, value in vars(point.spec).items():
            if hasattr(value, f"{PROJECT}_spec"):
                setattr(specs, name, value)
    return specs


_SPECS: Final = _specs()


class HookManager(pluggy.PluginManager):
    """A plugin manager that has all hookspecs, and reads marks quickly."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(_SPECS)

    def parse_hookspec_opts(
        self, module_or_class: ModuleType | type, name: str
    ) -> pluggy.HookspecOpts | None:
        """Return the mark of a hookspec, or None."""
        return getattr(vars(module_or_class).get(name), f"{PROJECT}_spec", None)

    def parse_hookimpl_opts(
        self, plugin: object, name: str
    ) -> pluggy.HookimplOpts | None:
        """Return the mark of a hook, or None."""
        if isinstance(plugin, _Hooks):
            return getattr(vars(plugin).get(name), f"{PROJECT}_impl", None)
        return super().parse_hookimpl_opts(plugin, name)


def hooks_of(plugin: object) -> object:
    """Return the object to register for a plugin.

    Returns:
        The plugin's hooks; or the plugin itself, if it may have hooks that are not
        methods of its class.
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


def _is_marked_function(value: object) -> bool:
    is_function = isinstance(value, (FunctionType, MethodType))
    return is_function and hasattr(value, f"{PROJECT}_impl")


def _marked_methods(plugin: object) -> Mapping[str, MethodType] | None:
    """Return the methods that have marks; None if other objects may have marks.

    A mark is an attribute of the function, and most functions have no attributes.
    """
    own: Mapping[str, object] = getattr(plugin, "__dict__", {})
    if any(map(_is_marked_function, own.values())):
        return None
    members: dict[str, object] = {}
    for base in reversed(type(plugin).__mro__):
        members.update(base.__dict__)
    methods: dict[str, MethodType] = {}
    for name, value in members.items():
        if name.startswith("__") or name in own:
            continue
        if isinstance(value, _UNUSUAL):
            return None
        # Only marked functions. pluggy would look at every name of the plugin with
        # `inspect.getattr_static`, and at each hook twice: half of the time that it
        # takes to build a profile.
        if isinstance(value, FunctionType) and value.__dict__:
            methods[name] = MethodType(value, plugin)
    return methods
