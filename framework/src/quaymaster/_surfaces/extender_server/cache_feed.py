"""Updates an extender's cache of nodes and pods."""

from quaymaster._api.objects import Pod
from quaymaster._core.engine.cache_feed import CacheFeed
from quaymaster._core.engine.profile_runner import ProfileRunner

__all__ = ["ExtenderFeed"]


class ExtenderFeed(CacheFeed):
    """Of pending pods, reads only the nominations: another scheduler schedules them.

    Args:
        runner: The owner of the cache and the nominator.
    """

    def __init__(self, runner: ProfileRunner) -> None:
        super().__init__(runner.cache)
        self._nominator = runner.nominator

    def put(self, pod: Pod) -> None:
        """Handle a pod that was added or has changed."""
        if pod.is_finished:
            self.remove(pod)
        elif pod.node_name:
            self.cache.add_pod(pod)
            self._nominator.delete(pod)
        else:
            self._nominator.add(pod)

    def remove(self, pod: Pod) -> None:
        """Handle a pod that was deleted."""
        self.cache.remove_pod(pod)
        self._nominator.delete(pod)
