"""Passes changes of nodes and pods to a cache, without a queue of pods."""

from abc import ABC, abstractmethod

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._core.state.cache import Cache

__all__ = ["CacheFeed"]


class CacheFeed(ABC):
    """Passes changes to a cache; implements `ChangeHandler`.

    Args:
        cache: The cache.
    """

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    def changed(
        self,
        kind: type[ApiObject],  # noqa: ARG002 - the objects have it
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,  # noqa: ARG002 - a cache treats both alike
    ) -> None:
        """See `ChangeHandler.changed`."""
        if isinstance(new, Node):
            self.cache.add_node(new)
        elif isinstance(new, Pod):
            self.put(new)
        elif isinstance(old, Node):
            self.cache.remove_node(old)
        elif isinstance(old, Pod):
            self.remove(old)

    @abstractmethod
    def put(self, pod: Pod) -> None:
        """Handle a pod that was added or has changed."""

    @abstractmethod
    def remove(self, pod: Pod) -> None:
        """Handle a pod that was deleted."""
