"""The kinds of objects that installed plugins and packages declare."""

from collections.abc import Iterator

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import KindError
from quaymaster._core.registry.kinds import kinds_of_plugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["BroughtKind", "brought_kinds"]


@attrs.frozen(kw_only=True)
class BroughtKind:
    """A kind of objects, and its origin.

    Attributes:
        kind: Its class.
        plugin: The plugin that declares it; empty if a package offers it alone.
        owner: The distribution with its version.
    """

    kind: type[ApiObject]
    plugin: str
    owner: str


def brought_kinds(registry: PluginRegistry) -> Iterator[BroughtKind | KindError]:
    """Yield the kinds of all usable plugins, then those of packages.

    Args:
        registry: The installed plugins.

    Returns:
        The kinds; or the error, for a kind of a package that cannot be used.
    """
    for plugin in registry.values():
        if plugin.error is None:
            for kind in kinds_of_plugin(plugin.load()):
                yield BroughtKind(kind=kind, plugin=plugin.name, owner=plugin.owner)
    for offered in registry.kinds:
        try:
            kind = offered.load()
        except KindError as error:
            yield error
        else:
            yield BroughtKind(kind=kind, plugin="", owner=offered.owner)
