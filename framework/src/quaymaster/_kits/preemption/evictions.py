"""Evicts the pods that a preemption has chosen.

Mirrors ``Executor`` (Kubernetes v1.36 and v1.37,
``pkg/scheduler/framework/preemption/executor.go``) with SchedulerAsyncPreemption, which
is the default. Unlike upstream, a victim in PreBind is deleted like a running pod; its
binding then fails.
"""

import logging
from collections.abc import Sequence
from typing import Final

import attrs
import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import Pod, PodCondition
from quaymaster._api.objects.groups import GroupObject
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
_CLUSTER: Final = "cluster"

_log = logging.getLogger(__name__)


def is_preempted(pod: Pod) -> bool:
    """Whether a pod is terminating because a scheduler has preempted it."""
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions:
        if condition.type == _DISRUPTION_TARGET:
            return condition.status == "True" and condition.reason == _REASON
    return False


class _Outcome(msgspec.Struct, frozen=True, eq=False):
    """The results of the calls to the cluster.

    Attributes:
        evicted: The pods that were deleted by these calls.
        gone: The pods that had been deleted before.
        error: The error that ended the calls, or None.
        all_cleared: Whether all nominations that had to be cleared are cleared.
    """

    evicted: Sequence[Pod]
    gone: Sequence[Pod]
    error: ApiError | None
    all_cleared: bool = True


@attrs.frozen(eq=False, kw_only=True)
class _Preemptor:
    """A pod or a group that needs room.

    Attributes:
        object: The pod or the group.
        kind: ``pod``, ``podgroup`` or ``compositepodgroup``.
        pods: The pods that wait for the room.
        priority: Its priority.
        scheduler_name: The profile of its pods.
    """

    object: Pod | GroupObject
    kind: str
    pods: Sequence[Pod]
    priority: int
    scheduler_name: str

    @property
    def uid(self) -> str:
        return self.object.uid


@attrs.define(eq=False)
class _Work:
    """The pending evictions for one preemptor.

    Attributes:
        preemptor: The pod or the group that needs the room.
        domain: Where the room is: the name of a node, or ``cluster``.
        last: The victim that is deleted last; empty if none is deleted.
        waiting: The victims that wait on Permit.
        ends_in_memory: Whether the last of all victims waits on Permit.
        begun: When it began.
        victims: The number of victims.
        assumed: The uids of the victims that no watch has reported as bound.
        all_but_last: Whether only the last victim is left to delete.
        is_held_back: Whether the gate was closed at its last check.
        all_cleared: See `_Outcome`.
    """

    preemptor: _Preemptor
    domain: str
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
    """Evicts pods in the background to make room for nominated pods.

    Args:
        handle: The framework.
        plugin: The name of the plugin that rejects waiting victims.
    """

    def __init__(self, handle: Handle, plugin: str) -> None:
        self._handle = handle
        self._plugin = plugin
        self._under_way: dict[str, _Work] = {}
        # In Kubernetes 1.36, the event of the rejection requeues the preemptor.
        self._activates_at_end = handle.kubernetes.since("1.37")

    def is_under_way(self, pod: Pod) -> bool:
        """Whether the victims of a pod are still being deleted.

        The watch may report the deletion of the last victim before the call for it
        returns. The result is then False: that deletion may be the event that requeues
        the preemptor, which must not be gated.
        """
        return self._is_under_way(pod.metadata.uid)

    def is_under_way_for(self, group: GroupObject) -> bool:
        """Whether the victims of a group are still being deleted."""
        return self._is_under_way(group.metadata.uid)

    def _is_under_way(self, uid: str) -> bool:
        work = self._under_way.get(uid)
        if work is None:
            return False
        last = self._stored(work.last[0]) if work.all_but_last else None
        has_gone = last is None or last.is_terminating or last.is_finished
        work.is_held_back = not work.all_but_last or not has_gone
        return work.is_held_back

    def start(self, preemptor: Pod, candidate: Candidate) -> None:
        """Evict the victims, and clear the nominations of less important pods.

        A victim that waits on Permit is rejected, not deleted. Victims that are already
        terminating are skipped; without other victims, nothing happens. When a call
        fails, also a call for a nomination, the preemptor becomes active at once,
        without a backoff, to try again.

        Args:
            preemptor: The pod that needs the room.
            candidate: The node and its victims.
        """
        pod = _Preemptor(
            object=preemptor,
            kind="pod",
            pods=(preemptor,),
            priority=preemptor.priority,
            scheduler_name=preemptor.spec.scheduler_name,
        )
        self._start(pod, candidate.node_name, candidate.victims)

    def start_for_group(
        self, group: GroupObject, pods: Sequence[Pod], victims: Sequence[Pod]
    ) -> None:
        """Evict the victims of a group, as `start` does for a pod.

        Args:
            group: The group that needs the room.
            pods: Its pods that wait for it; at least one.
            victims: The pods to evict, on any nodes.
        """
        preemptor = _Preemptor(
            object=group,
            kind=group.kind.lower(),
            pods=tuple(pods),
            priority=group.priority,
            scheduler_name=pods[0].spec.scheduler_name,
        )
        self._start(preemptor, _CLUSTER, victims)

    def _start(
        self, preemptor: _Preemptor, domain: str, all_victims: Sequence[Pod]
    ) -> None:
        waiting_pod, cluster = self._handle.waiting_pod, self._handle.cluster
        victims = [pod for pod in all_victims if not pod.is_terminating]
        if not victims:
            return
        running = [pod for pod in victims if waiting_pod(pod.uid) is None]
        waiting = [pod for pod in victims if waiting_pod(pod.uid) is not None]
        assumed = frozenset(pod.uid for pod in running if not self._is_bound(pod))
        work = _Work(
            preemptor,
            domain,
            running[-1:],
            waiting,
            waiting_pod(victims[-1].uid) is not None,
            assumed,
            begun=self._handle.clock.now(),
            victims=len(all_victims),
        )
        # As upstream, the domain of a group is not a node, so nothing is cleared.
        outdone = [
            pod
            for pod in self._handle.nominated_pods(domain)
            if pod.priority < preemptor.priority
        ]
        self._under_way[preemptor.uid] = work

        # As upstream, calls to the API server take place beside the next attempts, and
        # the last victim goes after all others: its deletion is the event that requeues
        # the preemptor, which then finds the room complete.
        def begin() -> None:
            self._handle.run_in_background(
                lambda: _clear_and_evict(cluster, preemptor, outdone, running[:-1]),
                lambda outcome: self._most_evicted(work, outcome),
            )

        if isinstance(preemptor.object, Pod):
            begin()
        else:
            # A group is requeued, and gated, before its first victim is gone.
            self._handle.clock.call_later(0.0, begin)

    def _most_evicted(self, work: _Work, outcome: _Outcome) -> None:
        """Evict the last victim, after the others: see `is_under_way`."""
        self._record_all(work, outcome.evicted)
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
        self._record_all(work, outcome.evicted)
        self._finish(work, outcome)

    def _finish(self, work: _Work, outcome: _Outcome) -> None:
        """Open the gate, and make sure that the preemptor is requeued.

        The deletion of the last victim requeues it, or the rejection of a waiting
        victim, which is therefore sent after the gate has opened. If neither event will
        come, this method activates the preemptor. A deleted victim that is still in the
        informers will have its event: activating the preemptor at once would only find
        the same victim again. An assumed victim may have lost its node while the gate
        was closed. An event at a closed gate is not repeated, and may have been the
        only event that requeues the preemptor, such as the end of a finished victim. So
        a preemptor that was held back is activated, unless the deletion of a victim is
        still to be reported: until then its room is not complete, and it might choose
        another node.
        """
        # Identity: since the deletion of the last victim, the preemptor may have been
        # tried again, and may have other evictions now.
        if self._under_way.get(work.preemptor.uid) is work:
            del self._under_way[work.preemptor.uid]
        has_failed = outcome.error is not None
        seconds = self._handle.clock.now() - work.begun
        for_group = work.preemptor.kind != "pod"
        self._handle.report_preemption(
            work.victims, seconds, has_failed=has_failed, for_group=for_group
        )
        if outcome.error is not None:
            kind, key = work.preemptor.kind, work.preemptor.object.key
            _log.error("preemption for %s %s failed: %s", kind, key, outcome.error)
            self._handle.activate(work.preemptor.pods)
            return
        rejected = [pod for pod in work.waiting if self._reject(work, pod)]
        ended = [*outcome.evicted, *filter(self._is_stored, outcome.gone)]
        has_event = rejected or any(self._has_event(work, pod) for pod in ended)
        if self._activates_at_end and rejected and work.ends_in_memory:
            has_event = False
        is_missed = work.is_held_back and not any(map(self._will_end, ended))
        if is_missed or not has_event or not work.all_cleared:
            self._handle.activate(work.preemptor.pods)

    def _will_end(self, victim: Pod) -> bool:
        """Whether the end of a victim is still to be reported."""
        stored = self._stored(victim)
        return stored is not None and not stored.is_finished

    def _has_event(self, work: _Work, victim: Pod) -> bool:
        """Whether the deletion of a victim requeues the preemptor, or has done so."""
        if victim.uid not in work.assumed:
            return True
        node = self._handle.snapshot.get(victim.node_name)
        return node is not None and victim.uid in node.pods

    def _is_bound(self, victim: Pod) -> bool:
        stored = self._handle.informers.get(Pod, victim.key)
        return stored is None or bool(stored.node_name)

    def _is_stored(self, victim: Pod) -> bool:
        return self._stored(victim) is not None

    def _stored(self, pod: Pod) -> Pod | None:
        """Return a pod from the informers; None if another pod has its name now."""
        stored = self._handle.informers.get(Pod, pod.key)
        return stored if stored is not None and stored.uid == pod.uid else None

    def _reject(self, work: _Work, victim: Pod) -> bool:
        waiting = self._handle.waiting_pod(victim.uid)
        if waiting is None:
            return False  # it no longer waits: the preemptor must try again
        waiting.reject(self._plugin, "preempted")
        self._record(work, victim, " (in kube-scheduler memory).")
        return True

    def _record_all(self, work: _Work, victims: Sequence[Pod]) -> None:
        for victim in victims:
            self._record(work, victim)

    def _record(self, work: _Work, victim: Pod, suffix: str = "") -> None:
        preemptor = work.preemptor
        text = f"Preempted by {preemptor.kind} {preemptor.uid} on node {work.domain}"
        self._handle.record(
            EventNote(
                regarding=victim,
                related=preemptor.object,
                type="Normal",
                reason="Preempted",
                action="Preempting",
                note=text + suffix,
                reporter=preemptor.scheduler_name,
            )
        )


def _clear_and_evict(
    cluster: Cluster,
    preemptor: _Preemptor,
    outdone: Sequence[Pod],
    victims: Sequence[Pod],
) -> _Outcome:
    """Clear nominations and evict victims; runs on a worker's thread."""
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
        _log.error(
            "nominations below %s %s were not cleared: %s",
            preemptor.kind,
            preemptor.object.key,
            failure,
        )
    return replace(outcome, all_cleared=failure is None)


def _evict(cluster: Cluster, preemptor: _Preemptor, victims: Sequence[Pod]) -> _Outcome:
    """Evict victims; runs on a worker's thread."""
    evicted: list[Pod] = []
    gone: list[Pod] = []
    for victim in victims:
        patch = PodStatusPatch(condition=_condition(preemptor, victim))
        try:
            cluster.patch_pod_status(victim, patch)
            # The uid, because a controller may have created another pod of this name
            # meanwhile.
            cluster.delete(Pod, victim.key, uid=victim.uid)
        except NotFoundError:
            gone.append(victim)
            continue
        except ConflictError:
            continue  # another pod has its name now
        except ApiError as error:
            return _Outcome(evicted, gone, error)
        evicted.append(victim)
    return _Outcome(evicted, gone, None)


def _condition(preemptor: _Preemptor, victim: Pod) -> PodCondition:
    name, kind = preemptor.scheduler_name, preemptor.kind
    return PodCondition(
        type=_DISRUPTION_TARGET,
        status="True",
        reason=_REASON,
        message=f"{name}: preempting to accommodate a higher priority {kind}",
        observed_generation=victim.metadata.generation,
    )
