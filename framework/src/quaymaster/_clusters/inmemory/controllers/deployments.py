"""Deployments: one ReplicaSet per template, and rolling updates between them.

Mirrors ``pkg/controller/deployment`` (Kubernetes v1.36), but for ``minReadySeconds``
and for the proportional scaling of a Deployment whose size changes during an update.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Deployment,
    LabelSelector,
    ObjectMeta,
    Pod,
    PodTemplateSpec,
    ReplicaSet,
    ReplicaSetSpec,
)
from quaymaster._api.objects.codec import ENCODER
from quaymaster._api.objects.requirements import parse_int64
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.admission.defaults import default_template_spec
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.ownership import Ownership, selector_of
from quaymaster._clusters.inmemory.controllers.pods import (
    is_ready,
    owner_reference,
    record_failure,
)
from quaymaster._clusters.inmemory.controllers.rollouts import deployment_limits
from quaymaster._clusters.inmemory.controllers.set_index import SetIndex
from quaymaster._clusters.inmemory.names import safe_hash
from quaymaster._core.contract.cluster import ForbiddenError, InvalidError

__all__ = ["DeploymentController", "find_set"]

_HASH_LABEL: Final = "pod-template-hash"
_REVISION: Final = "deployment.kubernetes.io/revision"


class DeploymentController:
    """Gives each Deployment the ReplicaSets that it needs.

    Args:
        cluster: The cluster.
        families: The pods of each ReplicaSet.
        ownership: Finds pods whose ReplicaSet is missing.
        sets: Finds the ReplicaSets of each Deployment.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        families: Families,
        ownership: Ownership,
        sets: SetIndex,
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._ownership = ownership
        self._sets = sets

    def sync(self, deployment: Deployment) -> None:
        """Take one step towards the wanted number of pods of the newest template."""
        if deployment.metadata.deletion_timestamp is not None:
            return
        self._restore_sets(deployment)
        self._sets.claim(deployment)
        sets = self._sets.of(deployment.uid)
        new = find_set(deployment, sets)
        # Identity: `new` is one of these very objects.
        old = [other for other in sets if other is not new and _count(other)]
        if deployment.spec.paused:
            active = old if new is None else [new, *old]
            if len(active) == 1:
                self._scale(active[0], _wanted(deployment))
            return
        self._listen(sets, bool(old))
        if deployment.spec.strategy.type == "Recreate" and self._remove(new, sets):
            return
        if new is None:
            try:
                new = self._create(deployment, sets)
            except (ForbiddenError, InvalidError) as error:
                record_failure(self._cluster, deployment, error, _wanted(deployment))
                return
        new = self._grow(deployment, new, old)
        self._shrink(deployment, new, old)

    def _remove(self, new: ReplicaSet | None, sets: Sequence[ReplicaSet]) -> bool:
        """Scale the old ReplicaSets to 0, and return whether any of their pods remain.

        A pod remains until its containers have ended or its object is removed.
        """
        is_any_left = False
        # Identity: `new` is one of these very objects.
        for old in [other for other in sets if other is not new]:
            family = self._families.of(old.uid)
            if _count(old) or family.active or family.leaving:
                is_any_left = True
                family.wants_starts = True
                self._scale(old, 0)
        return is_any_left

    def _restore_sets(self, deployment: Deployment) -> None:
        """Create the ReplicaSets that pods name as owners but that the input lacks."""
        names = self._ownership.unknown_owners("ReplicaSet", deployment.namespace)
        if not names:
            return
        selector = selector_of(deployment)
        for name in names:
            pods = self._ownership.strangers_of(
                "ReplicaSet", deployment.namespace, name
            )
            pod, reference = pods[0], pods[0].metadata.controller
            if reference is not None and selector.matches(pod.metadata.labels):
                name_hash = pod.metadata.labels.get(_HASH_LABEL, "")
                restored = _replica_set_of(deployment, name, name_hash, len(pods))
                metadata = replace(
                    restored.metadata,
                    uid=reference.uid,
                    # It existed before, so quotas do not apply.
                    creation_timestamp=pod.metadata.creation_timestamp,
                )
                restored = replace(restored, metadata=metadata)
                self._cluster.add(self._cluster.admit(restored))

    def _create(self, deployment: Deployment, sets: Sequence[ReplicaSet]) -> ReplicaSet:
        taken = self._cluster.objects(ReplicaSet)
        template = ENCODER.encode(deployment.spec.template)
        attempt, name_hash = 0, safe_hash(template)
        while f"{deployment.key}-{name_hash}" in taken:
            attempt += 1
            name_hash = safe_hash(template + str(attempt).encode())
        new = _replica_set_of(
            deployment, f"{deployment.name}-{name_hash}", name_hash, 0
        )
        annotations = {_REVISION: str(len(sets) + 1)}
        new = replace(new, metadata=replace(new.metadata, annotations=annotations))
        return self._cluster.add(self._cluster.admit(new))

    def _grow(
        self, deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
    ) -> ReplicaSet:
        wanted = _wanted(deployment)
        surge, _ = deployment_limits(deployment.spec.strategy, wanted)
        most = wanted + (surge if old else 0)
        room = max(0, most - _count(new) - sum(map(_count, old)))
        return self._scale(new, min(wanted, _count(new) + room))

    def _shrink(
        self, deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
    ) -> None:
        wanted = _wanted(deployment)
        _, unavailable = deployment_limits(deployment.spec.strategy, wanted)
        least = wanted - unavailable
        total = _count(new) + sum(map(_count, old))
        budget = total - least - (_count(new) - self._available(new))
        if budget <= 0:
            return
        # Pods that are not ready go first: that costs no availability.
        useless = [_count(other) - self._available(other) for other in old]
        old = self._take(old, useless, budget)
        available = self._available(new) + sum(map(self._available, old))
        self._take(old, [_count(other) for other in old], available - least)

    def _take(
        self, sets: Sequence[ReplicaSet], counts: Sequence[int], budget: int
    ) -> list[ReplicaSet]:
        """Scale ReplicaSets down, each by its count, all by the budget at most."""
        scaled = []
        for each, count in zip(sets, counts, strict=True):
            step = max(0, min(count, budget))
            budget -= step
            scaled.append(self._scale(each, _count(each) - step))
        return scaled

    def _scale(self, target: ReplicaSet, count: int) -> ReplicaSet:
        if count == _count(target):
            return target
        spec = replace(target.spec, replicas=count)
        return self._cluster.change(target, replace(target, spec=spec))

    def _available(self, target: ReplicaSet) -> int:
        pods = self._cluster.objects(Pod)
        return sum(is_ready(pods[key]) for key in self._families.of(target.uid).active)

    def _listen(self, sets: Sequence[ReplicaSet], is_rolling: bool) -> None:
        for each in sets:
            self._families.of(each.uid).wants_starts = is_rolling


def _replica_set_of(
    deployment: Deployment, name: str, name_hash: str, replicas: int
) -> ReplicaSet:
    """Return a ReplicaSet of a Deployment's template."""
    template, selector = deployment.spec.template, deployment.spec.selector
    selector = selector or LabelSelector()
    label = {_HASH_LABEL: name_hash}
    labels = template.metadata.labels | label
    return ReplicaSet(
        metadata=ObjectMeta(
            name=name,
            namespace=deployment.namespace,
            labels=labels,
            owner_references=(owner_reference(deployment),),
        ),
        spec=ReplicaSetSpec(
            replicas=replicas,
            selector=replace(selector, match_labels=selector.match_labels | label),
            template=replace(
                template, metadata=replace(template.metadata, labels=labels)
            ),
        ),
    )


def find_set(deployment: Deployment, sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """Return the ReplicaSet with the Deployment's template.

    Revisions may differ only in fields that scheduling does not read. Of several, the
    one with the Deployment's revision is taken, else the latest; the oldest of those.
    """
    template = deployment.spec.template
    same = [each for each in sets if _is_same(each.spec.template, template)]
    current = deployment.annotations.get(_REVISION)

    def rank(each: ReplicaSet) -> tuple[bool, int]:
        revision = each.annotations.get(_REVISION, "")
        is_current = current is not None and revision == current
        return is_current, parse_int64(revision) or 0

    return max(same, key=rank, default=None)


def _is_same(mine: PodTemplateSpec, theirs: PodTemplateSpec) -> bool:
    """Return whether templates are equal, without the hash label and defaults."""
    metadata = mine.metadata
    labels = {k: v for k, v in metadata.labels.items() if k != _HASH_LABEL}
    if labels != {k: v for k, v in theirs.metadata.labels.items() if k != _HASH_LABEL}:
        return False
    if metadata.annotations != theirs.metadata.annotations:
        return False
    # Identity: usually the same object; comparing two specs with defaults is slow.
    return mine.spec is theirs.spec or (
        default_template_spec(mine.spec) == default_template_spec(theirs.spec)
    )


def _count(replica_set: ReplicaSet) -> int:
    replicas = replica_set.spec.replicas
    return 1 if replicas is None else replicas


def _wanted(deployment: Deployment) -> int:
    replicas = deployment.spec.replicas
    return 1 if replicas is None else replicas
