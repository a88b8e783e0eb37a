"""``quaymaster simulate``."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import click

from quaymaster._api.objects import StatefulSet
from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import VerificationError
from quaymaster._base.notices import has_missing_pods
from quaymaster._cli.autoscaler import (
    ScaledRun,
    autoscaler_option,
    the_autoscaler,
)
from quaymaster._cli.daemon_order import daemon_sets_option
from quaymaster._cli.inputs import (
    InputOptions,
    Inputs,
    input_options,
    read_inputs,
)
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
    progress_bar,
    scheduling_in,
    warn,
)
from quaymaster._cli.pending_facts import facts_option
from quaymaster._cli.pod_times import (
    TimesChoice,
    pod_times_options,
    print_assumed_startup,
    print_pulls,
)
from quaymaster._cli.report_option import report_option
from quaymaster._cli.results import (
    as_document,
    print_names,
    print_pods_csv,
    print_result,
)
from quaymaster._cli.sorting import SortKey
from quaymaster._cli.tracing import trace_option, warn_of_unseen_pods
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.contract.trace import Trace
from quaymaster._studies.simulation.calls import simulate
from quaymaster._studies.simulation.observers import AnyObserver
from quaymaster._studies.simulation.results import SimulationResult

if TYPE_CHECKING:
    from quaymaster._cli.timings import RunTimings
    from quaymaster._studies.capacity.figures import Room
    from quaymaster._studies.capacity.measuring import RoomObserver
    from quaymaster._studies.recording.simulating import RecordObserver
    from quaymaster._studies.simulation.autoscaler import AutoscalerFactory
    from quaymaster._studies.simulation.run_observer import RunObserver

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
    help="Fail attempts in which a plugin changes read-only objects; slow.",
)
@click.option(
    "--verify",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Make every Nth decision a second time with scalar hooks and without caches, "
    "allocate the devices of its claims again, and exit with 1 if anything "
    "differs.",
)
@click.option(
    "--timings",
    is_flag=True,
    help="Print how long each hook of each plugin took, in real time.",
)
@click.option(
    "--capacity",
    "with_capacity",
    is_flag=True,
    help='Print how much room is left at the end, as "capacity" does.',
)
@pod_times_options()
@daemon_sets_option()
@facts_option()
@autoscaler_option()
@trace_option()
@report_option()
@click.option(
    "--record",
    "record_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help='Also record the run in a new file, for "replay"; compressed if FILE ends '
    "with .gz.",
)
@output_option(
    OutputFormat.TABLE,
    OutputFormat.WIDE,
    OutputFormat.NAME,
    OutputFormat.CSV,
    OutputFormat.JSON,
    OutputFormat.YAML,
)
@click.option(
    "--sort-by",
    type=click.Choice([key.value for key in SortKey], case_sensitive=False),
    default=SortKey.TIME.value,
    show_default=True,
    callback=lambda _context, _option, value: SortKey(value),
    help="The order of the pods.",
)
def command(
    options: InputOptions,
    require_all: bool,
    strict: bool,
    check_plugins: bool,
    verify: int,
    timings: bool,
    with_capacity: bool,
    startup: float | None,
    termination: float | None,
    pull: Quantity | None,
    daemon_sets_first: bool,
    facts: bool,
    autoscaler_file: str | None,
    trace: Trace | None,
    report_file: str | None,
    record_file: str | None,
    output: OutputFormat,
    sort_by: SortKey,
) -> None:
    """Schedule the pods of some manifests, and print where each one goes.

    PATH is a file, a directory, or - for standard input. Pods with spec.nodeName are
    bound already. Workloads create pods as their controllers would. Pending pods are
    scheduled until the cluster has settled. The output of "kubectl get nodes,pods -A -o
    json" is valid input.

    Times are virtual: seconds since the start, when all objects of the manifests exist.
    Warnings at the end list what was left out or assumed.
    """
    for is_set, name in ((timings, "--timings"), (with_capacity, "--capacity")):
        if is_set and output in (OutputFormat.NAME, OutputFormat.CSV):
            raise click.UsageError(f"{name} cannot be printed by -o {output}")
    run_timings = _run_timings() if timings else None
    seen = _run_observer() if report_file else None
    room = _room_observer() if with_capacity else None
    recorder = _recorder(record_file) if record_file is not None else None
    hooks = run_timings.hooks if run_timings else None
    several = (recorder, seen, room, run_timings, hooks)
    observers = [each for each in several if each is not None]
    scaled = ScaledRun(the_autoscaler(autoscaler_file))
    inputs = read_inputs(options, kinds=scaled.kinds)
    choice = TimesChoice(startup, termination, pull)
    times = choice.over(DEFAULT_POD_TIMES)
    result = _simulated(
        inputs,
        options,
        times,
        SchedulerOptions(
            check_mutations=check_plugins,
            verify=verify,
            trace=trace,
            daemon_sets_first=daemon_sets_first,
        ),
        observers,
        facts=facts,
        autoscaler=scaled.factory,
    )
    if report_file and seen is not None and seen.run is not None:
        from quaymaster._cli.reports import write_report  # noqa: PLC0415 - see below

        title = ", ".join(options.paths) or options.context or "Simulation"
        run = attrs.evolve(seen.run, result=_noted(seen.run.result, inputs))
        write_report(report_file, [run], title=title)
    result = sort_by.sorted(_noted(result, inputs))
    _print(
        result,
        output,
        run_timings,
        room.room if room is not None else None,
        scaled,
    )
    print_notices(result.notices)
    if any(isinstance(obj, StatefulSet) for obj in inputs.objects):
        print_assumed_startup(choice, times, inputs.objects)
    print_pulls(times, inputs.objects)
    warn_of_unseen_pods(trace)
    if require_all and (result.unscheduled or has_missing_pods(result.notices)):
        sys.exit(SOME_UNSCHEDULED)
    if strict and result.notices:
        sys.exit(NOT_STRICT)


# What few runs need is imported when it is needed: a small simulation takes about as
# long as its imports.


def _run_timings() -> "RunTimings":
    from quaymaster._cli.timings import RunTimings  # noqa: PLC0415

    return RunTimings()


def _run_observer() -> "RunObserver":
    from quaymaster._studies.simulation.run_observer import RunObserver  # noqa: PLC0415

    return RunObserver()


def _room_observer() -> "RoomObserver":
    from quaymaster._studies.capacity.measuring import RoomObserver  # noqa: PLC0415

    return RoomObserver()


def _recorder(file: str) -> "RecordObserver":
    from quaymaster._studies.recording.simulating import RecordObserver  # noqa: PLC0415

    return RecordObserver(file)


def _simulated(
    inputs: Inputs,
    options: InputOptions,
    times: PodTimes,
    set_options: SchedulerOptions,
    observers: Sequence[AnyObserver],
    *,
    facts: bool,
    autoscaler: "AutoscalerFactory | None",
) -> SimulationResult:
    """Simulate once, for the result and for all observers."""
    try:
        with progress_bar() as progress, inputs.located():
            return simulate(
                inputs.objects,
                config=inputs.config,
                registry=inputs.registry,
                seed=options.seed,
                on_progress=scheduling_in(progress),
                options=set_options,
                max_pods=options.max_pods,
                observers=observers,
                times=times,
                facts=facts,
                autoscaler=autoscaler,
            )
    except VerificationError as error:
        warn(str(error))
        sys.exit(NOT_VERIFIED)


def _noted(result: SimulationResult, inputs: Inputs) -> SimulationResult:
    return attrs.evolve(result, notices=(*inputs.notices, *result.notices))


def _print(
    result: SimulationResult,
    output: OutputFormat,
    timings: "RunTimings | None",
    room: "Room | None",
    scaled: ScaledRun,
) -> None:
    match output:
        case OutputFormat.NAME:
            print_names(result)
        case OutputFormat.CSV:
            print_pods_csv(result)
        case OutputFormat.TABLE | OutputFormat.WIDE:
            print_result(result, wide=output is OutputFormat.WIDE)
            scaled.print(wide=output is OutputFormat.WIDE)
            if room is not None:
                from quaymaster._cli.rooms import print_groups  # noqa: PLC0415 - above

                print_line()
                print_groups(room, is_fitted=output is OutputFormat.TABLE)
            if timings is not None:
                timings.print()
        case _:
            document = as_document(result) | scaled.document()
            if timings is not None:
                document["timings"] = timings.document()
            if room is not None:
                from quaymaster._cli.rooms import room_document  # noqa: PLC0415 - above

                document["capacity"] = room_document(room)
            print_document(document, output)
