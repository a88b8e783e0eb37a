"""Plays a trace: the queue, and the parts of a scheduler that a trace needs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from quaymaster import (
    ApiObject,
    Code,
    Node,
    NominatingInfo,
    NominatingMode,
    Pod,
    Snapshot,
    Status,
    objects,
)
from quaymaster.config import Kubernetes
from quaymaster.objects import ObjectMeta, from_wire
from quaymaster.scheduler import Failure, FailureKind, VirtualClock
from tests.kit.internals.engine import EventHandlers, FailureHandler, Progress
from tests.kit.internals.queue import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    BackoffPolicy,
    Nominator,
    QueuedPod,
    QueueRules,
    SchedulingQueue,
)
from tests.kit.internals.state import AssumeError, Cache
from tests.queue.cases import Case, Json
from tests.queue.profile import RESOURCES, action_of, make_profile
from tests.queue.view import observe, record_of

__all__ = ["play"]

_SCHEDULER = "default-scheduler"
_START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
_NOT_HELD = {"note": "not held"}
_CODES = {code.label: code for code in Code}


class DeviceClass(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "DeviceClass"


class ResourceClaim(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceClaim"


class ResourceSlice(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceSlice"


_KINDS: Mapping[str, type[ApiObject]] = {
    "DeviceClass": DeviceClass,
    "ResourceClaim": ResourceClaim,
    "ResourceSlice": ResourceSlice,
}


def play(case: Case) -> Iterator[dict[str, Any]]:
    """Play a trace, and return the state after each operation."""
    player = _Player(case.config, case.kubernetes)
    for operation in case.operations:
        yield player.play(operation)


class _Player:
    """Holds the informers, the scheduler's pods, and the queue."""

    def __init__(self, config: Json, kubernetes: Kubernetes) -> None:
        self._start_ms: int = _START_MS + config["startOffsetMs"]
        self._tick_ms: int = config["tickMs"]
        self._now_ms = 0
        self._clock = VirtualClock(self._start_ms / 1000)
        self._pods: dict[str, Pod] = {}
        self._nodes: dict[str, Node] = {}
        self._blocked: dict[str, frozenset[str]] = {}
        self._held: dict[str, QueuedPod] = {}
        self._assumed: dict[str, Pod] = {}
        self._waiting: set[str] = set()
        self._queue = SchedulingQueue(
            clock=self._clock,
            profiles={_SCHEDULER: make_profile(config["plugins"], self._blocked)},
            nominator=Nominator(self._pods.get),
            backoff=BackoffPolicy(
                initial_seconds=config["podInitialBackoffSeconds"],
                max_seconds=config["podMaxBackoffSeconds"],
            ),
            max_in_unschedulable_seconds=config["podMaxInUnschedulablePodsDuration"],
            rules=QueueRules.of(kubernetes),
        )
        self._queue.start()
        self._cache = Cache(Snapshot())
        self._handlers = EventHandlers(
            cache=self._cache,
            queue=self._queue,
            scheduler_names={_SCHEDULER},
            reject_waiting=self._waiting.__contains__,
            progress=Progress(self._clock),
            kubernetes=kubernetes,
        )
        self._failures = FailureHandler(
            clock=self._clock,
            queue=self._queue,
            cache=self._cache,
            lookup=self._pods.get,
            patch_status=lambda _pod, _patch: None,
            record=lambda _note: None,
        )

    def play(self, op: Json) -> dict[str, Any]:
        """Advance the clock, execute one operation, and observe the queue."""
        before = Counter(self._queue.incoming)
        self._advance(self._tick_ms)
        said = getattr(self, f"_op_{_snake(op['op'])}")(op) or {}
        return {"t": self._now_ms, **said, **observe(self._queue, before, self._at)}

    # Time ---------------------------------------------------------------------------

    def _advance(self, milliseconds: int) -> None:
        # To the float nearest to the exact time, so that errors do not add up.
        self._now_ms += milliseconds
        target = (self._start_ms + self._now_ms) / 1000
        self._clock.advance(target - self._clock.now())

    def _at(self, seconds: float) -> int:
        return round(seconds * 1000) - self._start_ms

    def _op_advance(self, op: Json) -> None:
        self._advance(op["ms"])

    # Changes of the cluster ---------------------------------------------------------

    def _op_add_pod(self, op: Json) -> None:
        pod = from_wire(op["pod"], Pod)
        self._pods[pod.key] = pod
        self._handlers.changed(Pod, None, pod)

    def _op_update_pod(self, op: Json) -> None:
        pod = from_wire(op["pod"], Pod)
        old, self._pods[pod.key] = self._pods[pod.key], pod
        self._handlers.changed(Pod, old, pod)

    def _op_delete_pod(self, op: Json) -> None:
        pod = self._pods.pop(op["pod"])
        self._handlers.changed(Pod, pod, None, missed=op.get("unknown", False))

    def _op_add_node(self, op: Json) -> None:
        node = self._nodes[op["node"]["metadata"]["name"]] = from_wire(op["node"], Node)
        self._handlers.changed(Node, None, node)

    def _op_update_node(self, op: Json) -> None:
        node = from_wire(op["node"], Node)
        old, self._nodes[node.name] = self._nodes[node.name], node
        self._handlers.changed(Node, old, node)

    def _op_delete_node(self, op: Json) -> None:
        self._handlers.changed(Node, self._nodes.pop(op["node"]), None)

    def _op_event(self, op: Json) -> Json | None:
        name = op["resource"]
        kind = _KINDS.get(name) or getattr(objects, name)
        old, new = _any_object(kind, op.get("old")), _any_object(kind, op.get("new"))
        self._handlers.changed(kind, old, new)
        if self._queue.is_watched(RESOURCES[name], action_of(op["action"])):
            return None
        return {"note": "no handler"}

    def _op_wildcard(self, op: Json) -> None:
        events = (FORCE_ACTIVATE, UNSCHEDULABLE_TIMEOUT)
        event = next(event for event in events if event.label == op["label"])
        new: ApiObject | None = self._pods.get(op.get("pod", ""))
        if "new" in op:
            new = from_wire(op["new"], Node)
        self._queue.move_all(event, None, new)

    def _op_block(self, op: Json) -> None:
        self._blocked[op["plugin"]] = frozenset(op["blocked"] or ())

    # A pod's way through the scheduler ----------------------------------------------

    def _op_pop(self, op: Json) -> Json:
        queued = self._queue.pop()
        if queued is None:
            return {"note": "would block"}
        self._held[queued.pod.uid] = queued
        return {"popped": {"pod": queued.key, **record_of(queued, self._at)}}

    def _op_fail(self, op: Json) -> Json | None:
        queued = self._held.pop(op["uid"], None)
        if queued is None:
            return _NOT_HELD
        self._failures.attempt_failed(queued, _failure(op))
        return None

    def _op_assume(self, op: Json) -> Json | None:
        uid = op["uid"]
        queued = self._held.get(uid)
        if queued is None:
            return _NOT_HELD
        assumed = msgspec.structs.replace(queued.pod, node_name=op["host"])
        try:
            self._cache.assume(assumed)
        except AssumeError as error:
            del self._held[uid]
            failure = Failure(kind=FailureKind.ERROR, message=str(error))
            self._failures.attempt_failed(queued, failure)
            return {"note": "failed"}
        self._queue.nominator.delete(assumed)
        for answer in (op.get("reserve"), op.get("permit")):
            status = None if answer is None else _status(answer)
            if status is not None and not status.is_wait:
                del self._held[uid]
                self._failures.refused(queued, assumed, Failure.on_node(status))
                return {"note": "failed"}
            if status is not None:
                self._waiting.add(uid)
        self._assumed[uid] = assumed
        self._op_activate({"pods": op.get("activate", ())})
        return None

    def _op_done(self, op: Json) -> None:
        self._queue.done(op["uid"])
        self._waiting.discard(op["uid"])
        if op["uid"] not in self._assumed:
            self._held.pop(op["uid"], None)

    def _op_finish(self, op: Json) -> None:
        self._queue.done(op["uid"])
        self._waiting.discard(op["uid"])
        self._held.pop(op["uid"], None)
        self._assumed.pop(op["uid"], None)
        self._op_activate({"pods": op.get("activate", ())})

    def _op_bind_fail(self, op: Json) -> Json | None:
        assumed = self._assumed.pop(op["uid"], None)
        if assumed is None:
            return _NOT_HELD
        queued = self._held.pop(op["uid"])
        self._waiting.discard(op["uid"])
        status = _status(op["status"])
        on_permit = op["kind"] == "permit"
        explain = Failure.on_permit if on_permit else Failure.on_binding
        self._failures.binding_failed(queued, assumed, explain(status))
        return None

    def _op_activate(self, op: Json) -> None:
        self._queue.activate(
            self._pods.get(key) or _unknown_pod(key) for key in sorted(op["pods"])
        )

    def _op_nominate(self, op: Json) -> None:
        nominating = _nominating(op.get("nominating"))
        self._queue.nominator.add(self._pods[op["pod"]], nominating)

    def _op_denominate(self, op: Json) -> None:
        self._queue.nominator.delete(self._pods[op["pod"]])


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def _any_object(kind: type[ApiObject], tree: Json | None) -> ApiObject | None:
    return None if tree is None else from_wire(tree, kind)


def _unknown_pod(key: str) -> Pod:
    namespace, _, name = key.partition("/")
    return Pod(
        metadata=ObjectMeta(namespace=namespace, name=name, uid=f"{name}-unknown")
    )


def _status(answer: Json) -> Status:
    return Status(_CODES[answer["code"]], ("why",), answer.get("plugin", ""))


def _nominating(answer: Json | None) -> NominatingInfo | None:
    if answer is None:
        return None
    return NominatingInfo(answer.get("node", ""), NominatingMode(answer["mode"]))


def _failure(op: Json) -> Failure:
    statuses = [_status(answer) for answer in op.get("statuses") or ()]
    kinds = {
        "fit": FailureKind.REJECTED,
        "error": FailureKind.ERROR,
        "noNodes": FailureKind.NO_NODES,
    }
    return Failure(
        kind=kinds[op["kind"]],
        message="why",
        unschedulable_plugins=frozenset(
            status.plugin for status in statuses if status.is_rejected
        ),
        pending_plugins=frozenset(
            status.plugin for status in statuses if status.code is Code.PENDING
        ),
        nominating=_nominating(op.get("nominating")),
    )
