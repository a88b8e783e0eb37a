"""The option ``--report``, and the file that it names."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click

from quaymaster._api.objects import ApiObject
from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._cli.output import OutputError, progress_bar, scheduling_in
from quaymaster._studies.recording.compared import ReplayResult
from quaymaster._studies.simulation.calls import observe
from quaymaster._studies.simulation.observed import ObservedRun

__all__ = ["observed_inputs", "report_option", "write_report"]

F = TypeVar("F", bound=Callable[..., Any])


def report_option() -> Callable[[F], F]:
    """The option ``--report``, which gives a command ``report_file``."""
    return click.option(
        "--report",
        "report_file",
        metavar="FILE.html",
        type=click.Path(dir_okay=False),
        callback=_checked,
        help="Also write a page for a browser: map, time series, tables, decisions.",
    )


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
) -> None:
    """Write the page that shows some runs.

    Args:
        file: The path of the page.
        runs: The observed runs.
        title: The page's title.
        tables: More tables, each a `ReportTable`.
        replay: A replay to show.

    Raises:
        OutputError: The file cannot be written.
    """
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.report import report  # noqa: PLC0415

    page = report(*runs, title=title, tables=tables, replay=replay)
    try:
        Path(file).write_text(page, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{file}: {error.strerror}") from error


def _checked(
    context: click.Context, option: click.Parameter, file: str | None
) -> str | None:
    """Reject an invalid path before the work starts."""
    if file is None or context.resilient_parsing:
        return file
    from quaymaster._surfaces.reporting.report import check_installed  # noqa: PLC0415

    check_installed("bokeh", extra="report")
    folder = Path(file).parent
    if not folder.is_dir():
        message = f"there is no folder {str(folder)!r}"
        raise click.BadParameter(message, context, option)
    return file
