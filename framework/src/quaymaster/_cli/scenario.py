"""``quaymaster scenario``."""

import sys
from collections.abc import Iterable, Sequence

import attrs
import click

from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import Problem
from quaymaster._base.files import write_whole
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.autoscaler import (
    ScaledRun,
    autoscaler_option,
    the_autoscaler,
)
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
    print_pulls,
)
from quaymaster._cli.report_option import report_option
from quaymaster._cli.reports import write_report
from quaymaster._cli.scenario_results import (
    as_document,
    assertions_table,
    placed_table,
    print_assertions_csv,
    print_scenarios,
    spread_table,
    steps_table,
)
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.installed import installed_plugins
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
    """Run scenarios: events in a cluster in virtual time, and assertions about it.

    FILE has the objects at the start, the steps with their times, and the assertions:
    a scenario is a test.
    """


@group.command("run", short_help="Run scenarios and print which assertions hold")
@_FILES
@config_options(is_simulated=True)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="The seed of random choices, instead of that of the file.",
)
@click.option(
    "--junit",
    "junit_file",
    metavar="FILE",
    type=click.Path(),
    help="Also write the results as JUnit XML.",
)
@pod_times_options()
@autoscaler_option()
@topology_key_option()
@report_option()
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 also if there is any warning, or a rollout is stuck at the end.",
)
@output_option(
    OutputFormat.TABLE,
    OutputFormat.WIDE,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
def run(
    files: Sequence[str],
    configured: ConfigSource,
    seed: int | None,
    junit_file: str | None,
    startup: float | None,
    termination: float | None,
    pull: Quantity | None,
    autoscaler_file: str | None,
    topology_keys: tuple[str, ...],
    report_file: str | None,
    strict: bool,
    output: OutputFormat,
) -> None:
    """Run scenarios, and print which of their assertions hold.

    The exit code is 1 if an assertion, a check or a wait of any of them fails, or if
    the cluster rejects a step. -o wide prints what the steps did.
    """
    make_autoscaler = the_autoscaler(autoscaler_file)
    registry = installed_plugins().with_kinds(ScaledRun(make_autoscaler).kinds)
    scenarios = _load(files, registry, configured.chosen)
    configs = [_config(scenario, configured, registry) for scenario in scenarios]
    scenarios = [
        _for_config(scenario, config, registry)
        for scenario, (config, _) in zip(scenarios, configs, strict=True)
    ]
    scaled: list[ScaledRun] = []
    results: list[ScenarioResult] = []
    is_doubtful = False
    choice = TimesChoice(startup, termination, pull)
    for scenario, (config, config_notices) in zip(scenarios, configs, strict=True):
        times = choice.over(scenario.times)
        print_notices(config_notices if not results else ())
        is_doubtful = is_doubtful or bool(config_notices)
        scaled.append(ScaledRun(make_autoscaler))
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
                autoscaler=scaled[-1].factory,
            )
        notices = (*scenario.notices, *result.simulation.notices)
        print_notices(notices)
        is_doubtful = is_doubtful or bool(notices or result.stuck_rollouts)
        if not results and times == DEFAULT_POD_TIMES:
            print_assumed_startup(choice, times, scenario.objects)
        if not results:
            print_pulls(times, scenario.objects)
        results.append(result)
    if junit_file is not None:
        _write(junit_file, junit_report(results))
    if report_file is not None:
        _report(results, report_file)
    _print(results, scaled, output)
    has_failed = not all(result.passed for result in results)
    if has_failed or (strict and is_doubtful):
        sys.exit(SOME_FAILED)


@group.command("validate", short_help="Check scenarios and the files that they name")
@_FILES
def validate(files: Sequence[str]) -> None:
    """Check scenarios and all files that they name; print every mistake.

    Nothing is run: the cluster may still reject a step when it runs.
    """
    for scenario in _load(files, installed_plugins()):
        print_line(f"{scenario.file}: valid")
        print_notices(scenario.notices)


@group.command("schema", short_help="Print the JSON Schema of scenario files")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    print_document(scenario_schema(), OutputFormat.JSON)


def _report(results: Sequence[ScenarioResult], file: str) -> None:
    """Write a report of the scenarios; for several, also with their differences."""
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.tables import ReportTable  # noqa: PLC0415

    runs = [_as_counted(result) for result in results]
    # The states of one cluster are shown side by side; those of several are not.
    has_states = len(results) == 1 and len(results[0].states) > 1
    if has_states:
        end = attrs.evolve(runs[0], name=results[0].states[-1].name)
        runs = [*results[0].states[:-1], end]
    tables = [
        ReportTable(
            title=title if len(results) == 1 else f"{result.name}: {title.lower()}",
            columns=tuple(columns),
            rows=tuple(map(tuple, rows)),
            failed=failed,
        )
        for result in results
        for title, (columns, rows), failed in (
            (
                "Assertions",
                assertions_table(result.assertions),
                _failed(result.assertions),
            ),
            ("Steps", steps_table(result.steps), _failed(result.steps)),
            ("Placed pods", placed_table(result.steps), ()),
            ("Pods per topology domain", spread_table(result.steps), ()),
        )
        if rows
    ]
    title = ", ".join(result.name for result in results)
    write_report(file, runs, title=title, tables=tables, steps=has_states)


def _as_counted(result: ScenarioResult) -> ObservedRun:
    """The observed run, with deleted pods counted, as in the printed output."""
    assert result.observed is not None, "requested above"
    pods = len(result.history.pods)
    return attrs.evolve(
        result.observed, result=attrs.evolve(result.observed.result, pods=pods)
    )


def _failed(results: Iterable[AssertionResult | StepResult]) -> tuple[int, ...]:
    return tuple(row for row, result in enumerate(results) if not result.passed)


def _load(
    files: Sequence[str], registry: PluginRegistry, version: Kubernetes | None = None
) -> list[Scenario]:
    """Load scenarios, and report the errors of all files together."""
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for file in files:
        try:
            scenario = load_scenario(file, registry=registry, kubernetes=version)
            check_input(scenario)
        except ScenarioErrors as error:
            problems += error.problems
        else:
            scenarios.append(scenario)
    if problems:
        raise ScenarioErrors(problems)
    return scenarios


def _config(
    scenario: Scenario, configured: ConfigSource, registry: PluginRegistry
) -> tuple[SchedulerConfig | None, Sequence[Notice]]:
    """Return the configuration of the command line, if any, with its notices."""
    if configured.file is None:
        return None, ()
    chosen = attrs.evolve(configured, chosen=scenario.config.kubernetes)
    return read_config(chosen, registry)


def _for_config(
    scenario: Scenario, config: SchedulerConfig | None, registry: PluginRegistry
) -> Scenario:
    """Read a scenario again if a configuration sets feature gates that it lacks.

    They decide which fields its objects keep.
    """
    if config is None or config.kubernetes == scenario.config.kubernetes:
        return scenario
    return load_scenario(scenario.file, registry=registry, kubernetes=config.kubernetes)


def _print(
    results: Sequence[ScenarioResult],
    scaled: Sequence[ScaledRun],
    output: OutputFormat,
) -> None:
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        print_scenarios(results, wide=output is OutputFormat.WIDE)
        for run in scaled:
            run.print(wide=output is OutputFormat.WIDE)
    elif output is OutputFormat.CSV:
        print_assertions_csv(results)
    else:
        documents = [
            as_document(result) | run.document()
            for result, run in zip(results, scaled, strict=True)
        ]
        print_document(documents, output)


def _write(file: str, text: str) -> None:
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise click.FileError(file, error.strerror) from error
