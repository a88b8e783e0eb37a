"""Rebuilds the queue for new profiles: keys, gates and backoffs change, pods stay."""

from collections.abc import Sequence

from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.events import CONFIG_RELOAD
from quaymaster._core.queue.hints import Strategy
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.sub_queues import SubQueues

__all__ = ["renew"]


def renew(
    queues: SubQueues, profiles: CompiledProfiles, policy: BackoffPolicy
) -> Sequence[QueuedPod]:
    """Move every pod to its queue under the new profiles; pods keep their history.

    All gates are called, as at the start of a scheduler. Pods that pass them stay
    active or in backoff. The end of the backoff is computed again from the time of the
    failure. Rejected pods leave the unschedulable pods, since the new plugins may
    accept them. Pods with equal new sort keys keep their order.

    Args:
        queues: The pods.
        profiles: The new sort keys and gates.
        policy: The new backoff.

    Returns:
        The removed pods, whose scheduler name no longer has a profile.
    """
    active = list(queues.active)
    others = [*queues.backoff, *queues.error_backoff, *queues.unschedulable]
    for queued in (*active, *others):
        queues.leave(queued)
        # Computed again under the new limits, from the time of the failure: a shorter
        # backoff takes effect for pods that wait already.
        queued.backoff_expiration = None
    queues.adopt(profiles, policy)
    label = CONFIG_RELOAD.label
    removed = []
    for queued in active:
        if queued.pod.spec.scheduler_name in profiles:
            queues.to_active(queued, label)
        else:
            removed.append(queued)
    for queued in others:
        if queued.pod.spec.scheduler_name in profiles:
            queues.requeue(queued, Strategy.AFTER_BACKOFF, label)
        else:
            removed.append(queued)
    return removed
