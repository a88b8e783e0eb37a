"""Summarises the results of a sweep: means, and paired differences of profiles."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from quaymaster._studies.experiments.experiment import Cell, Part
from quaymaster._studies.experiments.running import RunResult
from quaymaster._studies.experiments.student import t_quantile, two_sided_p

__all__ = ["Difference", "MeanOfRuns", "Summary", "summarise"]

Runs: TypeAlias = Sequence[tuple[Cell, RunResult]]

_CONFIDENCE = 0.95


@attrs.frozen(kw_only=True)
class MeanOfRuns:
    """A column over the seeds and repetitions of one input and one profile.

    Attributes:
        input: The input, with its parameters.
        profile: The profile, with its parameters.
        column: The column.
        n: How many runs have a number in it.
        mean: Their mean.
        deviation: Their standard deviation, with n - 1; None for a single run.
        half_width: Half of the 95 % confidence interval of the mean, by Student's t;
            None for a single run.
    """

    input: str
    profile: str
    column: str
    n: int
    mean: float
    deviation: float | None
    half_width: float | None


@attrs.frozen(kw_only=True)
class Difference:
    """How two profiles differ in a column, on the seeds that both have.

    Attributes:
        input: The input, with its parameters.
        profile: The profile.
        other: The profile that it is compared with.
        column: The column.
        n: How many pairs of runs there are: the same input, seed and repetition.
        mean: The mean of ``profile - other`` over the pairs.
        half_width: Half of its 95 % confidence interval; None for a single pair.
        p: The probability of a mean at least as far from 0 without any difference:
            the paired t test, two-sided; None for a single pair.
        p_holm: The same, corrected by Holm's method for all comparisons of the column.
    """

    input: str
    profile: str
    other: str
    column: str
    n: int
    mean: float
    half_width: float | None
    p: float | None
    p_holm: float | None = None


@attrs.frozen(kw_only=True)
class Summary:
    """The summary of a sweep.

    Attributes:
        means: The means, by input, profile and column.
        differences: The differences of each two profiles, by input and column.
    """

    means: Sequence[MeanOfRuns]
    differences: Sequence[Difference]


def summarise(runs: Runs) -> Summary:
    """Summarise runs; columns without numbers are left out."""
    groups: dict[str, dict[str, list[tuple[Cell, RunResult]]]] = {}
    for cell, result in runs:
        profiles = groups.setdefault(_name(cell.input), {})
        profiles.setdefault(_name(cell.profile), []).append((cell, result))
    return Summary(
        means=[
            mean
            for given, profiles in groups.items()
            for profile, members in profiles.items()
            for mean in _means(given, profile, members)
        ],
        differences=_corrected(
            [
                difference
                for given, profiles in groups.items()
                for other, profile in itertools.combinations(profiles, 2)
                for difference in _differences(given, profile, other, profiles)
            ]
        ),
    )


def _means(given: str, profile: str, runs: Runs) -> Iterator[MeanOfRuns]:
    for column in _columns(runs):
        values = list(_numbers(runs, column).values())
        mean, deviation, half_width = _statistics(values)
        yield MeanOfRuns(
            input=given,
            profile=profile,
            column=column,
            n=len(values),
            mean=mean,
            deviation=deviation,
            half_width=half_width,
        )


def _differences(
    given: str, profile: str, other: str, profiles: Mapping[str, Runs]
) -> Iterator[Difference]:
    for column in _columns(profiles[profile]):
        mine = _numbers(profiles[profile], column)
        theirs = _numbers(profiles[other], column)
        # Both runs of a pair have met the same workload, so that its variation cancels
        # out.
        pairs = [mine[key] - theirs[key] for key in mine if key in theirs]
        if not pairs:
            continue
        mean, deviation, half_width = _statistics(pairs)
        yield Difference(
            input=given,
            profile=profile,
            other=other,
            column=column,
            n=len(pairs),
            mean=mean,
            half_width=half_width,
            p=_p_value(mean, deviation, len(pairs)),
        )


def _statistics(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the mean, the deviation and the half width of the interval."""
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return mean, None, None
    squares = math.fsum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (count - 1))
    width = t_quantile(_CONFIDENCE, count - 1) * deviation / math.sqrt(count)
    return mean, deviation, width


def _p_value(mean: float, deviation: float | None, count: int) -> float | None:
    if deviation is None:
        return None
    # All pairs differ by the same amount, for which the t statistic is infinite.
    if deviation == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return two_sided_p(mean / (deviation / math.sqrt(count)), count - 1)


def _corrected(differences: Sequence[Difference]) -> Sequence[Difference]:
    """Correct the probabilities of each column for the number of its comparisons."""
    corrected: dict[int, float] = {}
    for column in dict.fromkeys(difference.column for difference in differences):
        places = [
            (difference.p, place)
            for place, difference in enumerate(differences)
            if difference.column == column and difference.p is not None
        ]
        highest = 0.0
        for rank, (p, place) in enumerate(sorted(places)):
            # Holm's method: a larger probability never becomes smaller than one before
            # it.
            highest = max(highest, min(1.0, p * (len(places) - rank)))
            corrected[place] = highest
    return [
        attrs.evolve(difference, p_holm=corrected.get(place))
        for place, difference in enumerate(differences)
    ]


def _columns(runs: Runs) -> Sequence[str]:
    names = dict.fromkeys(name for _, result in runs for name in result.values)
    return [name for name in names if _numbers(runs, name)]


def _numbers(runs: Runs, column: str) -> dict[tuple[int, int], float]:
    """Return (seed, repetition) -> the number in a column."""
    numbers: dict[tuple[int, int], float] = {}
    for cell, result in runs:
        value = result.values.get(column)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and not math.isnan(number := float(value or 0)):
            numbers[cell.seed, cell.repetition] = number
    return numbers


def _name(part: Part) -> str:
    text = ", ".join(f"{key} {value}" for key, value in part.values.items())
    return f"{part.name} ({text})" if text else part.name
