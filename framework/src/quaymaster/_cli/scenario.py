"""``quaymaster scenario``."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs
import click

from quaymaster._base.errors import Problem
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.configuration import ConfigSource, config_options, read_config
from quaymaster._cli.groups import SuggestingGroup
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    progress_bar,
    scheduling_in,
)
from quaymaster._cli.placements import topology_key_option
from quaymaster._cli.pod_times import (
    TimesChoice,
    pod_times_options,
    print_assumed_startup,
)
from quaymaster._cli.report_option import report_option
from quaymaster._cli.reports import write_report
from quaymaster._cli.scenario_results import (
    as_document,
    assertions_table,
    placed_table,
    print_scenarios,
    spread_table,
    steps_table,
)
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.scenarios.errors import ScenarioErrors
from quaymaster._studies.scenarios.junit import junit_report
from quaymaster._studies.scenarios.load import load_scenario
from quaymaster._studies.scenarios.scenario import (
    AssertionResult,
    Scenario,
    ScenarioResult,
    StepResult,
)
from quaymaster._studies.scenarios.schema import scenario_schema
from quaymaster._studies.scenarios.timeline import check_input, run_scenario
from quaymaster._studies.simulation.observed import ObservedRun

__all__ = ["group"]

SOME_FAILED = 1

_FILES = click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(),
)


@click.group("scenario", cls=SuggestingGroup)
def group() -> None:
    """Run scenarios: what happens to a cluster in virtual time, and what must hold.

    FILE says what there is at the beginning, what happens when, and what has to hold:
    a scenario is a test.
    """


@group.command("run", short_help="Run scenarios and print which assertions hold")
@_FILES
@config_options(is_simulated=True)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="Decides what is random, instead of the seed of the file.",
)
@click.option(
    "--junit",
    "junit_file",
    metavar="FILE",
    type=click.Path(),
    help="Write the results as JUnit XML, too.",
)
@pod_times_options()
@topology_key_option()
@report_option()
@output_option(
    OutputFormat.TABLE, OutputFormat.WIDE, OutputFormat.JSON, OutputFormat.YAML
)
def run(
    files: Sequence[str],
    configured: ConfigSource,
    seed: int | None,
    junit_file: str | None,
    startup: float | None,
    termination: float | None,
    topology_keys: tuple[str, ...],
    report_file: str | None,
    output: OutputFormat,
) -> None:
    """Run scenarios, and print which of their assertions hold.

    The exit code is 1 if an assertion, a check or a wait of any of them fails, or if
    the cluster refuses what a step does. -o wide tells what the steps did.
    """
    registry = PluginRegistry.discover()
    scenarios = _load(files, registry, configured.asked)
    results: list[ScenarioResult] = []
    choice = TimesChoice(startup, termination)
    for scenario in scenarios:
        config, times = None, choice.over(scenario.times)
        if configured.file is not None:
            kubernetes = scenario.config.kubernetes
            config, notices = read_config(
                attrs.evolve(configured, asked=kubernetes), registry
            )
            print_notices(notices if not results else ())
        with progress_bar() as progress:
            result = run_scenario(
                scenario,
                registry=registry,
                config=config,
                seed=seed,
                on_progress=scheduling_in(progress),
                observe=report_file is not None,
                topology_keys=topology_keys,
                times=times,
            )
        print_notices((*scenario.notices, *result.simulation.notices))
        if not results and times == DEFAULT_POD_TIMES:
            print_assumed_startup(choice, times, scenario.objects)
        results.append(result)
    if junit_file is not None:
        _write(junit_file, junit_report(results))
    if report_file is not None:
        _report(results, report_file)
    _print(results, output)
    if not all(one.passed for one in results):
        sys.exit(SOME_FAILED)


@group.command("validate", short_help="Check scenarios and the files that they name")
@_FILES
def validate(files: Sequence[str]) -> None:
    """Check scenarios and all files that they name; print every mistake.

    Nothing is run: what a step does may still be refused when its time has come.
    """
    for scenario in _load(files, PluginRegistry.discover()):
        print_line(f"{scenario.file}: valid")
        print_notices(scenario.notices)


@group.command("schema", short_help="Print the JSON Schema of scenario files")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    print_document(scenario_schema(), OutputFormat.JSON)


def _report(results: Sequence[ScenarioResult], file: str) -> None:
    """Show the scenarios as they ended; of several also where they differ."""
    # Not needed by those who ask for no report.
    from quaymaster._surfaces.reporting.report import ReportTable  # noqa: PLC0415

    runs = [_as_counted(one) for one in results]
    tables = [
        ReportTable(
            title=title if len(results) == 1 else f"{one.name}: {title.lower()}",
            columns=tuple(columns),
            rows=tuple(map(tuple, rows)),
            failed=failed,
        )
        for one in results
        for title, (columns, rows), failed in (
            ("Assertions", assertions_table(one.assertions), _failed(one.assertions)),
            ("Steps", steps_table(one.steps), _failed(one.steps)),
            ("Placed pods", placed_table(one.steps), ()),
            ("Pods per topology domain", spread_table(one.steps), ()),
        )
        if rows
    ]
    title = ", ".join(one.name for one in results)
    write_report(file, runs, title=title, tables=tables)


def _as_counted(result: ScenarioResult) -> ObservedRun:
    """What was observed, with the pods counted that are gone, as in what is printed."""
    assert result.observed is not None, "it was asked for"
    pods = len(result.history.pods)
    return attrs.evolve(
        result.observed, result=attrs.evolve(result.observed.result, pods=pods)
    )


def _failed(told: Iterable[AssertionResult | StepResult]) -> tuple[int, ...]:
    return tuple(row for row, one in enumerate(told) if not one.passed)


def _load(
    files: Sequence[str], registry: PluginRegistry, asked: Kubernetes | None = None
) -> list[Scenario]:
    """Load scenarios; what is wrong with any of them is told at once."""
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for file in files:
        try:
            scenario = load_scenario(file, registry=registry, kubernetes=asked)
            check_input(scenario)
        except ScenarioErrors as error:
            problems += error.problems
        else:
            scenarios.append(scenario)
    if problems:
        raise ScenarioErrors(problems)
    return scenarios


def _print(results: Sequence[ScenarioResult], output: OutputFormat) -> None:
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        print_scenarios(results, wide=output is OutputFormat.WIDE)
    else:
        print_document([as_document(one) for one in results], output)


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(file, error.strerror) from error
