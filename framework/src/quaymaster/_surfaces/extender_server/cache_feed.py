"""Keeps what an extender knows of its cluster up to date: what runs where."""

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._core.engine.profile_runner import ProfileRunner

__all__ = ["CacheFeed"]


class CacheFeed:
    """Tells the cache of nodes and pods; implements `ChangeHandler`.

    Of pods that wait, only the nominations count: another scheduler has the pods.

    Args:
        runner: Has the cache and the nominator that are told.
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
        missed: bool = False,  # noqa: ARG002 - a cache treats both alike
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
