"""``quaymaster compare``."""

from collections.abc import Sequence
from itertools import chain
from typing import Final

import attrs
import click

from quaymaster._base.versions.kubernetes import KUBERNETES_VERSIONS, Kubernetes
from quaymaster._cli.autoscaler import autoscalers_option
from quaymaster._cli.compared_autoscalers import (
    kinds_of_all,
    read_autoscalers,
    unsettled_notices,
    with_autoscalers,
)
from quaymaster._cli.compared_changes import (
    change_documents,
    changes_table,
    csv_rows,
    print_changes,
)
from quaymaster._cli.compared_gates import (
    compare_gates_option,
    of_same_gates,
    with_more_gates,
)
from quaymaster._cli.compared_variants import (
    ComparedPaths,
    RunnableVariant,
    common_input,
    configurations_of,
    input_variant,
    sort_paths,
    variant_name,
    variants_of_one_input,
    versions_of,
)
from quaymaster._cli.comparisons import (
    as_document,
    figures_table,
    means_of,
    print_comparison,
    print_csv,
)
from quaymaster._cli.configuration import ConfigSource, read_config
from quaymaster._cli.inputs import (
    InputOptions,
    Inputs,
    input_options_with,
    read_inputs,
)
from quaymaster._cli.node_labels import check_node_labels
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    progress_bar,
)
from quaymaster._cli.prices import prices_option
from quaymaster._cli.repacking import (
    kept_pods,
    placed_pods_notices,
    repack_option,
    repacked,
)
from quaymaster._cli.report_option import report_option
from quaymaster._cli.reports import write_report
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.capacity.grouping import label_called
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.comparing.comparing import Comparison, compare
from quaymaster._studies.comparing.variants import Measures
from quaymaster._studies.comparing.versions import VersionChanges, version_changes

__all__ = ["command"]

_ZONE: Final = "zone"


@click.command("compare")
@input_options_with(several=True)
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Simulate each variant N times, with --seed and the numbers that follow, and "
    "report means with 95 % confidence intervals.",
)
@click.option(
    "--topology-key",
    "topology_keys",
    metavar="LABEL",
    multiple=True,
    default=(_ZONE,),
    show_default=True,
    help="Report how evenly pods are spread over the values of this node label. May "
    "be repeated.",
)
@compare_gates_option()
@autoscalers_option()
@prices_option()
@repack_option()
@report_option()
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
def command(
    options: InputOptions,
    seeds: int,
    topology_keys: tuple[str, ...],
    more_gates: tuple[str, ...],
    autoscaler_files: tuple[str, ...],
    prices: Prices,
    repack: bool,
    report_file: str | None,
    output: OutputFormat,
) -> None:
    """Show what differs between configurations, versions of plugins, or inputs.

    PATH is an input as for "simulate", or a variant to compare: a
    KubeSchedulerConfiguration, the name of a shipped profile, or a virtual environment
    with other versions of plugins. All variants are simulated with the same input and
    compared with the first one. With --config, environments run that configuration. If
    no PATH is a configuration or an environment, each PATH is an input, and the inputs
    are compared. Pods that have a node in the input keep it, unless --repack is given.

    quaymaster compare default bin-packing shop.yaml --nodes 5:cpu=4,memory=16Gi

    quaymaster compare .venv .venv-next shop.yaml --config mine.yaml

    quaymaster compare before/ after/ --config mine.yaml

    Several --kubernetes make a variant of each configuration per version. The output
    then also lists the decisions that the newer version makes differently on the same
    state, and the change that causes each.

    quaymaster compare --kubernetes 1.36 --kubernetes 1.37 shop.yaml

    With --compare-gates, each configuration is compared without and with these gates.

    quaymaster compare --compare-gates GenericWorkload=true training.yaml

    Several --autoscaler make a variant of each configuration per file. Cost, hours of
    nodes, waiting times and evicted pods are compared over the same time.

    quaymaster compare --autoscaler now.yaml --autoscaler next.yaml shop.yaml
    """
    configured = with_more_gates(options.configured, more_gates)
    options = attrs.evolve(options, configured=configured)
    measures = Measures(
        prices=prices,
        topology_keys=tuple(map(label_called, topology_keys)),
    )
    arguments = sort_paths(options.paths)
    is_of_versions = bool(options.configured.beside)
    autoscalers = read_autoscalers(autoscaler_files, arguments.environments)
    is_of_one_input = (
        arguments.configurations
        or arguments.environments
        or is_of_versions
        or len(autoscalers) > 1
    )
    kinds = kinds_of_all(autoscalers.values())
    if is_of_one_input:
        inputs = [repacked(common_input(arguments, options, kinds), is_repacked=repack)]
        variants = variants_of_one_input(
            arguments, inputs[0], options, scales=len(autoscalers) > 1
        )
    else:
        inputs = [
            repacked(
                read_inputs(attrs.evolve(options, paths=(path,)), kinds=kinds),
                is_repacked=repack,
            )
            for path in arguments.inputs
        ]
        variants = [
            input_variant(path, own, options)
            for path, own in zip(arguments.inputs, inputs, strict=True)
        ]
    variants = with_autoscalers(variants, autoscalers)
    _check(variants)
    keys = [name for name in topology_keys if name != _ZONE]  # the default is harmless
    check_node_labels("--topology-key", keys, chain(*(each.objects for each in inputs)))
    comparison = _compared(variants, options.seed, seeds, measures, inputs)
    changes = _changes(arguments, inputs[0], options) if is_of_versions else ()
    notices = tuple(dict.fromkeys(notice for each in inputs for notice in each.notices))
    kept = 0 if repack or len(inputs) > 1 else kept_pods(inputs[0])
    notices = (*notices, *placed_pods_notices(kept), *unsettled_notices(comparison))
    if report_file is not None:
        _report(report_file, comparison, variants, inputs, options.seed, changes)
    match output:
        case OutputFormat.TABLE:
            print_comparison(comparison, kept)
            for change in changes:
                print_line()
                print_changes(change)
        case OutputFormat.CSV:
            more = [
                (
                    variant_name(_path(arguments, change), change.newer, options),
                    options.seed,
                    *row,
                )
                for change in changes
                for row in csv_rows(change)
            ]
            print_csv(comparison, more)
        case _:
            document = as_document(comparison)
            if is_of_versions:
                document["changes"] = change_documents(changes)
            document["warnings"] = notice_documents(notices)
            print_document(document, output)
    print_notices(notices)


def _path(arguments: ComparedPaths, changes: VersionChanges) -> str:
    return changes.configuration if arguments.configurations else ""


def _changes(
    arguments: ComparedPaths, inputs: Inputs, options: InputOptions
) -> list[VersionChanges]:
    """The decisions that differ between versions, for each configuration."""
    versions = [
        version for version in versions_of(options.configured) if version is not None
    ]
    versions = of_same_gates(versions)
    versions.sort(key=lambda version: KUBERNETES_VERSIONS.index(version.version))
    if len(versions) < 2:
        return []
    changes = []
    with progress_bar() as progress, inputs.located():
        task = progress.add_task("looking for causes", total=None)
        for source in configurations_of(arguments, options):

            def completed(
                kubernetes: Kubernetes, source: ConfigSource = source
            ) -> SchedulerConfig:
                versioned = attrs.evolve(source, chosen=kubernetes)
                return read_config(versioned, inputs.registry)[0]

            changes += [
                version_changes(
                    inputs.objects,
                    completed,
                    older=versions[0],
                    newer=newer,
                    registry=inputs.registry,
                    seed=options.seed,
                    max_pods=options.max_pods,
                    configuration=source.file or "",
                    on_progress=lambda: progress.advance(task),
                )
                for newer in versions[1:]
            ]
    return changes


def _check(variants: Sequence[RunnableVariant]) -> None:
    if len(variants) < 2:
        names = ", ".join(variant.name for variant in variants) or "nothing"
        raise click.UsageError(
            "expected two variants: configurations, virtual environments, autoscalers, "
            "or inputs, as in: quaymaster compare default bin-packing shop.yaml; "
            f"got {names}"
        )


def _compared(
    variants: Sequence[RunnableVariant],
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
    variants: Sequence[RunnableVariant],
    inputs: Sequence[Inputs],
    seed: int,
    changes: Sequence[VersionChanges],
) -> None:
    """Write a report: the runs with the first seed, and the figures of all seeds."""
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.tables import ReportTable  # noqa: PLC0415

    runs = []
    with progress_bar() as progress:
        task = progress.add_task("simulating for the report", total=len(variants))
        for variant, given in zip(variants, _for_each(variants, inputs), strict=True):
            with given.located():
                run = variant.observe(seed)
            notices = (*given.notices, *run.result.notices)
            result = attrs.evolve(run.result, notices=notices)
            runs.append(attrs.evolve(run, result=result))
            progress.advance(task)
    columns, rows = figures_table(comparison)
    heading = "Figures"
    if len(comparison.seeds) > 1:
        heading += f": {means_of(comparison)}"
    tables = [ReportTable(title=heading, columns=columns, rows=rows)]
    for each in changes:
        columns, rows = changes_table(each)
        newer, older = each.newer.version, each.older.version
        heading = f"What {newer} decides or words differently from {older}"
        heading += f" with {each.configuration}" if each.configuration else ""
        tables.append(ReportTable(title=heading, columns=columns, rows=rows))
    title = f"Comparison of {' and '.join(variant.name for variant in variants)}"
    write_report(file, runs, title=title, tables=tables)


def _for_each(
    variants: Sequence[RunnableVariant], inputs: Sequence[Inputs]
) -> Sequence[Inputs]:
    """The input of each variant: its own, or the common one."""
    return inputs if len(inputs) == len(variants) else [*inputs] * len(variants)
