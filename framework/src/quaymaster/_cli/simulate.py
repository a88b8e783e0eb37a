"""``quaymaster simulate``."""

from collections.abc import Callable
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from quaymaster._cli.inputs import (
    ConfigOption,
    NodesOption,
    PathsArgument,
    SeedOption,
    read_config,
    read_objects,
)
from quaymaster._cli.output import (
    OutputFormat,
    print_document,
    print_line,
    print_table,
    stderr,
)
from quaymaster.registry import PluginRegistry
from quaymaster.simulation import SimulationResult, simulate

__all__ = ["command"]

SOME_UNSCHEDULED = 1


def command(
    paths: PathsArgument,
    nodes: NodesOption = None,
    config: ConfigOption = None,
    seed: SeedOption = 0,
    require_all: Annotated[
        bool,
        typer.Option("--require-all", help="Exit with 1 if any pod stays unscheduled."),
    ] = False,
    output: Annotated[
        OutputFormat, typer.Option("-o", "--output")
    ] = OutputFormat.TABLE,
) -> None:
    """Schedule the pods of some manifests, and print where each one goes.

    Pods with spec.nodeName are bound already; workloads become pods as their
    controllers would make them; the pods that wait are scheduled until nothing moves
    any more. The output of "kubectl get nodes,pods -A -o json" is input as it stands.
    """
    registry = PluginRegistry.discover()
    scheduler = read_config(config, registry)
    objects = read_objects(paths, nodes)
    with _progress_bar() as progress:
        result = simulate(
            objects,
            config=scheduler,
            registry=registry,
            seed=seed,
            on_progress=_follow(progress),
        )
    if output is OutputFormat.TABLE:
        _print(result)
    else:
        print_document(as_document(result), output)
    if require_all and result.unscheduled:
        raise typer.Exit(SOME_UNSCHEDULED)


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
    print_line(
        f"{len(result.placements)} of {result.pods} pods placed on "
        f"{result.nodes} nodes, {len(result.unscheduled)} unscheduled"
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
