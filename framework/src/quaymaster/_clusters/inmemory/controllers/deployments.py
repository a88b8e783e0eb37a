"""Deployments: one ReplicaSet per template, and rolling updates between them.

Mirrors ``pkg/controller/deployment`` (Kubernetes v1.37).
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Deployment,
    LabelSelector,
    ObjectMeta,
    PodTemplateSpec,
    ReplicaSet,
    ReplicaSetSpec,
)
from quaymaster._api.objects.requirements import parse_int64
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.admission.defaults import default_template_spec
from quaymaster._clusters.inmemory.controllers.availability import Availability
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.ownership import Ownership, selector_of
from quaymaster._clusters.inmemory.controllers.pods import (
    owner_reference,
    record_failure,
)
from quaymaster._clusters.inmemory.controllers.replica_scaling import (
    ReplicaScaler,
    desired_replicas,
    replicas_of,
    size_annotations,
)
from quaymaster._clusters.inmemory.controllers.rolling_updates import (
    RollingUpdater,
    new_replicas,
)
from quaymaster._clusters.inmemory.controllers.set_index import SetIndex
from quaymaster._clusters.inmemory.controllers.template_hashes import template_hash
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
        availability: Decides which pods are available.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        families: Families,
        ownership: Ownership,
        sets: SetIndex,
        availability: Availability,
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._ownership = ownership
        self._sets = sets
        self._scaler = ReplicaScaler(cluster, families, availability)
        self._updater = RollingUpdater(self._scaler)

    def sync(self, deployment: Deployment) -> None:
        """Take one step towards the wanted number of pods of the newest template."""
        if deployment.metadata.deletion_timestamp is not None:
            return
        # Before the sets are counted: a dump without ReplicaSets would otherwise have
        # all pods created a second time.
        self._restore_sets(deployment)
        self._sets.claim(deployment)
        sets = self._sets.of(deployment.uid)
        new = find_set(deployment, sets)
        if new is not None:
            new = self._with_min_ready(deployment, new)
        # Identity: `new` is one of these very objects, or its successor.
        old = [each for each in sets if new is None or each.uid != new.uid]
        self._listen(sets, any(map(replicas_of, old)))
        # Scaling comes before any update, as in ``syncDeployment``: a size that changes
        # in the middle of an update is spread over all sets first.
        if deployment.spec.paused or _is_resized(deployment, sets):
            self._scaler.rescale(deployment, new, old)
        elif deployment.spec.strategy.type == "Recreate":
            self._recreate(deployment, new, old)
        else:
            new = self._ensure_new(deployment, new, old)
            if new is not None:
                self._updater.step(deployment, new, old)

    def _recreate(
        self, deployment: Deployment, new: ReplicaSet | None, old: list[ReplicaSet]
    ) -> None:
        # Recreate waits until no old pod is left, and only then creates new ones.
        if self._remove(deployment, old):
            return
        new = self._ensure_new(deployment, new, old)
        if new is not None:
            self._scaler.scale(deployment, new, replicas_of(deployment))

    def _ensure_new(
        self, deployment: Deployment, new: ReplicaSet | None, old: list[ReplicaSet]
    ) -> ReplicaSet | None:
        """Return the newest ReplicaSet, created if needed; None if it is refused."""
        if new is not None:
            return new
        try:
            return self._create(deployment, old)
        except (ForbiddenError, InvalidError) as error:
            count = replicas_of(deployment)
            record_failure(self._cluster, deployment, error, count)
            return None

    def _with_min_ready(self, deployment: Deployment, new: ReplicaSet) -> ReplicaSet:
        seconds = deployment.spec.min_ready_seconds
        # The only field that is copied to an existing set: it is not part of the
        # template, so it needs no new set.
        if new.spec.min_ready_seconds == seconds:
            return new
        spec = replace(new.spec, min_ready_seconds=seconds)
        return self._cluster.change(new, replace(new, spec=spec))

    def _remove(self, deployment: Deployment, old: Sequence[ReplicaSet]) -> bool:
        """Scale the old ReplicaSets to 0, and return whether any of their pods remain.

        A pod remains until its containers have ended or its object is removed.
        """
        is_any_left = False
        for each in old:
            family = self._families.of(each.uid)
            if replicas_of(each) or family.active or family.leaving:
                is_any_left = True
                family.wants_starts = True
                self._scaler.scale(deployment, each, 0)
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
                    # With the uid that the pods name, they are its own again.
                    uid=reference.uid,
                    # It existed before, so quotas do not apply.
                    creation_timestamp=pod.metadata.creation_timestamp,
                )
                restored = replace(restored, metadata=metadata)
                self._cluster.add(self._cluster.admit(restored))

    def _create(self, deployment: Deployment, old: Sequence[ReplicaSet]) -> ReplicaSet:
        taken = self._cluster.objects(ReplicaSet)
        template = deployment.spec.template
        attempt, name_hash = 0, template_hash(template, 0)
        # ``CollisionCount``: another template may have this hash.
        while f"{deployment.key}-{name_hash}" in taken:
            attempt += 1
            name_hash = template_hash(template, attempt)
        name = f"{deployment.name}-{name_hash}"
        # The first size already respects the surge, or all pods would be created at
        # once (``NewRSNewReplicas``).
        count = new_replicas(deployment, 0, sum(map(replicas_of, old)))
        new = _replica_set_of(deployment, name, name_hash, count)
        annotations = size_annotations(deployment) | {_REVISION: _next_revision(old)}
        new = replace(new, metadata=replace(new.metadata, annotations=annotations))
        return self._cluster.add(self._cluster.admit(new))

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
            min_ready_seconds=deployment.spec.min_ready_seconds,
            # The hash in the selector keeps the sets of one Deployment from counting
            # each other's pods.
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
    # Labels come first: they are cheaper to compare than specs.
    if labels != {k: v for k, v in theirs.metadata.labels.items() if k != _HASH_LABEL}:
        return False
    if metadata.annotations != theirs.metadata.annotations:
        return False
    # Identity: usually the same object; comparing two specs with defaults is slow.
    return mine.spec is theirs.spec or (
        default_template_spec(mine.spec) == default_template_spec(theirs.spec)
    )


def _is_resized(deployment: Deployment, sets: Sequence[ReplicaSet]) -> bool:
    """Return whether the size of a Deployment has changed since its last scaling."""
    # ``isScalingEvent``, which ignores ReplicaSets without pods.
    replicas = replicas_of(deployment)
    return any(
        # The wanted size is an annotation on each set, since only there does it survive
        # a restart of the controller.
        replicas_of(each) and desired_replicas(each) not in (None, replicas)
        for each in sets
    )


def _next_revision(old: Sequence[ReplicaSet]) -> str:
    revisions = (parse_int64(each.annotations.get(_REVISION, "")) for each in old)
    return str(max((revision or 0 for revision in revisions), default=0) + 1)
