"""Makers of autoscalers of pods."""

from quaymaster._api.objects import (
    ApiObject,
    CrossVersionObjectReference,
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
)
from quaymaster._authors.testing.makers.metadata import make_metadata

__all__ = ["make_horizontal_pod_autoscaler"]


def make_horizontal_pod_autoscaler(
    *,
    name: str = "autoscaler",
    namespace: str = "default",
    target: ApiObject | None = None,
    min_replicas: int | None = None,
    max_replicas: int = 10,
) -> HorizontalPodAutoscaler:
    """Make an autoscaler that keeps the size of a workload between two limits.

    Args:
        name: Its name.
        namespace: Its namespace.
        target: The workload; by default the deployment ``deployment``.
        min_replicas: The least number of replicas; None means 1.
        max_replicas: The largest number of replicas.
    """
    reference = CrossVersionObjectReference(
        api_version="apps/v1" if target is None else target.api_version,
        kind="Deployment" if target is None else target.kind,
        name="deployment" if target is None else target.name,
    )
    return HorizontalPodAutoscaler(
        metadata=make_metadata(HorizontalPodAutoscaler, name=name, namespace=namespace),
        spec=HorizontalPodAutoscalerSpec(
            scale_target_ref=reference,
            min_replicas=min_replicas,
            max_replicas=max_replicas,
        ),
    )
