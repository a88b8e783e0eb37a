"""The interface of models that decide when running pods end."""

from collections.abc import Callable
from typing import Protocol

from quaymaster._api.objects import Pod

__all__ = ["RunTimes"]


class RunTimes(Protocol):
    """Ends pods that run for a limited time, instead of the kubelet."""

    def follow(
        self, pod: Pod, begun: float, seconds: float, end: Callable[[], None]
    ) -> None:
        """Follow a pod that runs.

        It is called again for a pod whose kubelet answers again.

        Args:
            pod: The pod, on its node.
            begun: When it began to run, in seconds since the Unix epoch.
            seconds: Its run time by its annotation.
            end: Ends the pod, if its kubelet answers then.
        """
