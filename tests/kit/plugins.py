"""Plugins that do nothing, for profiles that need them."""

from quaymaster import hookimpl

__all__ = ["Bind", "Sort"]


class Sort:
    """Is enabled as the plugin that sorts the queue; its hook is never called."""

    @hookimpl
    def queue_sort(self) -> None: ...


class Bind:
    """Is enabled as the plugin that binds pods; its hook is never called."""

    @hookimpl
    def bind(self) -> None: ...
