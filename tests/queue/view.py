"""Observes the state of a queue, in the form of the traces."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tests.kit.internals.queue import QueuedPod, SchedulingQueue

__all__ = ["COMPARED", "compared", "observe", "record_of"]

COMPARED = (
    "note",
    "popped",
    "active",
    "backoff",
    "errorBackoff",
    "unschedulable",
    "inFlight",
    "nominated",
    "incoming",
    "pods",
)
"""The fields of a result that must agree; the others are upstream's bookkeeping."""

_EMPTY: Sequence[object] = (None, [], {}, "", False, 0)

Milliseconds = Callable[[float], int]


def compared(result: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a result that must agree, without empty fields."""
    fields = {field: result.get(field) for field in COMPARED}
    nominated: dict[str, Any] = fields["nominated"] or {}
    # Upstream lists pods with a cleared nomination under a node without a name.
    fields["nominated"] = {node: uids for node, uids in nominated.items() if node}
    return {field: value for field, value in fields.items() if value not in _EMPTY}


def observe(
    queue: SchedulingQueue, before: Counter[tuple[str, str]], at: Milliseconds
) -> dict[str, Any]:
    """Return the queue's state, with the counts of pods that were added to it."""
    return {
        "active": [queued.key for queued in queue.active()],
        "backoff": [_expiry(queued, at) for queued in queue.backing_off()],
        "errorBackoff": sorted(
            (_expiry(queued, at) for queued in queue.backing_off_after_error()),
            key=lambda entry: (entry["expiry"], entry["pod"]),
        ),
        "unschedulable": sorted(queued.key for queued in queue.unschedulable()),
        "inFlight": list(queue.in_flight),
        "nominated": {
            node: [pod.uid for pod in pods]
            for node, pods in queue.nominator.by_node().items()
        },
        "incoming": {
            f"{name}|{label}": count
            for (name, label), count in (queue.incoming - before).items()
        },
        "pods": {queued.key: record_of(queued, at) for queued in queue},
    }


def record_of(queued: QueuedPod, at: Milliseconds) -> dict[str, Any]:
    """Return one pod's record, without fields that have no value."""
    record: dict[str, Any] = {
        "uid": queued.pod.uid,
        "rv": queued.pod.metadata.resource_version,
        "timestamp": at(queued.timestamp),
        "attempts": queued.attempts,
        "unschedulableCount": queued.unschedulable_count,
        "consecutiveErrorsCount": queued.consecutive_errors_count,
        "unschedulablePlugins": sorted(queued.unschedulable_plugins),
        "pendingPlugins": sorted(queued.pending_plugins),
    }
    if queued.initial_attempt_timestamp is not None:
        record["initialAttemptTimestamp"] = at(queued.initial_attempt_timestamp)
    if queued.backoff_expiration is not None:
        record["backoffExpiration"] = at(queued.backoff_expiration)
    if queued.was_flushed:
        record["wasFlushed"] = True
    if queued.is_gated:
        record["gatingPlugin"] = queued.gating_plugin
        record["gated"] = True
    return record


def _expiry(queued: QueuedPod, at: Milliseconds) -> dict[str, Any]:
    assert queued.backoff_expiration is not None, "it is backing off"
    return {"pod": queued.key, "expiry": at(queued.backoff_expiration)}
