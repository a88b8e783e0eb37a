"""Updates an extender's cache of nodes and pods."""

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._core.engine.profile_runner import ProfileRunner

__all__ = ["CacheFeed"]


class CacheFeed:
    """Passes changes of nodes and pods to the cache; implements `ChangeHandler`.

    Of pending pods it reads only the nominations: another scheduler schedules them.

    Args:
        runner: The owner of the cache and the nominator.
    """

    def __init__(self, runner: ProfileRunner) -> None:
        self._cache = runner.cache
        self._nominator = runner.nominator

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
