"""The PreFilter station: runs plugins for a pod before any node is filtered.

Mirrors ``RunPreFilterPlugins`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PreFilterResult
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.errors import failed
from quaymaster._core.runtime.profile import Call, HookFunction
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_info import NodeInfo

__all__ = [
    "ALL_NODES",
    "Calls",
    "PreFilterOutcome",
    "PreFilterStation",
    "Record",
    "restricted_rows",
]

Calls: TypeAlias = Sequence[tuple[str, HookFunction]]
"""Plugins and one hook of each, in profile order."""

Record: TypeAlias = Callable[[str, object], None]
"""Called with each plugin and its answer."""


class PreFilterOutcome(msgspec.Struct, frozen=True):
    """The common result of the PreFilter plugins.

    Attributes:
        status: The rejection or error that ends the attempt, or None.
        node_names: The nodes to filter; None for all.
        restricting_plugins: The plugins that restricted the nodes.
        ended_by: The last plugin that was called, if others follow; else empty.
    """

    status: Status | None = None
    node_names: frozenset[str] | None = None
    restricting_plugins: frozenset[str] = frozenset()
    ended_by: str = ""


ALL_NODES: Final = PreFilterOutcome()
"""The outcome if no plugin rejects the pod or restricts the nodes."""
_NONE: Final[frozenset[str]] = frozenset()
_SKIP: Final = Status.skip()


class PreFilterStation:
    """Calls ``pre_filter``, ``add_pod`` and ``remove_pod`` of one profile's plugins.

    Attributes:
        calls: The plugins with their ``pre_filter``.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls: Calls = [(call.plugin, call.hooks["pre_filter"]) for call in calls]
        self._explaining = _extensions(calls, "explain_pre_filter")
        self._add_pod = _extensions(calls, "add_pod")
        self._remove_pod = _extensions(calls, "remove_pod")

    def run(self, attempt: Attempt) -> PreFilterOutcome:
        """Run every plugin, and note in the state which filters may be skipped."""
        return self.run_some(attempt, self.calls, _NONE)

    def run_one(self, plugin: str, attempt: Attempt) -> PreFilterResult | Status | None:
        """Run a single plugin; used by explanations."""
        answer: PreFilterResult | Status | None = dict(self.calls)[plugin](
            attempt.state, attempt.pod, attempt.nodes
        )
        return answer

    def explain(self, plugin: str, state: CycleState, pod: Pod) -> tuple[str, ...]:
        """Return the facts of a plugin that has rejected a pod."""
        explain = self._explaining.get(plugin)
        if explain is None:
            return ()
        facts: Sequence[str] | Status = explain(state, pod)
        return () if isinstance(facts, Status) else tuple(facts)

    @property
    def plugins(self) -> Sequence[str]:
        """The plugins of this point, in profile order."""
        return [plugin for plugin, _ in self.calls]

    @property
    def imagining_plugins(self) -> frozenset[str]:
        """The plugins that implement ``add_pod`` or ``remove_pod``."""
        return frozenset({*self._add_pod, *self._remove_pod})

    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Call ``add_pod`` of the plugins for an imagined pod on a node."""
        return self._extend(self._add_pod, "AddPod", state, pod, pod_to_add, node)

    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Call ``remove_pod`` of the plugins for a pod that is imagined away."""
        return self._extend(
            self._remove_pod, "RemovePod", state, pod, pod_to_remove, node
        )

    def run_some(
        self,
        attempt: Attempt,
        calls: Calls,
        skips: frozenset[str],
        record: Record | None = None,
    ) -> PreFilterOutcome:
        """Run some calls, and note in the state which filters may be skipped.

        Args:
            attempt: The attempt.
            calls: The calls to run, in profile order.
            skips: Other plugins, which skip the pod.
            record: Called with each plugin and its answer, if given.
        """
        state, pod, nodes = attempt.state, attempt.pod, attempt.nodes
        if not calls:
            state.skip_filter_plugins = skips
            return ALL_NODES
        skipped: list[str] = []
        names: frozenset[str] | None = None
        restricting: set[str] = set()
        rejection: Status | None = None
        try:
            for plugin, pre_filter in calls:
                answer: PreFilterResult | Status | None = pre_filter(state, pod, nodes)
                if record is not None:
                    record(plugin, answer)
                if answer is None:
                    continue
                # Identity: `Status.skip` returns this object, and a comparison would be
                # a call.
                if answer is _SKIP:
                    skipped.append(plugin)
                elif isinstance(answer, PreFilterResult):
                    restricting.add(plugin)
                    allowed = answer.node_names
                    names = allowed if names is None else names & allowed
                    # ``RunPreFilterPlugins`` does not call the remaining plugins either
                    # if no node is left.
                    if not names:
                        return _nothing_left(frozenset(restricting), plugin)
                elif answer.code is Code.UNSCHEDULABLE:
                    # Preemption may help here, so the others are called: one of them
                    # may return UnschedulableAndUnresolvable, which rules preemption
                    # out.
                    rejection = answer.with_plugin(plugin)
                else:
                    return _ended_by(plugin, answer)
        finally:
            # In any case, as upstream's ``defer`` does: preemption filters with this
            # state after a rejection.
            state.skip_filter_plugins = skips.union(skipped)
        if rejection is None and names is None:
            return ALL_NODES
        return PreFilterOutcome(rejection, names, frozenset(restricting))

    def _extend(
        self,
        calls: Mapping[str, HookFunction],
        name: str,
        state: CycleState,
        pod: Pod,
        other: Pod,
        node: NodeInfo,
    ) -> Status | None:
        for plugin, function in calls.items():
            if plugin in state.skip_filter_plugins:
                continue
            status: Status | None = function(state, pod, other, node)
            if status is not None:
                prefix = f'running {name} on PreFilter plugin "{plugin}"'
                return failed(prefix, plugin, status)
        return None


def restricted_rows(attempt: Attempt, outcome: PreFilterOutcome) -> Rows:
    """Return the rows that PreFilter allows; add the reason for the others."""
    if outcome.node_names is None:
        return attempt.nodes.rows
    listed = " ".join(sorted(outcome.restricting_plugins))
    text = f"node(s) didn't satisfy plugin(s) [{listed}]"
    attempt.diagnosis.absent = Status.unresolvable(text)
    rows = attempt.nodes.rows_of(outcome.node_names)
    if attempt.placement is None:
        return rows
    return np.intersect1d(rows, attempt.placement)


def _extensions(calls: Sequence[Call], hook: str) -> Mapping[str, HookFunction]:
    return {call.plugin: call.hooks[hook] for call in calls if hook in call.hooks}


def _ended_by(plugin: str, answer: Status) -> PreFilterOutcome:
    """Return the outcome of an answer after which no other plugin is called."""
    if answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        status = answer.with_plugin(plugin)
    else:
        status = failed(f'running PreFilter plugin "{plugin}"', plugin, answer)
    return PreFilterOutcome(status, ended_by=plugin)


def _nothing_left(plugins: frozenset[str], last: str) -> PreFilterOutcome:
    if len(plugins) == 1:
        text = f"node(s) didn't satisfy plugin {next(iter(plugins))}"
    else:
        listed = " ".join(sorted(plugins))
        text = f"node(s) didn't satisfy plugin(s) [{listed}] simultaneously"
    return PreFilterOutcome(Status.unresolvable(text), frozenset(), plugins, last)
