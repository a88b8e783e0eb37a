"""The option to schedule pods again that have a node in the input."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import attrs
import click

from quaymaster._base.errors import counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._cli.inputs import Inputs
from quaymaster._studies.changes.unplaced import movable_pods, without_placements

__all__ = ["kept_pods", "placed_pods_notices", "repack_option", "repacked"]

F = TypeVar("F", bound=Callable[..., Any])


def repack_option() -> Callable[[F], F]:
    """Return the option ``--repack``."""
    return click.option(
        "--repack",
        is_flag=True,
        help="Schedule all pods, as if none had a node in the input. Pods of "
        "DaemonSets, static pods, and pods that have ended or are terminating keep "
        "their nodes.",
    )


def repacked(inputs: Inputs, *, is_repacked: bool) -> Inputs:
    """Return an input, with its pods taken from their nodes if that was requested."""
    if not is_repacked:
        return inputs
    return attrs.evolve(inputs, objects=without_placements(inputs.objects))


def kept_pods(inputs: Inputs) -> int:
    """Return how many pods have a node in the input, so that no variant decides."""
    return len(movable_pods(inputs.objects))


def placed_pods_notices(count: int) -> Iterator[Notice]:
    """Yield a notice if pods keep their nodes."""
    if not count:
        return
    stay = "has a node in the input and stays" if count == 1 else None
    yield Notice(
        reason=NoticeReason.LEFT_OUT,
        message=f"{counted(count, 'pod')} {stay or 'have a node in the input and stay'}"
        " there, so only the other pods are compared; --repack schedules all pods",
    )
