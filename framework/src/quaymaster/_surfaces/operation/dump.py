"""The contents of a scheduler's cache and queues, as a document.

Mirrors ``CacheDumper`` (Kubernetes v1.36,
``pkg/scheduler/backend/cache/debugger/dumper.go``).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeAlias

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.engine.attempts import Attempt
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._surfaces.operation.drift import Difference, find_drift
from quaymaster._surfaces.operation.pages import Query, Reply, json_reply, text_reply

__all__ = ["Dump", "dump_in_lines", "dump_page", "holdings", "log_dump", "whole_dump"]

_log = logging.getLogger(__name__)

Dump: TypeAlias = dict[str, Any]
"""A JSON document."""


def holdings(scheduler: Scheduler, now: float) -> Dump:
    """Return the contents of cache and queues; called on the scheduler's thread.

    Args:
        scheduler: The scheduler.
        now: The time of its clock.
    """
    queue, cache = scheduler.queue, scheduler.cache
    latest = scheduler.past_attempts.latest()
    nominator = queue.nominator
    return {
        "queues": {
            "active": _pods(queue.active(), now, latest),
            "backoff": _pods(queue.backing_off(), now, latest),
            "errorBackoff": _pods(queue.backing_off_after_error(), now, latest),
            "unschedulable": _pods(queue.unschedulable(), now, latest),
            **_incomplete(queue, now, latest),
        },
        "inFlight": list(queue.in_flight),
        "bindsInFlight": scheduler.binds_in_flight,
        "waiting": [
            {"pod": item.pod.key, "node": item.pod.node_name, "on": sorted(item.timers)}
            for item in scheduler.waiting
        ],
        "nominated": {
            name: sorted(pod.key for pod in nominator.pods_on(name))
            for name in nominator.nodes()
        },
        "assumed": [
            {"pod": pod.key, "node": pod.node_name}
            for pod in cache
            if cache.is_assumed(pod.uid)
        ],
        "nodes": [
            {"name": info.name, "pods": len(info.pods)} for info in scheduler.snapshot
        ],
        "wrong": _differences(find_drift(scheduler)),
    }


def _pods(
    pods: Iterable[QueuedPod], now: float, latest: Mapping[str, Attempt]
) -> list[Dump]:
    return [
        {
            "pod": item.key,
            "uid": item.pod.uid,
            "attempts": item.attempts,
            "secondsSince": round(now - item.timestamp, 3),
            "gatedBy": item.gating_plugin,
            "rejectedBy": sorted(item.rejectors),
            "pendingOn": sorted(item.pending_plugins),
            "message": latest[item.key].message if item.key in latest else "",
        }
        for item in pods
    ]


def _incomplete(
    queue: SchedulingQueue, now: float, latest: Mapping[str, Attempt]
) -> Dump:
    """Return the pods that wait for the object of their group, if any."""
    pods = _pods(queue.incomplete(), now, latest)
    for pod in pods:
        pending = queue.why_pending(pod["pod"])
        pod["message"] = "" if pending is None else pending.message
    return {"incomplete": pods} if pods else {}


def _differences(differences: Iterable[Difference]) -> list[Dump]:
    return [
        {"kind": item.kind, "key": item.key, item.difference: item.detail}
        for item in differences
    ]


def whole_dump(
    hold: Callable[[], Dump], differences: Callable[[], Sequence[Difference]]
) -> Dump:
    """Return the contents, and their differences from the API server.

    If the server cannot be reached, the document contains the error instead.
    """
    tree = hold()
    try:
        tree["differsFromServer"] = _differences(differences())
    except QuaymasterError as error:
        tree["differsFromServer"] = f"not compared: {error}"
    return tree


def dump_page(dump: Callable[[], Dump]) -> Callable[[Query], Reply]:
    """Return the page of a dump."""

    def page(_query: Query) -> Reply:
        try:
            return json_reply(dump())
        except QuaymasterError as error:
            return text_reply(f"{error}\n", HTTPStatus.SERVICE_UNAVAILABLE)

    return page


def log_dump(dump: Callable[[], Dump]) -> None:
    """Write a dump to the log, or the error."""
    try:
        tree = dump()
    except QuaymasterError as error:
        _log.error("no dump: %s", error)
        return
    for line in dump_in_lines(tree):
        _log.info("%s", line)


def dump_in_lines(tree: Dump) -> Iterable[str]:
    """Render a dump as lines of text."""
    for name, pods in tree["queues"].items():
        yield f"queue {name}: {len(pods)}"
        for item in pods:
            words = [f"attempts={item['attempts']}", f"for={item['secondsSince']:g}s"]
            words += [f"gated_by={item['gatedBy']}"] if item["gatedBy"] else []
            rejected = ",".join(item["rejectedBy"])
            words += [f"rejected_by={rejected}"] if rejected else []
            yield f"  {item['pod']} {' '.join(words)}"
            yield from [f"    {item['message']}"] if item["message"] else []
    yield f"in flight: {len(tree['inFlight'])}, being bound: {tree['bindsInFlight']}"
    yield f"waiting on Permit: {len(tree['waiting'])}"
    for item in tree["waiting"]:
        yield f"  {item['pod']} on {item['node']}, for {','.join(item['on'])}"
    yield f"nominated: {sum(map(len, tree['nominated'].values()))}"
    for node, keys in tree["nominated"].items():
        yield from (f"  {key} to {node}" for key in keys)
    yield f"assumed: {len(tree['assumed'])}"
    yield from (f"  {item['pod']} on {item['node']}" for item in tree["assumed"])
    pods_on_nodes = sum(item["pods"] for item in tree["nodes"])
    yield f"nodes: {len(tree['nodes'])}, with {pods_on_nodes} pods"
    yield from _differences_in_lines("differs from the informers", tree["wrong"])
    differences = tree["differsFromServer"]
    if isinstance(differences, str):
        yield f"the server's view: {differences}"
    else:
        yield from _differences_in_lines("differs from the server", differences)


def _differences_in_lines(what: str, differences: Sequence[Dump]) -> Iterable[str]:
    yield f"{what}: {len(differences)}"
    for item in differences:
        # The first two items are the kind and the key.
        [(difference, detail)] = list(item.items())[2:]
        yield f"  {item['kind']} {item['key']}: {difference} ({detail})"
