"""The hooks of a profile's plugins, by the rules of pluggy.

pluggy checks each function of a plugin once in a process, and calls the wrappers. A new
scheduler, in a test or in a loop of simulations, has the same functions again
(measured: 0.1 ms for the default profile instead of 1.4, half of the time that it took
to build it).

pluggy rejects a plugin that equals another plugin, so each plugin is registered as an
object that equals no other. pluggy also inspects each name of a plugin and of a
hookspec slowly, without running code of the plugin, and each hook twice. It uses bound
methods in an object's own attributes as they are (measured: 6 ms instead of 14). The
hookspecs are all functions, so they need no inspection (0.3 ms instead of 2.2), and
they are registered from one module that has no other names.
"""

import functools
from collections.abc import Container, Mapping, Sequence
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import msgspec
import pluggy

from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.contract.hook_marks import PROJECT
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["HookManager", "Implementation"]

_Specs: TypeAlias = ModuleType | type
"""A namespace of hookspecs."""

_IMPL: Final = f"{PROJECT}_impl"
"""The attribute of a function that marks it as an implementation of a hook."""

_ROUTINES: Final = (
    FunctionType,
    staticmethod,
    classmethod,
    MethodType,
    MemberDescriptorType,
)
"""The types that pluggy may accept as a hook in a class."""


def _specs() -> ModuleType:
    """Return a module of all hookspecs: pluggy looks up each name of a namespace."""
    specs = ModuleType("hookspecs")
    for point in EXTENSION_POINTS:
        for name, value in vars(point.spec).items():
            if hasattr(value, f"{PROJECT}_spec"):
                setattr(specs, name, value)
    return specs


_SPECS: Final = _specs()


class _Form(msgspec.Struct, frozen=True):
    """What pluggy reads of a function that implements a hook."""

    hook: str
    argnames: tuple[str, ...]
    is_wrapper: bool


class Implementation(msgspec.Struct, frozen=True):
    """A plugin's function for a hook.

    Attributes:
        plugin: The plugin's name.
        function: The function; a method is bound to the plugin.
        argnames: The arguments of the hook that it takes.
        is_wrapper: Whether it wraps the hooks of other plugins.
    """

    plugin: str
    function: HookFunction
    argnames: tuple[str, ...]
    is_wrapper: bool


_FORMS: Final[WeakKeyDictionary[FunctionType, dict[str, _Form]]] = WeakKeyDictionary()
"""Function that pluggy has accepted -> its name in a plugin -> its form."""


class HookManager:
    """The hooks of plugins, in the order in which the plugins are registered.

    Args:
        specs: The hookspecs; by default those of all extension points.
    """

    def __init__(self, specs: _Specs = _SPECS) -> None:
        self._specs = specs
        self._plugins: dict[str, object] = {}
        self._implementations: dict[str, list[Implementation]] = {}
        self._pluggy: pluggy.PluginManager | None = None

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin.

        Args:
            plugin: The plugin.
            name: Its name, which no other plugin has.

        Raises:
            pluggy.PluginValidationError: The hook does not exist, or lacks an
                argument.
            ValueError: The plugin equals another one.
        """
        hooks = _hooks_of(plugin)
        forms = self._forms(hooks)
        if forms is None:
            forms = self._check(hooks, name)
        elif self._pluggy is not None:
            self._pluggy.register(hooks, name)
        self._plugins[name] = hooks
        for function, form in forms:
            self._implementations.setdefault(form.hook, []).append(
                Implementation(name, function, form.argnames, form.is_wrapper)
            )

    def implementations(self, hook: str) -> Sequence[Implementation]:
        """Return the functions for a hook, with the wrappers."""
        return self._implementations.get(hook, ())

    def offered(self, hook: str) -> tuple[str, ...]:
        """Return the names of a hook's arguments."""
        return _offered(self._specs)[hook]

    def wrapped(self, hook: str, plugins: Container[str]) -> HookFunction:
        """Return pluggy's caller of a hook, which calls wrappers around it.

        Args:
            hook: The hook.
            plugins: The names of the plugins that it calls.
        """
        others = [hooks for name, hooks in self._plugins.items() if name not in plugins]
        return self._with_pluggy().subset_hook_caller(hook, others)

    def _with_pluggy(self) -> pluggy.PluginManager:
        """Return a manager of pluggy that has the same plugins."""
        if self._pluggy is None:
            self._pluggy = _PluggyManager(self._specs)
            for name, hooks in self._plugins.items():
                self._pluggy.register(hooks, name)
        return self._pluggy

    def _forms(self, hooks: object) -> Sequence[tuple[HookFunction, _Form]] | None:
        """Return the functions of a plugin; None if pluggy has not accepted them."""
        if not isinstance(hooks, _Hooks) or self._specs is not _SPECS:
            return None
        forms: list[tuple[HookFunction, _Form]] = []
        for name, function in hooks._functions.items():
            form = _FORMS.get(function, {}).get(name)
            if form is None:
                return None
            forms.append((getattr(hooks, name), form))
        return forms

    def _check(self, hooks: object, name: str) -> Sequence[tuple[HookFunction, _Form]]:
        """Let pluggy check a plugin, and return its functions."""
        manager = self._with_pluggy()
        manager.register(hooks, name)
        manager.check_pending()
        forms = [
            (impl.function, _Form(hook, tuple(impl.argnames), _is_wrapper(impl)))
            for hook in _offered(self._specs)
            for impl in getattr(manager.hook, hook).get_hookimpls()
            if impl.plugin_name == name
        ]
        if isinstance(hooks, _Hooks) and self._specs is _SPECS:
            by_function = {id(function): form for function, form in forms}
            for attribute, function in hooks._functions.items():
                form = by_function.get(id(getattr(hooks, attribute)))
                if form is not None:
                    _FORMS.setdefault(function, {})[attribute] = form
        return forms


def _is_wrapper(impl: pluggy.HookImpl) -> bool:
    return impl.wrapper or impl.hookwrapper


@functools.cache
def _offered(specs: _Specs) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the arguments of each hook."""
    relay = _PluggyManager(specs).hook
    return {
        hook: tuple(caller.spec.argnames)
        for hook, caller in vars(relay).items()
        if isinstance(caller, pluggy.HookCaller) and caller.spec is not None
    }


class _PluggyManager(pluggy.PluginManager):
    """pluggy's manager; it has all hookspecs, and reads marks quickly."""

    def __init__(self, specs: _Specs) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(specs)

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
            return getattr(vars(plugin).get(name), _IMPL, None)
        return super().parse_hookimpl_opts(plugin, name)


def _hooks_of(plugin: object) -> object:
    """Return the object to register for a plugin.

    Returns:
        The plugin's hooks; or the plugin itself, if it may have hooks that are not
        methods of its class.
    """
    functions = _marked_functions(plugin)
    return plugin if functions is None else _Hooks(plugin, functions)


class _Hooks:
    """The hooks of a plugin, without its other attributes.

    Args:
        plugin: The plugin.
        functions: Name -> the function of its class. The attribute of this name is the
            method.
    """

    __slots__ = ("__dict__", "_functions", "_plugin")

    def __init__(self, plugin: object, functions: Mapping[str, FunctionType]) -> None:
        self._plugin = plugin
        self._functions = functions
        for name, function in functions.items():
            self.__dict__[name] = MethodType(function, plugin)

    def __dir__(self) -> Sequence[str]:
        return list(self.__dict__)

    def __repr__(self) -> str:
        return repr(self._plugin)


def _is_marked_function(value: object) -> bool:
    is_function = isinstance(value, (FunctionType, MethodType))
    return is_function and hasattr(value, _IMPL)


def _marked_functions(plugin: object) -> Mapping[str, FunctionType] | None:
    """Return the functions that have marks; None if other objects may have marks.

    A mark is an attribute of the function, and most functions have no attributes.
    """
    own: Mapping[str, object] = getattr(plugin, "__dict__", {})
    if any(map(_is_marked_function, own.values())):
        return None
    members: dict[str, object] = {}
    for base in reversed(type(plugin).__mro__[:-1]):  # the last is `object`
        members.update(base.__dict__)
    functions: dict[str, FunctionType] = {}
    for name, value in members.items():
        # pluggy would look at every name of the plugin with `inspect.getattr_static`,
        # and at each hook twice: half of the time that it took to build a profile.
        if not isinstance(value, _ROUTINES):
            continue
        if name.startswith("__") or name in own:
            continue
        if not isinstance(value, FunctionType):
            return None
        if hasattr(value, _IMPL):
            functions[name] = value
    return functions
