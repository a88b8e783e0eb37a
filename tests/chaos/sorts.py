"""Queue sorts of other authors, and the same rules in plain numbers."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from quaymaster import Handle, Pod, QueuedPodInfo, hookimpl

__all__ = ["MAIN_SORTS", "OTHER_SORT", "RULES", "ByApp", "ByCreation", "ByName", "Rule"]

Rule: TypeAlias = Callable[[Pod, float], tuple[str, float, float]]
"""Returns the key of a pod that has waited since a time; the smallest comes first."""


class ByName:
    """Sorts pods by their names, and ignores their priority."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> str:
        return queued.pod.name


class ByCreation:
    """Sorts every other pod by its creation time, after its priority."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        created = queued.pod.metadata.creation_timestamp
        if _is_odd(queued.pod) or created is None:
            return -queued.pod.priority, queued.timestamp
        return -queued.pod.priority, created


class ByApp:
    """Sorts pods by the label of their app; its keys have two classes."""

    class Key(NamedTuple):
        """A key of the first class."""

        app: str
        negated: int
        seconds: float

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[str, float, float]:
        app, negated = queued.pod.labels["app"], -queued.pod.priority
        if _is_odd(queued.pod):
            return app, np.float64(negated), queued.timestamp
        return self.Key(app, negated, queued.timestamp)


def _is_odd(pod: Pod) -> bool:
    return int(pod.name[-1]) % 2 == 1


def _priority(pod: Pod) -> int:
    return pod.spec.priority or 0


def _by_creation(pod: Pod, since: float) -> tuple[str, float, float]:
    created = pod.metadata.creation_timestamp
    if _is_odd(pod) or created is None:
        return "", -_priority(pod), since
    return "", -_priority(pod), float(created)


MAIN_SORTS = ("PrioritySort", "ByCreation", "ByApp")
OTHER_SORT = "ByName"

RULES: Mapping[str, Rule] = {
    "PrioritySort": lambda pod, since: ("", -_priority(pod), since),
    "ByCreation": _by_creation,
    "ByApp": lambda pod, since: (pod.labels["app"], -_priority(pod), since),
    "ByName": lambda pod, _since: (pod.name, 0, 0),
}
"""Plugin -> its order, in plain numbers and texts."""
