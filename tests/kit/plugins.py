"""Plugins that do nothing, for profiles that need them."""

from quaymaster import hookimpl

__all__ = ["Bind", "Sort"]


class Sort:
    """Sorts the queue, if anybody asked it to."""

    @hookimpl
    def queue_sort(self) -> None: ...


class Bind:
    """Binds pods, if anybody asked it to."""

    @hookimpl
    def bind(self) -> None: ...
