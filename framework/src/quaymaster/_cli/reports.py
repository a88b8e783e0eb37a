"""Writes the page that ``--report`` names."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.files import write_whole
from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._cli.output import OutputError, progress_bar, scheduling_in
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.recording.compared import ReplayResult
from quaymaster._studies.simulation.calls import observe
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.why.pending_groups import PendingSummary

__all__ = ["observed_inputs", "write_report"]


def observed_inputs(
    inputs: Inputs,
    options: InputOptions,
    *,
    more: Iterable[ApiObject] = (),
) -> ObservedRun:
    """Simulate inputs for a report, with a progress bar.

    Args:
        inputs: The inputs.
        options: The options of the inputs.
        more: Objects to simulate with them.
    """
    with progress_bar() as progress, inputs.located():
        run = observe(
            [*inputs.objects, *more],
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
        )
    notices = (*inputs.notices, *run.result.notices)
    return attrs.evolve(run, result=attrs.evolve(run.result, notices=notices))


def write_report(
    file: str,
    runs: Sequence[ObservedRun],
    *,
    title: str,
    tables: Sequence[Any] = (),
    replay: ReplayResult | None = None,
    steps: bool = False,
    prices: Prices | None = None,
    suggestions: PendingSummary | None = None,
) -> None:
    """Write the page that shows some runs.

    Args:
        file: The path of the page.
        runs: The observed runs.
        title: The page's title.
        tables: More tables, each a `ReportTable`.
        replay: A replay to show.
        steps: Whether the runs are states of one cluster, each after a step.
        prices: Prices of nodes without an annotation.
        suggestions: Changes that place the pending pods of the last run.

    Raises:
        OutputError: The file cannot be written.
    """
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.report import report  # noqa: PLC0415

    page = report(
        *runs,
        title=title,
        tables=tables,
        replay=replay,
        steps=steps,
        prices=prices,
        suggestions=suggestions,
    )
    try:
        write_whole(file, page.encode())
    except OSError as error:
        raise OutputError(f"{file}: {error.strerror}") from error
