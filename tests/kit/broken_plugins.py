"""Plugins with one mistake each, the check that finds it, and its message."""

import itertools
import random
import threading
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    PermitWait,
    Pod,
    PodUse,
    QueuedPodInfo,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.columns import Revised, RowArray
from quaymaster.hookspecs import Suggestion

__all__ = ["BROKEN", "STOP", "OnlyOpenNodes", "RunsAThread", "ScoresHigh"]

NO = Status.unschedulable("no")


class Plugin:
    """Keep the handle for all plugins here."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle


def untyped(function: object) -> Any:  # noqa: ANN401 - whatever a plugin marks
    """Mark a hook that a type checker would reject."""
    return hookimpl(function)  # type: ignore[call-overload]


# Loading ------------------------------------------------------------------------------


class Forgotten(Plugin):
    def filter(self, node: NodeInfo) -> None: ...


class Misspelt(Plugin):
    @hookimpl
    def fitler(self, node: NodeInfo) -> None: ...


class NoHooks(Plugin):
    """Does nothing."""


# Annotations and arguments ------------------------------------------------------------


class WrongArgumentType(Plugin):
    @hookimpl
    def filter(self, node: Node) -> Status | None:
        return None


class WrongAnswerType(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> bool:
        return None  # type: ignore[return-value]


def shout(value: str) -> str:
    return value + "!"


@attrs.frozen(kw_only=True)
class Shouting:
    word: str = attrs.field(default="hey", converter=shout)


class ArgumentsThatGrow(Plugin):
    Args: ClassVar = Shouting

    @hookimpl
    def filter(self) -> Status | None:
        return None


def shout_all(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(shout, values))


@attrs.frozen(kw_only=True)
class ShoutingTogether:
    words: tuple[str, ...] = attrs.field(default=(), converter=shout_all)


class ArgumentsThatGrowOnceTheyAreGiven(Plugin):
    Args: ClassVar = ShoutingTogether

    @hookimpl
    def filter(self) -> Status | None:
        return None


# Failures -----------------------------------------------------------------------------


class Raises(Plugin):
    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return NO if pod.metadata.labels["app"] == "web" else None


class SaysYes(Plugin):
    @untyped
    def filter(self, pod: Pod) -> bool:
        return True


class WaitsByStatus(Plugin):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        return Status(Code.WAIT)


class FailsToPostFilter(Plugin):
    @hookimpl
    def post_filter(self, pod: Pod) -> Status | None:
        raise RuntimeError("no idea")


# Purity -------------------------------------------------------------------------------


class WritesColumns(Plugin):
    @hookimpl
    def pre_filter(self, nodes: NodeTable) -> Status | None:
        nodes.unschedulable[:] = False
        return None

    @hookimpl
    def filter(self) -> Status | None:
        return None


class WritesLabels(Plugin):
    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        pod.metadata.labels["seen"] = "yes"
        return None


# Twins --------------------------------------------------------------------------------


class TwinForgetsPods(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.pods else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> Status | None:
        return None


class TwinForgetsRows(Plugin):
    """Scores the first rows instead of the rows in the argument."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return min(100, len(node.pods))

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        counts: Int64Array = nodes.pod_count[: nodes.count(rows)].astype(np.int64)
        return counts


class TwinSaysOtherReason(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.node.spec.unschedulable else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        closed = nodes.unschedulable[rows]
        return NodeVerdicts.reject_where(closed, Status.unresolvable("no"))


# Determinism and staleness ------------------------------------------------------------


class RollsDice(Plugin):
    @hookimpl
    def score(self) -> int:
        return random.randrange(100)


class Counts(Plugin):
    calls = 0

    @hookimpl
    def score(self) -> int:
        self.calls += 1
        return self.calls % 100


class RemembersNodes(Plugin):
    def __init__(self, args: object, handle: Handle) -> None:
        self._pods: dict[str, int] = {}

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self._pods.setdefault(node.name, min(100, len(node.pods)))


# Scores -------------------------------------------------------------------------------


class ScoresHigh(Plugin):
    """Has a score above 100."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 1000 * len(node.pods)


class NormalizesBelowZero(Plugin):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return len(node.pods)

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return -scores


class NormalizesByRow(Plugin):
    scope = Scope.NODE

    @hookimpl
    def score(self) -> int:
        return 7

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return np.arange(len(scores))

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return ""


# Signature, scope, pod use ------------------------------------------------------------


class SignsTooLittle(Plugin):
    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return NO if pod.metadata.labels.get("app") == "web" else None

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.metadata.namespace


class SignsNames(Plugin):
    @hookimpl
    def filter(self) -> Status | None:
        return None

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.name


class LooksAtNeighbours(Plugin):
    scope = Scope.NODE

    @hookimpl
    def score(self) -> int:
        return min(100, len(self.handle.snapshot))

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return ""


class SkipsTooLong(Plugin):
    """Skips while no pod runs, but does not declare that it depends on running pods."""

    @hookimpl
    def pre_filter(self) -> Status | None:
        runs = any(info.pods for info in self.handle.snapshot)
        return None if runs else Status.skip()

    @hookimpl
    def skips_depend_on(self) -> Sequence[Revised]:
        return ()


class ReservesAfterSkip(Plugin):
    skips_binding = True

    @hookimpl
    def pre_filter(self) -> Status | None:
        return Status.skip()

    @hookimpl
    def reserve(self) -> Status | None:
        return NO


class LooksAtPods(Plugin):
    pod_use = PodUse.NONE

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.pods else None


class LooksAtPodsAfterAll(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.pods else None

    @hookimpl
    def filter_pod_use(self) -> PodUse:
        return PodUse.NONE


class LooksAtLabelsOfPods(Plugin):
    pod_use = PodUse.SUMS

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        labels = [pod.metadata.labels.get("app") for pod in node.pods.values()]
        return NO if "web" in labels else None


# Facts --------------------------------------------------------------------------------


class HasBlankFacts(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.node.spec.unschedulable else None

    @hookimpl
    def explain_filter(self) -> Sequence[str]:
        return ["the node is closed", " "]


class FailsToExplain(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.node.spec.unschedulable else None

    @hookimpl
    def explain_filter(self, pod: Pod) -> Sequence[str]:
        raise LookupError(f"no facts about {pod.metadata.labels}")


_EXPLAINED: StateKey[bool] = StateKey("Explained")


class ForgetsItsVerdict(Plugin):
    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        is_closed = node.node.spec.unschedulable and _EXPLAINED not in state
        return NO if is_closed else None

    @hookimpl
    def explain_filter(self, state: CycleState) -> Sequence[str]:
        state[_EXPLAINED] = True
        return ["the node is closed"]


# Suggestions --------------------------------------------------------------------------


class SuggestsNothingNew(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.node.spec.unschedulable else None

    @hookimpl
    def suggest_changes(self, pod: Pod) -> Sequence[Suggestion]:
        return [Suggestion(text="try again", objects=[pod])]


class SuggestsBlanks(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.node.spec.unschedulable else None

    @hookimpl
    def suggest_changes(self) -> Sequence[Suggestion]:
        return [Suggestion(text=" ", objects=[])]


# Imagined pods ------------------------------------------------------------------------


class Tally:
    """A number of pods; it has no `clone`."""

    def __init__(self, count: int) -> None:
        self.count = count


class CopiedTally(Tally):
    def clone(self) -> "CopiedTally":
        return CopiedTally(self.count)


_TALLY = StateKey[Tally]("Tally")


class AtMostOne(Plugin):
    """At most one pod on all nodes; it ignores the imagined pods."""

    def make(self, count: int) -> Tally:
        return CopiedTally(count)

    @hookimpl
    def pre_filter(self, state: CycleState, nodes: NodeTable) -> Status | None:
        state[_TALLY] = self.make(sum(len(info.pods) for info in nodes))
        return None

    @hookimpl
    def filter(self, state: CycleState) -> Status | None:
        return NO if state[_TALLY].count > 1 else None


class ForgetsToRemove(AtMostOne):
    @hookimpl
    def add_pod(self, state: CycleState) -> None:
        state[_TALLY].count += 1


class SharesItsState(AtMostOne):
    def make(self, count: int) -> Tally:
        return Tally(count)

    @hookimpl
    def add_pod(self, state: CycleState) -> None:
        state[_TALLY].count += 1

    @hookimpl
    def remove_pod(self, state: CycleState) -> None:
        state[_TALLY].count -= 1


# Reserve ------------------------------------------------------------------------------


class Seats(Plugin):
    def __init__(self, args: object, handle: Handle) -> None:
        self.taken: dict[str, int] = {}

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if self.taken.get(node.name) else None

    @hookimpl
    def reserve(self, node_name: str) -> Status | None:
        self.taken[node_name] = self.taken.get(node_name, 0) + 1
        return None


class UnreservesOnlyWhatItHas(Seats):
    @hookimpl
    def unreserve(self, node_name: str) -> None:
        self.taken[node_name] -= 1


class UnreservesTwice(Seats):
    @hookimpl
    def unreserve(self, node_name: str) -> None:
        self.taken[node_name] = self.taken.get(node_name, 0) - 1


class KeepsWhatItReserved(Seats):
    @hookimpl
    def unreserve(self, node_name: str) -> None:
        """Keep the place that was reserved."""


class RemembersItsChoice(Plugin):
    """Chooses a node, and reads its own dictionary instead of the pod."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.taken: set[str] = set()

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.name in self.taken else None

    @hookimpl
    def reserve(self, state: CycleState, node_name: str) -> Status | None:
        state.annotate("example.com/seat", node_name)
        self.taken.add(node_name)
        return None

    @hookimpl
    def unreserve(self, node_name: str) -> None:
        self.taken.discard(node_name)


class BindsWithoutChoices(Plugin):
    @hookimpl
    def bind(self, pod: Pod, node_name: str) -> Status | None:
        self.handle.cluster.bind(pod, node_name)
        return None


# Queue --------------------------------------------------------------------------------


class MixesKeys(Plugin):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - a mistake
        return queued.pod.priority or "none"


@attrs.frozen(order=False)
class AlwaysLess:
    def __lt__(self, other: object) -> bool:
        return True


class EverybodyFirst(Plugin):
    @hookimpl
    def queue_sort(self) -> Any:  # noqa: ANN401 - a mistake
        return AlwaysLess()


class DrawsLots(Plugin):
    def __init__(self, args: object, handle: Handle) -> None:
        self._drawn = itertools.count()

    @hookimpl
    def queue_sort(self) -> Any:  # noqa: ANN401 - a mistake
        return next(self._drawn)


# Events and hints ---------------------------------------------------------------------


class OnlyOpenNodes(Plugin):
    """Is correct, except that it registers no events."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.node.spec.unschedulable else None


class KeepsAnAttempt:
    """Its filter is for the pod of the last pre_filter that did not skip."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.is_strict = False

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        if pod.name != "w0":
            return Status.skip()
        self.is_strict = True
        return None

    @hookimpl
    def filter(self) -> Status | None:
        return NO if self.is_strict else None


class RegistersNothing(OnlyOpenNodes):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return []


class RegistersTheWrongThing(OnlyOpenNodes):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD), on_pod(Change.DELETE)]


class HintsSkip(OnlyOpenNodes):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_TAINT, self._hint)]

    def _hint(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        return QueueingHint.SKIP


class HintsRaise(OnlyOpenNodes):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_TAINT, self._hint)]

    def _hint(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        assert old is not None
        return QueueingHint.QUEUE


class HintsTrue(OnlyOpenNodes):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        wrong: Any = lambda pod, old, new: True  # noqa: E731 - a mistake
        return [on_node(Change.ADD | Change.UPDATE_NODE_TAINT, wrong)]


class IndexForgets(OnlyOpenNodes):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        registered = on_node(Change.ADD | Change.UPDATE_NODE_TAINT, self._hint)
        return [registered.indexed(lambda pod: [pod.uid], lambda _old, new: [new.uid])]

    def _hint(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        return QueueingHint.QUEUE


# Leaks --------------------------------------------------------------------------------

EVERYBODY: list[object] = []
STOP = threading.Event()
"""Stops the threads that a plugin leaves running."""


class IsKeptInAList(Plugin):
    def __init__(self, args: object, handle: Handle) -> None:
        EVERYBODY.append(self)

    @hookimpl
    def filter(self) -> Status | None:
        return None


class RunsAThread(Plugin):
    """Ends the thread that it has started."""

    def __init__(self, args: object, handle: Handle) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._stop.wait, daemon=True)

    @hookimpl
    def start(self) -> None:
        self._thread.start()

    @hookimpl
    def filter(self) -> Status | None:
        assert self._thread.is_alive(), "a plugin at work has been started"
        return None

    @hookimpl
    def close(self) -> None:
        self._stop.set()
        self._thread.join(1)


class ChoosesAnyNode(Plugin):
    """Returns the row after the tied rows."""

    @hookimpl
    def break_tie(self, tied: RowArray) -> int:
        return int(tied[-1]) + 1


class GivesUpOnTies(Plugin):
    @hookimpl
    def break_tie(self) -> Status:
        return Status.unschedulable("cannot choose")


class ShufflesTies(Plugin):
    """Writes to its argument."""

    @hookimpl
    def break_tie(self, tied: RowArray) -> int:
        tied[:] = tied[::-1].copy()
        return int(tied[0])


class FailsToClose(Plugin):
    @hookimpl
    def filter(self) -> Status | None:
        return None

    @hookimpl
    def close(self) -> None:
        raise OSError("gone")


class StartsAThread(Plugin):
    @hookimpl
    def start(self) -> None:
        threading.Thread(target=STOP.wait, daemon=True, name="poller").start()

    @hookimpl
    def filter(self) -> Status | None:
        return None


BROKEN: Sequence[tuple[type, str, str]] = [
    (Forgotten, "loading", "method 'filter' has the name of a hook, but no @hookimpl"),
    (Misspelt, "loading", "unknown hook 'fitler'; did you mean 'filter'?"),
    (NoHooks, "loading", "has no hook of any extension point"),
    (
        WrongArgumentType,
        "annotations",
        "'node' is annotated as Node, but it is NodeInfo",
    ),
    (
        WrongAnswerType,
        "annotations",
        "is annotated to return bool, expected Status | None",
    ),
    (ArgumentsThatGrow, "arguments", "{'word': 'hey!'} come back from a file as"),
    (
        ArgumentsThatGrowOnceTheyAreGiven,
        "arguments",
        "{'words': ['a!']} come back from a file as {'words': ['a!!']}",
    ),
    (Raises, "failures", "filter: raised KeyError: 'app' ("),
    (SaysYes, "failures", "filter: returned bool, expected Status or None"),
    (WaitsByStatus, "failures", "permit: returned a Status with code Wait"),
    (FailsToPostFilter, "failures", "post_filter: raised RuntimeError: no idea"),
    (FailsToClose, "failures", "close: raised OSError: gone"),
    (WritesColumns, "purity", "pre_filter: changed column 'unschedulable'"),
    (WritesLabels, "purity", "filter: changed metadata.labels of pod"),
    (TwinForgetsPods, "twin", "filter_nodes: success for node 'n"),
    (TwinForgetsRows, "twin", "TwinForgetsRows.score_nodes: "),
    (TwinSaysOtherReason, "twin", "filter_nodes: UnschedulableAndUnresolvable 'no'"),
    (RollsDice, "determinism", "as before, when it is called again"),
    (Counts, "determinism", "as before, when it is called again"),
    (RemembersNodes, "staleness", "it keeps data of the earlier cluster"),
    (ScoresHigh, "score range", "expected 0 to 100; larger ones need normalize_score"),
    (NormalizesBelowZero, "score range", "normalize_score: -1 for node 'n0'"),
    (NormalizesByRow, "normalisation", "scores 0, 1 of equal raw scores"),
    (ChoosesAnyNode, "ties", "break_tie: 3, expected one of the rows 0, 2"),
    (GivesUpOnTies, "ties", "break_tie: gave up: cannot choose, expected one of"),
    (ShufflesTies, "purity", "break_tie: changed"),
    (SignsTooLittle, "signature", "equal fragments for pods that differ: filter gives"),
    (SignsNames, "signature", "sign_pod: another name gives another fragment"),
    (LooksAtNeighbours, "scope", "among others, 1 alone: it changes with other nodes"),
    (SkipsTooLong, "skips", "and Skip before the cluster changed"),
    (ReservesAfterSkip, "binding skips", "for a pod that pre_filter skips"),
    (LooksAtPods, "pod use", "success with no pods at all, but pod_use is"),
    (LooksAtPodsAfterAll, "pod use", "with no pods at all, but filter_pod_use says"),
    (LooksAtLabelsOfPods, "pod use", "success with other pods that request the same"),
    (HasBlankFacts, "facts", "explain_filter: returned ' ' for node"),
    (FailsToExplain, "facts", "explain_filter: raised LookupError: no facts about"),
    (ForgetsItsVerdict, "facts", "explain_filter: changed the verdict on node"),
    (SuggestsNothingNew, "suggestions", "returned the pod without any change with"),
    (SuggestsBlanks, "suggestions", "returned the text ' ', expected one line"),
    (AtMostOne, "imagining", "remove_pod: is missing: without it, filter then says"),
    (ForgetsToRemove, "imagining", "remove_pod: is missing"),
    (SharesItsState, "clones", "its values need a clone() that copies"),
    (UnreservesOnlyWhatItHas, "unreserve", "fails without reserve: raised KeyError"),
    (UnreservesTwice, "unreserve", "without reserve, filter says Unschedulable"),
    (KeepsWhatItReserved, "unreserve", "after reserve, filter says Unschedulable"),
    (RemembersItsChoice, "choices", "reserve: filter says success for node 'n0', ex"),
    (BindsWithoutChoices, "binding", "bind: binds without the annotations that"),
    (MixesKeys, "sort keys", "keys do not compare: TypeError"),
    (EverybodyFirst, "sort keys", "are each less"),
    (DrawsLots, "sort keys", "for the same queued pod"),
    (KeepsAnAttempt, "skipped filter", "but not from a new instance"),
    (RegistersNothing, "events", "but neither event nor hint wakes it"),
    (
        RegistersTheWrongThing,
        "events",
        "(NodeUpdateNodeTaint) makes pod",
    ),
    (HintsSkip, "events", "but neither event nor hint wakes it"),
    (HintsRaise, "hints", "the hint for Node raises AssertionError"),
    (HintsTrue, "hints", "gives True, expected a QueueingHint"),
    (IndexForgets, "hints", "but the index has no key that both have"),
    (IsKeptInAList, "leaks", "is kept alive after a reload, by a list"),
    (StartsAThread, "leaks", "thread 'poller' runs on after a reload"),
]
