"""Evicts the pods that a preemption has chosen.

Mirrors ``Executor`` (Kubernetes v1.36 and v1.37,
``pkg/scheduler/framework/preemption/executor.go``) with SchedulerAsyncPreemption, as it
is by default. Different from upstream, a victim whose PreBind is under way is deleted
like one that runs; its binding then fails by itself.
"""

import logging
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod, PodCondition
from quaymaster._core.contract.cluster import (
    ApiError,
    Cluster,
    ConflictError,
    EventNote,
    NotFoundError,
    PodStatusPatch,
)
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.results import Candidate

__all__ = ["Evictions", "is_preempted"]

_DISRUPTION_TARGET: Final = "DisruptionTarget"
_REASON: Final = "PreemptionByScheduler"

_log = logging.getLogger(__name__)


def is_preempted(pod: Pod) -> bool:
    """Whether a pod is terminating because a scheduler has preempted it."""
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions:
        if condition.type == _DISRUPTION_TARGET:
            return condition.status == "True" and condition.reason == _REASON
    return False


@attrs.frozen(eq=False)
class _Outcome:
    """The results of the calls to the cluster.

    Attributes:
        evicted: The pods that were deleted by these calls.
        gone: The pods that had gone before.
        error: Why the calls ended early, or None.
        all_cleared: Whether all nominations were taken away that were to be.
    """

    evicted: Sequence[Pod]
    gone: Sequence[Pod]
    error: ApiError | None
    all_cleared: bool = True


@attrs.define(eq=False)
class _Work:
    """The work that is left for one preemptor.

    Attributes:
        preemptor: The pod that needs the room.
        node_name: Where.
        last: The victim that is deleted last, if any is to be deleted.
        waiting: The victims that wait on Permit.
        ends_in_memory: Whether the last victim of all is one of these.
        begun: When it began.
        victims: How many victims there are.
        assumed: The uids of the victims that no watch has told to be bound.
        all_but_last: Whether the last victim is all that is left to delete.
        is_held_back: Whether the gate was closed when it was last asked about.
        all_cleared: See `_Outcome`.
    """

    preemptor: Pod
    node_name: str
    last: Sequence[Pod]
    waiting: Sequence[Pod]
    ends_in_memory: bool
    assumed: frozenset[str]
    begun: float
    victims: int
    all_but_last: bool = False
    is_held_back: bool = False
    all_cleared: bool = True


class Evictions:
    """Makes room on nodes, in the background, for pods that are nominated there.

    Args:
        handle: The framework.
        plugin: The plugin in whose name it happens.
    """

    def __init__(self, handle: Handle, plugin: str) -> None:
        self._handle = handle
        self._plugin = plugin
        self._under_way: dict[str, _Work] = {}
        # Kubernetes 1.36 leaves it to the event of the rejection to wake the preemptor.
        self._activates_at_end = handle.kubernetes.since("1.37")

    def is_under_way(self, pod: Pod) -> bool:
        """Whether the victims of a preemptor are still being deleted.

        The deletion of the last one may be seen before the call for it has returned.
        Then it is not under way any more: the event that wakes the preemptor may be
        that deletion, and must not find it gated.
        """
        work = self._under_way.get(pod.metadata.uid)
        if work is None:
            return False
        last = self._stored(work.last[0]) if work.all_but_last else None
        has_gone = last is None or last.is_terminating or last.is_finished
        work.is_held_back = not work.all_but_last or not has_gone
        return work.is_held_back

    def start(self, preemptor: Pod, candidate: Candidate) -> None:
        """Evict the victims, and take nominations away from less important pods.

        A victim that waits on Permit is rejected, not deleted. One that is terminating
        already is left alone; if there are no others, nothing happens at all. When a
        call fails, be it only one for a nomination, the preemptor becomes active at
        once and without a backoff, to look for another way.

        Args:
            preemptor: The pod that needs the room.
            candidate: Where, and who has to go.
        """
        waiting_pod, cluster = self._handle.waiting_pod, self._handle.cluster
        victims = [pod for pod in candidate.victims if not pod.is_terminating]
        if not victims:
            return
        running = [pod for pod in victims if waiting_pod(pod.uid) is None]
        waiting = [pod for pod in victims if waiting_pod(pod.uid) is not None]
        assumed = frozenset(pod.uid for pod in running if not self._is_bound(pod))
        work = _Work(
            preemptor,
            candidate.node_name,
            running[-1:],
            waiting,
            waiting_pod(victims[-1].uid) is not None,
            assumed,
            begun=self._handle.clock.now(),
            victims=len(candidate.victims),
        )
        outdone = [
            pod
            for pod in self._handle.nominated_pods(candidate.node_name)
            if pod.priority < preemptor.priority
        ]
        self._under_way[preemptor.uid] = work
        self._handle.run_in_background(
            lambda: _clear_and_evict(cluster, preemptor, outdone, running[:-1]),
            lambda outcome: self._most_evicted(work, outcome),
        )

    def _most_evicted(self, work: _Work, outcome: _Outcome) -> None:
        """Evict the last victim, after the others: see `is_under_way`."""
        self._tell_all(work, outcome.evicted)
        work.all_cleared = outcome.all_cleared
        if outcome.error is not None or not work.last:
            self._finish(work, outcome)
            return
        work.all_but_last = True
        cluster = self._handle.cluster
        self._handle.run_in_background(
            lambda: _evict(cluster, work.preemptor, work.last),
            lambda outcome: self._all_evicted(work, outcome),
        )

    def _all_evicted(self, work: _Work, outcome: _Outcome) -> None:
        self._tell_all(work, outcome.evicted)
        self._finish(work, outcome)

    def _finish(self, work: _Work, outcome: _Outcome) -> None:
        """Open the gate, and make sure that something wakes the preemptor.

        That is the end of the last victim, or the rejection of a waiting one, which
        therefore comes after the gate has opened. Without either, nobody else would.
        A victim that had gone before, but is still known, has its end to come: to try
        again at once would only find the same victim, again and again until then.
        One that was only assumed may have lost its place while the gate was closed. And
        an event that found the gate closed is not told again: it may have been the only
        one to help, be it that a victim has ended by itself.
        """
        # Identity: the preemptor may have been tried again since the last victim was
        # seen to go, and have other work by now.
        if self._under_way.get(work.preemptor.uid) is work:
            del self._under_way[work.preemptor.uid]
        has_failed = outcome.error is not None
        seconds = self._handle.clock.now() - work.begun
        self._handle.report_preemption(work.victims, seconds, has_failed=has_failed)
        if outcome.error is not None:
            key = work.preemptor.key
            _log.error("preemption for pod %s failed: %s", key, outcome.error)
            self._handle.activate([work.preemptor])
            return
        rejected = [pod for pod in work.waiting if self._reject(work, pod)]
        ends = [*outcome.evicted, *filter(self._is_known, outcome.gone)]
        is_told = rejected or any(self._will_be_told(work, pod) for pod in ends)
        if self._activates_at_end and rejected and work.ends_in_memory:
            is_told = False
        if work.is_held_back or not is_told or not work.all_cleared:
            self._handle.activate([work.preemptor])

    def _will_be_told(self, work: _Work, victim: Pod) -> bool:
        """Whether the end of a victim wakes the preemptor, or has done so."""
        if victim.uid not in work.assumed:
            return True
        node = self._handle.snapshot.get(work.node_name)
        return node is not None and victim.uid in node.pods

    def _is_bound(self, victim: Pod) -> bool:
        stored = self._handle.informers.get(Pod, victim.key)
        return stored is None or bool(stored.node_name)

    def _is_known(self, victim: Pod) -> bool:
        return self._stored(victim) is not None

    def _stored(self, pod: Pod) -> Pod | None:
        """A pod as it is known, unless another one has its name by now."""
        stored = self._handle.informers.get(Pod, pod.key)
        return stored if stored is not None and stored.uid == pod.uid else None

    def _reject(self, work: _Work, victim: Pod) -> bool:
        waiting = self._handle.waiting_pod(victim.uid)
        if waiting is None:
            return False  # it waits no more: let the preemptor look again
        waiting.reject(self._plugin, "preempted")
        self._tell(work, victim, " (in kube-scheduler memory).")
        return True

    def _tell_all(self, work: _Work, victims: Sequence[Pod]) -> None:
        for victim in victims:
            self._tell(work, victim)

    def _tell(self, work: _Work, victim: Pod, suffix: str = "") -> None:
        preemptor = work.preemptor
        text = f"Preempted by pod {preemptor.uid} on node {work.node_name}"
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
    """Call the cluster, on a worker's thread; nothing else is touched."""
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
    return attrs.evolve(outcome, all_cleared=failure is None)


def _evict(cluster: Cluster, preemptor: Pod, victims: Sequence[Pod]) -> _Outcome:
    """Call the cluster, on a worker's thread; nothing else is touched."""
    evicted: list[Pod] = []
    gone: list[Pod] = []
    for victim in victims:
        patch = PodStatusPatch(condition=_condition(preemptor, victim))
        try:
            cluster.patch_pod_status(victim, patch)
            cluster.delete(Pod, victim.key, uid=victim.uid)
        except NotFoundError:
            gone.append(victim)
            continue
        except ConflictError:
            continue  # another pod has its name by now
        except ApiError as error:
            return _Outcome(evicted, gone, error)
        evicted.append(victim)
    return _Outcome(evicted, gone, None)


def _condition(preemptor: Pod, victim: Pod) -> PodCondition:
    name = preemptor.spec.scheduler_name
    return PodCondition(
        type=_DISRUPTION_TARGET,
        status="True",
        reason=_REASON,
        message=f"{name}: preempting to accommodate a higher priority pod",
        observed_generation=victim.metadata.generation,
    )
