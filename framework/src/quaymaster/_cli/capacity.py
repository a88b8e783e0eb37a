"""``quaymaster capacity``."""

import sys

import attrs
import click

from quaymaster._cli.capacity_report import write_capacity_report
from quaymaster._cli.inputs import InputOptions, Inputs, input_options, read_inputs
from quaymaster._cli.node_labels import check_node_labels
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
    scheduling_in,
)
from quaymaster._cli.pending import max_trials_option, pending_summary
from quaymaster._cli.prices import prices_option
from quaymaster._cli.report_option import report_option
from quaymaster._cli.room_order import ordered
from quaymaster._cli.rooms import as_document, print_capacity, print_nodes_csv
from quaymaster._cli.values import complete_pod
from quaymaster._studies.capacity.calls import CapacityResult, capacity
from quaymaster._studies.capacity.grouping import GROUP_LABELS, label_called
from quaymaster._studies.capacity.headroom import MORE_PODS
from quaymaster._studies.capacity.pod_files import is_pod_file, pod_of_file
from quaymaster._studies.capacity.pod_text import pod_of_text
from quaymaster._studies.capacity.prices import Prices

__all__ = ["command"]

DOES_NOT_FIT = 1


@attrs.frozen(kw_only=True)
class _Questions:
    """The options of the command, without the input."""

    by: tuple[str, ...]
    prices: Prices
    fit: tuple[str, ...]
    pods: tuple[str, ...]
    as_it_stands: bool
    at_most: int
    observe: bool


@click.command("capacity")
@input_options
@click.option(
    "--by",
    metavar="LABEL",
    multiple=True,
    help="Group nodes by a label, such as rack, or by "
    f"{', '.join(list(GROUP_LABELS)[:-1])} or {list(GROUP_LABELS)[-1]}, short names "
    "of the usual labels. May be repeated. [default: zone and instance-type, if "
    "nodes have them]",
)
@prices_option()
@click.option(
    "--fit",
    metavar="POD",
    multiple=True,
    shell_complete=complete_pod,
    help="Find how many more of a pod, workload or PodGroup of the input fit, such as "
    "deploy/web or podgroup/train. May be repeated.",
)
@click.option(
    "--pod",
    "pods",
    metavar="SPEC|FILE",
    multiple=True,
    help="Find how many of such pods fit: cpu=2,memory=4Gi,nvidia.com/gpu=1, with "
    "label:KEY=VALUE, selector:KEY=VALUE and toleration:KEY if needed; or a manifest "
    "of one pod or workload. May be repeated.",
)
@click.option(
    "--at-most",
    metavar="N",
    type=click.IntRange(min=1),
    default=MORE_PODS,
    show_default=True,
    help="How many more pods --fit and --pod try.",
)
@click.option(
    "--as-it-stands",
    is_flag=True,
    help="Schedule nothing: count the pods that have a node already.",
)
@click.option(
    "--require-fit",
    is_flag=True,
    help="Exit with 1 unless at least one more of each fits.",
)
@click.option(
    "--sort-by",
    metavar="KEY",
    default="name",
    show_default=True,
    help="The order of the nodes: name, price, a resource such as cpu, by the share "
    "that pods request, or cpu.free, cpu.requested, cpu.allocatable. The largest is "
    "first.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Show only the first N nodes; 0 shows all.",
)
@report_option()
@click.option(
    "--suggest",
    is_flag=True,
    help="With --report: also show changes that place the pending pods. Each is "
    "simulated, which takes much longer than the rest.",
)
@max_trials_option()
@output_option(
    OutputFormat.TABLE,
    OutputFormat.WIDE,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
def command(
    options: InputOptions,
    by: tuple[str, ...],
    prices: Prices,
    fit: tuple[str, ...],
    pods: tuple[str, ...],
    at_most: int,
    as_it_stands: bool,
    require_fit: bool,
    sort_by: str,
    top: int,
    report_file: str | None,
    suggest: bool,
    max_trials: int,
    output: OutputFormat,
) -> None:
    """Show how much room there is: per node, per group of nodes, and in total.

    The manifests are simulated as with "simulate"; then the free room is measured.
    USED is the requested share of the allocatable resources. FRAGMENTED is the part of
    the free room that a pod of the input cannot use where it is, on average over these
    pods. STRANDED is the part that none of them can use. IMBALANCE is the standard
    deviation of USED over the nodes.

    --fit and --pod schedule copies, with all constraints, until one does not fit.
    """
    if suggest and (report_file is None or as_it_stands):
        rule = "needs --report" if report_file is None else "excludes --as-it-stands"
        raise click.UsageError(f"--suggest {rule}")
    inputs = read_inputs(options)
    check_node_labels("--by", by, inputs.objects)
    questions = _Questions(
        by=by,
        prices=prices,
        fit=fit,
        pods=pods,
        as_it_stands=as_it_stands,
        at_most=at_most,
        observe=report_file is not None,
    )
    measured = _capacity(inputs, options, questions)
    notices = (*inputs.notices, *measured.result.notices)
    if report_file is not None:
        suggestions = (
            pending_summary(inputs, options, suggest=True, max_trials=max_trials)
            if suggest
            else None
        )
        write_capacity_report(measured, report_file, prices, notices, suggestions)
    left_out = max(len(measured.room.nodes) - top, 0) if top else 0
    measured = attrs.evolve(
        measured,
        room=ordered(measured.room, sort_by, top),
        result=attrs.evolve(measured.result, notices=notices),
    )
    match output:
        case OutputFormat.TABLE | OutputFormat.WIDE:
            print_capacity(measured, left_out, wide=output is OutputFormat.WIDE)
        case OutputFormat.CSV:
            print_nodes_csv(measured)
        case _:
            print_document(as_document(measured), output)
    print_notices(notices)
    if require_fit and not all(answer.fits for answer in measured.headroom):
        sys.exit(DOES_NOT_FIT)


def _capacity(
    inputs: Inputs, options: InputOptions, questions: _Questions
) -> CapacityResult:
    namespace = options.namespace or ""
    kubernetes = inputs.config.kubernetes
    pods = [
        (
            text,
            pod_of_file(text, namespace=namespace, kubernetes=kubernetes)
            if is_pod_file(text)
            else pod_of_text(text, namespace=namespace),
        )
        for text in questions.pods
    ]
    with progress_bar() as progress, inputs.located():
        return capacity(
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            by=[label_called(name) for name in questions.by] or None,
            prices=questions.prices,
            fit=questions.fit,
            pods=pods,
            namespace=namespace,
            as_it_stands=questions.as_it_stands,
            limit=questions.at_most,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
            observe=questions.observe,
        )
