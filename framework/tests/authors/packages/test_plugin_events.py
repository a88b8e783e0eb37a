"""``plugins list`` shows which events wake the pods that a plugin rejects."""

from typing import Any

import attrs
import pytest

from quaymaster import Change, Handle, NodeInfo, Status, hookimpl, on_node
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.packages import declared_events


class Scorer:
    """Rejects nothing."""

    def __init__(self, args: object, handle: Handle) -> None: ...

    @hookimpl
    def score(self) -> int:
        return 0


class Silent(Scorer):
    """Rejects, and registers nothing."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None


class Empty(Silent):
    """Rejects, and registers an empty list."""

    @hookimpl
    def events_to_register(self) -> list[Any]:
        return []


class Listing(Silent):
    """Rejects, and has a list."""

    @hookimpl
    def events_to_register(self) -> list[Any]:
        return [on_node(Change.ADD)]


@attrs.frozen(kw_only=True)
class NeedyArgs:
    zone: str


class Needy(Listing):
    """Cannot be built without arguments."""

    Args = NeedyArgs


class Broken(Silent):
    """Fails in ``events_to_register``."""

    @hookimpl
    def events_to_register(self) -> list[Any]:
        raise KeyError("tier")


@pytest.mark.parametrize(
    ("plugin", "word"),
    [
        (Scorer, "-"),
        (Silent, "all"),
        (Empty, "none"),
        (Listing, "list"),
        (Needy, "?"),
        (Broken, "?"),
    ],
)
def test_events_of_a_plugin_are_shown_as_one_word(plugin: type, word: str) -> None:
    registry = PluginRegistry.of({"Plugin": plugin})
    assert declared_events(registry["Plugin"]) == word


@pytest.mark.long
def test_every_built_in_plugin_that_rejects_registers_events() -> None:
    rejecting = {"preEnqueue", "preFilter", "filter", "reserve", "permit"}
    assert rejecting < {point.key for point in EXTENSION_POINTS}
    for plugin in PluginRegistry.discover().values():
        if any(point.key in rejecting for point in plugin.extension_points):
            assert declared_events(plugin) in ("list", "none"), plugin.name
