"""``quaymaster what-if``."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import attrs
import click

from quaymaster._api.objects.quantity import Quantity
from quaymaster._cli.autoscaler import (
    ScaledRun,
    autoscaler_option,
    the_autoscaler,
)
from quaymaster._cli.change_reader import ChangeReader, may_add_nodes
from quaymaster._cli.daemon_order import daemon_sets_option
from quaymaster._cli.inputs import (
    InputOptions,
    input_options,
    read_inputs,
)
from quaymaster._cli.node_labels import check_topology_keys
from quaymaster._cli.notices import print_notices
from quaymaster._cli.ordered import OrderedCommand, in_order
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
    scheduling_in,
)
from quaymaster._cli.pending_facts import facts_option
from quaymaster._cli.placements import topology_key_option
from quaymaster._cli.pod_times import (
    TimesChoice,
    pod_times_options,
    print_assumed_startup,
    print_pulls,
)
from quaymaster._cli.prices import prices_option
from quaymaster._cli.report_option import report_option
from quaymaster._cli.reports import write_report
from quaymaster._cli.what_if_report import what_if_tables
from quaymaster._cli.what_if_results import (
    as_document,
    print_answer,
    print_events_csv,
)
from quaymaster._core.config.duration import parse_duration
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.changes.node_changes import (
    FailureMode,
)
from quaymaster._studies.changes.rotation import RotateNodes
from quaymaster._studies.planning.what_if import what_if

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])

NOT_ALL_WELL = 1

_NODES = "NODE|SELECTOR"
_CHANGES = (
    ("drain", _NODES, "Cordon nodes and evict their pods, as kubectl drain does."),
    ("rotate", _NODES, "Replace nodes by new ones of their kind, under budgets."),
    ("cordon", _NODES, "Mark nodes as unschedulable."),
    ("uncordon", _NODES, "Mark nodes as schedulable."),
    ("remove", _NODES, "Delete nodes without a drain."),
    ("fail", _NODES, "Lose nodes with their pods, as --fail-mode says."),
    ("return", _NODES, "Bring back nodes that have failed."),
    ("fail-zone", "ZONE", "Lose all nodes of a zone with their pods."),
    ("add-nodes", "SPEC", "Add nodes, such as 3:cpu=4,memory=16Gi,zones=3."),
    ("scale", "KIND/NAME=N", "Give a workload another number of pods."),
    ("apply", "FILE", "Create or change the objects of a file or a directory."),
    ("delete", "KIND/NAME", "Delete an object and its dependents."),
    (
        "set-image",
        "KIND/NAME[:CONTAINER]=IMAGE",
        "Give containers another image, which rolls out new pods.",
    ),
    ("new-config", "FILE", "Continue with another scheduler configuration."),
    ("scenario", "FILE", "Run the steps of a scenario file in order."),
)


def _change_options(command: F) -> F:
    """Add the options that are changes; their order on the command line counts."""
    command = click.option(
        "--repack",
        _parameter("repack"),
        count=True,
        help="Schedule all pods again, except static pods and those of DaemonSets.",
    )(command)
    for name, metavar, text in reversed(_CHANGES):
        option = click.option(
            f"--{name}", _parameter(name), metavar=metavar, multiple=True, help=text
        )
        command = option(command)
    return command


def _parameter(name: str) -> str:
    return f"change_{name.replace('-', '_')}"


def _seconds(_context: click.Context, _option: click.Parameter, text: str) -> float:
    length = parse_duration(text)
    if length is None or length < timedelta(0):
        raise click.BadParameter(f"expected a duration such as 90s or 5m, got {text!r}")
    return length.total_seconds()


@click.command("what-if", cls=OrderedCommand)
@input_options
@_change_options
@click.option(
    "--drain-timeout",
    metavar="DURATION",
    default="10m",
    show_default=True,
    callback=_seconds,
    help="How long a drain or a rotation retries refused evictions, for each node, "
    "in virtual time.",
)
@click.option(
    "--surge",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many new nodes a rotation adds before it deletes old ones.",
)
@click.option(
    "--boot",
    metavar="DURATION",
    default="60s",
    show_default=True,
    callback=_seconds,
    help="How long a new node of a rotation needs until it takes pods.",
)
@click.option(
    "--fail-mode",
    type=click.Choice([mode.value for mode in FailureMode]),
    default=FailureMode.AT_ONCE.value,
    show_default=True,
    help="AtOnce: nodes and pods are deleted together. Unreachable: the cluster "
    "notices after 50s, and deletes pods when their tolerations end (default: 5m).",
)
@pod_times_options()
@daemon_sets_option()
@facts_option()
@autoscaler_option()
@topology_key_option()
@prices_option()
@report_option()
@click.option(
    "--require-all",
    is_flag=True,
    help="Exit with 1 if any pod is pending at the end, or a drain left pods behind.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 if there is any warning, or a rollout is stuck at the end.",
)
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
def command(
    options: InputOptions,
    drain_timeout: float,
    surge: int,
    boot: float,
    fail_mode: str,
    startup: float | None,
    termination: float | None,
    pull: Quantity | None,
    daemon_sets_first: bool,
    facts: bool,
    autoscaler_file: str | None,
    topology_keys: tuple[str, ...],
    prices: Prices,
    report_file: str | None,
    require_all: bool,
    strict: bool,
    output: OutputFormat,
    change_repack: int,
    **given: tuple[str, ...],
) -> None:
    """Change a cluster step by step, and show what happens to its pods.

    The manifests are simulated as with "simulate" until the cluster has settled: that
    is the state before. Then each change is applied and simulated until the cluster has
    settled again, in the order of the command line.

    NODE|SELECTOR is the name of a node, or labels as kubectl -l has them: pool=old,
    'zone in (a, b)', '!gpu'. KIND/NAME is as in kubectl, and NAMESPACE/KIND/NAME
    if several namespaces have one; with -n, only that namespace is searched.

    Evictions obey PodDisruptionBudgets as in the eviction API. Refused evictions are
    retried every five seconds of virtual time.

    The steps of a --scenario run at the place of that option, each at its time and not
    before the previous change has settled. Without a PATH, the scenario's cluster is
    used; without --config, its configuration.
    """
    scaled = ScaledRun(the_autoscaler(autoscaler_file))
    inputs = read_inputs(
        options, needs_paths=not given["change_scenario"], kinds=scaled.kinds
    )
    rotation = RotateNodes(
        nodes="", surge=surge, boot_seconds=boot, timeout_seconds=drain_timeout
    )
    reader = ChangeReader(inputs, options, rotation, FailureMode(fail_mode))
    changes = [
        change
        for name, text in in_order(change_repack=("",) * change_repack, **given)
        for change in reader.read(name.removeprefix("change_").replace("_", "-"), text)
    ]
    inputs = reader.inputs
    if not changes:
        raise click.UsageError("expected at least one change, such as --drain NODE")
    # Nodes that a change brings may have other labels.
    if not any(map(may_add_nodes, changes)):
        check_topology_keys(topology_keys, inputs.objects)
    choice = TimesChoice(startup, termination, pull)
    times = choice.over(reader.times)
    with progress_bar() as progress, inputs.located():
        result = what_if(
            inputs.objects,
            changes,
            config=inputs.config,
            registry=inputs.registry,
            seed=reader.seed,
            prices=prices,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
            observe=report_file is not None,
            topology_keys=topology_keys,
            times=times,
            options=SchedulerOptions(daemon_sets_first=daemon_sets_first),
            facts=facts,
            autoscaler=scaled.factory,
        )
    notices = (*inputs.notices, *reader.notices, *result.notices)
    result = attrs.evolve(result, notices=notices)
    if report_file is not None:
        tables = what_if_tables(result)
        runs = result.observed
        write_report(report_file, runs, title="What if", tables=tables, steps=True)
    match output:
        case OutputFormat.TABLE:
            print_answer(result)
            scaled.print()
        case OutputFormat.CSV:
            print_events_csv(result)
        case _:
            print_document(as_document(result) | scaled.document(), output)
    print_notices(notices)
    print_assumed_startup(choice, times, inputs.objects)
    print_pulls(times, inputs.objects)
    is_incomplete = bool(result.after.pending or result.left)
    is_doubtful = bool(notices or result.stuck_rollouts)
    if (require_all and is_incomplete) or (strict and is_doubtful):
        sys.exit(NOT_ALL_WELL)
