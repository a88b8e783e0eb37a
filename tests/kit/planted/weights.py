"""A plugin whose arguments hold numbers in mappings, lists and records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import attrs

from quaymaster import Handle, Pod, QueuedPodInfo, hookimpl
from quaymaster.config import integer
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake

__all__ = ["OWN", "WEIGHT_MISTAKES", "Weights"]

TEAM = "example.com/team"


def _positive(_args: object, field: object, numbers: Iterable[int]) -> None:
    if min(numbers, default=1) < 1:
        raise ValueError("expected numbers of 1 or more")


def _positive_values(args: object, field: object, weights: Mapping[str, int]) -> None:
    _positive(args, field, weights.values())


@attrs.frozen(kw_only=True)
class Aging:
    """How fast pods age.

    Attributes:
        seconds: How long a step takes.
    """

    seconds: int = attrs.field(default=60, validator=integer(1))


@attrs.frozen(kw_only=True)
class WeightsArgs:
    """Arguments that are validated.

    Attributes:
        weights: Team -> its weight.
        sizes: The sizes of pods, in millicores.
        aging: How fast pods age.
    """

    weights: Mapping[str, int] = attrs.field(factory=dict, validator=_positive_values)
    sizes: Sequence[int] = attrs.field(default=(100, 1000), validator=_positive)
    aging: Aging = Aging()


class Weights:
    """Correct: teams come in the order of their weights, and pods age."""

    Args: ClassVar[type] = WeightsArgs
    reads = ()

    def __init__(self, args: WeightsArgs, _handle: Handle) -> None:
        self.args = args

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[float, float]:
        pod = queued.pod
        created = pod.metadata.creation_timestamp or 0.0
        steps = created // self.args.aging.seconds
        return steps, self.share(pod)

    def share(self, pod: Pod) -> float:
        """Return the share of a pod's team."""
        weight = self.args.weights.get(pod.labels.get(TEAM, ""), 1)
        return sum(1000 / size for size in self.args.sizes) / weight


@attrs.frozen(kw_only=True)
class UncheckedWeightsArgs(WeightsArgs):
    """Arguments whose weights are not validated."""

    weights: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class UncheckedSizesArgs(WeightsArgs):
    """Arguments whose sizes are not validated."""

    sizes: tuple[int, ...] = (100, 1000)


@attrs.frozen(kw_only=True)
class UncheckedAging(Aging):
    """The seconds are not validated."""

    seconds: int = 60


@attrs.frozen(kw_only=True)
class UncheckedAgingArgs(WeightsArgs):
    """Arguments whose record is not validated."""

    aging: UncheckedAging = UncheckedAging()


class DividesByAWeight(Weights):
    Args: ClassVar[type] = UncheckedWeightsArgs


class DividesByASize(Weights):
    Args: ClassVar[type] = UncheckedSizesArgs


class DividesByAField(Weights):
    Args: ClassVar[type] = UncheckedAgingArgs


OWN = clusters(pods=pods({"labels": {TEAM: "red"}}, {"labels": {TEAM: "blue"}}))
WEIGHT_MISTAKES: Sequence[Mistake] = (
    Mistake(DividesByAWeight, ["argument values"], OWN),
    Mistake(DividesByASize, ["argument values"], OWN),
    Mistake(DividesByAField, ["argument values"], OWN),
)
