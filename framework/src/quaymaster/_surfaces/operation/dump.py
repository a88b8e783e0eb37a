"""What a scheduler holds, as a document for people who look for a pod.

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
from quaymaster._surfaces.operation.drift import Difference, held_wrongly
from quaymaster._surfaces.operation.pages import Query, Reply, json_reply, text_reply

__all__ = ["Dump", "dump_page", "holdings", "log_dump", "told_in_lines", "whole_dump"]

_log = logging.getLogger(__name__)

Dump: TypeAlias = dict[str, Any]
"""A document, as JSON has it."""


def holdings(scheduler: Scheduler, now: float) -> Dump:
    """Return what a scheduler holds; on its thread.

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
        },
        "inFlight": list(queue.in_flight),
        "bindsInFlight": scheduler.binds_in_flight,
        "waiting": [
            {"pod": one.pod.key, "node": one.pod.node_name, "on": sorted(one.timers)}
            for one in scheduler.waiting
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
        "wrong": _differences(held_wrongly(scheduler)),
    }


def _pods(
    pods: Iterable[QueuedPod], now: float, latest: Mapping[str, Attempt]
) -> list[Dump]:
    return [
        {
            "pod": one.key,
            "uid": one.pod.uid,
            "attempts": one.attempts,
            "secondsSince": round(now - one.timestamp, 3),
            "gatedBy": one.gating_plugin,
            "rejectedBy": sorted(one.rejectors),
            "pendingOn": sorted(one.pending_plugins),
            "message": latest[one.key].message if one.key in latest else "",
        }
        for one in pods
    ]


def _differences(found: Iterable[Difference]) -> list[Dump]:
    return [
        {"kind": one.kind, "key": one.key, one.difference: one.detail} for one in found
    ]


def whole_dump(
    hold: Callable[[], Dump], differences: Callable[[], Sequence[Difference]]
) -> Dump:
    """Return what is held, and how it differs from what the API server has.

    If the server cannot be asked, the document says so.
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
    """Write a dump to the log; why there is none, if so."""
    try:
        tree = dump()
    except QuaymasterError as error:
        _log.error("no dump: %s", error)
        return
    for line in told_in_lines(tree):
        _log.info("%s", line)


def told_in_lines(tree: Dump) -> Iterable[str]:
    """Tell a dump in lines, for people and for the log."""
    for name, pods in tree["queues"].items():
        yield f"queue {name}: {len(pods)}"
        for one in pods:
            said = [f"attempts={one['attempts']}", f"for={one['secondsSince']:g}s"]
            said += [f"gated_by={one['gatedBy']}"] if one["gatedBy"] else []
            rejected = ",".join(one["rejectedBy"])
            said += [f"rejected_by={rejected}"] if rejected else []
            yield f"  {one['pod']} {' '.join(said)}"
            yield from [f"    {one['message']}"] if one["message"] else []
    yield f"in flight: {len(tree['inFlight'])}, being bound: {tree['bindsInFlight']}"
    yield f"waiting on Permit: {len(tree['waiting'])}"
    for one in tree["waiting"]:
        yield f"  {one['pod']} on {one['node']}, for {','.join(one['on'])}"
    yield f"nominated: {sum(map(len, tree['nominated'].values()))}"
    for node, keys in tree["nominated"].items():
        yield from (f"  {key} to {node}" for key in keys)
    yield f"assumed: {len(tree['assumed'])}"
    yield from (f"  {one['pod']} on {one['node']}" for one in tree["assumed"])
    pods_on_nodes = sum(one["pods"] for one in tree["nodes"])
    yield f"nodes: {len(tree['nodes'])}, with {pods_on_nodes} pods"
    yield from _told_differences("held wrongly", tree["wrong"])
    found = tree["differsFromServer"]
    if isinstance(found, str):
        yield f"the server's view: {found}"
    else:
        yield from _told_differences("differs from the server", found)


def _told_differences(what: str, found: Sequence[Dump]) -> Iterable[str]:
    yield f"{what}: {len(found)}"
    for one in found:
        [(difference, detail)] = list(one.items())[2:]
        yield f"  {one['kind']} {one['key']}: {difference} ({detail})"
