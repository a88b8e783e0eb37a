"""What the autoscaler reports: events of pods, nodes and of its own ConfigMaps."""

from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject

__all__ = ["NORMAL", "PRIORITIES", "STATUS", "WARNING", "AutoscalerEvent", "Report"]

NORMAL: Final = "Normal"
WARNING: Final = "Warning"
STATUS: Final = "ConfigMap/cluster-autoscaler-status"
"""The object of events that are about the whole cluster."""
PRIORITIES: Final = "ConfigMap/cluster-autoscaler-priority-expander"
"""The object of events about the expander ``priority``."""


@attrs.frozen
class AutoscalerEvent:
    """An event that the autoscaler has written.

    Attributes:
        time: When, in seconds since the epoch.
        regarding: The object, as ``Kind/name``.
        type: ``Normal`` or ``Warning``.
        reason: One word.
        message: The text.
        obj: The object; None for a ConfigMap.
    """

    time: float
    regarding: str
    type: str
    reason: str
    message: str
    obj: ApiObject | None = None

    def __str__(self) -> str:
        return f"{self.type} {self.regarding} {self.reason}: {self.message}"


Report: TypeAlias = Callable[[str, str, str, ApiObject | None], None]
"""Writes an event: type, reason, message and object."""
