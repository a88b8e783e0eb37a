"""``quaymaster simulate``."""

import sys
from collections.abc import Callable

import attrs
import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    print_table,
    stderr,
    warn,
)
from quaymaster.errors import VerificationError
from quaymaster.notices import has_missing_pods
from quaymaster.options import EngineOptions
from quaymaster.simulation import SimulationResult, simulate

__all__ = ["command"]

SOME_UNSCHEDULED = 1
NOT_VERIFIED = 1
NOT_STRICT = 1


@click.command("simulate")
@input_options
@click.option(
    "--require-all", is_flag=True, help="Exit with 1 if any pod stays unscheduled."
)
@click.option("--strict", is_flag=True, help="Exit with 1 if there is any warning.")
@click.option(
    "--check-plugins",
    is_flag=True,
    help="Fail attempts in which a plugin changes what it may only read; slow.",
)
@click.option(
    "--verify",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Make every Nth decision a second time, with scalar hooks alone and nothing "
    "remembered, and exit with 1 if it differs.",
)
@output_option(OutputFormat.TABLE, OutputFormat.JSON, OutputFormat.YAML)
def command(
    options: InputOptions,
    require_all: bool,
    strict: bool,
    check_plugins: bool,
    verify: int,
    output: OutputFormat,
) -> None:
    """Schedule the pods of some manifests, and print where each one goes.

    PATH is a file, a directory, or - for standard input. Pods with spec.nodeName are
    bound already; workloads become pods as their controllers would make them; the pods
    that wait are scheduled until nothing moves any more. The output of "kubectl get
    nodes,pods -A -o json" is input as it stands.
    """
    inputs = read_inputs(options)
    try:
        with _progress_bar() as progress, inputs.located():
            result = simulate(
                inputs.objects,
                config=inputs.config,
                registry=inputs.registry,
                seed=options.seed,
                on_progress=_follow(progress),
                options=EngineOptions(check_mutations=check_plugins, verify=verify),
            )
    except VerificationError as error:
        warn(str(error))
        sys.exit(NOT_VERIFIED)
    result = attrs.evolve(result, notices=(*inputs.notices, *result.notices))
    if output is OutputFormat.TABLE:
        _print(result)
    else:
        print_document(as_document(result), output)
    print_notices(result.notices)
    if require_all and (result.unscheduled or has_missing_pods(result.notices)):
        sys.exit(SOME_UNSCHEDULED)
    if strict and result.notices:
        sys.exit(NOT_STRICT)


def as_document(result: SimulationResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``."""
    return {
        "placements": [
            {"pod": one.pod, "node": one.node, "scheduler": one.scheduler}
            for one in result.placements
        ],
        "unscheduled": [
            {
                "pod": one.pod,
                "reason": one.reason,
                "message": one.message,
                "plugins": list(one.plugins),
            }
            for one in result.unscheduled
        ],
        "preempted": [
            {"pod": one.pod, "by": one.by, "node": one.node} for one in result.preempted
        ],
        "summary": {
            "pods": result.pods,
            "placed": len(result.placements),
            "unscheduled": len(result.unscheduled),
            "nodes": result.nodes,
        },
        "warnings": notice_documents(result.notices),
    }


def _print(result: SimulationResult) -> None:
    if result.placements:
        rows = [(one.pod, one.node) for one in result.placements]
        print_table(("POD", "NODE"), rows)
        print_line()
    if result.preempted:
        preempted = [(one.pod, one.by, one.node) for one in result.preempted]
        print_table(("PREEMPTED", "BY", "NODE"), preempted)
        print_line()
    if result.unscheduled:
        waiting = [(one.pod, one.reason, one.message) for one in result.unscheduled]
        print_table(("UNSCHEDULED", "REASON", "MESSAGE"), waiting)
        print_line()
    nodes = "1 node" if result.nodes == 1 else f"{result.nodes} nodes"
    print_line(
        f"{len(result.placements)} of {result.pods} pods placed on {nodes}, "
        f"{len(result.unscheduled)} unscheduled"
    )


def _progress_bar() -> Progress:
    console = stderr()
    return Progress(
        TextColumn("scheduling"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _follow(progress: Progress) -> Callable[[int, int], None]:
    task = progress.add_task("pods", total=None)

    def update(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)

    return update
