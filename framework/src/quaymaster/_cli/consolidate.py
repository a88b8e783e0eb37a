"""``quaymaster consolidate``."""

from typing import Final

import click

from quaymaster._base.errors import counted
from quaymaster._cli.autoscaler import (
    ScaledRun,
    autoscaler_option,
    the_autoscaler,
)
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.notices import notice_documents, print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    progress_bar,
    scheduling_in,
)
from quaymaster._cli.results import moment
from quaymaster._cli.tables import Fit
from quaymaster._studies.autoscaling.consolidation import (
    Consolidation,
    MovedPod,
    StayingNode,
    consolidate,
)
from quaymaster._studies.simulation.autoscaler import AutoscaledNode

__all__ = ["command"]


@click.command("consolidate")
@input_options
@autoscaler_option(required=True)
@output_option(
    OutputFormat.TABLE,
    OutputFormat.WIDE,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
def command(options: InputOptions, autoscaler_file: str, output: OutputFormat) -> None:
    """Show which nodes an autoscaler would remove, and why the others stay.

    The autoscaler of --autoscaler works on the cluster until it changes nothing more,
    in virtual time. It removes nodes one after the other and moves their pods, as on a
    real cluster; nothing is written anywhere. For each node that stays, the reason is
    printed: a pod, a budget, an annotation, or no room elsewhere.
    """
    factory = the_autoscaler(autoscaler_file)
    assert factory is not None, "the option is required"
    inputs = read_inputs(options, kinds=ScaledRun(factory).kinds)
    with progress_bar() as progress, inputs.located():
        result = consolidate(
            inputs.objects,
            factory,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            on_progress=scheduling_in(progress),
            max_pods=options.max_pods,
        )
    notices = (*inputs.notices, *result.notices)
    match output:
        case OutputFormat.TABLE | OutputFormat.WIDE:
            _print(result, wide=output is OutputFormat.WIDE)
        case OutputFormat.CSV:
            _STAYING.print_csv(result.staying)
        case _:
            warnings = {"warnings": notice_documents(notices)}
            print_document(_document(result) | warnings, output)
    print_notices(notices)


def _print(result: Consolidation, *, wide: bool) -> None:
    _REMOVED.print_section(result.removed, is_wide=wide)
    _ADDED.print_section(result.added, is_wide=wide)
    if wide:
        _MOVED.print_section(result.moved, is_wide=wide)
    _STAYING.print_section(result.staying, is_wide=wide)
    removed, added = len(result.removed), len(result.added)
    print_line(
        f"{counted(removed, 'node')} removed, {added} added, "
        f"{counted(len(result.staying), 'node')} at the end, "
        f"{counted(len(result.moved), 'pod')} moved, {len(result.pending)} pending"
    )
    if result.ended:
        ended = counted(len(result.ended), "pod")
        print_line(f"{ended} ended with a node: no controller creates them again")
    if result.saving is not None:
        print_line(f"saving per hour: {result.saving:.2f}")


def _document(result: Consolidation) -> dict[str, object]:
    return {
        "removed": _REMOVED.documents(result.removed),
        "added": _ADDED.documents(result.added),
        "moved": _MOVED.documents(result.moved),
        "ended": _MOVED.documents(result.ended),
        "staying": _STAYING.documents(result.staying),
        "pending": list(result.pending),
        "saving": result.saving,
    }


def _price(price: float | None) -> str:
    return "-" if price is None else f"{price:.2f}"


_REMOVED: Final = Columns[AutoscaledNode](
    Column("node", heading="Removed", fit=Fit.NODE),
    Column("group"),
    Column("removed", heading="At", text=moment),
    Column("price", text=_price),
    Column("removedFor", heading="Why"),
)
_ADDED: Final = Columns[AutoscaledNode](
    Column("node", heading="Added", fit=Fit.NODE),
    Column("group"),
    Column("ordered", text=moment),
    Column("price", text=_price),
    Column("addedFor", heading="For", fit=Fit.NAME),
)
_MOVED: Final = Columns[MovedPod](
    Column("pod", heading="Moved", fit=Fit.NAME),
    Column("node", heading="From", fit=Fit.NODE),
)
_STAYING: Final = Columns[StayingNode](
    Column("node", heading="Stays", fit=Fit.NODE),
    Column("group"),
    Column("price", text=_price, shown=Shown.WIDE),
    Column("why"),
)
