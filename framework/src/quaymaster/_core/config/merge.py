"""Merges the plugins of a profile over the default profile.

Mirrors ``mergePluginSet`` (Kubernetes v1.36,
``pkg/scheduler/apis/config/v1/default_plugins.go``).
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from quaymaster._core.config.document import PluginRef, PluginSet
from quaymaster._core.config.naming import join_path
from quaymaster._core.config.points import PLUGIN_SETS, WILDCARD

__all__ = ["Entry", "EntrySet", "EntrySets", "entry_sets", "merge_sets"]


class Entry(msgspec.Struct, frozen=True):
    """A plugin in a list, with its place in the document.

    Attributes:
        name: The plugin's name.
        weight: Its weight, or None.
        path: The place in the document.
        source: The document.
    """

    name: str
    weight: int | None
    path: str
    source: str


class EntrySet(msgspec.Struct, frozen=True):
    """The plugins that one extension point enables and disables."""

    enabled: tuple[Entry, ...] = ()
    disabled: tuple[Entry, ...] = ()

    @property
    def disables_all(self) -> bool:
        """Whether ``*`` is among the disabled."""
        return any(entry.name == WILDCARD for entry in self.disabled)

    def disables(self, name: str) -> bool:
        """Whether a plugin is disabled by its name."""
        return any(entry.name == name for entry in self.disabled)

    def keep(self, accepts: Callable[[str], bool]) -> "EntrySet":
        """Return the same without the enabled plugins that a predicate rejects."""
        enabled = tuple(entry for entry in self.enabled if accepts(entry.name))
        return replace(self, enabled=enabled)

    def names_and_weights(self) -> tuple[object, ...]:
        """Return the entries of both lists without their places."""
        enabled = tuple((entry.name, entry.weight or 0) for entry in self.enabled)
        return enabled, tuple(entry.name for entry in self.disabled)


EntrySets = Mapping[str, EntrySet]


def entry_sets(plugins: Mapping[str, PluginSet], path: str, source: str) -> EntrySets:
    """Return the entries of a profile's ``plugins``, for every extension point.

    Args:
        plugins: The ``plugins`` of the profile.
        path: Their path: ``profiles[0].plugins``.
        source: The document.
    """
    sets: dict[str, EntrySet] = {}
    for key in PLUGIN_SETS:
        plugin_set = plugins.get(key)
        if not isinstance(plugin_set, PluginSet):
            plugin_set = PluginSet()
        at = join_path(path, key)
        sets[key] = EntrySet(
            _entries(plugin_set.enabled, f"{at}.enabled", source),
            _entries(plugin_set.disabled, f"{at}.disabled", source),
        )
    return sets


def _entries(refs: Iterable[object], path: str, source: str) -> tuple[Entry, ...]:
    return tuple(
        Entry(ref.name, ref.weight, f"{path}[{index}].name", source)
        for index, ref in enumerate(refs)
        if isinstance(ref, PluginRef) and ref.name
    )


def merge_sets(defaults: EntrySets, custom: EntrySets) -> EntrySets:
    """Merge a profile's sets over the default sets."""
    return {key: _merge(defaults[key], custom[key]) for key in PLUGIN_SETS}


def _merge(default: EntrySet, custom: EntrySet) -> EntrySet:
    disabled = custom.disabled + default.disabled
    either = EntrySet((), disabled)
    # If a plugin is repeated, the last entry replaces the default entry. The others
    # stay, and are reported when the lists are expanded.
    replacements = {entry.name: entry for entry in custom.enabled}
    enabled: list[Entry] = []
    used: list[Entry] = []
    if not either.disables_all:
        for entry in default.enabled:
            if either.disables(entry.name):
                continue
            replacement = replacements.get(entry.name)
            if replacement:
                used.append(replacement)
            # At the place of the default entry: a profile that only changes a weight
            # keeps the order of the calls. Entries that replace nothing come last.
            enabled.append(replacement or entry)
    # Identity: the same plugin may be listed twice by equal entries.
    enabled += [
        entry for entry in custom.enabled if not any(entry is other for other in used)
    ]
    return EntrySet(tuple(enabled), disabled)
