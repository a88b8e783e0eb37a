"""StatefulSets: numbered pods with stable names, and claims of their own.

Mirrors ``pkg/controller/statefulset`` (Kubernetes v1.37). Pods of an older template are
replaced from the highest ordinal down: as many at a time as ``maxUnavailable`` allows,
or one by one while its feature gate is off.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod, StatefulSet
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.availability import Availability
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.index_ranges import parse_index
from quaymaster._clusters.inmemory.controllers.pods import (
    add_pods,
    has_run_time,
    is_ready,
    pod_of_template,
    record_failure,
)
from quaymaster._clusters.inmemory.controllers.revisions import (
    REVISION_LABEL,
    History,
    Revisions,
)
from quaymaster._clusters.inmemory.controllers.stateful_set_claims import (
    SetClaims,
    claim_volumes,
    ordinals,
)
from quaymaster._clusters.inmemory.controllers.stateful_set_updates import (
    Replica,
    first_outdated,
    outdated_within,
    unavailable_limit,
)
from quaymaster._core.contract.cluster import (
    ConflictError,
    ForbiddenError,
    InvalidError,
)

__all__ = ["StatefulSetController", "has_replica", "starts_in_order"]

_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"


class StatefulSetController:
    """Creates and deletes the numbered pods of StatefulSets.

    Args:
        cluster: The cluster.
        families: The pods of each StatefulSet.
        availability: Decides which pods are available.
        claims: Creates the claims of pods.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        families: Families,
        availability: Availability,
        claims: SetClaims,
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._availability = availability
        self._claims = claims
        self._revisions = Revisions()
        kubernetes = cluster.kubernetes
        self._has_limits = kubernetes.has("stateful-set-max-unavailable")
        self._completes_on_delete = kubernetes.has("on-delete-completed")

    def forget(self, uid: str) -> None:
        """Drop the state of a removed StatefulSet."""
        self._revisions.forget(uid)

    def sync(self, owner: StatefulSet) -> None:
        """Create the next pod, or all of them, and delete those beyond the end.

        If nothing is missing or surplus, pods of an older template are deleted.
        """
        if owner.metadata.deletion_timestamp is not None:
            return
        history = self._revisions.note(owner.uid, owner.spec.template)
        by_ordinal = self._by_ordinal(owner)
        self._complete(owner, history, by_ordinal)
        is_rolling = history.current != history.newest
        family = self._families.of(owner.uid)
        # In order, each pod that becomes ready lets the next one be created.
        family.wants_starts = starts_in_order(owner) or is_rolling
        # In this order: an update deletes pods only while none is missing or surplus.
        if self._fill(owner, by_ordinal) and self._condemn(owner, by_ordinal):
            self._roll(owner, history)
        history.current_replicas = sum(
            not pod.is_terminating and history.of(pod.labels) == history.current
            for pod in self._by_ordinal(owner).values()
        )

    def _by_ordinal(self, owner: StatefulSet) -> dict[int, Pod]:
        """Return the existing pods; a pod without an ordinal has a negative number."""
        pods = self._cluster.objects(Pod)
        return {_ordinal(key): pods[key] for key in self._families.of(owner.uid)}

    def _complete(
        self, owner: StatefulSet, history: History, by_ordinal: Mapping[int, Pod]
    ) -> None:
        """Record that an update is done, if all pods are new and ready."""
        is_on_delete = owner.spec.update_strategy.type == "OnDelete"
        # Up to a version, sets with OnDelete never recorded that an update was done
        # (feature ``on-delete-completed``).
        if is_on_delete and not self._completes_on_delete:
            return
        numbers = ordinals(owner)
        numbered = {ordinal for ordinal in by_ordinal if ordinal >= 0}
        if numbered == set(numbers) and all(
            _is_running(by_ordinal[ordinal])
            and history.of(by_ordinal[ordinal].labels) == history.newest
            for ordinal in numbers
        ):
            history.current = history.newest

    def _fill(self, owner: StatefulSet, by_ordinal: Mapping[int, Pod]) -> bool:
        """Create the missing pods, and the missing claims of pending ones.

        Returns:
            Whether pods may be deleted now.
        """
        is_ordered = starts_in_order(owner)
        for ordinal in ordinals(owner):
            pod = self._present(owner, ordinal, by_ordinal.get(ordinal))
            try:
                self._claims.sync(owner, ordinal, pod)
            except (ForbiddenError, InvalidError, ConflictError) as error:
                record_failure(self._cluster, owner, error, 0)
                return False
            # The first pod that is not up ends the sync, also for the pods after it
            # that exist.
            if is_ordered and not self._is_up(owner, pod):
                self._wait(owner, ordinal, by_ordinal)
                return False
        return True

    def _condemn(self, owner: StatefulSet, by_ordinal: Mapping[int, Pod]) -> bool:
        """Delete the pods beyond the end: one by one, or all of them at once.

        As upstream, pods without an ordinal are left alone.

        Returns:
            Whether outdated pods may be replaced now.
        """
        numbers = ordinals(owner)
        surplus = [
            ordinal for ordinal in by_ordinal if ordinal >= 0 and ordinal not in numbers
        ]
        for ordinal in surplus:
            # Before any deletion, so that the claims go with the pods.
            self._claims.mark(owner, ordinal, by_ordinal[ordinal], is_condemned=True)
        condemned = [by_ordinal[ordinal] for ordinal in sorted(surplus, reverse=True)]
        if starts_in_order(owner):
            if condemned and self._may_go(owner, condemned):
                self._cluster.delete(condemned[0])
            return not condemned
        for pod in condemned:
            if not pod.is_terminating:
                self._cluster.delete(pod)
        return True

    def _may_go(self, owner: StatefulSet, condemned: Sequence[Pod]) -> bool:
        """Return whether the last pod of an ordered set may be deleted.

        If it is not available, a pod of a lower ordinal that is not available either
        must become so first.
        """
        last = condemned[0]
        if last.is_terminating:
            return False
        # ``processCondemned``, with its ``firstUnhealthyPod``.
        # Identity: all of them are the very objects of `condemned`.
        down = [pod for pod in condemned if not self._is_up(owner, pod)]
        return last not in down or down[-1] is last

    def _roll(self, owner: StatefulSet, history: History) -> None:
        """Delete the outdated pods that may be replaced now."""
        strategy = owner.spec.update_strategy
        if strategy.type == "OnDelete" or history.current == history.newest:
            return
        # Read them again: some may have been created or deleted a moment ago.
        by_ordinal = self._by_ordinal(owner)
        numbers = ordinals(owner)
        replicas = [
            self._replica(owner, by_ordinal.get(ordinal), history)
            for ordinal in numbers
        ]
        partition = _partition(owner)
        outdated = (
            outdated_within(
                replicas,
                partition,
                unavailable_limit(strategy, len(numbers)),
                in_order=starts_in_order(owner),
            )
            if self._has_limits
            else first_outdated(replicas, partition)
        )
        for pod in list(outdated):
            self._cluster.delete(pod)

    def _replica(
        self, owner: StatefulSet, pod: Pod | None, history: History
    ) -> Replica:
        is_old = pod is not None and history.of(pod.labels) != history.newest
        return Replica(pod, is_old=is_old, is_available=self._is_up(owner, pod))

    def _is_up(self, owner: StatefulSet, pod: Pod | None) -> bool:
        """Return whether a pod no longer keeps the next one waiting."""
        if pod is None or pod.is_terminating:
            return False
        if pod.status.phase == "Succeeded":
            return True
        minimum = owner.spec.min_ready_seconds
        return self._availability.is_available(pod, owner, minimum)

    def _wait(
        self, owner: StatefulSet, ordinal: int, by_ordinal: Mapping[int, Pod]
    ) -> None:
        """Record the pods that are not created before another one is available."""
        end = ordinals(owner).stop
        there = sum(ordinal < other < end for other in by_ordinal)
        name = f"{owner.name}-{ordinal}"
        missing = end - ordinal - 1 - there
        self._cluster.shortfalls.add(owner, missing, waits_for=name)

    def _present(self, owner: StatefulSet, ordinal: int, pod: Pod | None) -> Pod | None:
        """Return the pod of an ordinal; if there is none, create it and return None.

        As upstream, an ended pod is deleted, unless it terminates already, and
        replaced when it is gone.
        """
        if pod is not None and _has_ended(pod):
            if not pod.is_terminating:
                self._cluster.delete(pod)
            pod = self._cluster.objects(Pod).get(pod.key)
            if pod is not None:
                self._cluster.shortfalls.add(owner, 1, waits_for=pod.name)
        if pod is not None:
            return pod
        # The pod waits until the claims of its predecessor are deleted; it would lose
        # them while it runs.
        if not self._claims.are_stale(owner, ordinal):
            self._create(owner, ordinal)
        return None

    def _create(self, owner: StatefulSet, ordinal: int) -> None:
        name = f"{owner.name}-{ordinal}"
        try:
            self._claims.add_missing(owner, ordinal)
        except (ForbiddenError, InvalidError, ConflictError) as error:
            record_failure(self._cluster, owner, error, 1)
            return
        history = self._revisions.note(owner.uid, owner.spec.template)
        # A pod below the partition is recreated with the older template, or a crash
        # would update it.
        is_kept = ordinal in ordinals(owner)[: _kept_count(owner, history)]
        revision = history.current if is_kept else history.newest
        pod = pod_of_template(
            owner,
            history.template(revision),
            name=name,
            labels={
                _INDEX_LABEL: str(ordinal),
                REVISION_LABEL: f"{owner.name}-{revision}",
                _NAME_LABEL: name,
            },
        )
        if owner.spec.volume_claim_templates:
            volumes = claim_volumes(owner, ordinal, pod.spec.volumes)
            pod = replace(pod, spec=replace(pod.spec, volumes=volumes))
        add_pods(self._cluster, owner, pod)


def starts_in_order(owner: StatefulSet) -> bool:
    """Return whether each pod waits until the one before it is ready."""
    return owner.spec.pod_management_policy != "Parallel"


def has_replica(owner: StatefulSet, name: str) -> bool:
    """Return whether a StatefulSet should have a pod of this name."""
    prefix, _, ordinal = name.rpartition("-")
    # Leading zeros make another name: ``web-01`` is not pod 1.
    is_name = prefix == owner.name and str(parse_index(ordinal)) == ordinal
    return is_name and int(ordinal) in ordinals(owner)


def _partition(owner: StatefulSet) -> int:
    """Return how many pods, from the lowest ordinal on, keep the older template."""
    rolling = owner.spec.update_strategy.rolling_update
    return 0 if rolling is None else rolling.partition or 0


def _kept_count(owner: StatefulSet, history: History) -> int:
    """Return how many pods, from the lowest ordinal on, get the older template.

    As in ``newVersionedStatefulSetPod``, a strategy without parameters gives it to as
    many as have it now.
    """
    strategy = owner.spec.update_strategy
    if strategy.type == "RollingUpdate" and strategy.rolling_update is None:
        return history.current_replicas
    return _partition(owner)


def _has_ended(pod: Pod) -> bool:
    """Return whether a pod has failed, or ended before its work was done."""
    is_done = pod.status.phase == "Succeeded" and has_run_time(pod.metadata)
    return pod.is_finished and not is_done


def _is_running(pod: Pod) -> bool:
    """Return whether a pod is ready, or has done its work."""
    if pod.is_terminating:
        return False
    return pod.status.phase == "Succeeded" or (
        pod.status.phase == "Running" and is_ready(pod)
    )


def _ordinal(key: str) -> int:
    ordinal = parse_index(key.rpartition("-")[2])
    return -1 if ordinal is None else ordinal
