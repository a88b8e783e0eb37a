"""The recommendations that new pods get from VerticalPodAutoscalers."""

import enum
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.vertical_autoscaling import (
    RecommendedContainerResources,
    VerticalPodAutoscaler,
)
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.admission.problems import place_of
from quaymaster._clusters.inmemory.recommendations import is_applied

__all__ = ["Recommendation", "notices_of_recommendations", "with_recommendation"]


class Recommendation(enum.StrEnum):
    """What the new pods of workloads with a VerticalPodAutoscaler request."""

    IGNORE = "ignore"
    """What their template requests."""

    TARGET = "target"
    """The target of the recommendation."""

    UPPER = "upper"
    """The upper bound of the recommendation."""


def with_recommendation(
    objects: Iterable[ApiObject], choice: Recommendation
) -> list[ApiObject]:
    """Return objects whose VerticalPodAutoscalers recommend what the caller chooses."""
    if choice is Recommendation.TARGET:
        return list(objects)
    if choice is Recommendation.IGNORE:
        return [obj for obj in objects if not isinstance(obj, VerticalPodAutoscaler)]
    return [
        _with_upper_bounds(obj) if isinstance(obj, VerticalPodAutoscaler) else obj
        for obj in objects
    ]


def notices_of_recommendations(
    objects: Iterable[ApiObject],
    choice: Recommendation,
    name: Callable[[ApiObject], str] = place_of,
    option: str = "--vpa target or --vpa upper",
) -> Sequence[Notice]:
    """Return a notice for each recommendation that new pods do not get.

    Args:
        objects: All objects.
        choice: Which recommendations new pods get.
        name: Returns the name of an object in messages.
        option: What applies the recommendations.
    """
    if choice is not Recommendation.IGNORE:
        return ()
    return [
        Notice(
            reason=NoticeReason.UNFOLLOWED_KINDS,
            where=name(obj),
            message="its recommendation changes what new pods request, and is ignored; "
            f"{option} applies it",
        )
        for obj in objects
        if isinstance(obj, VerticalPodAutoscaler) and _changes_pods(obj)
    ]


def _changes_pods(scaler: VerticalPodAutoscaler) -> bool:
    recommendation = scaler.status.recommendation
    if recommendation is None or not is_applied(scaler):
        return False
    return any(entry.target for entry in recommendation.container_recommendations)


def _with_upper_bounds(scaler: VerticalPodAutoscaler) -> VerticalPodAutoscaler:
    recommendation = scaler.status.recommendation
    if recommendation is None:
        return scaler
    upper = tuple(map(_upper, recommendation.container_recommendations))
    recommendation = replace(recommendation, container_recommendations=upper)
    status = replace(scaler.status, recommendation=recommendation)
    return replace(scaler, status=status)


def _upper(entry: RecommendedContainerResources) -> RecommendedContainerResources:
    return replace(entry, target={**entry.target, **entry.upper_bound})
