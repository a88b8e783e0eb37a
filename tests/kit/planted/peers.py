"""A plugin whose pods wait on Permit for a peer, and mistakes in it."""

from collections.abc import Sequence

from hypothesis.strategies import builds, sampled_from

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    PermitWait,
    Pod,
    WaitingPod,
    hookimpl,
    on_pod,
)
from quaymaster.scheduler import Timer
from quaymaster.testing import clusters, make_pod
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "PEER_MISTAKES", "Peers", "PeersWithTimers"]

PEER = "example.com/peer"


def _peer(pod: Pod) -> str:
    name = pod.annotations.get(PEER, "")
    return f"{pod.namespace}/{name}" if name not in ("", pod.name) else ""


class Peers(Plugin):
    """Correct: a pod waits until its peer has a node, and activates it."""

    seconds: float = 60

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.placed: dict[str, str] = {}
        handle.informers.on_change(Pod, self.follow)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Read a change of a pod."""
        if old is not None and (new is None or new.uid != old.uid):
            self.leave(old)
        if new is not None and new.node_name and not new.is_finished:
            self.arrive(new)

    def arrive(self, pod: Pod) -> None:
        """Remember a pod that has a node, and release its peers."""
        self.placed[pod.key] = pod.uid
        self.release()

    def leave(self, pod: Pod) -> None:
        """Forget a pod; a pod that waits for it would no longer wait if it is gone."""
        if self.placed.get(pod.key) == pod.uid:
            del self.placed[pod.key]

    def release(self) -> None:
        """Allow the pods whose peers have nodes."""
        for waiting in self.handle.waiting_pods():
            if _peer(waiting.pod) in self.placed and self.is_own(waiting):
                waiting.allow(self.handle.plugin_name)

    def is_own(self, waiting: WaitingPod) -> bool:
        """Return whether a pod waits for this plugin."""
        return self.handle.plugin_name in waiting.pending_plugins

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        self.placed[pod.key] = pod.uid

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        self.release()
        key = _peer(pod)
        if not key or key in self.placed:
            return None
        peer = self.handle.informers.get(Pod, key)
        if peer is not None:
            self.wake(pod, peer)
        return self.wait(pod)

    def wake(self, pod: Pod, peer: Pod) -> None:
        """Let the peer of a pod be tried."""
        self.handle.activate([peer])

    def wait(self, pod: Pod) -> PermitWait:
        """Return how long a pod waits."""
        return PermitWait(timeout_seconds=self.seconds)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.leave(pod)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.ALL)]


class PeersWithTimers(Peers):
    """Correct: a timer of its own ends a wait, and is cancelled when it has ended."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.timers: dict[str, Timer] = {}
        super().__init__(args, handle)

    def wait(self, pod: Pod) -> PermitWait:
        """Set a timer, and let the pod wait for longer."""
        clock, uid = self.handle.clock, pod.uid
        self.timers[uid] = clock.call_later(self.seconds, lambda: self.give_up(uid))
        return PermitWait(timeout_seconds=900)

    def give_up(self, uid: str) -> None:
        """Reject a pod that waits."""
        waiting = self.handle.waiting_pod(uid)
        if waiting is not None and self.is_own(waiting):
            waiting.reject(self.handle.plugin_name, "the peer did not come")

    def arrive(self, pod: Pod) -> None:
        """Cancel the timer of a pod that is bound."""
        self.cancel(pod)
        super().arrive(pod)

    def leave(self, pod: Pod) -> None:
        """Cancel the timer of a pod that gives up its node."""
        self.cancel(pod)
        super().leave(pod)

    def cancel(self, pod: Pod) -> None:
        """Cancel the timer of a pod."""
        timer = self.timers.pop(pod.uid, None)
        if timer is not None:
            timer.cancel()


class KeepsTimers(PeersWithTimers):
    def cancel(self, pod: Pod) -> None:
        """Keep it: the pod may no longer wait."""


class ShortensLaterWaits(Peers):
    def __init__(self, args: object, handle: Handle) -> None:
        self.waited: set[str] = set()
        super().__init__(args, handle)

    def wait(self, pod: Pod) -> PermitWait:
        is_first = pod.uid not in self.waited
        self.waited.add(pod.uid)
        return PermitWait(timeout_seconds=self.seconds if is_first else 1)


class ActivatesOnce(Peers):
    def __init__(self, args: object, handle: Handle) -> None:
        self.woken: set[str] = set()
        super().__init__(args, handle)

    def wake(self, pod: Pod, peer: Pod) -> None:
        if pod.uid not in self.woken:
            self.woken.add(pod.uid)
            super().wake(pod, peer)


class ReleasesInPermitOnly(Peers):
    def arrive(self, pod: Pod) -> None:
        self.placed[pod.key] = pod.uid


class ReleasesForPodsThatItKnew(Peers):
    def arrive(self, pod: Pod) -> None:
        is_known = pod.key in self.placed
        self.placed[pod.key] = pod.uid
        if is_known:
            self.release()


class AllowsPodsOfOthers(Peers):
    def is_own(self, waiting: WaitingPod) -> bool:
        return True


class AllowsPodsOfOthersInTheEnd(Peers):
    def leave(self, pod: Pod) -> None:
        super().leave(pod)
        for waiting in self.handle.waiting_pods():
            if _peer(waiting.pod) == pod.key:
                waiting.allow(self.handle.plugin_name)


class WaitsInMilliseconds(Peers):
    seconds: float = 60_000


class WaitsForAnHour(Peers):
    seconds: float = 3600


NAMES = ("w0", "w1", "p0")
OWN = clusters(
    pods=builds(
        make_pod,
        annotations=sampled_from([{PEER: name} for name in NAMES] + [{}]),
    )
)
PEER_MISTAKES: Sequence[Mistake] = (
    *(
        Mistake(plugin, ["releases"], OWN)
        for plugin in (
            KeepsTimers,
            ShortensLaterWaits,
            ActivatesOnce,
            ReleasesInPermitOnly,
            ReleasesForPodsThatItKnew,
        )
    ),
    *(
        Mistake(plugin, ["waiting pods"], OWN)
        for plugin in (
            AllowsPodsOfOthers,
            AllowsPodsOfOthersInTheEnd,
            WaitsInMilliseconds,
            WaitsForAnHour,
        )
    ),
)
