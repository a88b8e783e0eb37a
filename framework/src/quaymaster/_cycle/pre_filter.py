"""The PreFilter station: one look at the pod before any node is filtered.

Mirrors ``RunPreFilterPlugins`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._cycle.errors import failed, raised, unexpected
from quaymaster._cycle.memory import Recalled
from quaymaster._cycle.prepared import Calls, Lesson
from quaymaster._runtime import Call, HookFunction
from quaymaster.cycle_state import CycleState
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.results import PreFilterResult
from quaymaster.status import Code, Status

__all__ = ["PreFilterOutcome", "PreFilterStation"]


@attrs.frozen
class PreFilterOutcome:
    """What the PreFilter plugins said together.

    Attributes:
        status: The rejection or error that ends the attempt, or None.
        node_names: The only nodes worth filtering; None for all.
        restricting_plugins: The plugins that restricted the nodes.
        ended_by: The plugin after which no other was asked; empty if all were.
    """

    status: Status | None = None
    node_names: frozenset[str] | None = None
    restricting_plugins: frozenset[str] = frozenset()
    ended_by: str = ""


_ALL_NODES = PreFilterOutcome()
_NONE: Final[frozenset[str]] = frozenset()
_SKIP: Final = Status.skip()


class PreFilterStation:
    """Calls ``pre_filter``, ``add_pod`` and ``remove_pod`` of one profile's plugins."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._pre_filter: Calls = [
            (call.plugin, call.hooks["pre_filter"]) for call in calls
        ]
        self._add_pod = _extensions(calls, "add_pod")
        self._remove_pod = _extensions(calls, "remove_pod")

    def run(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        recalled: Recalled | None = None,
    ) -> PreFilterOutcome:
        """Run every plugin, and note in the state which filters may be skipped.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: All nodes.
            recalled: What is remembered of the pod, if anything is; is filled in.
        """
        if recalled is None:
            return self._ask(self._pre_filter, _NONE, state, pod, nodes)
        known = recalled.pre_filter
        if known is not None:
            known.write(state)
            outcome = self._ask(known.calls, known.skips, state, pod, nodes)
            if outcome.ended_by:
                state.skip_filter_plugins -= known.take_back(state, outcome.ended_by)
            return outcome
        lesson = Lesson(self._pre_filter, recalled.plugins, recalled.skipping)
        outcome = self._ask(lesson.calls, _NONE, state, pod, nodes)
        recalled.pre_filter = lesson.learnt(self._pre_filter)
        return outcome

    def run_one(
        self, plugin: str, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> PreFilterResult | Status | None:
        """Run one plugin alone; for explanations."""
        return _answer(plugin, dict(self._pre_filter)[plugin], state, pod, nodes)

    @property
    def plugins(self) -> Sequence[str]:
        """The plugins of this point, in profile order."""
        return [plugin for plugin, _ in self._pre_filter]

    @property
    def imagining_plugins(self) -> frozenset[str]:
        """The plugins that want to be told of pods which come or go."""
        return frozenset({*self._add_pod, *self._remove_pod})

    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Tell the plugins to imagine one more pod on a node."""
        return self._extend(self._add_pod, "add_pod", state, pod, pod_to_add, node)

    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Tell the plugins to imagine that a pod has left a node."""
        return self._extend(
            self._remove_pod, "remove_pod", state, pod, pod_to_remove, node
        )

    def _ask(
        self,
        calls: Calls,
        skips: frozenset[str],
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
    ) -> PreFilterOutcome:
        skipped: list[str] = []
        names: frozenset[str] | None = None
        restricting: set[str] = set()
        rejection: Status | None = None
        try:
            for plugin, pre_filter in calls:
                answer = _answer(plugin, pre_filter, state, pod, nodes)
                if answer is None:
                    continue
                if answer is _SKIP:
                    skipped.append(plugin)
                elif isinstance(answer, PreFilterResult):
                    restricting.add(plugin)
                    allowed = answer.node_names
                    names = allowed if names is None else names & allowed
                    if not names:
                        return _nothing_left(frozenset(restricting), plugin)
                elif answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    return PreFilterOutcome(answer.with_plugin(plugin), ended_by=plugin)
                elif answer.code is Code.UNSCHEDULABLE:
                    rejection = answer.with_plugin(plugin)
                else:
                    prefix = f'running PreFilter plugin "{plugin}"'
                    failure = failed(prefix, plugin, answer)
                    return PreFilterOutcome(failure, ended_by=plugin)
        finally:
            state.skip_filter_plugins = skips.union(skipped)
        if rejection is None and names is None:
            return _ALL_NODES
        return PreFilterOutcome(rejection, names, frozenset(restricting))

    def _extend(
        self,
        calls: Mapping[str, HookFunction],
        hook: str,
        state: CycleState,
        pod: Pod,
        other: Pod,
        node: NodeInfo,
    ) -> Status | None:
        for plugin, function in calls.items():
            if plugin in state.skip_filter_plugins:
                continue
            try:
                status = function(state, pod, other, node)
            except Exception as error:
                status = raised(error)
            if status is not None:
                if not isinstance(status, Status):
                    status = unexpected(plugin, hook, status, "Status or None")
                name = _NAMES[hook]
                prefix = f'running {name} on PreFilter plugin "{plugin}"'
                return failed(prefix, plugin, status)
        return None


def _answer(
    plugin: str, pre_filter: HookFunction, state: CycleState, pod: Pod, nodes: NodeTable
) -> PreFilterResult | Status | None:
    """What a plugin says; any Skip is the one that `Status.skip` gives."""
    try:
        answer = pre_filter(state, pod, nodes)
    except Exception as error:
        return raised(error)
    if answer is None or answer is _SKIP:
        return answer
    if isinstance(answer, Status):
        return _SKIP if answer.is_skip else answer
    if not isinstance(answer, PreFilterResult):
        expected = "PreFilterResult, Status or None"
        return unexpected(plugin, "pre_filter", answer, expected)
    names: object = answer.node_names
    if isinstance(names, frozenset):
        return answer
    expected = "a PreFilterResult with a frozenset of node names"
    return unexpected(plugin, "pre_filter", names, expected)


_NAMES = {"add_pod": "AddPod", "remove_pod": "RemovePod"}
"""Upstream's names of the extensions."""


def _extensions(calls: Sequence[Call], hook: str) -> Mapping[str, HookFunction]:
    return {call.plugin: call.hooks[hook] for call in calls if hook in call.hooks}


def _nothing_left(plugins: frozenset[str], last: str) -> PreFilterOutcome:
    if len(plugins) == 1:
        text = f"node(s) didn't satisfy plugin {next(iter(plugins))}"
    else:
        listed = " ".join(sorted(plugins))
        text = f"node(s) didn't satisfy plugin(s) [{listed}] simultaneously"
    return PreFilterOutcome(Status.unresolvable(text), frozenset(), plugins, last)
