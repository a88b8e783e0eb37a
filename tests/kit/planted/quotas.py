"""Plugins that limit the pods of a zone or a tenant, and mistakes in them."""

from collections import Counter
from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    NodeInfo,
    Pod,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "QUOTA_MISTAKES", "NodeLoads", "TenantQuota", "ZoneQuota"]

ZONE, TENANT = "example.com/zone", "example.com/tenant"
MOST = 2
FULL = Status.unschedulable("node(s) were in a zone without quota")
EXHAUSTED = Status.unschedulable("the quota of the tenant is used up")


class ZoneQuota(Plugin):
    """Correct: each zone runs a few pods, counted in the snapshot."""

    def running(self) -> Sequence[Pod]:
        """Return the pods that have a node."""
        return [pod for info in self.handle.snapshot for pod in info.pods.values()]

    def used(self, zone: str) -> int:
        """Count the pods of a zone."""
        zones = {info.name: info.labels.get(ZONE) for info in self.handle.snapshot}
        return sum(zones.get(pod.node_name) == zone for pod in self.running())

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        zone = node.labels.get(ZONE)
        # A trial may have removed pods from this node alone.
        info = self.handle.snapshot.get(node.name)
        removed = 0 if info is None else len(info.pods) - len(node.pods)
        is_full = zone is not None and self.used(zone) - removed >= MOST
        return FULL if is_full else None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        zone = node.labels.get(ZONE)
        return 0 if zone is None else max(0, 10 - self.used(zone))

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL),
            on_pod.assigned(Change.DELETE),
        ]


class CountsBoundPods(ZoneQuota):
    def running(self) -> Sequence[Pod]:
        return [pod for pod in self.handle.informers.list(Pod) if pod.node_name]


class ScoresByBoundPods(ZoneQuota):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        bound = self.handle.informers.list(Pod)
        return max(0, 10 - sum(pod.node_name == node.name for pod in bound))


class FillsUpWhileFiltering(ZoneQuota):
    """It counts the pod in each zone that it has accepted."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.accepted = 0

    @hookimpl
    def pre_filter(self) -> None:
        self.accepted = 0

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        answer = FULL if self.accepted > 1 else super().filter(node)
        self.accepted += answer is None
        return answer


class FailsBeyondItsLimit(ZoneQuota):
    """It has no answer for zones with many more pods than it would accept."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        zone = node.labels.get(ZONE)
        left = MOST if zone is None else (2, 1, 0, 0, 0, 0, 0)[self.used(zone)]
        return super().filter(node) if left else FULL


class ScoresTheBestSoFar(ZoneQuota):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.best = 0

    @hookimpl
    def pre_score(self) -> None:
        self.best = 0

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        score = super().score(node)
        is_best = score >= self.best
        self.best = max(self.best, score)
        return 100 if is_best else score


class NodeLoads(Plugin):
    """Correct: few pods start on a node at a time, counted while they are bound."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.starting: dict[str, set[str]] = {}

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return FULL if len(self.starting.get(node.name, ())) >= MOST else None

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> None:
        self.starting.setdefault(node_name, set()).add(pod.uid)

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        self.end(pod, node_name)

    @hookimpl
    def post_bind(self, pod: Pod, node_name: str) -> None:
        self.end(pod, node_name)

    def end(self, pod: Pod, node_name: str) -> None:
        """Let the next pod start on a node."""
        starting = self.starting.get(node_name, set())
        if pod.uid in starting:
            starting.discard(pod.uid)
            self.handle.changed(nodes=[node_name])

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]


class Ledger:
    """The pods of each tenant."""

    def __init__(self) -> None:
        self.used: dict[str, set[str]] = {}


class TenantQuota(Plugin):
    """Correct: each tenant runs a few pods, counted in a ledger."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.used = handle.shared(Ledger, Ledger).used
        handle.informers.on_change(Pod, self.follow)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Count the pods that have a node."""
        for pod in (old, new):
            if pod is not None and pod.node_name:
                self.used.get(self.tenant(pod), set()).discard(pod.uid)
        if new is not None and new.node_name and not new.is_finished:
            self.used.setdefault(self.tenant(new), set()).add(new.uid)

    def tenant(self, pod: Pod) -> str:
        """Return the tenant of a pod."""
        return pod.labels.get(TENANT, "")

    def is_exhausted(self, pod: Pod) -> bool:
        """Return whether the tenant of a pod has no quota left."""
        tenant = self.tenant(pod)
        return bool(tenant) and len(self.used.get(tenant, ())) >= MOST

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return EXHAUSTED if self.is_exhausted(pod) else None

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        if self.is_exhausted(pod):
            return EXHAUSTED
        self.used.setdefault(self.tenant(pod), set()).add(pod.uid)
        return None

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.used.get(self.tenant(pod), set()).discard(pod.uid)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod.assigned(Change.DELETE | Change.UPDATE_POD_LABEL),
            on_pod.target(Change.UPDATE_POD_LABEL),
        ]


class ReservesWithoutCounting(TenantQuota):
    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return EXHAUSTED if self.is_exhausted(pod) else None


class CountsWhenBound(ReservesWithoutCounting):
    """It counts a pod in post_bind, after others have been accepted."""

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.used.setdefault(self.tenant(pod), set()).add(pod.uid)


class ReleasesTheTenant(TenantQuota):
    """It forgets all pods of the tenant when one is unreserved."""

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.used.pop(self.tenant(pod), None)


class CountsDown(TenantQuota):
    """It counts down for each call, also for the second one."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.reserved: Counter[str] = Counter()

    def is_exhausted(self, pod: Pod) -> bool:
        """Return whether the tenant of a pod has no quota left."""
        tenant = self.tenant(pod)
        return bool(tenant) and self.reserved[tenant] >= MOST

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        if self.is_exhausted(pod):
            return EXHAUSTED
        self.reserved[self.tenant(pod)] += 1
        return None

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.reserved[self.tenant(pod)] -= 1


class PermitsByTheInformer(TenantQuota):
    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return None

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return None

    @hookimpl
    def permit(self, pod: Pod) -> Status | None:
        return EXHAUSTED if self.is_exhausted(pod) else None


OWN = clusters(
    nodes=nodes({"labels": {ZONE: "a"}}, {"labels": {ZONE: "b"}}),
    pods=pods({"labels": {TENANT: "red"}}, {"labels": {TENANT: "blue"}}),
)
QUOTA_MISTAKES: Sequence[Mistake] = (
    Mistake(CountsBoundPods, ["assumed pods"], OWN),
    Mistake(ScoresByBoundPods, ["assumed pods"], OWN),
    Mistake(FillsUpWhileFiltering, ["node order"], OWN),
    Mistake(FailsBeyondItsLimit, ["failures"], OWN),
    Mistake(ScoresTheBestSoFar, ["node order"], OWN),
    Mistake(ReservesWithoutCounting, ["assumed pods"], OWN),
    Mistake(CountsWhenBound, ["assumed pods"], OWN),
    Mistake(ReleasesTheTenant, ["unreserve"], OWN),
    Mistake(CountsDown, ["unreserve"], OWN),
    Mistake(PermitsByTheInformer, ["assumed pods"], OWN),
)
