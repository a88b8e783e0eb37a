"""Pods that have waited longer than the scheduler has run."""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod, Time
from quaymaster._core.contract.clock import VIRTUAL_START

__all__ = ["OLD_DAYS", "aged"]

OLD_DAYS: Final = 40
"""The age of old pods."""


def aged(pod: Pod) -> Pod:
    """Return the pod as created long ago, unless its author has set a time."""
    if pod.metadata.creation_timestamp is not None:
        return pod
    created = Time(VIRTUAL_START - OLD_DAYS * 24 * 3600)
    return replace(pod, metadata=replace(pod.metadata, creation_timestamp=created))
