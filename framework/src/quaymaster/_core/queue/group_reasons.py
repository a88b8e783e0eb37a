"""Why a pod of a group is pending: it may have neither a condition nor an event."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects.groups import CompositePodGroup, PodGroup
from quaymaster._core.contract.queueing import PendingPod, QueueName
from quaymaster._core.queue.gates import Gate
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["explain_outside", "explain_queued"]

_KINDS: Final[Mapping[str, str]] = {
    kind.kind.lower(): kind.kind for kind in (PodGroup, CompositePodGroup)
}
"""The first part of an ``entity_key`` -> the kind."""


def explain_outside(pending: PendingPod, queued: QueuedPod, missing: str) -> PendingPod:
    """Return why a pod is pending that is not in the record of its group.

    Args:
        pending: What its own record says.
        queued: Its record.
        missing: The ``entity_key`` of the group that does not exist; empty if all do,
            and the groups above it form a circle.
    """
    key = queued.pod.group_key
    if queued.queue is QueueName.PENDING:
        message = f"waits for the end of the attempt with PodGroup {key}"
    elif missing:
        kind, _, name = missing.partition("/")
        message = f"waits for {_KINDS[kind]} {name}, which does not exist"
    else:
        message = (
            f"the CompositePodGroups above PodGroup {key} are parents of each other"
        )
    return attrs.evolve(pending, group=key, message=message)


def explain_queued(
    pending: PendingPod,
    queued: QueuedPod,
    group: QueuedGroup,
    profiles: CompiledProfiles,
) -> PendingPod:
    """Return why a pod is pending that is in the record of its group.

    The plugin that gates it, or another pod of its group, is called for the message.

    Args:
        pending: What its own record says.
        queued: Its record.
        group: The record of its group.
        profiles: The PreEnqueue plugins.
    """
    if not group.is_gated:
        return attrs.evolve(pending, gated_by="", group=queued.pod.group_key)
    gated = next(filter(_is_gated, (queued, *group.pods)), None)
    plugin, message = group.gating_plugin, ""
    if gated is not None:
        plugin = gated.gating_plugin
        message = _message(gated, profiles[gated.pod.spec.scheduler_name][2])
    # Identity: a record is that of one pod.
    if gated is not queued:
        cause = f"pod {gated.key}" if gated is not None else "a deleted pod"
        message = f"waits for {cause} of its group" + (message and f": {message}")
    return attrs.evolve(
        pending, gated_by=plugin, group=queued.pod.group_key, message=message
    )


def _is_gated(queued: QueuedPod) -> bool:
    return queued.is_gated


def _message(queued: QueuedPod, gates: Sequence[Gate]) -> str:
    """Return the message of the plugin that gates a pod; empty if it passes now."""
    for plugin, hook in gates:
        if plugin == queued.gating_plugin:
            status = hook(queued.pod)
            return "" if status is None else status.message
    return ""
