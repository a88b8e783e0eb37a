"""Tries the pods last that stopped an earlier scheduler."""

import logging

from quaymaster._api.objects import Pod
from quaymaster._clusters.driver.cluster import KubernetesCluster
from quaymaster._clusters.driver.suspects import pause_seconds
from quaymaster._core.contract.cluster import EventNote
from quaymaster._core.queue.scheduling_queue import SchedulingQueue

__all__ = ["hold_suspects"]

_log = logging.getLogger(__name__)


def hold_suspects(queue: SchedulingQueue, cluster: KubernetesCluster) -> None:
    """Keep pods out of the queue that stopped earlier leaders, longer each time.

    Each of them gets an Event. Upstream has no counterpart.

    Args:
        queue: The queue, before any pod arrives.
        cluster: The cluster, whose lease names the pods.
    """
    suspects = {suspect.uid: suspect for suspect in cluster.suspects}
    if cluster.engine_watch is not None:
        cluster.engine_watch.board.notable.update(suspects)

    def report(pod: Pod, seconds: float) -> None:
        suspect = suspects[pod.uid]
        note = (
            f"the scheduler stopped while it tried this pod ({suspect.where}), "
            f"{suspect.times} times in a row: it is tried again in {seconds:.0f} s"
        )
        _log.warning("pod %s: %s", pod.key, note, extra={"pod": pod.key})
        cluster.record(
            EventNote(
                regarding=pod,
                type="Warning",
                reason="AttemptUnfinished",
                action="Scheduling",
                note=note,
                reporter=pod.spec.scheduler_name,
            )
        )

    pauses = {uid: pause_seconds(suspect.times) for uid, suspect in suspects.items()}
    queue.hold(pauses, report)
