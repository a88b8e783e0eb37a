"""Explains the pending pods of an input, with the options of a command."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._cli.output import progress_bar, scheduling_in, trying_in
from quaymaster._studies.why.pending_groups import PendingSummary
from quaymaster._studies.why.suggestions import MAX_TRIALS
from quaymaster._studies.why.summary import explain_pending

__all__ = ["max_trials_option", "pending_summary"]

F = TypeVar("F", bound=Callable[..., Any])


def max_trials_option() -> Callable[[F], F]:
    """The option ``--max-trials``."""
    return click.option(
        "--max-trials",
        metavar="N",
        type=click.IntRange(min=1),
        default=MAX_TRIALS,
        show_default=True,
        help="How many simulations --suggest may run.",
    )


def pending_summary(
    inputs: Inputs,
    options: InputOptions,
    *,
    suggest: bool,
    max_trials: int,
    pods: Sequence[str] = (),
) -> PendingSummary:
    """Explain pending pods, with a progress bar.

    Args:
        inputs: The input.
        options: The options about the input.
        suggest: Whether to search for changes that place them.
        max_trials: How many simulations that may run.
        pods: The pods; by default all that are pending.
    """
    with progress_bar() as progress, inputs.located():
        return explain_pending(
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            pods=pods,
            namespace=options.namespace or "",
            seed=options.seed,
            suggest=suggest,
            on_progress=scheduling_in(progress),
            on_trial=trying_in(progress),
            max_pods=options.max_pods,
            as_it_is=options.is_live,
            max_trials=max_trials,
        )
