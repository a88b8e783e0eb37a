"""The arguments of NodeResourcesFit.

Mirrors ``NodeResourcesFitArgs`` (kube-scheduler 1.36.2,
``pkg/scheduler/apis/config``: types, defaults and validation).
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from quaymaster.config import (
    ZERO_MEANS_DEFAULT,
    ArgsError,
    each,
    integer,
    matching,
    qualified_name,
)

__all__ = [
    "NodeResourcesFitArgs",
    "RequestedToCapacityRatioParam",
    "ResourceSpec",
    "ScoringStrategy",
    "ScoringStrategyType",
    "UtilizationShapePoint",
]

_GROUP: Final = r"(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"


class ScoringStrategyType(enum.StrEnum):
    """The strategies that combine the resources of a node into one score."""

    LEAST_ALLOCATED = "LeastAllocated"
    MOST_ALLOCATED = "MostAllocated"
    REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"


@attrs.frozen(kw_only=True)
class ResourceSpec:
    """A resource to score.

    Attributes:
        name: The name in a pod's requests.
        weight: Its weight relative to the other resources.
    """

    name: str
    weight: int = attrs.field(
        default=1, validator=integer(1, 100), metadata=ZERO_MEANS_DEFAULT
    )


DEFAULT_RESOURCES: Final = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


@attrs.frozen(kw_only=True)
class UtilizationShapePoint:
    """A point of the function from utilization to score.

    Attributes:
        utilization: In percent of the capacity.
        score: From 0 to 10.
    """

    utilization: int = attrs.field(default=0, validator=integer(0, 100))
    score: int = attrs.field(default=0, validator=integer(0, 10))


@attrs.frozen(kw_only=True)
class RequestedToCapacityRatioParam:
    """The score function of RequestedToCapacityRatio.

    Attributes:
        shape: The points by rising utilization; the function is constant outside them.
    """

    shape: tuple[UtilizationShapePoint, ...] = ()


@attrs.frozen(kw_only=True)
class ScoringStrategy:
    """The scoring of nodes.

    Attributes:
        type: The strategy.
        resources: The resources that are scored.
        requested_to_capacity_ratio: Required by this type, and invalid for the others.
    """

    type: ScoringStrategyType
    resources: tuple[ResourceSpec, ...] = attrs.field(
        default=DEFAULT_RESOURCES, metadata=ZERO_MEANS_DEFAULT
    )
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Yield the errors of the ratio's parameters."""
        field, ratio = "requestedToCapacityRatio", self.requested_to_capacity_ratio
        needed = self.type is ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO
        if needed and ratio is None:
            yield ArgsError(field, f"required, since type is {self.type}")
        elif not needed and ratio is not None:
            yield ArgsError(field, f"expected nothing, since type is {self.type}")
        elif ratio is not None:
            yield from _check_shape(ratio.shape, f"{field}.shape")


@attrs.frozen(kw_only=True)
class NodeResourcesFitArgs:
    """The arguments of NodeResourcesFit.

    Attributes:
        ignored_resources: Extended resources that the filter ignores.
        ignored_resource_groups: Prefixes of ignored extended resources: ``example.com``
            matches ``example.com/gpu`` and others.
        scoring_strategy: How nodes are scored.
    """

    ignored_resources: tuple[str, ...] = attrs.field(
        default=(), validator=each(qualified_name())
    )
    ignored_resource_groups: tuple[str, ...] = attrs.field(
        default=(), validator=each(matching(_GROUP, "a name without /"))
    )
    scoring_strategy: ScoringStrategy = ScoringStrategy(
        type=ScoringStrategyType.LEAST_ALLOCATED
    )


def _check_shape(
    shape: Sequence[UtilizationShapePoint], path: str
) -> Iterator[ArgsError]:
    if not shape:
        yield ArgsError(path, "expected at least one point, got an empty list")
    for index in range(1, len(shape)):
        before, here = shape[index - 1].utilization, shape[index].utilization
        if before >= here:
            where = f"{path}[{index}].utilization"
            yield ArgsError(where, f"expected more than {before}, got {here}")
            return
