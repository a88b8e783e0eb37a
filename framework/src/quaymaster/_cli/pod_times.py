"""The options that say how long simulated pods need to start and to end."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final, TypeVar

import attrs
import click

from quaymaster._api.objects import ApiObject
from quaymaster._cli.output import warn
from quaymaster._clusters.inmemory.pod_times import PodTimes
from quaymaster._core.config.duration import parse_duration

__all__ = ["TimesChoice", "pod_times_options", "print_assumed_startup"]

F = TypeVar("F", bound=Callable[..., Any])

_WAITING_KINDS: Final = frozenset(
    {"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}
)


@attrs.frozen
class TimesChoice:
    """The values of the options; None where the user has chosen nothing.

    Attributes:
        startup_seconds: How long pods need until they are ready.
        termination_seconds: How long deleted pods need to end.
    """

    startup_seconds: float | None
    termination_seconds: float | None

    def over(self, times: PodTimes) -> PodTimes:
        """Return the times, with those that the user has chosen."""
        if self.startup_seconds is not None:
            times = attrs.evolve(
                times,
                startup_seconds=self.startup_seconds,
                workload_startup_seconds=self.startup_seconds,
            )
        if self.termination_seconds is not None:
            seconds = self.termination_seconds
            times = attrs.evolve(times, termination_seconds=seconds)
        return times


def pod_times_options() -> Callable[[F], F]:
    """Return the options ``--startup`` and ``--termination``, in seconds or None."""

    def add(command: F) -> F:
        command = click.option(
            "--termination",
            metavar="DURATION",
            callback=_seconds,
            help="How long a deleted pod needs to end; at most its grace period, which "
            "is the default.",
        )(command)
        return click.option(
            "--startup",
            metavar="DURATION",
            callback=_seconds,
            help="How long pods need until they are ready, if their probes take no "
            "longer.  [default: 5s for pods of workloads, 0s for others]",
        )(command)

    return add


def print_assumed_startup(
    choice: TimesChoice, times: PodTimes, objects: Iterable[ApiObject]
) -> None:
    """Print to standard error how long pods need to start, if that is assumed."""
    seconds = times.workload_startup_seconds
    is_assumed = choice.startup_seconds is None and seconds > 0
    if is_assumed and any(obj.kind in _WAITING_KINDS for obj in objects):
        warn(
            f"note: pods of workloads are ready {seconds:g}s after their binding; "
            "--startup changes that"
        )


def _seconds(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> float | None:
    if text is None:
        return None
    length = parse_duration(text)
    if length is None or length < timedelta(0):
        raise click.BadParameter(f"expected a duration such as 90s or 5m, got {text!r}")
    return length.total_seconds()
