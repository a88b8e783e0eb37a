"""The options that say how long simulated pods need to start and to end."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, TypeVar

import attrs
import click

from quaymaster._api.objects import ApiObject, Node, Pod, PodSpec
from quaymaster._api.objects.quantity import (
    Quantity,
    QuantityError,
    QuantityFormat,
)
from quaymaster._base.errors import counted, listed
from quaymaster._cli.output import warn
from quaymaster._clusters.inmemory.image_pulls import image_sizes, images_of
from quaymaster._clusters.inmemory.pod_times import PodTimes
from quaymaster._core.config.duration import parse_duration

__all__ = ["TimesChoice", "pod_times_options", "print_assumed_startup", "print_pulls"]

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN: Final = 3

_WAITING_KINDS: Final = frozenset(
    {"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}
)


@attrs.frozen
class TimesChoice:
    """The values of the options; None where the user has chosen nothing.

    Attributes:
        startup_seconds: How long pods need until they are ready.
        termination_seconds: How long deleted pods need to end.
        pull_rate: How much of an image a node pulls in a second.
    """

    startup_seconds: float | None
    termination_seconds: float | None
    pull_rate: Quantity | None = None

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
        if self.pull_rate is not None:
            rate = float(self.pull_rate.value)
            times = attrs.evolve(times, pull_bytes_per_second=rate)
        return times


def pod_times_options() -> Callable[[F], F]:
    """Return the options ``--startup``, ``--termination`` and ``--pull``.

    Those that are not set are None; the first two are in seconds.
    """

    def add(command: F) -> F:
        command = click.option(
            "--pull",
            metavar="AMOUNT",
            callback=_rate,
            help="How much of an image a node pulls in a second, such as 50Mi. A node "
            "pulls the images that it lacks one after another, in the sizes that nodes "
            "report.  [default: pulls take no time]",
        )(command)
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


def print_pulls(times: PodTimes, objects: Sequence[ApiObject]) -> None:
    """Print to standard error how nodes pull images, if that takes time."""
    rate = times.pull_bytes_per_second
    if rate is None:
        return
    amount = Quantity.from_value(int(rate), QuantityFormat.BINARY_SI)
    sizes = image_sizes(obj for obj in objects if isinstance(obj, Node))
    images = {name for obj in objects for name in _images_of(obj)}
    unsized = sorted(images - sizes.keys())
    message = f"note: nodes pull images at {amount} per second, one after another"
    if unsized:
        shown = listed(unsized, _SHOWN)
        count = counted(len(unsized), "image")
        verb = "takes" if len(unsized) == 1 else "take"
        message += f"; {count} whose size no node reports {verb} no time: {shown}"
    warn(message)


def _images_of(obj: ApiObject) -> Iterable[str]:
    """Return the images of a pod, or of the pods of a workload."""
    if isinstance(obj, Pod):
        return images_of(obj.spec)
    template = getattr(getattr(obj, "spec", None), "template", None)
    spec = getattr(template, "spec", None)
    return images_of(spec) if isinstance(spec, PodSpec) else ()


def _seconds(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> float | None:
    if text is None:
        return None
    length = parse_duration(text)
    if length is None or length < timedelta(0):
        raise click.BadParameter(f"expected a duration such as 90s or 5m, got {text!r}")
    return length.total_seconds()


def _rate(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> Quantity | None:
    if text is None:
        return None
    try:
        rate = Quantity(text)
    except QuantityError:
        rate = Quantity(0)
    if rate.value < 1:
        message = f"expected bytes per second such as 50Mi, got {text!r}"
        raise click.BadParameter(message)
    return rate
