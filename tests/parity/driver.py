"""Plays a case: schedules its pods one after the other, as the recorder did."""

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

import attrs
import msgspec
import numpy as np
from msgspec.structs import replace

from quaymaster import (
    Code,
    CycleState,
    Node,
    NodeInfo,
    NodeTable,
    NominatingMode,
    Pod,
    Status,
)
from quaymaster.config import ConfigErrors
from quaymaster.objects import Time
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.binding import PausedPreBind
from tests.kit.internals.cycle import Decision, FitError, Ties
from tests.kit.internals.engine import Framework
from tests.kit.internals.state import AssumeError
from tests.parity.cases import Case, Json
from tests.parity.cluster import CaseCluster, Path, apply
from tests.parity.devices import claims_in_flight, unavailable_claims
from tests.parity.examine import Examiner
from tests.parity.observation import NodeSums, Observation, Preemption

__all__ = ["Played", "play"]

_FIRST_START: Final = Time.parse("2030-01-01T00:00:00Z")
_SECONDS_WAITED: Final = 2.0


@attrs.frozen(eq=False, kw_only=True)
class Played:
    """A case after all its entries.

    Attributes:
        case: The case.
        attempts: The observed attempt of each pod.
        frameworks: Scheduler name -> its built profile.
        final_pods: Node -> the pods on it at the end.
        dropped: Plugin that is not installed -> how often the configuration names it.
        config_error: Why the configuration was rejected, so that nothing was played.
    """

    case: Case
    attempts: Sequence[Observation] = ()
    frameworks: Mapping[str, Framework] = attrs.field(factory=dict)
    final_pods: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    dropped: Counter[str] = attrs.field(factory=Counter)
    config_error: str = ""


def play(case: Case, registry: PluginRegistry, path: Path) -> Played:
    """Schedule a case's pods, and observe each attempt.

    Args:
        case: The case.
        registry: The installed plugins.
        path: The hooks that judge nodes.
    """
    dropped: Counter[str] = Counter()
    try:
        cluster = CaseCluster.build(case, registry, path, dropped)
    except ConfigErrors as error:
        return Played(case=case, dropped=dropped, config_error=str(error))
    driver = _Driver(case, cluster)
    attempts = list(driver.play())
    return Played(
        case=case,
        attempts=attempts,
        frameworks=cluster.frameworks,
        final_pods={
            info.name: pods
            for info in cluster.snapshot
            if (
                pods := sorted(
                    pod.key for pod in info.pods.values() if pod.key not in driver.held
                )
            )
        },
        dropped=dropped,
    )


class _Spy:
    """Records the candidates that a profile's preemption finds.

    Attributes:
        found: The candidates of the last search, or None.
    """

    def __init__(self, framework: Framework) -> None:
        self.found: Any = None
        for plugin in framework.profile.plugins.values():
            search = getattr(plugin, "find_candidates", None)
            if search is not None:
                vars(plugin)["find_candidates"] = functools.partial(self._see, search)

    def _see(self, search: Callable[..., object], *args: object) -> object:
        self.found = search(*args)
        return self.found


class _Driver:
    """Plays the entries of a case.

    Attributes:
        held: The pods that stay assumed, because they were never bound.
    """

    def __init__(self, case: Case, cluster: CaseCluster) -> None:
        self._case = case
        self._cluster = cluster
        self._placed = 0
        self.held: set[str] = set()
        self._fails_after = ""
        self._searches: WeakKeyDictionary[FitError, Any] = WeakKeyDictionary()

    def play(self) -> Iterator[Observation]:
        for number, entry in enumerate(self._case.pods):
            self._fails_after = self._case.fail_after.get(str(number), "")
            claims = self._cluster.calls.claims
            claims.begin()
            seen = self._play(entry)
            seen.claims = claims.changes()
            seen.calls = list(claims.calls)
            if seen.pod in claims.extended_resources:
                seen.extended_resources = json.loads(
                    msgspec.json.encode(claims.extended_resources[seen.pod])
                )
            yield seen

    def _play(self, entry: Json) -> Observation:
        if "retry" in entry:
            return self._retry(entry["retry"])
        if "finish" in entry:
            return self._finish(entry["finish"])
        if "apply" in entry:
            apply(self._cluster, entry["apply"])
            return Observation(pod="", operation="apply", outcome="applied")
        metadata = entry["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        return self._attempt(self._cluster.pods[key], Observation(pod=key))

    def _finish(self, key: str) -> Observation:
        seen = Observation(pod=key, operation="finish")
        pod = self._cluster.pods.get(key)
        if pod is not None and pod.node_name:
            seen.outcome = "finished"
            self._cluster.cache.remove_pod(pod)
            self._cluster.objects.remove(pod)
            del self._cluster.pods[key]
            self._cluster.calls.claims.finish(pod)
        return seen

    @cached_property
    def _examiners(self) -> Mapping[str, Examiner]:
        nodes = self._cluster.snapshot.nodes
        frameworks = self._cluster.frameworks
        return {
            name: Examiner(framework, nodes) for name, framework in frameworks.items()
        }

    @cached_property
    def _spies(self) -> Mapping[str, _Spy]:
        return {
            name: _Spy(framework)
            for name, framework in self._cluster.frameworks.items()
        }

    def _retry(self, key: str) -> Observation:
        seen = Observation(pod=key, retry=True)
        pod = self._cluster.pods.get(key)
        if pod is None:
            seen.error = "pod no longer exists"
        elif pod.node_name:
            seen.error = "pod is already bound"
        else:
            self._attempt(pod, seen)
        return seen

    def _attempt(self, pod: Pod, seen: Observation) -> Observation:
        name = pod.spec.scheduler_name
        framework = self._cluster.frameworks.get(name)
        if framework is None:
            seen.error = f'profile not found for scheduler name "{name}"'
            return seen
        seen.pre_enqueue = _refusal(framework, pod)
        if seen.pre_enqueue is not None:
            seen.outcome = "gated"
        elif pod.is_terminating:
            seen.error = f"skip schedule deleting pod: {pod.key}"
        else:
            self._look_around(pod, seen)
            self._schedule(framework, pod, seen)
        return seen

    def _look_around(self, pod: Pod, seen: Observation) -> None:
        snapshot, nominator = self._cluster.snapshot, self._cluster.nominator
        seen.nominated_pods = {
            info.name: [other.key for other in nominator.pods_on(info.name)]
            for info in snapshot
        }
        if self._case.node_state:
            seen.node_sums = {info.name: NodeSums.of(info) for info in snapshot}
            seen.pod_sums = NodeSums.of(NodeInfo(Node(), pods=[pod]))

    def _schedule(self, framework: Framework, pod: Pod, seen: Observation) -> None:
        seen.has_score_plugins = bool(framework.algorithm.score)
        if len(self._cluster.snapshot):
            examiner = self._examiners[framework.profile.name]
            seen.examination = examiner.examine(pod)
        state = CycleState()
        self._spies[framework.profile.name].found = None
        self._cluster.calls.clear()
        decision = framework.algorithm.schedule(state, pod, _first_by_name)
        if isinstance(decision, FitError):
            self._give_up(framework, pod, decision, seen)
            if seen.outcome == "unschedulable" and self._case.has_devices:
                seen.unavailable, seen.deallocatable = unavailable_claims(
                    framework, state, pod
                )
            return
        seen.outcome = "scheduled"
        seen.winner = _winner(decision, seen)
        scores = seen.examination and seen.examination.scores
        seen.error = scores.error if scores else ""
        self._place(framework, state, pod, seen)

    def _place(
        self, framework: Framework, state: CycleState, pod: Pod, seen: Observation
    ) -> None:
        assumed = replace(pod, node_name=seen.winner)
        try:
            self._cluster.cache.assume(assumed)
        except AssumeError as error:
            # Our message also names the pod's node.
            text = str(error).partition(" (it is on node")[0]
            seen.outcome, seen.reserve = "error", Status.from_error(text)
            return
        seen.reserve = framework.binding.reserve(state, assumed, seen.winner)
        if seen.reserve is not None:
            seen.outcome = "error"
        elif self._case.has_devices:
            seen.in_flight = claims_in_flight(framework)
            self._pre_bind(framework, state, assumed, seen)
        if seen.outcome == "held":
            return
        if seen.outcome != "scheduled":
            framework.binding.unreserve(state, assumed, seen.winner)
            self._cluster.cache.forget(assumed)
            return
        start = Time(_FIRST_START + self._placed)
        running = replace(pod.status, phase="Running", start_time=start)
        bound = replace(assumed, status=running)
        self._cluster.cache.add_pod(bound)
        self._placed += 1
        self._cluster.nominator.delete(pod)
        self._cluster.pods[pod.key] = bound
        self._cluster.objects.put(bound)

    def _pre_bind(
        self, framework: Framework, state: CycleState, pod: Pod, seen: Observation
    ) -> None:
        if self._fails_after in ("reserve", "hold"):
            seen.failed_after = self._fails_after
            held = self._fails_after == "hold"
            seen.outcome = "held" if held else "bindingFailed"
            if held:
                self.held.add(pod.key)
            return
        binding = framework.binding
        status = binding.pre_flight(state, pod, seen.winner)
        if status is None:
            answer = binding.pre_bind(state, pod, seen.winner)
            seen.pre_bind = self._pre_bound(answer)
            if answer is not None:
                seen.outcome = "bindingFailed"
        if self._fails_after:
            seen.failed_after, seen.outcome = self._fails_after, "bindingFailed"

    def _pre_bound(self, answer: PausedPreBind | Status | None) -> Json:
        """Return the result of PreBind; the recorder waited two seconds for it."""
        if isinstance(answer, PausedPreBind):
            timeout = answer.wait.timeout_seconds
            self._cluster.clock.advance(min(timeout, _SECONDS_WAITED))
            if timeout > _SECONDS_WAITED:
                return {"code": "Wait", "reasons": ["waiting for binding conditions"]}
            answer = answer.expired()
        if answer is None:
            return {"code": Code.SUCCESS.label}
        return {"code": answer.code.label, "reasons": list(answer.reasons)}

    def _give_up(
        self, framework: Framework, pod: Pod, unfit: FitError, seen: Observation
    ) -> None:
        if unfit.status.is_error:
            seen.outcome, seen.error = "error", unfit.status.message
            return
        seen.outcome = "unschedulable"
        if unfit.diagnosis is None or seen.examination is None:
            seen.fit_error = unfit.status.message
            return
        seen.fit_error = seen.examination.fit_error
        if framework.profile.plan("postFilter"):
            seen.final_fit_error = unfit.diagnosis.message()
            seen.preemption = self._preemption(framework, unfit)
            if self._case.apply_preemption and seen.preemption is not None:
                self._preempt(pod, seen.preemption)
                self._nominate(pod, unfit)

    def _preemption(self, framework: Framework, unfit: FitError) -> Preemption | None:
        if unfit.post_filter is None:
            return None
        seen = Preemption(result=unfit.post_filter)
        found = self._spies[framework.profile.name].found
        if found is None:
            # Equal attempts share their outcome, and the search of the first of them.
            found = self._searches.get(unfit)
        else:
            self._searches[unfit] = found
        if found is not None:
            seen.candidates = found.candidates
            seen.dry_run = {
                **dict.fromkeys(candidate.node_name for candidate in found.candidates),
                **found.statuses,
            }
        return seen

    def _preempt(self, pod: Pod, seen: Preemption) -> None:
        """Remove the victims, and clear nominations.

        The plugin has called for both, unless all victims are terminating already. In
        that case it waits for them, which a case does not.
        """
        if seen.result.status is not None or seen.result.nominating is None:
            return
        cluster, node_name = self._cluster, seen.result.nominating.node_name
        for candidate in seen.candidates:
            if candidate.node_name == node_name:
                self._remove(candidate.victims)
                if all(victim.is_terminating for victim in candidate.victims):
                    cluster.calls.cleared.extend(
                        other.key
                        for other in cluster.nominator.pods_on(node_name)
                        if other.priority < pod.priority
                    )
        seen.cleared = list(cluster.calls.cleared)
        for other in cluster.nominator.pods_on(node_name):
            if other.key in seen.cleared:
                self._renominate(other, "")

    def _remove(self, victims: Sequence[Pod]) -> None:
        living = {victim.key for victim in victims if not victim.is_terminating}
        assert living == set(self._cluster.calls.deleted), "others were deleted"
        for victim in victims:
            self._cluster.cache.remove_pod(victim)
            self._cluster.objects.remove(victim)
            self._cluster.pods.pop(victim.key, None)

    def _nominate(self, pod: Pod, unfit: FitError) -> None:
        """Nominate the pod; it comes last on its node, even if the node is the same."""
        wanted = unfit.nominating
        if wanted is not None and wanted.mode is NominatingMode.OVERRIDE:
            self._renominate(pod, wanted.node_name)
        else:
            self._renominate(pod, pod.status.nominated_node_name)

    def _renominate(self, pod: Pod, node_name: str) -> None:
        status = replace(pod.status, nominated_node_name=node_name)
        nominated = replace(pod, status=status)
        self._cluster.nominator.add(nominated)
        self._cluster.objects.put(nominated)
        if pod.key in self._cluster.pods:
            self._cluster.pods[pod.key] = nominated


def _refusal(framework: Framework, pod: Pod) -> Status | None:
    for call in framework.profile.plan("preEnqueue"):
        status: Status | None = call.hooks["pre_enqueue"](pod)
        if status is not None:
            return status.with_plugin(call.plugin)
    return None


def _first_by_name(nodes: NodeTable, rows: Ties) -> int:
    return min(nodes.infos_at(np.array(rows)), key=lambda info: info.name).row


def _winner(decision: Decision, seen: Observation) -> str:
    """Return the chosen node; without scores, the first feasible one by name."""
    if seen.examination is None or seen.has_score_plugins:
        return decision.node.name
    return seen.examination.feasible[0]
