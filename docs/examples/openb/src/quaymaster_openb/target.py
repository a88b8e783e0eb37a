"""The typical pods that fragmentation is measured by, as the cluster has them."""

from quaymaster import Handle
from quaymaster.columns import ChangeLog

from quaymaster_openb.fragmentation import Fragmentation, fragmentation_by
from quaymaster_openb.typical_pods import TypicalPods

__all__ = ["Target"]


class Target:
    """The fragmentation by the typical pods that the cluster has now.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._informers = handle.informers
        self._log: ChangeLog[str] = handle.informers.changes(TypicalPods)
        self._revision = -1
        self._current = fragmentation_by(())

    @classmethod
    def of(cls, handle: Handle) -> "Target":
        """Return that of a scheduler."""
        return handle.shared(cls, lambda: cls(handle))

    @property
    def current(self) -> Fragmentation:
        """The fragmentation; another object once the typical pods have changed."""
        if self._revision != self._log.revision:
            self._revision = self._log.revision
            found = self._informers.list(TypicalPods)
            pods = tuple(pod for target in found for pod in target.pods)
            self._current = fragmentation_by(pods)
        return self._current
