"""VerticalPodAutoscalers change new pods, as their webhook does.

Mirrors ``GetMatchingVPA`` of ``resource/vpa/matcher.go`` and ``CalculatePatches`` of
``resource/pod/patch/resource_updates.go`` in the admission controller of
vertical-pod-autoscaler v1.7 (kubernetes/autoscaler), without startup boosts. Running
pods stay as they are: neither the updater nor the recommender is simulated.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    LimitRange,
    OwnerReference,
    Pod,
    PodSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.kinds import group_of
from quaymaster._api.objects.vertical_autoscaling import VerticalPodAutoscaler
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.recommended_resources import (
    container_bounds,
    with_recommended_resources,
)

__all__ = ["PodRecommendations", "is_applied"]

_ANNOTATION: Final = "vpaUpdates"
_OWNERS: Final = (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
_REMEMBERED: Final = 1024


class PodRecommendations:
    """Applies the recommendations of one cluster to new pods.

    Args:
        objects: Returns the stored objects of a kind by key.
    """

    def __init__(self, objects: Callable[[type[Any]], Mapping[str, Any]]) -> None:
        self._objects = objects
        self._scalers: Mapping[str, VerticalPodAutoscaler]
        self._scalers = objects(VerticalPodAutoscaler)
        # By autoscaler and spec: pods of one template share their specs.
        self._specs: dict[tuple[str, str, int], tuple[PodSpec, PodSpec]] = {}

    def forget(self) -> None:
        """Drop all results, because a recommendation or a bound has changed."""
        self._specs.clear()

    def applied(self, pod: Pod) -> Pod:
        """Return a new pod with the recommended requests; itself if there are none.

        Args:
            pod: The pod, with all defaults.
        """
        if not self._scalers or is_already_admitted(pod):
            return pod
        scaler = self._scaler_of(pod)
        if scaler is None:
            return pod
        spec = self._spec_of(pod, scaler)
        # Identity: a spec that needs no change is returned as it is.
        if spec is pod.spec:
            return pod
        text = f"Pod resources updated by {scaler.name}"
        annotations = {**pod.annotations, _ANNOTATION: text}
        metadata = replace(pod.metadata, annotations=annotations)
        return replace(pod, metadata=metadata, spec=spec)

    def _spec_of(self, pod: Pod, scaler: VerticalPodAutoscaler) -> PodSpec:
        # The version, because a recommendation may change while the autoscaler keeps
        # its uid.
        key = (scaler.uid, scaler.metadata.resource_version, id(pod.spec))
        cached = self._specs.get(key)
        if cached is None:
            ranges = self._objects(LimitRange).values()
            bounds = container_bounds(
                entry for entry in ranges if entry.namespace == pod.namespace
            )
            spec = with_recommended_resources(pod.spec, scaler, bounds)
            # All at once: an eviction of single entries would need their order of use.
            if len(self._specs) >= _REMEMBERED:
                self._specs.clear()
            # The old spec is kept too, so that no other one gets its id.
            cached = self._specs[key] = (pod.spec, spec)
        return cached[1]

    def _scaler_of(self, pod: Pod) -> VerticalPodAutoscaler | None:
        """Return the oldest autoscaler of the topmost workload of a pod."""
        reference = pod.metadata.controller
        matching: list[VerticalPodAutoscaler] = []
        while reference is not None:
            matching_here = self._of(pod.namespace, reference)
            owner = self._owner(pod.namespace, reference)
            # Upstream follows the owners upwards, and only the topmost workload may be
            # a target (``FindTopMostWellKnownOrScalable``).
            if owner is not None or matching_here:
                matching = matching_here
            reference = None if owner is None else owner.metadata.controller
        applied = [scaler for scaler in matching if is_applied(scaler)]
        return min(applied, key=_age, default=None)

    def _of(
        self, namespace: str, reference: OwnerReference
    ) -> list[VerticalPodAutoscaler]:
        return [
            scaler
            for scaler in self._scalers.values()
            if scaler.namespace == namespace
            and (target := scaler.spec.target_ref) is not None
            and (target.kind, target.name) == (reference.kind, reference.name)
        ]

    def _owner(self, namespace: str, reference: OwnerReference) -> ApiObject | None:
        for kind in _OWNERS:
            if (kind.kind, group_of(kind.api_version)) == (
                reference.kind,
                group_of(reference.api_version),
            ):
                owner: ApiObject | None
                owner = self._objects(kind).get(f"{namespace}/{reference.name}")
                return owner
        return None


def is_applied(scaler: VerticalPodAutoscaler) -> bool:
    """Return whether an autoscaler changes new pods, if it has a recommendation."""
    policy = scaler.spec.update_policy
    return policy is None or policy.update_mode != "Off"


def _age(scaler: VerticalPodAutoscaler) -> tuple[float, str]:
    created = scaler.metadata.creation_timestamp
    return 0.0 if created is None else float(created), scaler.name
