"""What an extender needs to know of its cluster: what runs where."""

from quaymaster._engine.profile_runner import ProfileRunner
from quaymaster._objects import ApiObject, Node, Pod

__all__ = ["CacheFeed"]


class CacheFeed:
    """Tells the cache of nodes and pods; implements `ChangeHandler`.

    Pods that wait are another scheduler's business, but for their nominations.

    Args:
        runner: Whose cache and nominator are told.
    """

    def __init__(self, runner: ProfileRunner) -> None:
        self._cache = runner.cache
        self._nominator = runner.nominator

    def changed(
        self,
        kind: type[ApiObject],  # noqa: ARG002 - the objects tell
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,  # noqa: ARG002 - to a cache it is all the same
    ) -> None:
        """See `ChangeHandler.changed`."""
        if isinstance(new, Node):
            self._cache.add_node(new)
        elif isinstance(new, Pod):
            self._put(new)
        elif new is None and isinstance(old, Node):
            self._cache.remove_node(old)
        elif new is None and isinstance(old, Pod):
            self._remove(old)

    def _put(self, pod: Pod) -> None:
        if pod.is_finished:
            self._remove(pod)
        elif pod.node_name:
            self._cache.add_pod(pod)
            self._nominator.delete(pod)
        else:
            self._nominator.add(pod)

    def _remove(self, pod: Pod) -> None:
        self._cache.remove_pod(pod)
        self._nominator.delete(pod)
