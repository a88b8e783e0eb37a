"""Finds out why a pod has no node."""

from quaymaster._api.objects import Pod
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["OUTCOMES", "unscheduled_pod"]

OUTCOMES = {
    "Unschedulable": AttemptOutcome.UNSCHEDULABLE,
    "SchedulerError": AttemptOutcome.ERROR,
    "SchedulingGated": AttemptOutcome.GATED,
    "NoProfile": AttemptOutcome.IGNORED,
    "Terminating": AttemptOutcome.TERMINATING,
}
"""The reason of an unscheduled pod -> its outcome in an explanation."""


def unscheduled_pod(pod: Pod, scheduler: Scheduler) -> UnscheduledPod:
    """Return why a pod has no node, from the scheduler or from the pod's status."""
    name = pod.spec.scheduler_name
    if pod.is_terminating:
        text = "it is being deleted, so no scheduler tries it"
        return _unscheduled(pod, "Terminating", text)
    if name not in scheduler.frameworks:
        profiles = ", ".join(sorted(scheduler.frameworks))
        text = f"no profile has the scheduler name '{name}' (profiles: {profiles})"
        return _unscheduled(pod, "NoProfile", text)
    gate = scheduler.gate_of(pod)
    if gate is not None:
        return _unscheduled(pod, "SchedulingGated", gate.message, gate.plugin)
    pending = scheduler.queue.why_pending(pod.key)
    if pending is not None and pending.message:
        # A pod that waits for its group has no condition, or an older one.
        gates = (pending.gated_by,) if pending.gated_by else ()
        return _unscheduled(pod, "SchedulingGated", pending.message, *gates)
    plugins = pending.rejected_by if pending is not None else ()
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled":
            return _unscheduled(pod, condition.reason, condition.message, *plugins)
    return _unscheduled(pod, "Unschedulable", "not tried yet")


def _unscheduled(pod: Pod, reason: str, message: str, *plugins: str) -> UnscheduledPod:
    return UnscheduledPod(
        pod=pod.key, reason=reason, message=message, plugins=tuple(plugins)
    )
