"""The search: chooses configurations to try, and evaluates them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import MedianPruner
from optuna.samplers import TPESampler
from optuna.study import StudyDirection
from optuna.trial import Trial as Asked
from optuna.trial import TrialState

from quaymaster._studies.tuning.model import Dimension
from quaymaster._studies.tuning.runs import FailedRunError, Runs
from quaymaster._studies.tuning.trials import Trial, TrialOutcome
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["search"]

_BEFORE_PRUNING: Final = 5
"""How many configurations are tried completely before any is stopped early."""

_STATES: Final = {
    TrialOutcome.COMPLETE: TrialState.COMPLETE,
    TrialOutcome.PRUNED: TrialState.PRUNED,
    TrialOutcome.FAILED: TrialState.FAIL,
}


def search(
    tuning: Tuning, runs: Runs, on_trial: Callable[[Trial], None]
) -> tuple[Sequence[Trial], Sequence[Trial]]:
    """Try configurations one after the other.

    The next configuration depends on the seed and on the earlier results, so a repeated
    search with the stored runs tries the same configurations. The sampler is a
    tree-structured Parzen estimator. With one objective, a configuration is stopped
    early when its mean is worse than the median of others after as many runs.

    Args:
        tuning: The tuning.
        runs: Makes the runs.
        on_trial: Called with each trial when it has ended.

    Returns:
        All trials; and the best one, or with several objectives the Pareto-optimal
        ones.

    Raises:
        ExperimentErrors: The experiment does not measure an objective.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    goals = [
        StudyDirection.MAXIMIZE if objective.is_more_better else StudyDirection.MINIMIZE
        for objective in tuning.objectives
    ]
    study = optuna.create_study(
        directions=goals,
        sampler=TPESampler(seed=tuning.seed),
        pruner=MedianPruner(n_startup_trials=_BEFORE_PRUNING, n_warmup_steps=1),
    )
    distributions = {
        parameter.name: _distribution(parameter) for parameter in tuning.search
    }
    trials: list[Trial] = []
    for number in range(tuning.trials):
        optuna_trial = study.ask(distributions)
        drawn = optuna_trial.params
        values = {
            parameter.name: _value(parameter, drawn[parameter.name])
            for parameter in tuning.search
        }
        trial = _tried(tuning, runs, number, values, optuna_trial)
        study.tell(optuna_trial, trial.values or None, state=_STATES[trial.outcome])
        trials.append(trial)
        on_trial(trial)
    if not any(trial.outcome is TrialOutcome.COMPLETE for trial in trials):
        return trials, []
    if len(goals) == 1:
        return trials, [trials[study.best_trial.number]]
    # Of configurations with equal results, the first one counts.
    front = sorted(best_trial.number for best_trial in study.best_trials)
    first = {tuple(trials[number].values): number for number in reversed(front)}
    return trials, [trials[number] for number in sorted(first.values())]


def _tried(
    tuning: Tuning,
    runs: Runs,
    number: int,
    values: Mapping[str, object],
    optuna_trial: Asked,
) -> Trial:
    trial = Trial(number=number, fields=values, outcome=TrialOutcome.FAILED)
    cause = tuning.why_not(values)
    if cause:
        return attrs.evolve(trial, cause=cause)
    results: list[Sequence[float]] = []
    cells = tuning.cells(tuning.candidate(values))
    try:
        with runs.making(cells) as made:
            for numbers in made:
                results.append(numbers)
                if len(tuning.objectives) == 1 and len(results) < len(cells):
                    optuna_trial.report(_means(results)[0], len(results))
                    if optuna_trial.should_prune():
                        return attrs.evolve(
                            trial, outcome=TrialOutcome.PRUNED, runs=len(results)
                        )
    except FailedRunError as error:
        return attrs.evolve(trial, cause=str(error), runs=len(results))
    return attrs.evolve(
        trial, outcome=TrialOutcome.COMPLETE, runs=len(results), values=_means(results)
    )


def _means(values: Sequence[Sequence[float]]) -> Sequence[float]:
    return [sum(column) / len(column) for column in zip(*values, strict=True)]


def _distribution(dimension: Dimension) -> BaseDistribution:
    if dimension.integers is not None:
        whole = dimension.integers
        return IntDistribution(whole.lowest, whole.highest, step=whole.step)
    if dimension.numbers is not None:
        return FloatDistribution(
            dimension.numbers.lowest,
            dimension.numbers.highest,
            log=dimension.numbers.log,
        )
    # By number: choices may be any values of a document.
    return CategoricalDistribution(range(len(dimension.choices)))


def _value(dimension: Dimension, drawn: object) -> object:
    return dimension.choices[int(str(drawn))] if dimension.choices else drawn
