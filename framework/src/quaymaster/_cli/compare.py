"""``quaymaster compare``."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import attrs
import click

from quaymaster._api.objects import ApiObject
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
    gates_suffix,
    of_same_gates,
    with_more_gates,
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
from quaymaster._core.config.document import KIND
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.load import shipped_profiles
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.wrapped import unwrapped
from quaymaster._core.config.yaml_file import read_content, read_yaml
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.grouping import label_called
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.comparing.comparing import Comparison, compare
from quaymaster._studies.comparing.environments import (
    EnvironmentVariant,
    interpreter_of,
)
from quaymaster._studies.comparing.variants import Measures, Variant
from quaymaster._studies.comparing.versions import VersionChanges, version_changes

__all__ = ["command"]

_ZONE: Final = "zone"
_ENDINGS: Final = (".yaml", ".yml", ".json")

_Runnable: TypeAlias = Variant | EnvironmentVariant


class _Given(NamedTuple):
    """The paths of the command line, by their type."""

    configurations: list[str]
    environments: list[str]
    inputs: list[str]


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
    arguments = _sorted_out(options.paths)
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
        inputs = [
            repacked(_common_input(arguments, options, kinds), is_repacked=repack)
        ]
        variants = _of_one_input(
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
            _variant(path, own, options)
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
                    _name(_path(arguments, change), change.newer, options),
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


def _sorted_out(paths: Sequence[str]) -> _Given:
    """Separate configurations and environments from inputs."""
    arguments = _Given([], [], [])
    for path in dict.fromkeys(paths):
        if _is_configuration(path):
            arguments.configurations.append(path)
        elif interpreter_of(Path(path)) is not None:
            arguments.environments.append(path)
        else:
            arguments.inputs.append(path)
    return arguments


def _is_configuration(path: str) -> bool:
    file = Path(path)
    if not file.exists():
        return path in shipped_profiles()
    if not file.is_file() or file.suffix not in _ENDINGS:
        return False
    try:
        content = read_content(file, path)
        if KIND.encode() not in content:
            return False  # faster than parsing a large manifest
        document, _ = unwrapped(read_yaml(content, path), path)
    except ConfigErrors:
        # Several documents, or an unreadable file: reading the input reports that.
        return False
    return isinstance(document, dict) and document.get("kind") == KIND


def _common_input(
    arguments: _Given, options: InputOptions, kinds: Sequence[type[ApiObject]]
) -> Inputs:
    """Read the input of all variants.

    The configuration of the command line may name plugins that only the environments
    have. Unless it also runs in this process, each environment reports its errors.
    """
    options = attrs.evolve(options, paths=tuple(arguments.inputs))
    newest = _newest(options.configured)
    if newest is None:
        newest = _with_all_gates(arguments.configurations, options.configured)
    try:
        return read_inputs(options, kubernetes=newest, kinds=kinds)
    except ConfigErrors:
        if len(arguments.configurations) + len(arguments.environments) < 2:
            raise
    return read_inputs(
        attrs.evolve(options, configured=attrs.evolve(options.configured, file=None)),
        kubernetes=newest,
        kinds=kinds,
    )


def _of_one_input(
    arguments: _Given, inputs: Inputs, options: InputOptions, *, scales: bool
) -> list[_Runnable]:
    runnables: list[_Runnable] = []
    for source in _sources(arguments, options, scales=scales):
        for version in _versions(options.configured):
            path = source.file if arguments.configurations else ""
            config, _ = read_config(
                attrs.evolve(source, chosen=version), inputs.registry
            )
            own = attrs.evolve(inputs, config=config)
            runnables.append(_variant(_name(path, version, options), own, options))
    runnables += [
        EnvironmentVariant(
            name=_name(path, version, options),
            environment=Path(path),
            objects=inputs.objects,
            config_file=options.configured.file,
            kubernetes=version,
            max_pods=options.max_pods,
        )
        for path in arguments.environments
        for version in _versions(options.configured)
    ]
    if len(runnables) == 1 and not scales:
        # What would run without it: the configuration of the command line.
        name = options.configured.file or "default"
        if name != runnables[0].name:
            runnables.insert(0, _variant(name, inputs, options))
    return runnables


def _sources(
    arguments: _Given, options: InputOptions, *, scales: bool = False
) -> list[ConfigSource]:
    """The configurations that run in this process.

    Args:
        arguments: The paths of the command line.
        options: The options about the input.
        scales: Whether several autoscalers are compared.
    """
    configured = options.configured
    if arguments.configurations:
        return [
            attrs.evolve(configured, file=path) for path in arguments.configurations
        ]
    is_alone = (configured.beside or scales) and not arguments.environments
    return [configured] if is_alone else []


def _versions(configured: ConfigSource) -> tuple[Kubernetes | None, ...]:
    """The Kubernetes versions of the variants; None is the default version."""
    return (configured.chosen, *configured.beside)


def _newest(configured: ConfigSource) -> Kubernetes | None:
    """The newest of several versions: the common input may have its fields."""
    if not configured.beside:
        return None
    versions = [version for version in _versions(configured) if version is not None]
    return max(
        versions,
        key=lambda version: (
            KUBERNETES_VERSIONS.index(version.version),
            len(version.feature_gates),
        ),
    )


def _with_all_gates(
    files: Sequence[str], configured: ConfigSource
) -> Kubernetes | None:
    """Return a version with the feature gates that any configuration sets, or None.

    The common input may have fields and objects of these gates.
    """
    registry = PluginRegistry.discover()
    gates: dict[str, bool] = {}
    for file in files:
        try:
            source = attrs.evolve(configured, file=file)
            config, _ = read_config(source, registry, asks_extenders=False)
        except ConfigErrors:
            continue  # The variant reports it.
        own = config.kubernetes.feature_gates
        gates |= {gate: own[gate] or gates.get(gate, False) for gate in own}
    if not gates:
        return None
    return attrs.evolve(configured.kubernetes, feature_gates=gates)


def _name(path: str | None, version: Kubernetes | None, options: InputOptions) -> str:
    """The name of a variant: with the version if there are several."""
    if version is None or not options.configured.beside:
        return path or ""
    name = version.version + gates_suffix(version, options.configured)
    return f"{path} {name}" if path else name


def _path(arguments: _Given, changes: VersionChanges) -> str:
    return changes.configuration if arguments.configurations else ""


def _changes(
    arguments: _Given, inputs: Inputs, options: InputOptions
) -> list[VersionChanges]:
    """The decisions that differ between versions, for each configuration."""
    versions = [
        version for version in _versions(options.configured) if version is not None
    ]
    versions = of_same_gates(versions)
    versions.sort(key=lambda version: KUBERNETES_VERSIONS.index(version.version))
    if len(versions) < 2:
        return []
    changes = []
    with progress_bar() as progress, inputs.located():
        task = progress.add_task("looking for causes", total=None)
        for source in _sources(arguments, options):

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
        names = ", ".join(variant.name for variant in variants) or "nothing"
        raise click.UsageError(
            "expected two variants: configurations, virtual environments, autoscalers, "
            "or inputs, as in: quaymaster compare default bin-packing shop.yaml; "
            f"got {names}"
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
    variants: Sequence[_Runnable], inputs: Sequence[Inputs]
) -> Sequence[Inputs]:
    """The input of each variant: its own, or the common one."""
    return inputs if len(inputs) == len(variants) else [*inputs] * len(variants)
