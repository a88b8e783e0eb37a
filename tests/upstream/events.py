"""Cluster events in the format of the records."""

from quaymaster import ActionType, ClusterEvent, EventResource
from tests.kit.internals.testing import Json

__all__ = ["action_labels", "event_from", "event_tree"]


def event_tree(event: ClusterEvent) -> Json:
    """Write an event."""
    return {
        "Resource": event.resource.value,
        "ActionType": action_labels(event.action),
        "CustomLabel": event.custom_label,
    }


def event_from(tree: Json) -> ClusterEvent:
    """Read an event."""
    action = ActionType(0)
    for part in ActionType:
        if part.label in tree["ActionType"]:
            action |= part
    label = tree.get("CustomLabel", "")
    return ClusterEvent(EventResource(tree["Resource"]), action, label)


def action_labels(action: ActionType) -> list[str]:
    """Return the names of the single actions."""
    return [part.label for part in action]
