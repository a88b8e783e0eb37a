"""The plugins that are installed, found through their entry points.

A distribution offers a plugin in the entry-point group ``quaymaster.plugins``: the
entry's name is the plugin's name in profiles, its value the plugin's class. A class is
imported when it is first needed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.contract.hook_calls import HookObserver
from quaymaster._core.registry.access import (
    declares_access,
    in_order,
    reads_of_plugin,
)
from quaymaster._core.registry.kinds import (
    KIND_GROUP,
    RegisteredKind,
    kinds_of_plugin,
)
from quaymaster._core.registry.observers import OBSERVER_GROUP, RegisteredObserver
from quaymaster._core.registry.offers import offers
from quaymaster._core.registry.registered import PluginClass, RegisteredPlugin

__all__ = [
    "GROUP",
    "DuplicatePluginError",
    "PluginRegistry",
    "UnknownPluginError",
]

GROUP = "quaymaster.plugins"
"""The entry-point group of plugins."""


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
        # Sorted, because entry points come in the order of directories, which differs
        # between machines.
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

    def with_kinds(self, kinds: Iterable[type[ApiObject]]) -> "PluginRegistry":
        """Return a registry with the same plugins, and more kinds of objects.

        Args:
            kinds: The classes of the kinds.
        """
        added = map(RegisteredKind.from_class, kinds)
        return PluginRegistry(
            self._plugins.values(), (*self._kinds, *added), self._observers
        )

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
