"""Places pods on the scheduler's snapshot as a trial, and undoes it."""

import random
from collections.abc import Callable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._core.binding.stations import BindingStations
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import FitError
from quaymaster._core.cycle.scoring import Ties
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Trial", "Tried"]

_NO_NODES: Final = "no nodes available to schedule pods"


@attrs.frozen(kw_only=True)
class Tried:
    """The result of the trial for one pod.

    Attributes:
        pod: Its key.
        node: The node that it would get; empty if it fits nowhere.
        message: The scheduler's message if it fits nowhere; empty otherwise.
        reasons: The distinct reasons for which nodes were rejected, sorted.
        plugins: The plugins that rejected nodes, sorted.
    """

    pod: str
    node: str = ""
    message: str = ""
    reasons: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


class Trial:
    """Places pods one after the other without binding them; a context manager.

    Each pod is placed as in the scheduler's next attempt, by PreEnqueue, PreFilter,
    Filter, extenders, Score and Reserve. It then occupies its node for the following
    pods. PostFilter does not run, so no pod is preempted. Permit does not run either: a
    pod that would wait there counts as placed. At the end everything is undone in
    reverse order.

    Args:
        scheduler: A scheduler without pending changes, whose loop is not running.
        seed: The seed of the choice between nodes with equal scores.
    """

    def __init__(self, scheduler: Scheduler, seed: int = 0) -> None:
        self._scheduler = scheduler
        self._random = random.Random(seed)
        self._undo: list[Callable[[], object]] = []

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, *_error: object) -> None:
        self.take_back()

    def take_back(self) -> None:
        """Undo all placements."""
        while self._undo:
            self._undo.pop()()

    def place(self, pod: Pod, *, remember: bool = True) -> Tried:
        """Find a node for a pod, and place it there.

        Args:
            pod: The admitted pod, with its own uid.
            remember: Whether to cache the verdicts of plugins. The result is the same.
                With the cache, the next equal pod is faster; without it, a pod that
                does not come again takes a third of the time.
        """
        framework = self._scheduler.frameworks.get(pod.spec.scheduler_name)
        if framework is None:
            profiles = ", ".join(sorted(self._scheduler.frameworks))
            name = pod.spec.scheduler_name
            text = f"no profile has the scheduler name '{name}' (profiles: {profiles})"
            return Tried(pod=pod.key, message=text)
        for call in framework.profile.plan("preEnqueue"):
            gate = framework.pre_enqueue(call.plugin, pod)
            if gate is not None:
                return _refused(pod, gate.with_plugin(call.plugin))
        return self._placed(framework, pod, remember)

    def _placed(self, framework: Framework, pod: Pod, remember: bool) -> Tried:
        algorithm = framework.algorithm if remember else framework.plain
        nodes = algorithm.nodes
        if not len(nodes):
            return Tried(pod=pod.key, message=_NO_NODES)
        state = CycleState()
        attempt = Attempt.begin(state, pod, nodes)
        feasible = algorithm.find_feasible(attempt)
        if isinstance(feasible, FitError):
            return _unfit(pod, feasible)
        ranking = algorithm.rank(attempt, feasible)
        if isinstance(ranking, Status):
            return _refused(pod, ranking)
        row = algorithm.choose(attempt, feasible, ranking, self._pick)
        if isinstance(row, Status):
            return _refused(pod, row)
        info = algorithm.nodes_of(feasible).infos[row]
        assert info is not None, "only rows with nodes are feasible"
        return self._reserved(framework.binding, state, pod, info.name)

    def _pick(self, _nodes: NodeTable, rows: Ties) -> int:
        return int(rows[int(self._random.random() * len(rows))])

    def _reserved(
        self, stations: BindingStations, state: CycleState, pod: Pod, node: str
    ) -> Tried:
        """Assume the pod on its node, and reserve its resources there."""
        cache = self._scheduler.cache
        assumed = replace(pod, node_name=node)
        cache.assume(assumed)
        # Undone in the opposite order: the plugins unreserve while the pod is still
        # assumed, as in ``unreserveAndForget`` (schedule_one.go).
        self._undo.append(lambda: cache.forget(assumed))
        self._undo.append(lambda: stations.unreserve(state, assumed, node))
        status = stations.reserve(state, assumed, node)
        if status is None:
            if state.annotations:
                cache.annotate(assumed, state.annotations)
            return Tried(pod=pod.key, node=node)
        for _ in range(2):
            self._undo.pop()()
        return _refused(pod, status)


def _unfit(pod: Pod, unfit: FitError) -> Tried:
    diagnosis = unfit.diagnosis
    if diagnosis is None:
        return _refused(pod, unfit.status)
    message, reasons = diagnosis.message_and_reasons()
    plugins = tuple(sorted(diagnosis.unschedulable_plugins))
    ordered = tuple(sorted(reasons))
    return Tried(pod=pod.key, message=message, reasons=ordered, plugins=plugins)


def _refused(pod: Pod, status: Status) -> Tried:
    plugins = (status.plugin,) if status.plugin else ()
    return Tried(
        pod=pod.key, message=status.message, reasons=status.reasons, plugins=plugins
    )
