"""The option ``--daemon-sets-first``."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["daemon_sets_option"]

F = TypeVar("F", bound=Callable[..., Any])


def daemon_sets_option(*, is_default: bool = False) -> Callable[[F], F]:
    """The option that tries pods of DaemonSets before all others.

    Args:
        is_default: Whether they are tried first unless the user says otherwise.
    """
    return click.option(
        "--daemon-sets-first/--daemon-sets-in-order",
        "daemon_sets_first",
        default=is_default,
        show_default=True,
        help="Whether pods of DaemonSets are tried before all others, as autoscalers "
        "reserve their room on new nodes, or in the order of the queue, as a scheduler "
        "tries them.",
    )
