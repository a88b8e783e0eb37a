"""Renews the queue for new profiles: keys, gates and backoffs change, the pods stay."""

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
    """Put every pod where the new profiles want it, with the history that it has.

    All gates are asked, as they are when a scheduler starts. Pods that pass them stay
    active or in backoff, whose end is worked out anew from the time of the failure; the
    rejected ones leave the unschedulable pods, since the new plugins may
    accept them. Where the new sort keys are equal, the old order holds.

    Args:
        queues: The pods.
        profiles: The new sort keys and gates.
        policy: How long failed pods wait from now on.

    Returns:
        The pods that left, because no profile has their scheduler name any more.
    """
    active = list(queues.active)
    others = [*queues.backoff, *queues.error_backoff, *queues.unschedulable]
    for queued in (*active, *others):
        queues.leave(queued)
        queued.backoff_expiration = None
    queues.adopt(profiles, policy)
    label = CONFIG_RELOAD.label
    gone = []
    for queued in active:
        if queued.pod.spec.scheduler_name in profiles:
            queues.to_active(queued, label)
        else:
            gone.append(queued)
    for queued in others:
        if queued.pod.spec.scheduler_name in profiles:
            queues.requeue(queued, Strategy.AFTER_BACKOFF, label)
        else:
            gone.append(queued)
    return gone
