"""The events that the scheduler itself passes to the queue, and the queue's labels.

Mirrors Kubernetes v1.36, ``pkg/scheduler/framework/events.go``.
"""

import attrs

from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    EventResource,
)

__all__ = [
    "ASSIGNED_POD_ADD",
    "ASSIGNED_POD_DELETE",
    "BACKOFF_COMPLETE",
    "CONFIG_RELOAD",
    "FORCE_ACTIVATE",
    "NODE_ADD",
    "NODE_DELETE",
    "POP_FROM_BACKOFF",
    "SCHEDULE_ATTEMPT_FAILURE",
    "UNSCHEDULABLE_TIMEOUT",
    "UNSCHEDULED_POD_ADD",
    "UNSCHEDULED_POD_UPDATE",
    "PluginChange",
]

ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE)
NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE = ClusterEvent(EventResource.NODE, ActionType.DELETE)
FORCE_ACTIVATE = ClusterEvent(
    EventResource.WILDCARD, ActionType.ALL, custom_label="ForceActivate"
)
CONFIG_RELOAD = ClusterEvent(
    EventResource.WILDCARD, ActionType.ALL, custom_label="ConfigReload"
)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(
    EventResource.WILDCARD, ActionType.ALL, custom_label="UnschedulableTimeout"
)


@attrs.frozen(cache_hash=True)
class PluginChange(ClusterEvent):
    """An event: the external data of one plugin of one profile have changed.

    It is independent of registrations: it concerns this plugin and no other.

    Attributes:
        scheduler_name: The profile's name.
        plugin: The plugin's name.
    """

    scheduler_name: str = ""
    plugin: str = ""

    @classmethod
    def of(cls, scheduler_name: str, plugin: str) -> "PluginChange":
        """Return the event for a plugin of a profile."""
        return cls(
            EventResource.WILDCARD,
            ActionType.UPDATE,
            custom_label="PluginChange",
            scheduler_name=scheduler_name,
            plugin=plugin,
        )


SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF = "PopFromBackoffQ"
