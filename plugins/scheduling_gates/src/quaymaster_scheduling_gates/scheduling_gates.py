"""Keep a pod out of the queue until its scheduling gates are removed.

A pod with ``spec.schedulingGates`` is not queued; it is checked again once an update
has removed the last gate.

Mirrors ``SchedulingGates`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go``).
"""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
    on_pod,
)

__all__ = ["SchedulingGates"]


class SchedulingGates:
    """Rejects pods that still have gates, before they are queued."""

    reads = ()

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Create the plugin, which uses neither arguments nor the framework."""

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        gates = pod.spec.scheduling_gates
        if not gates:
            return None
        names = " ".join(gate.name for gate in gates)
        return Status.unresolvable(f"waiting for scheduling gates: [{names}]")

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod.target(
                Change.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, _after_gates_eliminated
            )
        ]


def _after_gates_eliminated(pod: Pod, _old: Pod, new: Pod) -> QueueingHint:
    """Queue the pod if its own gates were removed."""
    return QueueingHint.QUEUE if new.uid == pod.uid else QueueingHint.SKIP
