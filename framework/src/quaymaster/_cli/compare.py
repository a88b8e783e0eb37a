"""``quaymaster compare``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import attrs
import click

from quaymaster._capacity.grouping import label_called
from quaymaster._capacity.prices import Prices
from quaymaster._cli.comparisons import (
    as_document,
    figures_table,
    means_of,
    print_comparison,
    print_csv,
)
from quaymaster._cli.configuration import read_config
from quaymaster._cli.inputs import InputOptions, Inputs, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
)
from quaymaster._cli.prices import prices_option
from quaymaster._cli.reports import report_option, write_report
from quaymaster._comparing.comparing import Comparison, compare
from quaymaster._comparing.environments import EnvironmentVariant, interpreter_of
from quaymaster._comparing.variants import Measures, Variant
from quaymaster._config.document import KIND
from quaymaster._config.errors import ConfigErrors
from quaymaster._config.load import shipped_profiles
from quaymaster._config.yaml_file import read_content, read_yaml

__all__ = ["command"]

_ENDINGS: Final = (".yaml", ".yml", ".json")

_Runnable: TypeAlias = Variant | EnvironmentVariant


class _Given(NamedTuple):
    """What the command line names, by what it is."""

    configurations: list[str]
    environments: list[str]
    inputs: list[str]


@click.command("compare")
@input_options
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Simulate each variant N times, with --seed and the numbers that follow, and "
    "tell means with 95 % confidence intervals.",
)
@click.option(
    "--topology-key",
    "topology_keys",
    metavar="LABEL",
    multiple=True,
    default=("zone",),
    show_default=True,
    help="Tell how evenly pods are spread over the values of this label of nodes. May "
    "be repeated.",
)
@prices_option()
@report_option()
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
def command(
    options: InputOptions,
    seeds: int,
    topology_keys: tuple[str, ...],
    prices: Prices,
    report_file: str | None,
    output: OutputFormat,
) -> None:
    """Show what differs between configurations, versions of plugins, or inputs.

    PATH is what every command takes, and also what is to be compared: a
    KubeSchedulerConfiguration or the name of a shipped profile, or a virtual
    environment with other versions of plugins. All variants are simulated with the same
    input, and differences are told to the first one. With --config, environments run
    that configuration. Where no configuration and no environment is named, each PATH is
    an input of its own, and those are compared.

    quaymaster compare default bin-packing shop.yaml --nodes 5:cpu=4,memory=16Gi

    quaymaster compare .venv .venv-next shop.yaml --config mine.yaml

    quaymaster compare before/ after/ --config mine.yaml
    """
    measures = Measures(
        prices=prices,
        topology_keys=tuple(map(label_called, topology_keys)),
    )
    given = _sorted_out(options.paths)
    if given.configurations or given.environments:
        inputs = [_common_input(given, options)]
        variants = _of_one_input(given, inputs[0], options)
    else:
        inputs = [
            read_inputs(attrs.evolve(options, paths=(path,))) for path in given.inputs
        ]
        variants = [
            _variant(path, one, options)
            for path, one in zip(given.inputs, inputs, strict=True)
        ]
    _check(variants)
    comparison = _compared(variants, options.seed, seeds, measures, inputs)
    notices = tuple(dict.fromkeys(one for each in inputs for one in each.notices))
    if report_file is not None:
        _report(report_file, comparison, variants, inputs, options.seed)
    match output:
        case OutputFormat.TABLE:
            print_comparison(comparison)
        case OutputFormat.CSV:
            print_csv(comparison)
        case _:
            document = as_document(comparison)
            document["warnings"] = notice_documents(notices)
            print_document(document, output)
    print_notices(notices)


def _sorted_out(paths: Sequence[str]) -> _Given:
    """Tell configurations and environments from inputs."""
    given = _Given([], [], [])
    for path in dict.fromkeys(paths):
        if _is_configuration(path):
            given.configurations.append(path)
        elif interpreter_of(Path(path)) is not None:
            given.environments.append(path)
        else:
            given.inputs.append(path)
    return given


def _is_configuration(path: str) -> bool:
    file = Path(path)
    if not file.exists():
        return path in shipped_profiles()
    if not file.is_file() or file.suffix not in _ENDINGS:
        return False
    try:
        content = read_content(file, path)
        if KIND.encode() not in content:
            return False  # much sooner said than by parsing a large manifest
        document = read_yaml(content, path)
    except ConfigErrors:
        # Several documents, or none that can be read: told as an input, if so.
        return False
    return isinstance(document, dict) and document.get("kind") == KIND


def _common_input(given: _Given, options: InputOptions) -> Inputs:
    """Read the input of all variants.

    The configuration of the command line may have plugins that only the environments
    have; unless it runs here as well, each of them tells what is wrong with it.
    """
    options = attrs.evolve(options, paths=tuple(given.inputs))
    try:
        return read_inputs(options)
    except ConfigErrors:
        if len(given.configurations) + len(given.environments) < 2:
            raise
    return read_inputs(
        attrs.evolve(options, configured=attrs.evolve(options.configured, file=None))
    )


def _of_one_input(
    given: _Given, inputs: Inputs, options: InputOptions
) -> list[_Runnable]:
    found: list[_Runnable] = []
    for path in given.configurations:
        config, _ = read_config(
            attrs.evolve(options.configured, file=path), inputs.registry
        )
        found.append(_variant(path, attrs.evolve(inputs, config=config), options))
    found += [
        EnvironmentVariant(
            name=path,
            environment=Path(path),
            objects=inputs.objects,
            config_file=options.configured.file,
            kubernetes=options.configured.asked,
            max_pods=options.max_pods,
        )
        for path in given.environments
    ]
    if len(found) == 1:
        # What would run without it: the configuration of the command line.
        name = options.configured.file or "default"
        if name != found[0].name:
            found.insert(0, _variant(name, inputs, options))
    return found


def _variant(name: str, inputs: Inputs, options: InputOptions) -> Variant:
    return Variant(
        name=name,
        objects=inputs.objects,
        config=inputs.config,
        registry=inputs.registry,
        max_pods=options.max_pods,
    )


def _check(variants: Sequence[_Runnable]) -> None:
    if len(variants) < 2:
        found = ", ".join(variant.name for variant in variants) or "nothing"
        raise click.UsageError(
            "expected two variants: configurations, virtual environments, or inputs, "
            f"as in: quaymaster compare default bin-packing shop.yaml; got {found}"
        )


def _compared(
    variants: Sequence[_Runnable],
    seed: int,
    seeds: int,
    measures: Measures,
    inputs: Sequence[Inputs],
) -> Comparison:
    with progress_bar() as progress, inputs[0].located():
        task = progress.add_task("comparing", total=None)
        return compare(
            variants,
            seeds=range(seed, seed + seeds),
            measures=measures,
            on_progress=lambda done, total: progress.update(
                task, completed=done, total=total
            ),
        )


def _report(
    file: str,
    comparison: Comparison,
    variants: Sequence[_Runnable],
    inputs: Sequence[Inputs],
    seed: int,
) -> None:
    """Show the variants as they run with the first seed, and the figures of all."""
    # Not needed by those who ask for no report.
    from quaymaster._reporting.report import ReportTable  # noqa: PLC0415

    runs = []
    with progress_bar() as progress:
        task = progress.add_task("simulating for the report", total=len(variants))
        for one, given in zip(variants, _for_each(variants, inputs), strict=True):
            with given.located():
                run = one.observe(seed)
            notices = (*given.notices, *run.result.notices)
            result = attrs.evolve(run.result, notices=notices)
            runs.append(attrs.evolve(run, result=result))
            progress.advance(task)
    columns, rows = figures_table(comparison)
    heading = "Figures"
    if len(comparison.seeds) > 1:
        heading += f": {means_of(comparison)}"
    table = ReportTable(title=heading, columns=columns, rows=rows)
    title = f"Comparison of {' and '.join(one.name for one in variants)}"
    write_report(file, runs, title=title, tables=[table])


def _for_each(
    variants: Sequence[_Runnable], inputs: Sequence[Inputs]
) -> Sequence[Inputs]:
    """The input of each variant: its own, or that of all."""
    return inputs if len(inputs) == len(variants) else [*inputs] * len(variants)
