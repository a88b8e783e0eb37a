"""Pods that have a node and wait until every Permit plugin has allowed them.

A waiting pod is an entry with deadlines and occupies no thread. Mirrors ``waitingPod``
(Kubernetes v1.36, ``pkg/scheduler/framework/runtime/waiting_pods_map.go``).
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from quaymaster._api.objects import Pod
from quaymaster._base.errors import UnknownObjectionError
from quaymaster._core.binding.executor import Post
from quaymaster._core.contract.clock import Clock, Timer
from quaymaster._core.contract.status import Code, Status

__all__ = ["MAX_PERMIT_TIMEOUT_SECONDS", "WaitingPods"]

MAX_PERMIT_TIMEOUT_SECONDS = 15 * 60.0
"""Upstream's ``maxTimeout``: longer timeouts of plugins are reduced to it."""

Resolve = Callable[[Status | None], None]


class _WaitingPod:
    """One waiting pod; implements `quaymaster.WaitingPod`."""

    __slots__ = ("_owner", "objecting", "pod", "resolve", "timers")

    def __init__(
        self,
        owner: "WaitingPods",
        pod: Pod,
        resolve: Resolve,
        objecting: frozenset[str],
    ) -> None:
        self._owner = owner
        self.pod = pod
        self.resolve = resolve
        # The plugins that returned a wait. Any thread may read it, so it never changes.
        self.objecting = objecting
        self.timers: dict[str, Timer] = {}

    @property
    def pending_plugins(self) -> frozenset[str]:
        return frozenset(self.timers)

    def allow(self, plugin: str) -> None:
        _check_text("allow: plugin", plugin)
        if plugin not in self.objecting:
            raise UnknownObjectionError(self.pod.key, "allow", plugin, self.objecting)
        self._owner.post(lambda: self._owner.allow(self, plugin))

    def reject(self, plugin: str, message: str) -> None:
        _check_text("reject: plugin", plugin)
        _check_text("reject: message", message)
        rejecting = self._owner.rejecting
        if plugin not in self.objecting and plugin not in rejecting:
            plugins = self.objecting.union(rejecting)
            raise UnknownObjectionError(self.pod.key, "reject", plugin, plugins)
        status = Status(Code.UNSCHEDULABLE, (message,), plugin)
        # Only the engine's thread changes entries; any thread may call this.
        self._owner.post(lambda: self._owner.end(self, status))


class WaitingPods:
    """All waiting pods of an engine, in the order in which they began to wait.

    Args:
        clock: Runs the deadlines.
        post: Puts a call into the engine's inbox, from any thread.

    Attributes:
        rejecting: The plugins that may reject any waiting pod, as preemption does. Any
            thread may read it, so assign a new collection instead of changing it.
    """

    def __init__(self, clock: Clock, post: Post) -> None:
        self.post = post
        self.rejecting: Collection[str] = frozenset()
        self._clock = clock
        self._entries: dict[str, _WaitingPod] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[_WaitingPod]:
        return iter(list(self._entries.values()))

    def get(self, uid: str) -> _WaitingPod | None:
        """Return the waiting pod with a uid, or None."""
        return self._entries.get(uid)

    def add(self, pod: Pod, timeouts: Mapping[str, float], resolve: Resolve) -> None:
        """Let a pod wait.

        Args:
            pod: The assumed pod.
            timeouts: Plugin -> the seconds after which the pod is rejected.
            resolve: Called once on the engine's thread: with None when all plugins
                have allowed the pod, else with the rejection.
        """
        entry = _WaitingPod(self, pod, resolve, frozenset(timeouts))
        self._entries[pod.metadata.uid] = entry
        for plugin, seconds in timeouts.items():
            entry.timers[plugin] = self._deadline(entry, plugin, seconds)

    def allow(self, entry: _WaitingPod, plugin: str) -> None:
        """End the wait for one plugin; on the engine's thread."""
        timer = entry.timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
            if not entry.timers:
                self.end(entry, None)

    def end(self, entry: _WaitingPod, status: Status | None) -> None:
        """End a wait, with a rejection or without; only the first call counts."""
        # Identity: the pod may wait again by now, with another entry.
        if self._entries.get(entry.pod.metadata.uid) is not entry:
            return
        del self._entries[entry.pod.metadata.uid]
        for timer in entry.timers.values():
            timer.cancel()
        entry.timers.clear()
        entry.resolve(status)

    def reject_deleted(self, uid: str) -> bool:
        """Reject a deleted pod if it waits; return whether it waited."""
        entry = self._entries.get(uid)
        if entry is None:
            return False
        self.end(entry, Status.unschedulable("pod was deleted"))
        return True

    def _deadline(self, entry: _WaitingPod, plugin: str, seconds: float) -> Timer:
        # One timer per plugin, as upstream: the rejection names the plugin that was
        # late.
        seconds = min(seconds, MAX_PERMIT_TIMEOUT_SECONDS)
        return self._clock.call_later(
            seconds,
            lambda: self.end(entry, _too_late(plugin, seconds)),
            background=True,
        )


def _too_late(plugin: str, seconds: float) -> Status:
    text = f"rejected due to timeout after waiting {seconds:g}s at plugin {plugin}"
    return Status(Code.UNSCHEDULABLE, (text,), plugin)


def _check_text(what: str, value: object) -> None:
    """Reject a value that is not a text, in the plugin's own call and not later."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a text, got {type(value).__name__}")
