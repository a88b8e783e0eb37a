"""Sort keys that can be relied on, whatever the plugin gives."""

import logging
from collections.abc import Callable
from typing import Any

from quaymaster.queueing import QueuedPodInfo, SortKey

__all__ = ["reliable"]

_log = logging.getLogger(__name__)

_LAST: SortKey = (True, None)


def reliable(
    name: str, sort_key: Callable[[QueuedPodInfo], Any]
) -> Callable[[QueuedPodInfo], SortKey]:
    """Let pods come last whose key fails, or does not compare with other pods' keys.

    A heap that meets two keys which do not compare would lose its order, and its pods.

    Args:
        name: The profile's scheduler name, for the log.
        sort_key: The profile's ``queue_sort``.
    """
    first: list[Any] = []

    def key_of(queued: QueuedPodInfo) -> SortKey:
        try:
            key = sort_key(queued)
            other = first[0] if first else key
            bool(key < other)
            bool(other < key)
        except Exception:
            pod = queued.pod.key
            _log.exception("queue_sort of profile %r failed for pod %s", name, pod)
            return _LAST
        if not first:
            first.append(key)
        return False, key

    return key_of
