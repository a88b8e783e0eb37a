"""Evicting the pods that a preemption has chosen.

Mirrors ``Executor`` (Kubernetes v1.36,
``pkg/scheduler/framework/preemption/executor.go``) with SchedulerAsyncPreemption, as it
is by default. Different from upstream, a victim whose PreBind is under way is deleted
like one that runs; its binding then fails by itself.
"""

import logging
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster.cluster import (
    ApiError,
    Cluster,
    ConflictError,
    EventNote,
    NotFoundError,
    PodStatusPatch,
)
from quaymaster.handle import Handle
from quaymaster.objects import Pod, PodCondition
from quaymaster.preemption.candidates import Candidate

__all__ = ["Evictions", "is_preempted"]

_DISRUPTION_TARGET: Final = "DisruptionTarget"
_REASON: Final = "PreemptionByScheduler"

_log = logging.getLogger(__name__)


def is_preempted(pod: Pod) -> bool:
    """Whether a pod is on its way out because a scheduler has preempted it."""
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions:
        if condition.type == _DISRUPTION_TARGET:
            return condition.status == "True" and condition.reason == _REASON
    return False


@attrs.frozen(eq=False)
class _Outcome:
    """What came of the calls to the cluster.

    Attributes:
        evicted: The pods that were deleted by these calls.
        error: Why the calls ended early, or None.
    """

    evicted: Sequence[Pod]
    error: ApiError | None


class Evictions:
    """Makes room on nodes, in the background, for pods that are nominated there.

    Args:
        handle: The framework.
        plugin: The plugin in whose name it happens.
    """

    def __init__(self, handle: Handle, plugin: str) -> None:
        self._handle = handle
        self._plugin = plugin
        self._last_victim: dict[str, Pod | None] = {}

    def is_under_way(self, pod: Pod) -> bool:
        """Whether the victims of a preemptor are still being deleted.

        The deletion of the last one may be seen before the call for it has returned.
        Then it is not under way any more: the event that wakes the preemptor may be
        that deletion, and must not find it gated.
        """
        if pod.uid not in self._last_victim:
            return False
        last = self._last_victim[pod.uid]
        if last is None:
            return True
        stored = self._handle.informers.get(Pod, last.key)
        return stored is not None and not stored.is_terminating

    def start(self, preemptor: Pod, candidate: Candidate) -> None:
        """Evict the victims, and take nominations away from less important pods.

        A victim that waits on Permit is rejected, not deleted. One that is terminating
        already is left alone; if there are no others, nothing happens at all. When a
        call fails, the preemptor becomes active, to look for another way.

        Args:
            preemptor: The pod that needs the room.
            candidate: Where, and who has to go.
        """
        victims = [pod for pod in candidate.victims if not pod.is_terminating]
        if not victims:
            return
        running = [
            pod
            for pod in victims
            if not self._reject_waiting(preemptor, pod, candidate)
        ]
        outdone = [
            pod
            for pod in self._handle.nominated_pods(candidate.node_name)
            if pod.priority < preemptor.priority
        ]
        self._last_victim[preemptor.uid] = None
        cluster = self._handle.cluster
        self._handle.run_in_background(
            lambda: _clear_and_evict(cluster, preemptor, outdone, running[:-1]),
            lambda outcome: self._most_evicted(preemptor, candidate, running, outcome),
        )

    def _reject_waiting(
        self, preemptor: Pod, victim: Pod, candidate: Candidate
    ) -> bool:
        waiting = self._handle.waiting_pod(victim.uid)
        if waiting is None:
            return False
        waiting.reject(self._plugin, "preempted")
        self._tell(preemptor, victim, candidate, " (in kube-scheduler memory).")
        return True

    def _most_evicted(
        self,
        preemptor: Pod,
        candidate: Candidate,
        running: Sequence[Pod],
        outcome: _Outcome,
    ) -> None:
        """Evict the last victim on its own: see `is_under_way`."""
        for victim in outcome.evicted:
            self._tell(preemptor, victim, candidate)
        if outcome.error is not None or not running:
            self._finish(preemptor, outcome.error)
            return
        last = running[-1]
        self._last_victim[preemptor.uid] = last
        cluster = self._handle.cluster
        self._handle.run_in_background(
            lambda: _evict(cluster, preemptor, [last]),
            lambda outcome: self._all_evicted(preemptor, candidate, outcome),
        )

    def _all_evicted(
        self, preemptor: Pod, candidate: Candidate, outcome: _Outcome
    ) -> None:
        for victim in outcome.evicted:
            self._tell(preemptor, victim, candidate)
        self._finish(preemptor, outcome.error)

    def _finish(self, preemptor: Pod, error: ApiError | None) -> None:
        self._last_victim.pop(preemptor.uid, None)
        if error is not None:
            _log.error("preemption for pod %s failed: %s", preemptor.key, error)
            self._handle.activate([preemptor])

    def _tell(
        self, preemptor: Pod, victim: Pod, candidate: Candidate, suffix: str = ""
    ) -> None:
        text = f"Preempted by pod {preemptor.uid} on node {candidate.node_name}"
        self._handle.record(
            EventNote(
                regarding=victim,
                related=preemptor,
                type="Normal",
                reason="Preempted",
                action="Preempting",
                note=text + suffix,
                reporter=preemptor.spec.scheduler_name,
            )
        )


def _clear_and_evict(
    cluster: Cluster,
    preemptor: Pod,
    outdone: Sequence[Pod],
    victims: Sequence[Pod],
) -> _Outcome:
    """Off the engine's thread: touches nothing but the cluster."""
    failure = None
    for pod in outdone:
        try:
            cluster.patch_pod_status(pod, PodStatusPatch(nominated_node_name=""))
        except NotFoundError:
            continue
        except ApiError as error:
            failure = error
    outcome = _evict(cluster, preemptor, victims)
    if outcome.error is None and failure is not None:
        _log.error("nominations below pod %s stay: %s", preemptor.key, failure)
    return outcome


def _evict(cluster: Cluster, preemptor: Pod, victims: Sequence[Pod]) -> _Outcome:
    """Off the engine's thread: touches nothing but the cluster."""
    evicted: list[Pod] = []
    for victim in victims:
        patch = PodStatusPatch(condition=_condition(preemptor, victim))
        try:
            cluster.patch_pod_status(victim, patch)
            cluster.delete(Pod, victim.key, uid=victim.uid)
        except (NotFoundError, ConflictError):
            continue  # it is gone, or another pod has its name by now
        except ApiError as error:
            return _Outcome(evicted, error)
        evicted.append(victim)
    return _Outcome(evicted, None)


def _condition(preemptor: Pod, victim: Pod) -> PodCondition:
    name = preemptor.spec.scheduler_name
    return PodCondition(
        type=_DISRUPTION_TARGET,
        status="True",
        reason=_REASON,
        message=f"{name}: preempting to accommodate a higher priority pod",
        observed_generation=victim.metadata.generation,
    )
