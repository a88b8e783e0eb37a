"""Scales the ReplicaSets of Deployments.

Mirrors ``scale`` and ``scaleReplicaSet`` (``pkg/controller/deployment/sync.go``) and
``GetReplicaSetProportion`` (``pkg/controller/deployment/util``), Kubernetes v1.37.
"""

import math
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Deployment, Pod, ReplicaSet
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.availability import Availability
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.rollouts import deployment_limits

__all__ = [
    "ReplicaScaler",
    "desired_replicas",
    "oldest_first",
    "replicas_of",
    "size_annotations",
]

_DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
_MAX: Final = "deployment.kubernetes.io/max-replicas"


class ReplicaScaler:
    """Scales the ReplicaSets of Deployments, and counts their available pods.

    Args:
        cluster: The cluster.
        families: The pods of each ReplicaSet.
        availability: Decides which pods are available.
    """

    def __init__(
        self, cluster: ClusterAccess, families: Families, availability: Availability
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._availability = availability

    def available(self, deployment: Deployment, target: ReplicaSet) -> int:
        """Return how many pods of a ReplicaSet are available."""
        pods, minimum = self._cluster.objects(Pod), target.spec.min_ready_seconds
        return sum(
            self._availability.is_available(pods[key], deployment, minimum)
            # Pods that terminate are not active, so they are not available either.
            for key in self._families.of(target.uid).active
        )

    def scale(
        self, deployment: Deployment, target: ReplicaSet, count: int
    ) -> ReplicaSet:
        """Give a ReplicaSet another number of replicas; no change if it has it."""
        if count == replicas_of(target):
            return target
        return self._resize(deployment, target, count)

    def rescale(
        self, deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]
    ) -> None:
        """Fit the ReplicaSets to the size of a Deployment, but make no progress.

        This happens while a Deployment is paused, and when its size has changed. If
        several ReplicaSets have pods, all of them change in proportion.

        Args:
            deployment: The Deployment.
            new: The ReplicaSet with its template, if any.
            old: The other ReplicaSets.
        """
        replicas = replicas_of(deployment)
        active = [each for each in (*old, *([new] if new else ())) if replicas_of(each)]
        if len(active) <= 1:
            target = active[0] if active else new or _newest(old)
            if target is not None:
                self.scale(deployment, target, replicas)
        # A complete new set needs no proportion: what is left of the old ones can go.
        elif new is not None and self._is_saturated(deployment, new):
            for each in active:
                # Identity: `new` is one of these very objects.
                if each is not new:
                    self.scale(deployment, each, 0)
        elif deployment.spec.strategy.type == "RollingUpdate":
            self._rescale_in_proportion(deployment, active)

    def _is_saturated(self, deployment: Deployment, new: ReplicaSet) -> bool:
        """Return whether the newest ReplicaSet has all pods, and all are available."""
        replicas = replicas_of(deployment)
        return (
            replicas_of(new) == replicas
            and desired_replicas(new) == replicas
            and self.available(deployment, new) == replicas
        )

    def _rescale_in_proportion(
        self, deployment: Deployment, active: Sequence[ReplicaSet]
    ) -> None:
        # At size 0, a surge would leave pods behind.
        allowed = max_replicas(deployment) if replicas_of(deployment) else 0
        total = sum(map(replicas_of, active))
        missing = allowed - total
        # Of two ReplicaSets of one size, the newer grows and the older shrinks first.
        ordered = sorted(oldest_first(active), key=replicas_of)
        if missing > 0:
            ordered.reverse()
        else:
            ordered = sorted(oldest_first(active), key=replicas_of, reverse=True)
        sizes, added = [], 0
        for each in ordered:
            share = _share(each, deployment, total, missing, added)
            sizes.append(replicas_of(each) + share)
            added += share
        # What rounding leaves goes to the largest ReplicaSet, as in ``scale``.
        sizes[0] = max(0, sizes[0] + missing - added)
        for each, size in zip(ordered, sizes, strict=True):
            annotations = size_annotations(deployment)
            if size != replicas_of(each) or not _has(each, annotations):
                self._resize(deployment, each, size)

    def _resize(
        self, deployment: Deployment, target: ReplicaSet, count: int
    ) -> ReplicaSet:
        # The annotations change together with the size: they are how the next sync
        # recognises a resize.
        annotations = {**target.annotations, **size_annotations(deployment)}
        metadata = replace(target.metadata, annotations=annotations)
        spec = replace(target.spec, replicas=count)
        return self._cluster.change(
            target, replace(target, metadata=metadata, spec=spec)
        )


def size_annotations(deployment: Deployment) -> dict[str, str]:
    """Return the annotations by which a ReplicaSet remembers a Deployment's size."""
    return {
        _DESIRED: str(replicas_of(deployment)),
        _MAX: str(max_replicas(deployment)),
    }


def desired_replicas(target: ReplicaSet) -> int | None:
    """Return the size of the Deployment when a ReplicaSet was last scaled."""
    return _number(target, _DESIRED)


def replicas_of(workload: Deployment | ReplicaSet) -> int:
    """Return how many pods a workload has to run."""
    replicas = workload.spec.replicas
    return 1 if replicas is None else replicas


def max_replicas(deployment: Deployment) -> int:
    """Return how many pods a Deployment may have during an update."""
    replicas, strategy = replicas_of(deployment), deployment.spec.strategy
    if strategy.type != "RollingUpdate":
        return replicas
    return replicas + deployment_limits(strategy, replicas)[0]


def oldest_first(sets: Sequence[ReplicaSet]) -> list[ReplicaSet]:
    """Return ReplicaSets by the time of their creation, then by name."""
    return sorted(sets, key=lambda each: (_created(each), each.name))


def _created(target: ReplicaSet) -> float:
    return target.metadata.creation_timestamp or 0.0


def _newest(sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    return oldest_first(sets)[-1] if sets else None


def _share(
    target: ReplicaSet, deployment: Deployment, total: int, missing: int, added: int
) -> int:
    """Return by how much a ReplicaSet grows, or shrinks if negative."""
    rest = missing - added
    if missing == 0 or rest == 0:
        return 0
    fraction = _fraction(target, deployment, total)
    # The shares are cut to what is left, so that together they never exceed it.
    return min(fraction, rest) if missing > 0 else max(fraction, rest)


def _fraction(target: ReplicaSet, deployment: Deployment, total: int) -> int:
    size = replicas_of(target)
    if replicas_of(deployment) == 0:
        return -size
    # ``getReplicaSetFraction``: without the annotation, the current size counts.
    before = _number(target, _MAX) or total
    exact = size * max_replicas(deployment) / before
    # Halves are rounded up, unlike Python's ``round``.
    return math.floor(exact + 0.5) - size


def _number(target: ReplicaSet, annotation: str) -> int | None:
    try:
        return int(target.annotations.get(annotation, ""))
    except ValueError:
        return None


def _has(target: ReplicaSet, annotations: dict[str, str]) -> bool:
    return annotations.items() <= target.annotations.items()
