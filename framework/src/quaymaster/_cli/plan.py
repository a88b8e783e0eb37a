"""``quaymaster plan``."""

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from time import monotonic
from typing import Final

import attrs
import click
import yaml

from quaymaster._api.objects.wire import to_wire
from quaymaster._base.files import write_whole
from quaymaster._cli.autoscaler import autoscaler_option, the_autoscaler
from quaymaster._cli.daemon_order import daemon_sets_option
from quaymaster._cli.inputs import InputOptions, Inputs, input_options, read_inputs
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputError,
    OutputFormat,
    output_option,
    print_document,
    warn,
)
from quaymaster._cli.plan_failures import obstacle
from quaymaster._cli.plan_packing import plan_with_packing
from quaymaster._cli.plan_progress import plan_progress
from quaymaster._cli.plans import (
    plan_document,
    print_plan,
    print_plan_csv,
)
from quaymaster._cli.prices import prices_option
from quaymaster._cli.report_option import report_option
from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.planning.group_files import read_node_groups
from quaymaster._studies.planning.groups import NodeGroup, parse_node_group
from quaymaster._studies.planning.losses import Loss
from quaymaster._studies.planning.planning import plan
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory, kinds_of

__all__ = ["command"]

NO_PLAN = 1
NONE_FOUND = 3
NOT_STRICT = 1

_LIMIT: Final = re.compile(
    r"(?P<resource>[^=\s]+)=(?P<percent>[0-9]{1,3}(\.[0-9]{1,3})?)%", re.ASCII
)

_PERCENT: Final = re.compile(r"(?P<percent>[0-9]{1,3}(\.[0-9]{1,3})?)%", re.ASCII)


@attrs.frozen(kw_only=True)
class _Request:
    """The options of the command line about the plan."""

    groups: Sequence[NodeGroup]
    autoscaler: AutoscalerFactory | None
    prices: Prices
    max_utilization: Mapping[str, Fraction]
    tolerate_loss: Loss | None
    min_spot: Fraction | None
    spare: int
    max_trials: int | None
    time_limit: float | None
    at_once: bool
    daemon_sets_first: bool
    compare_packing: bool


def _limits(
    context: click.Context, option: click.Parameter, texts: Sequence[str]
) -> Mapping[str, Fraction]:
    """Read ``--max-utilization``, such as ``cpu=80%``."""
    limits = {}
    for text in texts:
        match = _LIMIT.fullmatch(text.strip())
        percent = Fraction(match["percent"]) if match else Fraction(0)
        if match is None or not 0 < percent <= 100:
            message = (
                f"expected RESOURCE=PERCENT%, such as cpu=80%, more than 0 and at most "
                f"100, got {text!r}"
            )
            raise click.BadParameter(message, context, option)
        if match["resource"] in limits:
            message = f"expected one limit of {match['resource']}, got another: {text}"
            raise click.BadParameter(message, context, option)
        limits[match["resource"]] = percent / 100
    return limits


def _part(
    context: click.Context, option: click.Parameter, text: str | None
) -> Fraction | None:
    """Read ``--min-spot``, such as ``50%``."""
    if text is None:
        return None
    match = _PERCENT.fullmatch(text.strip())
    percent = Fraction(match["percent"]) if match else Fraction(0)
    if not 0 < percent <= 100:
        message = (
            f"expected a share such as 50%, more than 0 and at most 100, got {text!r}"
        )
        raise click.BadParameter(message, context, option)
    return percent / 100


def _seconds(
    context: click.Context, option: click.Parameter, text: str | None
) -> float | None:
    """Read ``--time-limit``, such as ``60s``."""
    if text is None:
        return None
    length = parse_duration(text)
    if length is None or length <= timedelta():
        message = f"expected a duration such as 60s or 5m, got {text!r}"
        raise click.BadParameter(message, context, option)
    return length.total_seconds()


@click.command("plan")
@input_options
@click.option(
    "--node-group",
    "specs_of_groups",
    metavar="SPEC",
    multiple=True,
    help="Nodes that the plan may add, such as name=big,cpu=16,memory=64Gi,"
    "price=0.40,max=20,zones=3. May be repeated.",
)
@click.option(
    "--node-groups",
    "files_of_groups",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="A file with groups of nodes. May be repeated.",
)
@autoscaler_option(
    text="Plan with the nodes of the autoscaler that FILE describes, instead of groups "
    "of nodes, and compare the plan with what the autoscaler does."
)
@prices_option()
@click.option(
    "--max-utilization",
    metavar="RESOURCE=N%",
    multiple=True,
    callback=_limits,
    help="The maximum share of a resource of all nodes that pods may request, such "
    "as cpu=80%. May be repeated.",
)
@click.option(
    "--tolerate-loss",
    metavar="node|zone|LABEL[:N]",
    callback=lambda _context, _option, text: None if text is None else Loss.parse(text),
    help="All pods must still fit after the loss of any one node, of any one zone, or "
    "of all nodes with any one value of a label, such as rack. node:2 means any two "
    "nodes.",
)
@click.option(
    "--min-spot",
    metavar="N%",
    callback=_part,
    help="The minimum share of spot nodes in the CPU that the plan adds. Labels of "
    "providers mark spot nodes, such as karpenter.sh/capacity-type=spot.",
)
@click.option(
    "--spare",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="How many spare nodes to add to each group that the plan uses, so that as "
    "many may fail or be replaced.",
)
@click.option(
    "--max-trials",
    metavar="N",
    type=click.IntRange(min=1),
    help="The maximum number of plans to try; by default 20 to 500, depending on the "
    "number of pods.",
)
@click.option(
    "--time-limit",
    metavar="DURATION",
    callback=_seconds,
    help="End the search after this time, such as 60s or 5m, with the best plan so "
    "far. The plan that is being tried then is given up.",
)
@click.option(
    "--at-once",
    is_flag=True,
    help="Do not buy in rounds: all nodes of a plan are there before any pod is "
    "placed.",
)
@daemon_sets_option(is_default=True)
@click.option(
    "--compare-packing/--no-compare-packing",
    default=True,
    show_default=True,
    help="If the plan of the default profile costs more than the lower bound, plan "
    "again with the profile bin-packing, and print what that costs if it is less. The "
    "time limit holds for both.",
)
@click.option(
    "--write-nodes",
    "nodes_file",
    metavar="FILE",
    type=click.Path(allow_dash=False),
    help="Write the plan's nodes as manifests.",
)
@report_option()
@click.option("--strict", is_flag=True, help="Exit with 1 if there is any warning.")
@output_option(
    OutputFormat.TABLE,
    OutputFormat.WIDE,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
def command(
    options: InputOptions,
    specs_of_groups: tuple[str, ...],
    files_of_groups: tuple[str, ...],
    autoscaler_file: str | None,
    prices: Prices,
    max_utilization: Mapping[str, Fraction],
    tolerate_loss: Loss | None,
    min_spot: Fraction | None,
    spare: int,
    max_trials: int | None,
    time_limit: float | None,
    at_once: bool,
    daemon_sets_first: bool,
    compare_packing: bool,
    nodes_file: str | None,
    report_file: str | None,
    strict: bool,
    output: OutputFormat,
) -> None:
    """Find the fewest or cheapest nodes on which all pods of some manifests fit.

    PATH is input as for "simulate"; its nodes exist already. The plan adds nodes of the
    groups: the cheapest ones if the groups have prices, else the fewest. Every plan is
    simulated, and the answer has a lower bound for all plans. With an autoscaler, its
    groups are used, and the answer has what the autoscaler does, too.

    If not all pods can be placed, the answer names those that prevent it, and has a
    plan for the others. The exit code is 1 then, and 3 if that is not proven.
    """
    _check_groups([*specs_of_groups, *files_of_groups], autoscaler_file)
    autoscaler = the_autoscaler(autoscaler_file)
    request = _Request(
        groups=list(_groups(specs_of_groups, files_of_groups)),
        autoscaler=autoscaler,
        prices=prices,
        max_utilization=max_utilization,
        tolerate_loss=tolerate_loss,
        min_spot=min_spot,
        spare=spare,
        max_trials=max_trials,
        time_limit=time_limit,
        at_once=at_once,
        daemon_sets_first=daemon_sets_first,
        compare_packing=compare_packing,
    )
    inputs = read_inputs(options, kinds=kinds_of(autoscaler))
    end = math.inf if time_limit is None else monotonic() + time_limit
    planned = _planned(inputs, options, request)
    packed = _packed(planned, inputs, options, request, end)
    bought = planned if planned.is_found else planned.partial
    if nodes_file is not None and bought is not None:
        _write(bought, nodes_file)
    if report_file is not None:
        # Imported only if a report is written.
        from quaymaster._cli.plan_report import write_plan_report  # noqa: PLC0415

        write_plan_report(planned, inputs, options, report_file, packed=packed)
    match output:
        case OutputFormat.TABLE | OutputFormat.WIDE:
            print_plan(planned, is_wide=output is OutputFormat.WIDE, packed=packed)
        case OutputFormat.CSV:
            print_plan_csv(planned)
            if not planned.is_found:
                warn(obstacle(planned))
        case _:
            print_document(plan_document(planned, packed), output)
    print_notices(planned.notices)
    if not planned.is_found:
        sys.exit(NO_PLAN if planned.is_final else NONE_FOUND)
    if strict and planned.notices:
        sys.exit(NOT_STRICT)


def _check_groups(groups: Sequence[str], autoscaler: str | None) -> None:
    if not groups and autoscaler is None:
        raise click.UsageError(
            "expected a group of nodes (--node-group or --node-groups), such as "
            "--node-group cpu=4,memory=16Gi, or a file of an autoscaler (--autoscaler)"
        )
    if groups and autoscaler is not None:
        raise click.UsageError(
            "expected either groups of nodes (--node-group, --node-groups) or an "
            f"autoscaler, whose file has its own; got {groups[0]} and {autoscaler}"
        )


def _groups(specs: Sequence[str], files: Sequence[str]) -> Iterator[NodeGroup]:
    yield from map(parse_node_group, specs)
    for file in files:
        yield from read_node_groups(file)


def _planned(inputs: Inputs, options: InputOptions, request: _Request) -> Plan:
    with plan_progress() as progress, inputs.located():
        planned = plan(
            inputs.objects,
            groups=request.groups,
            autoscaler=request.autoscaler,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            prices=request.prices,
            max_utilization=request.max_utilization,
            tolerate_loss=request.tolerate_loss,
            min_spot=request.min_spot,
            spare=request.spare,
            max_trials=request.max_trials,
            in_rounds=not request.at_once,
            daemon_sets_first=request.daemon_sets_first,
            time_limit=request.time_limit,
            on_progress=progress.tried,
            on_better=progress.better,
            on_step=progress.step,
            max_pods=options.max_pods,
        )
    return attrs.evolve(planned, notices=(*inputs.notices, *planned.notices))


def _packed(
    planned: Plan, inputs: Inputs, options: InputOptions, request: _Request, end: float
) -> Plan | None:
    """Plan with packing, in the time that is left."""
    left = end - monotonic()
    if not request.compare_packing or left <= 0:
        return None
    rest = attrs.evolve(request, time_limit=left if math.isfinite(left) else None)
    return plan_with_packing(
        planned, inputs, options, lambda packing: _planned(packing, options, rest)
    )


def _write(planned: Plan, file: str) -> None:
    documents = map(to_wire, planned.nodes)
    text = yaml.safe_dump_all(documents, sort_keys=False, explicit_start=True)
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise OutputError(
            f"{file}: {(error.strerror or str(error)).lower()}"
        ) from error
