"""StatefulSets: numbered pods with stable names, and claims of their own.

Mirrors ``pkg/controller/statefulset`` (Kubernetes v1.37), except ``minReadySeconds``.
Pods of an older template are replaced from the highest ordinal down: as many at a time
as ``maxUnavailable`` allows, or one by one while its feature gate is off.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource,
    Pod,
    StatefulSet,
    Volume,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
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
from quaymaster._clusters.inmemory.controllers.stateful_set_updates import (
    Replica,
    first_outdated,
    outdated_within,
    unavailable_limit,
)
from quaymaster._core.contract.cluster import ForbiddenError, InvalidError

__all__ = ["StatefulSetController", "has_replica", "starts_in_order"]

_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"


class StatefulSetController:
    """Creates and deletes the numbered pods of StatefulSets."""

    def __init__(self, cluster: ClusterAccess, families: Families) -> None:
        self._cluster = cluster
        self._families = families
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
        family = self._families.of(owner.uid)
        history = self._revisions.note(owner.uid, owner.spec.template)
        is_ordered = starts_in_order(owner)
        by_ordinal = self._by_ordinal(owner)
        wanted = _ordinals(owner)
        self._complete(owner, history, by_ordinal, wanted)
        is_rolling = history.current != history.newest
        family.wants_starts = is_ordered or is_rolling
        for ordinal in wanted:
            pod = self._present(owner, ordinal, by_ordinal.get(ordinal))
            if is_ordered and not _is_up(pod):
                self._wait(owner, ordinal, by_ordinal, wanted)
                return
        # As upstream, pods without an ordinal are left alone.
        numbered = {ordinal for ordinal in by_ordinal if ordinal >= 0}
        surplus = sorted(numbered - set(wanted), reverse=True)
        self._condemn([by_ordinal[ordinal] for ordinal in surplus], is_ordered)
        if is_rolling and not (surplus and is_ordered):
            self._roll(owner, history, wanted)

    def _by_ordinal(self, owner: StatefulSet) -> dict[int, Pod]:
        """Return the existing pods; a pod without an ordinal has a negative number."""
        pods = self._cluster.objects(Pod)
        return {_ordinal(key): pods[key] for key in self._families.of(owner.uid)}

    def _complete(
        self,
        owner: StatefulSet,
        history: History,
        by_ordinal: Mapping[int, Pod],
        wanted: range,
    ) -> None:
        """Record that an update is done, if all pods are new and ready."""
        is_on_delete = owner.spec.update_strategy.type == "OnDelete"
        if is_on_delete and not self._completes_on_delete:
            return
        numbered = {ordinal for ordinal in by_ordinal if ordinal >= 0}
        if numbered == set(wanted) and all(
            _is_up(by_ordinal[ordinal])
            and history.of(by_ordinal[ordinal].labels) == history.newest
            for ordinal in wanted
        ):
            history.current = history.newest

    def _roll(self, owner: StatefulSet, history: History, wanted: range) -> None:
        """Delete the outdated pods that may be replaced now."""
        strategy = owner.spec.update_strategy
        if strategy.type == "OnDelete":
            return
        # Read them again: some may have been created or deleted a moment ago.
        by_ordinal = self._by_ordinal(owner)
        replicas = [_replica(by_ordinal.get(ordinal), history) for ordinal in wanted]
        partition = _partition(owner)
        outdated = (
            outdated_within(
                replicas,
                partition,
                unavailable_limit(strategy, len(wanted)),
                in_order=starts_in_order(owner),
            )
            if self._has_limits
            else first_outdated(replicas, partition)
        )
        for pod in list(outdated):
            self._cluster.delete(pod)

    def _wait(
        self,
        owner: StatefulSet,
        ordinal: int,
        by_ordinal: Mapping[int, Pod],
        wanted: range,
    ) -> None:
        """Record the pods that are not created before another one is ready."""
        there = sum(ordinal < other < wanted.stop for other in by_ordinal)
        missing = wanted.stop - ordinal - 1 - there
        name = f"{owner.name}-{ordinal}"
        self._cluster.shortfalls.add(owner, missing, waits_for=name)

    def _present(self, owner: StatefulSet, ordinal: int, pod: Pod | None) -> Pod | None:
        """Return the pod of an ordinal; if there is none, create it and return None.

        As upstream, an ended pod is deleted, and replaced when it is gone.
        """
        if pod is not None and _has_ended(pod):
            self._cluster.delete(pod)
            pod = self._cluster.objects(Pod).get(pod.key)
            if pod is not None:
                self._cluster.shortfalls.add(owner, 1, waits_for=pod.name)
        if pod is not None:
            return pod
        self._create(owner, ordinal)
        return None

    def _create(self, owner: StatefulSet, ordinal: int) -> None:
        name = f"{owner.name}-{ordinal}"
        try:
            self._add_claims(owner, ordinal)
        except (ForbiddenError, InvalidError) as error:
            record_failure(self._cluster, owner, error, 1)
            return
        history = self._revisions.note(owner.uid, owner.spec.template)
        is_kept = ordinal in _ordinals(owner)[: _partition(owner)]
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
            volumes = _volumes(owner, ordinal, pod.spec.volumes)
            pod = replace(pod, spec=replace(pod.spec, volumes=volumes))
        add_pods(self._cluster, owner, pod)

    def _add_claims(self, owner: StatefulSet, ordinal: int) -> None:
        existing = self._cluster.objects(PersistentVolumeClaim)
        selector = owner.spec.selector
        labels = {} if selector is None else selector.match_labels
        for template in owner.spec.volume_claim_templates:
            metadata = replace(
                template.metadata,
                name=_claim_name(template, owner, ordinal),
                uid="",
                namespace=owner.namespace,
                labels=template.metadata.labels | labels,
            )
            claim = replace(template, metadata=metadata)
            if claim.key not in existing:
                self._cluster.add(self._cluster.admit(claim))

    def _condemn(self, surplus: Iterable[Pod], is_ordered: bool) -> None:
        for pod in surplus:
            if not pod.is_terminating:
                self._cluster.delete(pod)
            if is_ordered:
                return


def starts_in_order(owner: StatefulSet) -> bool:
    """Return whether each pod waits until the one before it is ready."""
    return owner.spec.pod_management_policy != "Parallel"


def has_replica(owner: StatefulSet, name: str) -> bool:
    """Return whether a StatefulSet should have a pod of this name."""
    prefix, _, ordinal = name.rpartition("-")
    is_name = prefix == owner.name and str(parse_index(ordinal)) == ordinal
    return is_name and int(ordinal) in _ordinals(owner)


def _ordinals(owner: StatefulSet) -> range:
    start = 0 if owner.spec.ordinals is None else owner.spec.ordinals.start
    count = 1 if owner.spec.replicas is None else owner.spec.replicas
    return range(start, start + count)


def _partition(owner: StatefulSet) -> int:
    """Return how many pods, from the lowest ordinal on, keep the older template."""
    rolling = owner.spec.update_strategy.rolling_update
    return 0 if rolling is None else rolling.partition or 0


def _replica(pod: Pod | None, history: History) -> Replica:
    is_old = pod is not None and history.of(pod.labels) != history.newest
    return Replica(pod, is_old=is_old, is_available=_is_up(pod))


def _has_ended(pod: Pod) -> bool:
    """Return whether a pod has failed, or ended before its work was done."""
    is_done = pod.status.phase == "Succeeded" and has_run_time(pod.metadata)
    return pod.is_finished and not is_done


def _is_up(pod: Pod | None) -> bool:
    """Return whether a pod no longer keeps the next one waiting."""
    if pod is None or pod.is_terminating:
        return False
    return pod.status.phase == "Succeeded" or (
        pod.status.phase == "Running" and is_ready(pod)
    )


def _ordinal(key: str) -> int:
    ordinal = parse_index(key.rpartition("-")[2])
    return -1 if ordinal is None else ordinal


def _claim_name(
    template: PersistentVolumeClaim, owner: StatefulSet, ordinal: int
) -> str:
    return f"{template.name}-{owner.name}-{ordinal}"


def _volumes(
    owner: StatefulSet, ordinal: int, volumes: tuple[Volume, ...]
) -> tuple[Volume, ...]:
    claimed = {
        template.name: Volume(
            name=template.name,
            persistent_volume_claim=PersistentVolumeClaimVolumeSource(
                claim_name=_claim_name(template, owner, ordinal)
            ),
        )
        for template in owner.spec.volume_claim_templates
    }
    others = (volume for volume in volumes if volume.name not in claimed)
    return (*claimed.values(), *others)
