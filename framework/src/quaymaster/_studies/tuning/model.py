"""The format of tuning files."""

import math
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import each, integer, matching, non_empty, one_of
from quaymaster._studies.experiments.model import API_VERSION

__all__ = [
    "KIND",
    "Dimension",
    "Document",
    "HeldOut",
    "Integers",
    "Numbers",
    "ObjectiveEntry",
]

KIND: Final = "Tuning"

_a_text: Final = non_empty()
_a_name: Final = matching(r"[A-Za-z][\w-]*", "a name of letters, digits, - and _")


@attrs.frozen(kw_only=True)
class Integers:
    """Whole numbers.

    Attributes:
        lowest: The lowest.
        highest: The highest.
        step: The distance between two of them.
    """

    lowest: int
    highest: int
    step: int = attrs.field(default=1, validator=integer(1))

    def validate(self) -> Sequence[ArgsError]:
        """Check that there are two of them at least."""
        if self.lowest + self.step <= self.highest:
            return []
        message = f"expected at least lowest + step, {self.lowest + self.step}, "
        return [ArgsError("highest", f"{message}got {self.highest}")]


@attrs.frozen(kw_only=True)
class Numbers:
    """Numbers between two bounds.

    Attributes:
        lowest: The lowest.
        highest: The highest.
        log: Whether they are drawn on a logarithmic scale.
    """

    lowest: float
    highest: float
    log: bool = False

    def validate(self) -> Sequence[ArgsError]:
        """Check that there is something between the bounds."""
        if not (math.isfinite(self.lowest) and self.lowest < self.highest < math.inf):
            message = f"expected a number above {self.lowest}, got {self.highest}"
            return [ArgsError("highest", message)]
        if self.log and self.lowest <= 0:
            message = f"expected a number above 0 with log, got {self.lowest}"
            return [ArgsError("lowest", message)]
        return []


@attrs.frozen(kw_only=True)
class Dimension:
    """A field to tune.

    Attributes:
        name: Its name in the results.
        config: The field of the configuration, such as
            ``profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight``, as for
            the parameters of an experiment.
        autoscaler: The setting of the profile's autoscaler, such as
            ``--scale-down-unneeded-time``, as for the parameters of an experiment.
        integers: Its values are whole numbers.
        numbers: Its values are numbers.
        choices: Its values.
    """

    name: str = attrs.field(validator=_a_name)
    config: str | None = attrs.field(default=None, validator=_a_text)
    autoscaler: str | None = attrs.field(default=None, validator=_a_text)
    integers: Integers | None = None
    numbers: Numbers | None = None
    choices: tuple[object, ...] = ()

    def validate(self) -> Sequence[ArgsError]:
        """Check that one thing is tuned, and that one field defines the values."""
        if (self.config is None) == (self.autoscaler is None):
            return [ArgsError("", "expected either config or autoscaler")]
        ways = [self.integers is not None, self.numbers is not None, bool(self.choices)]
        if sum(ways) != 1:
            return [ArgsError("", "expected one of integers, numbers and choices")]
        if len(self.choices) == 1:
            return [ArgsError("choices", "expected at least two")]
        return []


@attrs.frozen(kw_only=True)
class ObjectiveEntry:
    """An objective.

    Attributes:
        metric: A column of the experiment's results, such as ``utilisation.cpu``: its
            mean over the runs counts.
        goal: ``max`` or ``min``.
    """

    metric: str = attrs.field(validator=_a_text)
    goal: str = attrs.field(validator=one_of("max", "min"))


@attrs.frozen(kw_only=True)
class HeldOut:
    """Runs that only evaluate the result of the search.

    Attributes:
        inputs: The inputs of the experiment; by default those of the search.
        seeds: The seeds; by default those of the search.
    """

    inputs: tuple[str, ...] = ()
    seeds: tuple[int, ...] = attrs.field(default=(), validator=each(integer(0)))


@attrs.frozen(kw_only=True)
class Document:
    """A search for the best fields of a profile.

    Attributes:
        api_version: The format's group and version.
        kind: The format's name.
        experiment: The file of the experiment, relative to this one: it has inputs,
            profiles, metrics and seeds.
        profile: The profile to tune; the other profiles of the experiment are measured
            for comparison.
        inputs: The inputs of the search; by default all that are not held out.
        search: The fields.
        objectives: The objectives; with several, the search finds the Pareto-optimal
            configurations.
        held_out: The runs that evaluate the result.
        trials: How many configurations to try.
        seed: Decides which.
    """

    api_version: str = attrs.field(validator=one_of(API_VERSION))
    kind: str = attrs.field(validator=one_of(KIND))
    experiment: str = attrs.field(validator=_a_text)
    profile: str = attrs.field(validator=_a_text)
    inputs: tuple[str, ...] = ()
    search: tuple[Dimension, ...]
    objectives: tuple[ObjectiveEntry, ...]
    held_out: HeldOut
    trials: int = attrs.field(default=50, validator=integer(1, 100_000))
    seed: int = attrs.field(default=0, validator=integer(0, 2**32 - 1))

    def validate(self) -> Sequence[ArgsError]:
        """Check that there is something to search, and to search for."""
        problems = [
            ArgsError(name, "expected at least one")
            for name in ("search", "objectives")
            if not getattr(self, name)
        ]
        for key, names in (
            ("search", [parameter.name for parameter in self.search]),
            ("objectives", [objective.metric for objective in self.objectives]),
        ):
            for index, name in enumerate(names):
                if names.index(name) != index:
                    place = f"{key}[{index}].{'name' if key == 'search' else 'metric'}"
                    problems.append(ArgsError(place, f"expected {name!r} once"))
        if not (self.held_out.inputs or self.held_out.seeds):
            problems.append(ArgsError("heldOut", "expected inputs, seeds, or both"))
        return problems
