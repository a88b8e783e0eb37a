"""Four plugins and an observer, written against Quaymaster 0.1.0.

Together they have every hook of that version, each with all of its arguments, with
arguments of a plugin, kinds of objects and a wrapper. `CALLS` counts what is called.
"""

from collections import Counter
from collections.abc import Generator, Hashable, Sequence

import attrs
import numpy as np

from acme_racks.kinds import Rack
from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    Int64Array,
    NodeInfo,
    NodeStatuses,
    NodeTable,
    NodeVerdicts,
    PermitWait,
    Pod,
    PodUse,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
    QueuedPodInfo,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.cluster import ApiError
from quaymaster.scheduler import HookCall

CALLS: Counter[str] = Counter()
"""Hook -> how often it was called."""

TOLD: Counter[str] = Counter()
"""Hook -> how often the observer was told of it."""


@attrs.frozen(kw_only=True)
class RacksArgs:
    """What a profile may set.

    Attributes:
        label: The label of nodes that names their rack.
        patience_seconds: How long a pod waits for a sibling.
        weights: Rack -> its score.
        closed: The racks that take no pods.
    """

    label: str = "rack"
    patience_seconds: float = attrs.field(
        default=60.0, validator=attrs.validators.gt(0)
    )
    weights: dict[str, int] = attrs.field(factory=dict)
    closed: tuple[str, ...] = ()


class PodsOfRacks(dict[str, int]):
    """How many pods each rack has, as imagined."""

    def clone(self) -> "PodsOfRacks":
        return PodsOfRacks(self)


PODS = StateKey[PodsOfRacks]("acme racks: pods")
WEIGHTS = StateKey[dict[str, int]]("acme racks: weights")


class Racks:
    """Keeps racks from taking more pods than they are for."""

    Args = RacksArgs
    kinds = (Rack,)

    def __init__(self, args: RacksArgs, handle: Handle) -> None:
        self.args = args
        self.handle = handle
        self.racks = handle.informers.index(Rack, by=lambda rack: rack.name)
        self.reserved: dict[str, str] = {}
        self.prepared: set[str] = set()

    # The plugin as a whole

    @hookimpl
    def start(self) -> None:
        CALLS["start"] += 1

    @hookimpl
    def close(self) -> None:
        CALLS["close"] += 1

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        CALLS["events_to_register"] += 1
        return [
            EventsOf(Rack)(Change.ADD | Change.UPDATE, self.after_rack),
            on_pod(Change.DELETE),
        ]

    def after_rack(self, pod: Pod, old: Rack | None, new: Rack) -> QueueingHint:
        known = old.spec.max_pods if old is not None else 0
        return QueueingHint.QUEUE if new.spec.max_pods > known else QueueingHint.SKIP

    # Queueing

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        CALLS["pre_enqueue"] += 1
        if pod.labels.get("held") == "true":
            return Status.unresolvable("the pod is held")
        return None

    # The scheduling cycle

    @hookimpl
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> PreFilterResult | Status | None:
        CALLS["pre_filter"] += 1
        pods = PodsOfRacks()
        for info in nodes:
            rack = self.rack_of(info)
            pods[rack] = pods.get(rack, 0) + len(info.pods)
        state[PODS] = pods
        only = pod.labels.get("only")
        return PreFilterResult(frozenset({only})) if only else None

    @hookimpl
    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        CALLS["add_pod"] += 1
        state[PODS][self.rack_of(node)] += 1
        return None

    @hookimpl
    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        CALLS["remove_pod"] += 1
        state[PODS][self.rack_of(node)] -= 1
        return None

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        CALLS["filter"] += 1
        name = self.rack_of(node)
        if name in self.args.closed:
            return Status.unresolvable("the rack is closed")
        racks = self.racks.get(name)
        if not racks:
            return Status.unresolvable("no such rack")
        if state[PODS][name] >= racks[0].spec.max_pods:
            return Status.unschedulable("the rack is full")
        return None

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        CALLS["post_filter"] += 1
        return PostFilterResult(Status.unschedulable("racks do not move"))

    @hookimpl
    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Status | None:
        CALLS["pre_score"] += 1
        if not self.args.weights or nodes.count(rows) == 0:
            return Status.skip()
        state[WEIGHTS] = dict(self.args.weights)
        return None

    @hookimpl
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        CALLS["score"] += 1
        return state[WEIGHTS].get(self.rack_of(node), 0)

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        CALLS["reserve"] += 1
        self.reserved[pod.uid] = node_name
        return None

    @hookimpl
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        CALLS["unreserve"] += 1
        self.reserved.pop(pod.uid, None)

    @hookimpl
    def permit(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PermitWait | Status | None:
        CALLS["permit"] += 1
        pair = pod.labels.get("pair")
        if pair is None:
            return None
        for waiting in self.handle.waiting_pods():
            if waiting.pod.labels.get("pair") == pair:
                waiting.allow(self.handle.plugin_name)
                return None
        return PermitWait(self.args.patience_seconds)

    # The binding cycle

    @hookimpl
    def pre_bind_pre_flight(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindPreFlightResult | Status | None:
        CALLS["pre_bind_pre_flight"] += 1
        if pod.labels.get("slow") != "true":
            return Status.skip()
        return PreBindPreFlightResult(allow_parallel=False)

    @hookimpl
    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindWait | Status | None:
        CALLS["pre_bind"] += 1
        ready = self.handle.clock.now() + 5
        return PreBindWait(
            check=lambda: self.handle.clock.now() >= ready,
            timeout_seconds=30,
            timed_out=Status.unschedulable("not ready"),
        )

    @hookimpl
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        CALLS["bind"] += 1
        if pod.labels.get("binder") != "racks":
            return Status.skip()
        try:
            self.handle.cluster.bind(pod, node_name)
        except ApiError as error:
            return Status.from_error(error)
        return None

    @hookimpl
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        CALLS["post_bind"] += 1
        self.reserved.pop(pod.uid, None)

    def rack_of(self, node: NodeInfo) -> str:
        return node.labels.get(self.args.label, "")


class Shelves:
    """Prefers nodes with low shelves; answers for all nodes at once."""

    scope = Scope.NODE
    pod_use = PodUse.NONE

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        CALLS["sign_pod"] += 1
        return pod.labels.get("heavy", "")

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return self.verdict(pod, node)

    @hookimpl
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        CALLS["filter_nodes"] += 1
        infos = nodes.infos_at(rows)
        codes = np.array([self.verdict(pod, info) is not None for info in infos])
        return NodeVerdicts(codes, lambda _code: TOO_HIGH)

    @hookimpl
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        return height_of(node)

    @hookimpl
    def score_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        CALLS["score_nodes"] += 1
        heights = [height_of(info) for info in nodes.infos_at(rows)]
        return np.array(heights, dtype=np.int64)

    @hookimpl
    def normalize_score(
        self,
        state: CycleState,
        pod: Pod,
        scores: Int64Array,
        nodes: NodeTable,
        rows: Rows,
    ) -> Int64Array | Status | None:
        CALLS["normalize_score"] += 1
        highest = max(int(scores.max()), 1)
        return 100 - scores * 100 // highest

    def verdict(self, pod: Pod, node: NodeInfo) -> Status | None:
        if pod.labels.get("heavy") == "true" and height_of(node) > 1:
            return TOO_HIGH
        return None


TOO_HIGH = Status.unresolvable("the shelf is too high")


def height_of(node: NodeInfo) -> int:
    return int(node.labels.get("shelf", "0"))


class SmallFirst:
    """Tries pods by priority, then by name."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, str]:
        CALLS["queue_sort"] += 1
        return (-queued.pod.priority, queued.pod.name)


class Watcher:
    """Goes around the twins of other plugins."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl(wrapper=True)
    def filter_nodes(
        self, nodes: NodeTable, rows: Rows
    ) -> Generator[None, NodeVerdicts | Status | None, NodeVerdicts | Status | None]:
        CALLS["around filter_nodes"] += 1
        return (yield)


class Tally:
    """Counts what it is told of."""

    def called(self, call: HookCall, /) -> None:
        assert call.seconds >= 0
        if call.plugin in ("Racks", "Shelves", "SmallFirst"):
            TOLD[call.hook] += 1
