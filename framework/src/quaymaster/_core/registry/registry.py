"""The plugins that are installed, found through their entry points.

A distribution offers a plugin in the entry-point group ``quaymaster.plugins``: the
entry's name is the plugin's name in profiles, its value the plugin's class. A class is
imported when it is first needed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeAlias, cast, get_type_hints

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import is_from_outside
from quaymaster._base.suggestions import did_you_mean
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.extension_points import EXTENSION_POINTS, ExtensionPoint
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.hook_calls import HookObserver
from quaymaster._core.contract.hook_marks import first_kubernetes
from quaymaster._core.registry.access import (
    access_problem,
    declares_access,
    in_order,
    reads_of_plugin,
)
from quaymaster._core.registry.kinds import (
    KIND_GROUP,
    RegisteredKind,
    kinds_of_plugin,
    kinds_problem,
)
from quaymaster._core.registry.observers import OBSERVER_GROUP, RegisteredObserver
from quaymaster._core.registry.offers import Offer, offers
from quaymaster._core.registry.plugin_checks import hook_problems, marked_hooks
from quaymaster._core.registry.sdk_range import range_problem

__all__ = [
    "GROUP",
    "DuplicatePluginError",
    "PluginClass",
    "PluginLoadError",
    "PluginRegistry",
    "RegisteredPlugin",
    "UnknownPluginError",
]

GROUP = "quaymaster.plugins"
"""The entry-point group of plugins."""

PluginClass: TypeAlias = Callable[[object, Handle], object]
"""A plugin's class: called with arguments and the handle, it returns the plugin."""


class PluginLoadError(QuaymasterError, ImportError):
    """An installed plugin that cannot be used.

    Attributes:
        plugin: The plugin's name.
        distribution: The distribution that offers it.
        origin: The entry point's value.
        problem: All problems in one line.
        problems: The problems, one by one.
    """

    def __init__(self, plugin: "RegisteredPlugin", *problems: str) -> None:
        self.problem = "; ".join(problems)
        hint = f"; {plugin.range_problem}" if plugin.range_problem else ""
        super().__init__(
            f"{plugin}, entry point {plugin.origin!r}: {self.problem}{hint}"
        )
        self.plugin = plugin.name
        self.distribution = plugin.distribution
        self.origin = plugin.origin
        self.problems = problems


class DuplicatePluginError(QuaymasterError):
    """One plugin name that several installed distributions offer.

    Attributes:
        plugin: The name.
        offers: The plugins with that name.
    """

    def __init__(self, offers: Iterable["RegisteredPlugin"]) -> None:
        self.offers = tuple(offers)
        self.plugin = self.offers[0].name
        owners = " and ".join(
            f"{offer.owner} ({offer.origin})" for offer in self.offers
        )
        super().__init__(
            f"plugin {self.plugin!r} is offered by {owners}; uninstall all but one"
        )


class UnknownPluginError(QuaymasterError, KeyError):
    """A plugin name that no installed distribution offers.

    Attributes:
        plugin: The name.
        installed: The names that are installed.
    """

    def __init__(self, plugin: str, installed: Iterable[str]) -> None:
        self.plugin = plugin
        self.installed = tuple(installed)
        super().__init__(plugin)

    def __str__(self) -> str:
        names = ", ".join(self.installed) or "none"
        hint = did_you_mean(self.plugin, self.installed)
        return f"unknown plugin {self.plugin!r} (installed: {names}){hint}"


# Without slots: attrs looks up cached properties of slotted classes slowly.
@attrs.frozen(kw_only=True, eq=False, slots=False)
class RegisteredPlugin:
    """One plugin that profiles may name; its class is imported when first needed.

    Attributes:
        name: Its name in profiles.
        distribution: The distribution that offers it; empty for a class from code.
        version: That distribution's version.
        requires: That distribution's requirements, as in its metadata.
        origin: The location of the class: ``package.module:Class``.
    """

    name: str
    distribution: str = ""
    version: str = ""
    requires: Sequence[str] = ()
    origin: str
    _find: Callable[[], object] = attrs.field(repr=False)

    @classmethod
    def from_offer(cls, offer: Offer) -> "RegisteredPlugin":
        """Return the plugin of an entry point."""
        return cls(
            name=offer.entry.name,
            distribution=offer.distribution,
            version=offer.version,
            requires=offer.requires,
            origin=offer.entry.value,
            find=offer.entry.load,
        )

    def __str__(self) -> str:
        return f"plugin {self.name!r} ({self.owner or self.origin})"

    @property
    def owner(self) -> str:
        """The distribution with its version, or empty."""
        return f"{self.distribution} {self.version}".strip()

    @cached_property
    def range_problem(self) -> str:
        """Why its distribution excludes the installed framework, or empty."""
        return range_problem(self.owner, self.requires)

    def load(self) -> type:
        """Import the plugin's class.

        Raises:
            PluginLoadError: It cannot be imported, or is not a plugin class.
        """
        if isinstance(self._loaded, PluginLoadError):
            raise self._loaded
        return self._loaded

    @property
    def error(self) -> PluginLoadError | None:
        """Why the plugin cannot be used, or None."""
        return self._loaded if isinstance(self._loaded, PluginLoadError) else None

    @property
    def has_failed(self) -> bool:
        """Whether the plugin has turned out to be unusable; imports nothing."""
        return isinstance(vars(self).get("_loaded"), PluginLoadError)

    @property
    def args_class(self) -> type | None:
        """The attrs class of its arguments, or None if it takes none."""
        args: type | None = getattr(self.load(), "Args", None)
        return args

    @cached_property
    def extension_points(self) -> tuple[ExtensionPoint, ...]:
        """The extension points of its hooks, in the order of the calls."""
        return tuple(
            point
            for point in EXTENSION_POINTS
            if not self._hooks.isdisjoint(point.hooks)
        )

    def extends(self, key: str, kubernetes: Kubernetes | None = None) -> bool:
        """Whether it has a hook for an extension point.

        Args:
            key: The key of the extension point.
            kubernetes: The version of Kubernetes to follow, since later versions added
                hooks; by default any.
        """
        return any(
            kubernetes is None or kubernetes.since(version)
            for version in self._first_versions.get(key, ())
        )

    @cached_property
    def _first_versions(self) -> Mapping[str, Set[str]]:
        """The first Kubernetes versions of the hooks, by key of extension point.

        A profile asks for each point, and again for each wildcard.
        """
        plugin = self.load()
        versions: dict[str, set[str]] = {}
        for point in self.extension_points:
            versions.setdefault(point.key, set()).update(
                first_kubernetes(getattr(plugin, hook))
                for hook in self._hooks.intersection(point.hooks)
            )
        return versions

    @cached_property
    def _hooks(self) -> frozenset[str]:
        return frozenset(marked_hooks(self.load()))

    @cached_property
    def _loaded(self) -> type | PluginLoadError:
        try:
            plugin = self._find()
        except BaseException as error:
            if is_from_outside(error):
                raise
            # Some errors, such as syntax errors, have several lines.
            cause = " ".join(str(error).split())
            problem = f"could not be imported: {type(error).__name__}: {cause}"
            failure = PluginLoadError(self, problem)
            failure.__cause__ = error
            return failure
        return self._checked(plugin)

    def _checked(self, plugin: object) -> type | PluginLoadError:
        if not isinstance(plugin, type):
            return PluginLoadError(
                self,
                "expected a class that is built with (args, handle), got "
                f"{type(plugin).__name__} {getattr(plugin, '__name__', plugin)!r}",
            )
        problem = _problem_with_args(plugin) or kinds_problem(plugin)
        problem = problem or access_problem(plugin)
        problems = [problem] if problem else list(hook_problems(plugin))
        return PluginLoadError(self, *problems) if problems else plugin


def _problem_with_args(plugin: type) -> str:
    args = getattr(plugin, "Args", None)
    if args is None:
        return ""
    if not (isinstance(args, type) and attrs.has(args)):
        return f"{plugin.__name__}.Args: expected an attrs class, got {args!r}"
    try:
        get_type_hints(args)
    except Exception as error:
        remedy = "import the names in its annotations at run time"
        return f"{args.__name__}: {error} ({remedy})"
    return ""


class PluginRegistry(Mapping[str, RegisteredPlugin]):
    """The plugins that profiles may name, by name, in alphabetical order.

    A registry never changes; `with_plugin` returns a new registry.
    """

    def __init__(
        self,
        plugins: Iterable[RegisteredPlugin] = (),
        kinds: Iterable[RegisteredKind] = (),
        observers: Iterable[RegisteredObserver] = (),
    ) -> None:
        """Create a registry of plugins, and of kinds and observers without a plugin.

        Raises:
            DuplicatePluginError: Two of them have the same name.
        """
        by_name: dict[str, list[RegisteredPlugin]] = {}
        for plugin in plugins:
            by_name.setdefault(plugin.name, []).append(plugin)
        for same in by_name.values():
            if len(same) > 1:
                raise DuplicatePluginError(sorted(same, key=lambda item: item.owner))
        self._plugins = {name: by_name[name][0] for name in sorted(by_name)}
        self._kinds = tuple(kinds)
        self._observers = tuple(sorted(observers, key=lambda item: item.name))

    @classmethod
    def discover(cls) -> "PluginRegistry":
        """Find the plugins, kinds and observers of all installed distributions.

        Raises:
            DuplicatePluginError: Two distributions offer the same name.
        """
        return cls(
            map(RegisteredPlugin.from_offer, offers(GROUP)),
            map(RegisteredKind.from_offer, offers(KIND_GROUP)),
            map(RegisteredObserver.from_offer, offers(OBSERVER_GROUP)),
        )

    @classmethod
    def of(cls, plugins: Mapping[str, type]) -> "PluginRegistry":
        """Return a registry of only these classes, without the installed plugins."""
        return cls(_from_class(name, plugin) for name, plugin in plugins.items())

    def with_plugin(self, plugin: type, name: str | None = None) -> "PluginRegistry":
        """Return a registry with the same plugins and one more.

        Args:
            plugin: The plugin's class.
            name: Its name in profiles, by default the class's name. A plugin that
                has this name already is replaced.
        """
        added = _from_class(name or plugin.__name__, plugin)
        plugins = {**self._plugins, added.name: added}
        return PluginRegistry(plugins.values(), self._kinds, self._observers)

    def kinds_of(self, plugins: Iterable[str]) -> Sequence[type[ApiObject]]:
        """Return the kinds that some plugins and all packages declare, each once.

        Args:
            plugins: The names of the plugins.

        Raises:
            KindError: A kind is not valid, or is declared by two classes.
            UnknownPluginError: No installed distribution offers such a plugin.
            PluginLoadError: A plugin cannot be used.
        """
        kinds = [kind.load() for kind in self._kinds]
        for name in plugins:
            kinds += kinds_of_plugin(self[name].load())
        return tuple(KindSet(kinds))

    def read_by(self, plugins: Iterable[str]) -> Sequence[type[ApiObject]]:
        """Return the kinds to follow for some plugins, in the order of their changes.

        For a plugin that does not declare its reads, these are the usual kinds and
        those of all packages.

        Args:
            plugins: The names of the plugins.

        Raises:
            KindError: A kind is not valid, or is declared by two classes.
            UnknownPluginError: No installed distribution offers such a plugin.
            PluginLoadError: A plugin cannot be used.
        """
        classes = [self[name].load() for name in plugins]
        kinds: list[type[ApiObject]] = []
        if not all(map(declares_access, classes)):
            kinds += [kind.load() for kind in self._kinds]
        kinds += [kind for plugin in classes for kind in reads_of_plugin(plugin)]
        return tuple(KindSet(in_order(kinds)))

    def make_observers(self) -> Sequence[HookObserver]:
        """Build the observers of hooks of all distributions, in the order of names.

        Raises:
            ObserverError: One cannot be imported or built, or is not an observer.
        """
        return [observer.make() for observer in self._observers]

    def __getitem__(self, name: str) -> RegisteredPlugin:
        """Return the plugin of this name.

        Raises:
            UnknownPluginError: No installed distribution offers it.
        """
        try:
            return self._plugins[name]
        except KeyError:
            raise UnknownPluginError(name, self._plugins) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def __len__(self) -> int:
        return len(self._plugins)

    def load(self, name: str) -> PluginClass:
        """Return the class of a plugin, which is called with ``(args, handle)``.

        Raises:
            UnknownPluginError: No installed distribution offers it.
            PluginLoadError: It cannot be imported, or is not a plugin class.
        """
        return cast(PluginClass, self[name].load())

    def describe(self, name: str) -> str:
        """Return the name of a plugin and its distribution, for messages."""
        plugin = self._plugins.get(name)
        return str(plugin) if plugin else f"plugin {name!r} (not installed)"

    @property
    def kinds(self) -> tuple[RegisteredKind, ...]:
        """The kinds that packages offer without any plugin."""
        return self._kinds

    @property
    def warnings(self) -> tuple[str, ...]:
        """Import all plugins; return a line for each error and each wrong range.

        A plugin that cannot be imported has a line of its own. A distribution that
        excludes the installed framework has one for all of its plugins.
        """
        plugins = self._plugins.values()
        errors = [str(plugin.error) for plugin in plugins if plugin.error]
        ranges = [plugin.range_problem for plugin in plugins if not plugin.error]
        return tuple(dict.fromkeys(filter(None, [*errors, *ranges])))


def _from_class(name: str, plugin: type) -> RegisteredPlugin:
    origin = f"{plugin.__module__}:{plugin.__qualname__}"
    return RegisteredPlugin(name=name, origin=origin, find=lambda: plugin)
