"""A plugin with metrics, and mistakes in them."""

from collections.abc import Hashable, Sequence
from functools import cache

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Node,
    NodeInfo,
    Pod,
    PodUse,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.scheduler import CounterMetric
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["METER_MISTAKES", "OWN", "Meters", "MetersAttempts"]

QUIET = "example.com/quiet"
LOUD = Status.unresolvable("node(s) were loud")


class Meters(Plugin):
    """Correct: counts the nodes that it checks, by result."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    label = "result"

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.checks = handle.counter("checks_total", "Checked nodes.", [self.label])

    def value(self, _pod: Pod, *, is_loud: bool) -> str:
        """Return the value of the label."""
        return "loud" if is_loud else "quiet"

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.labels.get(QUIET)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_loud = pod.labels.get(QUIET) == "yes" != node.labels.get(QUIET)
        self.checks.add(**{self.label: self.value(pod, is_loud=is_loud)})
        return LOUD if is_loud else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL),
            on_pod.target(Change.UPDATE_POD_LABEL),
        ]


class CountsByPod(Meters):
    label = "pod"

    def value(self, pod: Pod, *, is_loud: bool) -> str:
        return pod.key


class CountsByText(Meters):
    label = "quiet"

    def value(self, pod: Pod, *, is_loud: bool) -> str:
        return pod.labels.get(QUIET, "")


class CountsByNode(Meters):
    label = "node"

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        self.checks.add(node=node.name)
        is_loud = pod.labels.get(QUIET) == "yes" != node.labels.get(QUIET)
        return LOUD if is_loud else None


class GaugesNodes(Meters):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.ages = handle.gauge("quiet_seconds", "Since when it is quiet.", ["node"])
        handle.informers.on_change(Node, self.learn)

    def learn(self, _old: Node | None, new: Node | None) -> None:
        """Note when a node was seen."""
        if new is not None:
            self.ages.set(self.handle.clock.now(), node=new.name)


class MakesACounterInFilter(Meters):
    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_loud = pod.labels.get(QUIET) == "yes" != node.labels.get(QUIET)
        if is_loud:
            self.rejected().add()
        return LOUD if is_loud else None

    @cache  # noqa: B019 - a plugin lives as long as its profile
    def rejected(self) -> CounterMetric:
        """Return the counter."""
        return self.handle.counter("rejected_total", "Rejected nodes.")


class MakesAGaugeInATimer(Meters):
    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(60, self.tick, background=True)

    def tick(self) -> None:
        """Note the time."""
        self.handle.gauge("ticked_seconds", "When it ticked.").set(1)


class ObservesByUid(Meters):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.waits = handle.histogram("waits_seconds", "Waits.", ["uid"])

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.waits.observe(self.handle.clock.now(), uid=pod.uid)


class MetersAttempts(Plugin):
    """Correct: a gauge has the pods between Reserve and the end of their attempts."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.trying = handle.gauge("trying", "Pods in attempts.")
        self.uids: set[str] = set()

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        if QUIET in pod.labels:
            self.uids.add(pod.uid)
            self.trying.set(len(self.uids))

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.settle(pod)

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.settle(pod)

    def settle(self, pod: Pod) -> None:
        """End the attempt of a pod."""
        self.uids.discard(pod.uid)
        self.trying.set(len(self.uids))


class SettlesUnboundPodsOnly(MetersAttempts):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or not stored.node_name:
            self.settle(pod)


class SettlesBoundPodsOnly(MetersAttempts):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        """Expect that binds succeed."""


class CountsAttemptsByAGauge(MetersAttempts):
    attempts = 0

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        self.attempts += 1
        self.trying.set(self.attempts)

    def settle(self, pod: Pod) -> None:
        """Expect that each attempt is of another pod."""
        if self.handle.informers.get(Pod, pod.key) is None:
            self.attempts -= 1


OWN = clusters(
    nodes=nodes({"labels": {QUIET: "yes"}}), pods=pods({"labels": {QUIET: "yes"}})
)
METER_MISTAKES: Sequence[Mistake] = (
    Mistake(CountsByPod, ["metrics"], OWN),
    Mistake(CountsByText, ["metrics"], OWN),
    Mistake(ObservesByUid, ["metrics"], OWN),
    Mistake(CountsByNode, ["effects"], OWN),
    Mistake(GaugesNodes, ["effects"], OWN),
    Mistake(MakesACounterInFilter, ["failures"], OWN),
    Mistake(MakesAGaugeInATimer, ["timers"], OWN),
    Mistake(SettlesUnboundPodsOnly, ["bound pods"], OWN),
    Mistake(SettlesBoundPodsOnly, ["bound pods"], OWN),
    Mistake(CountsAttemptsByAGauge, ["bound pods"], OWN),
)
