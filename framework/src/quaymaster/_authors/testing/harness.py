"""Runs the hooks of one plugin on a small cluster, for its unit tests.

The plugin is configured, built and called as in a real profile. If it has a batch twin,
each call runs the scalar hook and the twin, and checks that they agree. A hook that
returns what its spec does not allow, such as a float as a score, or that changes an
array which the plugin returned earlier, raises a `PluginError`.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract_error import ContractError
from quaymaster._authors.testing.harness_base import (
    PluginStatusError,
    PluginT,
    value_of,
)
from quaymaster._authors.testing.harness_groups import GroupHarness
from quaymaster._core.contract.cluster_events import (
    ClusterEvent,
    ClusterEventWithHint,
    QueueingHint,
)
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.queueing import QueuedPodInfo, SortKey
from quaymaster._core.contract.results import (
    NodeStatuses,
    NodeVerdicts,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
    Suggestion,
)
from quaymaster._core.contract.scores import MAX_NODE_SCORE
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Feasible
from quaymaster._core.runtime.guards import unguarded
from quaymaster._core.runtime.profile import Call
from quaymaster._core.state.arrays import Int64Array, freeze, is_frozen

__all__ = ["PluginHarness", "PluginStatusError"]

T = TypeVar("T")


class PluginHarness(GroupHarness[PluginT]):
    """One plugin, its arguments, and a cluster that only the test changes.

    Use it for the rule of a hook: ``PluginHarness(MyPlugin, nodes=[...]).filter(pod)``
    returns the rejected nodes. For whole attempts, with a queue and other plugins, use
    `SchedulerHarness`.

    Each hook method starts a new attempt (a new `CycleState`), unless its docstring
    names another one. `state` is that of the last attempt.

    Args:
        plugin: The plugin's class.
        args: Its arguments, as under ``pluginConfig[].args`` of a configuration file;
            None for its defaults.
        nodes: The cluster's nodes.
        pods: Pods that already run on nodes (``make_pod(node=...)``).
        objects: All other objects that the plugin reads, of its own kinds as well.
        nominated: Node name -> pods that are nominated to it.
        beside: The classes of more plugins of the profile, which come before this one,
            such as filters for a plugin with ``post_filter``.
        kubernetes: The Kubernetes version to simulate.

    Attributes:
        plugin: The plugin itself; type checkers know that it has the given class.
        handle: The handle of the plugin.
        snapshot: The nodes and pods.
        cluster: An in-memory cluster with the same objects, for ``bind``.
        clock: The clock of the handle and the cluster, which only a test advances.
        state: The cycle state of the last attempt.
        refused: The writes that the plugin tried but does not declare. Such a call
            raises a `ContractError`.

    Raises:
        PluginLoadError: The class breaks a hookspec.
        ConfigErrors: The arguments are invalid, or the plugin has no hook.
        ProfileError: The plugin cannot be built.
    """

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Return the answer of ``pre_enqueue``: None lets the pod into the queue."""
        answer: Status | None = self._ask(self._call("preEnqueue"), "pre_enqueue", pod)
        return answer

    def sort_key(self, queued: QueuedPodInfo) -> SortKey:
        """Return the sort key of a pod, made with `quaymaster.testing.make_queued_pod`.

        The pod with the smallest key is tried first.
        """
        key: SortKey = self._ask(self._call("queueSort"), "queue_sort", queued)
        return key

    def pre_filter(self, pod: Pod) -> PreFilterResult | Status | None:
        """Return the answer of ``pre_filter`` for a pod, and keep what it wrote.

        None lets all nodes through. The values that the hook wrote are in `state`.
        """
        self.state = CycleState()
        call = self._call("preFilter")
        answer: PreFilterResult | Status | None = self._ask(
            call, "pre_filter", self.state, pod, self.snapshot.nodes
        )
        return answer

    def explain_pre_filter(self, pod: Pod) -> tuple[str, ...]:
        """Return the facts of ``explain_pre_filter``, after ``pre_filter``."""
        self.pre_filter(pod)
        call = self._call("preFilter")
        return tuple(value_of(self._ask(call, "explain_pre_filter", self.state, pod)))

    def filter(self, pod: Pod, *, pre_filter: bool = True) -> dict[str, Status]:
        """Return the nodes that ``filter`` rejects, with the status of each.

        Args:
            pod: The pod to place.
            pre_filter: Whether ``pre_filter`` runs first; if it returns Skip, no node
                is rejected.

        Returns:
            Node name -> status; the other nodes passed.

        Raises:
            ContractError: ``filter`` and ``filter_nodes`` differ.
            PluginStatusError: ``pre_filter`` rejected the pod.
        """
        self.state = CycleState()
        if pre_filter and self._has("preFilter"):
            answer = self.pre_filter(pod)
            if isinstance(answer, Status):
                if answer.is_skip:
                    return {}
                raise PluginStatusError(answer)
        call = self._call("filter")
        rejected = {}
        for node in self.snapshot:
            status = self._ask(call, "filter", self.state, pod, node)
            if status is not None:
                rejected[node.name] = status
        if "filter_nodes" in call.hooks:
            twin = self._filter_nodes(call, pod)
            failures = [status for status in twin.values() if status.is_error]
            if failures and failures[0] in rejected.values():
                return rejected  # the first Error ends the attempt; nodes do not matter
            self._compare("filter", rejected, twin)
        return rejected

    def explain_filter(self, pod: Pod) -> dict[str, tuple[str, ...]]:
        """Return the facts of ``explain_filter`` for each node that `filter` rejects.

        Args:
            pod: The pod to place.

        Raises:
            ContractError: ``filter`` and ``filter_nodes`` differ.
            PluginStatusError: ``pre_filter`` rejected the pod, or a hook failed.
        """
        rejected = self.filter(pod)
        call = self._call("filter")
        facts = {}
        for node in self.snapshot:
            if node.name in rejected:
                answer = self._ask(call, "explain_filter", self.state, pod, node)
                facts[node.name] = tuple(value_of(answer))
        return facts

    def suggest_changes(self, pod: Pod) -> tuple[Suggestion, ...]:
        """Return the suggestions of ``suggest_changes`` for a pod that has no node.

        Args:
            pod: The pod to place.

        Raises:
            PluginStatusError: ``pre_filter`` failed, or the hook did.
        """
        self.state = CycleState()
        if self._has("preFilter"):
            answer = self.pre_filter(pod)
            if isinstance(answer, Status) and not answer.is_rejected:
                if answer.is_skip:
                    return ()
                raise PluginStatusError(answer)
        call = self._call("filter")
        return tuple(value_of(self._ask(call, "suggest_changes", self.state, pod)))

    def score(
        self, pod: Pod, *, pre_filter: bool = True, pre_score: bool = True
    ) -> dict[str, int]:
        """Return the raw score of every node, as ``score`` returns it.

        ``pre_filter`` and ``pre_score`` run first, if the plugin has them, and write to
        the same `state`. ``filter`` does not run: nodes that it rejects get a score,
        too, which a scheduler would not compute.

        Args:
            pod: The pod to place.
            pre_filter: Whether ``pre_filter`` runs first; Skip concerns ``filter``
                only, as in a scheduler.
            pre_score: Whether ``pre_score`` runs first; if it returns Skip, nothing is
                scored.

        Returns:
            Node name -> score; empty if ``pre_score`` returned Skip.

        Raises:
            ContractError: ``score`` and ``score_nodes`` differ.
            PluginStatusError: A hook returned a status instead, or ``pre_filter``
                rejected the pod.
        """
        self.state = CycleState()
        self._twin_scores = None
        if pre_filter and self._has("preFilter"):
            answer = self.pre_filter(pod)
            if isinstance(answer, Status) and not answer.is_skip:
                raise PluginStatusError(answer)
        nodes = self.snapshot.nodes
        if pre_score and self._has("preScore"):
            call = self._call("preScore")
            status = self._ask(call, "pre_score", self.state, pod, nodes, nodes.rows)
            if status is not None:
                if status.is_skip:
                    return {}
                raise PluginStatusError(status)
        call = self._call("score")
        scores = {
            node.name: value_of(self._ask(call, "score", self.state, pod, node))
            for node in self.snapshot
        }
        if "score_nodes" in call.hooks:
            twin = value_of(
                self._ask(call, "score_nodes", self.state, pod, nodes, nodes.rows)
            )
            names = nodes.names_at(nodes.rows)
            self._compare("score", scores, dict(zip(names, twin.tolist(), strict=True)))
            self._twin_scores = twin
        return scores

    def normalized(
        self, pod: Pod, *, pre_filter: bool = True, pre_score: bool = True
    ) -> dict[str, int]:
        """Return the score of every node after ``normalize_score``.

        Args:
            pod: The pod to place.
            pre_filter: Whether ``pre_filter`` runs first; see `score`.
            pre_score: Whether ``pre_score`` runs first; see `score`.

        Returns:
            Node name -> score from 0 to 100; these are the raw scores if the plugin has
            no ``normalize_score``.

        Raises:
            ContractError: ``score`` and ``score_nodes`` differ, or their scores after
                ``normalize_score`` do, or a score is below 0 or above 100.
            PluginStatusError: A hook returned a status instead.
        """
        scores = self.score(pod, pre_filter=pre_filter, pre_score=pre_score)
        call = self._call("score")
        if "normalize_score" not in call.hooks or not scores:
            self._check_range("score", scores)
            return scores
        raw: Int64Array = freeze(np.array(list(scores.values()), dtype=np.int64))
        normalized = self._normalized(call, pod, raw)
        self._check_range("normalize_score", normalized)
        twin = self._twin_scores
        if twin is not None:
            # As in the framework, a frozen array is returned as the same object.
            frozen = twin if is_frozen(twin) else freeze(twin.view())
            again = self._normalized(call, pod, frozen)
            self._compare("normalize_score after score", normalized, again)
        return normalized

    def _check_range(self, hook: str, scores: Mapping[str, int]) -> None:
        for node_name, score in scores.items():
            if not 0 <= score <= MAX_NODE_SCORE:
                raise ContractError(
                    f"plugin '{self._name}': {hook} returned {score} for node "
                    f"'{node_name}', expected 0 to {MAX_NODE_SCORE}"
                )

    def _normalized(self, call: Call, pod: Pod, raw: Int64Array) -> dict[str, int]:
        nodes = self.snapshot.nodes
        answer = value_of(
            self._ask(call, "normalize_score", self.state, pod, raw, nodes, nodes.rows)
        )
        scores = raw if answer is None else answer
        names = nodes.names_at(nodes.rows)
        return dict(zip(names, scores.tolist(), strict=True))

    def attempt(self, pod: Pod) -> NodeStatuses:
        """Run PreFilter and Filter of all plugins for a pod that fits nowhere.

        Returns:
            Why each node was rejected.

        Raises:
            ValueError: The pod fits somewhere.
            PluginStatusError: A plugin failed.
        """
        self._informers.put(pod)
        self.state = CycleState()
        attempt = Attempt.begin(self.state, pod, self.snapshot.nodes)
        feasible = self._framework.plain.find_feasible(attempt)
        if isinstance(feasible, Feasible):
            raise ValueError(
                f"pod {pod.key} fits on a node, so nothing calls PostFilter; pass "
                "filters that reject it, such as beside=[NodeResourcesFit]"
            )
        if feasible.diagnosis is None:
            raise PluginStatusError(feasible.status)
        return feasible.diagnosis

    def post_filter(self, pod: Pod) -> PostFilterResult:
        """Run ``post_filter`` for a pod that fits nowhere, and return its result.

        Raises:
            ValueError: The pod fits somewhere.
            PluginStatusError: A plugin failed before.
        """
        return self._call_post_filter(pod, self.attempt(pod))

    def _call_post_filter(self, pod: Pod, statuses: NodeStatuses) -> PostFilterResult:
        call = self._call("postFilter")
        answer: PostFilterResult | Status | None = self._ask(
            call, "post_filter", self.state, pod, statuses
        )
        if isinstance(answer, PostFilterResult):
            return answer
        return PostFilterResult(answer)

    def explain_post_filter(self, pod: Pod) -> dict[str, tuple[str, ...]]:
        """Return the facts of ``explain_post_filter`` for each node.

        Args:
            pod: A pod that fits nowhere.

        Raises:
            ValueError: The pod fits somewhere.
            PluginStatusError: A plugin failed before, or the hook failed.
        """
        statuses = self.attempt(pod)
        call, state = self._call("postFilter"), self.state
        facts = {}
        for node in self.snapshot:
            answer = self._ask(call, "explain_post_filter", state, pod, node, statuses)
            facts[node.name] = tuple(value_of(answer))
        return facts

    def events(self) -> Sequence[ClusterEventWithHint]:
        """Return the events that requeue pods which the plugin has rejected."""
        return self._framework.profile.events[self._name] or ()

    def hint(
        self,
        pod: Pod,
        event: ClusterEvent,
        old: ApiObject | None = None,
        new: ApiObject | None = None,
    ) -> QueueingHint:
        """Return whether an event would wake a pod that this plugin rejected.

        Args:
            pod: The rejected pod.
            event: What happened.
            old: The object before, or None.
            new: The object after, or None.
        """
        for registered in self.events():
            if registered.event.matches(event) and (
                registered.hint is None
                or registered.hint(pod, old, new) is QueueingHint.QUEUE
            ):
                return QueueingHint.QUEUE
        return QueueingHint.SKIP

    def break_tie(self, pod: Pod, *names: str) -> str:
        """Return the node that the plugin chooses, in the attempt that `score` began.

        Args:
            pod: The pod to place.
            *names: The nodes with the highest total; by default all nodes.

        Raises:
            ContractError: The answer is not one of their rows.
            LookupError: The plugin has no ``break_tie``.
            PluginStatusError: The hook returned a status instead.
        """
        hook = self._framework.profile.break_tie
        if hook is None:
            raise LookupError(f"{self._name} has no hook break_tie")
        call = Call(self._name, 1, {"break_tie": hook})
        nodes = self.snapshot.nodes
        rows = nodes.rows_of(names or nodes.names_at(nodes.rows))
        row = value_of(
            self._ask(call, "break_tie", self.state, pod, nodes, rows.copy())
        )
        if row not in rows.tolist():
            listed = ", ".join(map(str, rows.tolist()))
            text = f"break_tie returned {row!r}, expected one of the rows {listed}"
            raise ContractError(f"plugin '{self._name}': {text}")
        return nodes.names_at(np.array([row], dtype=np.intp))[0]

    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        """Let the plugin reserve a node, in the attempt that `filter` began.

        Meanwhile the pod is on the node in `snapshot`, as in a scheduler. From then on,
        ``handle.informers`` have the pod, without a node: no bind is delivered.
        `permit` and `unreserve` deliver a pod to them, too. The plugin's choices for
        the pod are in ``state.annotations``.
        """
        self._deliver(pod)
        call, assumed = self._call("reserve"), _on(pod, node_name)
        node = self.snapshot.get(node_name)
        is_new = node is None or pod.uid not in node.pods
        if is_new:
            self.snapshot.add_pod(assumed)
        try:
            answer: Status | None = self._ask(
                call, "reserve", self.state, assumed, node_name
            )
        finally:
            if is_new:
                self.snapshot.remove_pod(assumed)
        return answer

    def unreserve(self, pod: Pod, node_name: str) -> None:
        """Call ``unreserve``, by which the plugin releases its reservation."""
        self._deliver(pod)
        unreserve = unguarded(self._call("reserve").hooks["unreserve"])
        unreserve(self.state, _on(pod, node_name), node_name)

    def pre_bind_pre_flight(
        self, pod: Pod, node_name: str
    ) -> PreBindPreFlightResult | Status | None:
        """Return the plugin's answer whether it must act before the bind."""
        call = self._call("preBind")
        answer: PreBindPreFlightResult | Status | None = self._ask(
            call, "pre_bind_pre_flight", self.state, _on(pod, node_name), node_name
        )
        return answer

    def pre_bind(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        """Run the plugin's ``pre_bind``, which may change `cluster`."""
        call = self._call("preBind")
        answer: PreBindWait | Status | None = self._ask(
            call, "pre_bind", self.state, _on(pod, node_name), node_name
        )
        return answer

    def permit(self, pod: Pod, node_name: str) -> PermitWait | Status | None:
        """Return the answer of ``permit`` for a pod that has a node.

        None lets it be bound; it does not wait here for a `quaymaster.PermitWait`.
        """
        self._deliver(pod)
        call = self._call("permit")
        answer: PermitWait | Status | None = self._ask(
            call, "permit", self.state, _on(pod, node_name), node_name
        )
        return answer

    def post_bind(self, pod: Pod, node_name: str) -> None:
        """Call ``post_bind`` for a bound pod."""
        hook = unguarded(self._call("postBind").hooks["post_bind"])
        state, annotations = self.state, self.state.annotations
        state.end_annotations()
        try:
            hook(state, _on(pod, node_name), node_name)
        finally:
            # A test may continue with this state, for example to reserve another node.
            state.annotations = annotations

    def sign_pod(self, pod: Pod) -> Hashable | None:
        """Return the plugin's fragment of a pod's signature.

        Raises:
            LookupError: The plugin has no ``sign_pod``.
        """
        sign = self._framework.profile.sign.get(self._name)
        if sign is None:
            raise LookupError(f"{self._name} has no hook sign_pod")
        call = Call(self._name, 1, {"sign_pod": sign})
        fragment: Hashable | None = self._ask(call, "sign_pod", pod)
        return fragment

    def bind(self, pod: Pod, node_name: str) -> Status | None:
        """Let the plugin bind a pod on `cluster`, or return a Status with Skip."""
        call = self._call("bind")
        answer: Status | None = self._ask(call, "bind", self.state, pod, node_name)
        return answer

    def _deliver(self, pod: Pod) -> None:
        """Let the informers have a pod that gets a node, as those of a scheduler do.

        Until its bind has been delivered, it has no node there.
        """
        delivered = self._informers.get(Pod, pod.key)
        if delivered is None or (delivered.uid != pod.uid and not delivered.node_name):
            self._informers.put(_on(pod, ""))
            self._raise_failed_callback()

    def _filter_nodes(self, call: Call, pod: Pod) -> dict[str, Status]:
        nodes = self.snapshot.nodes
        verdicts = self._ask(call, "filter_nodes", self.state, pod, nodes, nodes.rows)
        names = nodes.names_at(nodes.rows)
        if verdicts is None:
            return {}
        if isinstance(verdicts, Status):
            return dict.fromkeys(names, verdicts)
        assert isinstance(verdicts, NodeVerdicts)
        codes = zip(names, verdicts.codes.tolist(), strict=True)
        return {name: verdicts.status_of(code) for name, code in codes if code}

    def _compare(
        self, hook: str, scalar: Mapping[str, object], twin: Mapping[str, object]
    ) -> None:
        for node in self.snapshot:
            expected, actual = scalar.get(node.name), twin.get(node.name)
            if expected != actual:
                raise ContractError(
                    f"plugin '{self._name}': {hook} and {hook}_nodes differ on node "
                    f"'{node.name}': {expected!r} and {actual!r}"
                )


def _on(pod: Pod, node_name: str) -> Pod:
    """Return a pod as it is assumed on a node."""
    return msgspec.structs.replace(pod, node_name=node_name)
