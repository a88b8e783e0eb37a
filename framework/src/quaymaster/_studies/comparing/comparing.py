"""Compares variants: runs each with every seed, and reports the differences."""

from collections.abc import Sequence

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._studies.comparing.differences import (
    Difference,
    Divergence,
    first_difference,
    moved,
)
from quaymaster._studies.comparing.estimates import Estimate, estimate
from quaymaster._studies.comparing.outcome import Outcome
from quaymaster._studies.comparing.variants import ComparedVariant, Measures
from quaymaster._studies.simulation.results import ProgressFn

__all__ = ["Comparison", "VariantResult", "compare"]


@attrs.frozen(kw_only=True)
class VariantResult:
    """The result of one variant.

    Attributes:
        name: The variant's name.
        outcomes: Its outcomes, one per seed.
        figures: The mean of each figure over the seeds; figures that are missing for
            some seed are left out.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    figures: dict[str, Estimate]


@attrs.frozen(kw_only=True)
class Comparison(Tabular):
    """The result of a comparison.

    Attributes:
        seeds: The seeds with which each variant ran.
        variants: The variants, in the order given.
        differences: How each other variant differs from the first.
    """

    seeds: tuple[int, ...]
    variants: tuple[VariantResult, ...]
    differences: tuple[Difference, ...]


def compare(
    variants: Sequence[ComparedVariant],
    *,
    seeds: Sequence[int] = (0,),
    measures: Measures | None = None,
    on_progress: ProgressFn | None = None,
) -> Comparison:
    """Simulate several variants, and return their differences.

    A seed decides the choice between equally good nodes and generated names, so figures
    vary by chance. With several seeds, means have 95 % confidence intervals.
    Differences are computed seed by seed, which makes their intervals narrower.

    Args:
        variants: At least two: a `Variant` each, or an `EnvironmentVariant`.
        seeds: At least one.
        measures: The metrics.
        on_progress: Called with how many simulations are done, and how many there are.

    Raises:
        ValueError: There are too few variants or no seeds, or two have the same name.
        AdmissionError: Some objects are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
        EnvironmentFailedError: A virtual environment cannot run its part.
    """
    _check(variants, seeds)
    chosen = measures or Measures()
    runs: list[list[Outcome]] = []
    total = len(variants) * len(seeds)
    for variant in variants:
        outcomes: list[Outcome] = []
        for seed in seeds:
            if on_progress is not None:
                on_progress(len(runs) * len(seeds) + len(outcomes), total)
            outcomes.append(variant.outcome(seed, chosen))
        runs.append(outcomes)
    # Costs are compared over the same time. A variant that settles early still pays for
    # its nodes afterwards.
    longest = max(outcome.seconds for outcomes in runs for outcome in outcomes)
    results = [
        _result(variant.name, [outcome.over(longest) for outcome in outcomes])
        for variant, outcomes in zip(variants, runs, strict=True)
    ]
    first = results[0]
    return Comparison(
        seeds=tuple(seeds),
        variants=tuple(results),
        differences=tuple(
            Difference(
                variant=other.name,
                figures=_differences(first.outcomes, other.outcomes),
                moved=moved(first.outcomes[0], other.outcomes[0]),
                divergence=_divergence(variants[0], variant, first, other),
            )
            for variant, other in zip(variants[1:], results[1:], strict=True)
        ),
    )


def _check(variants: Sequence[ComparedVariant], seeds: Sequence[int]) -> None:
    names = [variant.name for variant in variants]
    if len(names) < 2 or len(set(names)) < len(names):
        expected = "expected two variants or more, each with a name of its own"
        raise ValueError(f"{expected}, got {names}")
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"expected one seed or more, each once, got {list(seeds)}")


def _result(name: str, outcomes: Sequence[Outcome]) -> VariantResult:
    figures = {
        figure: estimate([outcome.figures[figure] for outcome in outcomes])
        for figure in outcomes[0].figures
        if all(figure in outcome.figures for outcome in outcomes)
    }
    return VariantResult(name=name, outcomes=tuple(outcomes), figures=figures)


def _differences(
    first: Sequence[Outcome], other: Sequence[Outcome]
) -> dict[str, Estimate]:
    pairs = list(zip(first, other, strict=True))
    return {
        figure: estimate([b.figures[figure] - a.figures[figure] for a, b in pairs])
        for figure in first[0].figures
        if all(figure in outcome.figures for pair in pairs for outcome in pair)
    }


def _divergence(
    variant: ComparedVariant,
    other_variant: ComparedVariant,
    first: VariantResult,
    other: VariantResult,
) -> Divergence | None:
    """Find the first different decision with the first seed, and its explanations."""
    ours, theirs = first.outcomes[0], other.outcomes[0]
    difference = first_difference(ours.decisions, theirs.decisions)
    if difference is None or difference.first is None or difference.other is None:
        return difference
    if difference.first.pod != difference.other.pod:
        return difference
    return attrs.evolve(
        difference,
        first_explanation=variant.explain(difference.first, ours.seed),
        other_explanation=other_variant.explain(difference.other, theirs.seed),
    )
