"""``quaymaster plugins``."""

import sys
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from quaymaster._authors.packages.check import check_package
from quaymaster._authors.packages.description import describe
from quaymaster._authors.packages.events import declared_events
from quaymaster._authors.packages.findings import Level
from quaymaster._authors.packages.kinds import BroughtKind, brought_kinds
from quaymaster._authors.packages.new import (
    DATA,
    DEFAULT_POINTS,
    Scaffold,
    make_package,
    parse_points,
)
from quaymaster._authors.testing.contract.checks import CHECKS
from quaymaster._base.errors import KindError
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli import plugin_findings
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.groups import SuggestingGroup
from quaymaster._cli.kubernetes import kubernetes_options
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_table,
    print_text,
    warn,
)
from quaymaster._cli.plugin_descriptions import (
    as_document,
    events_word,
    print_description,
)
from quaymaster._cli.tables import Fit, Heading
from quaymaster._cli.values import complete_config
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.kinds import kinds_of_plugin
from quaymaster._core.registry.registered import RegisteredPlugin

__all__ = ["group"]

_PLUGIN: Final = (
    *("name", "distribution", "version", "origin"),
    *("extensionPoints", "events", "kinds", "args"),
)
_KIND: Final = ("kind", "apiVersion", "plugin", "distribution")
_HEADER: Final = (
    "NAME",
    Heading("DISTRIBUTION", importance=1),
    Heading("VERSION", importance=3),
    Heading("EXTENSION POINTS", Fit.SENTENCE),
    Heading("EVENTS", importance=4),
    Heading("KINDS", importance=3),
    Heading("ARGS", importance=2),
    Heading("ORIGIN", importance=0),
)


@click.group("plugins", cls=SuggestingGroup)
def group() -> None:
    """List installed plugins, create new ones, and check packages."""


@group.command("list", short_help="List the installed plugins")
@output_option(
    OutputFormat.TABLE,
    OutputFormat.NAME,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
def list_plugins(output: OutputFormat) -> None:
    """List the installed plugins; a plugin is active if a profile names it.

    EVENTS are the events that requeue pods that the plugin has rejected: a list, all
    (the plugin registers none), or none; "?" if they depend on arguments. KINDS are
    the kinds of objects that it declares.
    """
    registry = installed_plugins()
    for warning in registry.warnings:
        warn(f"warning: {warning}")
    usable = [plugin for plugin in registry.values() if plugin.error is None]
    if output is OutputFormat.TABLE:
        print_table(
            _HEADER,
            [_row(plugin) for plugin in usable],
        )
    elif output is OutputFormat.NAME:
        print_text("".join(f"{plugin.name}\n" for plugin in usable))
    elif output is OutputFormat.CSV:
        print_csv(map(_as_document, usable), _PLUGIN)
    else:
        print_document([_as_document(plugin) for plugin in usable], output)


def _complete_plugin(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    names = installed_plugins()
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@group.command("show", short_help="Show the hooks, arguments and events of a plugin")
@click.argument("name", shell_complete=_complete_plugin)
@output_option(OutputFormat.TABLE, OutputFormat.JSON, OutputFormat.YAML)
def show_plugin(name: str, output: OutputFormat) -> None:
    """Show one installed plugin: its hooks, arguments, events and kinds.

    NAME is its name in profiles. The command constructs the plugin with default
    arguments to get its events.
    """
    described = describe(installed_plugins()[name])
    if output is OutputFormat.TABLE:
        print_description(described)
    else:
        print_document(as_document(described), output)


@group.command("kinds", short_help="List the kinds of objects that plugins declare")
@output_option(
    OutputFormat.TABLE,
    OutputFormat.NAME,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
def list_kinds(output: OutputFormat) -> None:
    """List the kinds of objects that plugins declare and packages offer.

    A kind with a plugin is available if a profile names the plugin; others always are.
    """
    kinds = []
    for brought_kind in brought_kinds(installed_plugins()):
        if isinstance(brought_kind, KindError):
            warn(f"warning: {brought_kind}")
        else:
            kinds.append(brought_kind)
    if output is OutputFormat.TABLE:
        last = Heading("DISTRIBUTION", importance=0)
        header = ("KIND", "API VERSION", "PLUGIN", last)
        print_table(header, [_kind_row(kind) for kind in kinds])
    elif output is OutputFormat.NAME:
        print_text("".join(f"{kind.kind.kind}\n" for kind in kinds))
    elif output is OutputFormat.CSV:
        print_csv(map(_kind_document, kinds), _KIND)
    else:
        print_document([_kind_document(kind) for kind in kinds], output)


@group.command("new", short_help="Create a package with a new plugin")
@click.argument("name")
@click.option(
    "--points",
    metavar="POINT,...",
    default=",".join(DEFAULT_POINTS),
    show_default=True,
    help="The extension points that the plugin implements.",
)
@click.option(
    "--kind",
    metavar="KIND",
    default="",
    help="Give the plugin a kind of objects of its own, such as Rack: each node has an "
    "object of its name, and the plugin follows their changes.",
)
@click.option(
    "--data",
    type=click.Choice(DATA),
    default=None,
    help="Let the plugin read data from outside the cluster, over HTTP.",
)
@click.option(
    "--profiles",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="The number of profiles in profile.yaml; the second has other arguments.",
)
@click.option(
    "--dir",
    "parent",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    help="The parent of the package's folder, by default the current one. It is "
    "created if it does not exist.",
)
def new_plugin(
    name: str, points: str, kind: str, data: str | None, profiles: int, parent: Path
) -> None:
    """Create a package with a new plugin: code, tests, types, CI.

    NAME is CamelCase, such as ZoneAllow: the folder and the distribution are then
    called quaymaster-zone-allow. The plugin has one small rule, which all its hooks
    apply; its tests, mypy and ruff pass. Replace the rule with yours.
    """
    if kind and data:
        raise click.UsageError("--kind and --data exclude each other")
    # The option has a default: only its source shows whether it was given.
    source = click.get_current_context().get_parameter_source("points")
    if (kind or data) and source is not ParameterSource.DEFAULT:
        option = "--kind" if kind else "--data"
        raise click.UsageError(f"{option} has its own extension points, not --points")
    scaffold = Scaffold(kind=kind, data=data or "", profiles=profiles)
    chosen = parse_points(points)
    folder = make_package(name, chosen, parent, installed_plugins(), scaffold)
    print_text(f"{folder}\n")


@group.command("check", short_help="Check a package of plugins")
@click.argument("package")
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    shell_complete=complete_config,
    help="A KubeSchedulerConfiguration with arguments for plugins in pluginConfig.",
)
@click.option(
    "--without",
    metavar="CHECK",
    multiple=True,
    type=click.Choice(tuple(CHECKS)),
    help="Skip a check of the contract suite: " + ", ".join(CHECKS) + ". "
    "May be repeated.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if there is any warning.")
@kubernetes_options(
    several=True,
    text="The Kubernetes version of the contract suite; by default the newest, and "
    "also the others for plugins that request it. May be repeated.",
)
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
def check_plugins(
    package: str,
    config_file: str | None,
    without: tuple[str, ...],
    strict: bool,
    versions: tuple[Kubernetes, ...],
    output: OutputFormat,
) -> None:
    """Check a package of plugins; print a line for everything that is wrong.

    PACKAGE is an installed distribution, or a folder with a pyproject.toml, from which
    the plugins are then imported. The command checks the metadata, the range of
    quaymaster versions, the entry points, the profile.yaml of a folder, name clashes
    with installed packages, and the hooks. It runs the contract suite, which generates
    the same clusters each time; in a folder, with the clusters of the contract class in
    its tests. The exit code is 1 if there is any error.
    """
    report = check_package(
        package,
        plugin_findings.plugin_args(config_file),
        dict.fromkeys(without, "left out on the command line"),
        versions,
    )
    if output is OutputFormat.TABLE:
        plugin_findings.print_report(report)
    elif output is OutputFormat.CSV:
        plugin_findings.print_findings_csv(report)
    else:
        print_document(plugin_findings.as_document(report), output)
    if report.count(Level.ERROR) or (strict and report.findings):
        sys.exit(1)


def _points(plugin: RegisteredPlugin) -> list[str]:
    names = (point.key or point.field for point in plugin.extension_points)
    return [name for name in names if name]


def _kinds(plugin: RegisteredPlugin) -> list[str]:
    return [kind.kind for kind in kinds_of_plugin(plugin.load())]


def _row(plugin: RegisteredPlugin) -> tuple[str, ...]:
    args = plugin.args_class
    return (
        plugin.name,
        plugin.distribution,
        plugin.version,
        ", ".join(_points(plugin)),
        declared_events(plugin),
        ", ".join(_kinds(plugin)) or "-",
        args.__name__ if args else "-",
        plugin.origin,
    )


def _as_document(plugin: RegisteredPlugin) -> dict[str, object]:
    args = plugin.args_class
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "origin": plugin.origin,
        "extensionPoints": _points(plugin),
        "events": events_word(declared_events(plugin)),
        "kinds": _kinds(plugin),
        "args": args.__name__ if args else None,
    }


def _kind_row(brought: BroughtKind) -> tuple[str, ...]:
    return (
        brought.kind.kind,
        brought.kind.api_version,
        brought.plugin or "-",
        brought.owner,
    )


def _kind_document(brought: BroughtKind) -> dict[str, object]:
    return {
        "kind": brought.kind.kind,
        "apiVersion": brought.kind.api_version,
        "plugin": brought.plugin or None,
        "distribution": brought.owner,
    }
