"""The options that name a live cluster.

They import no client of clusters: that takes 20 ms, and most inputs are files.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["cluster_options", "live_options"]

F = TypeVar("F", bound=Callable[..., Any])


def _complete_context(
    context: click.Context, _option: click.Parameter, incomplete: str
) -> list[str]:
    """Propose the contexts of the kubeconfig; none if it cannot be read."""
    from quaymaster._cli.live import context_names  # noqa: PLC0415 - for shells alone

    names = context_names(context.params.get("kubeconfig"))
    return [name for name in names if name.startswith(incomplete)]


_OPTIONS = (
    click.option(
        "--context",
        metavar="NAME",
        shell_complete=_complete_context,
        help="Read the live cluster of this context of the kubeconfig; '' is the "
        "current one. Nothing is ever written to it.",
    ),
    click.option(
        "--kubeconfig",
        metavar="FILE",
        type=click.Path(),
        help="The kubeconfig file, instead of those of $KUBECONFIG or "
        "~/.kube/config; without --context, its current context is read.",
    ),
)


def live_options(command: F) -> F:
    """Give a command the options that name a live cluster."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_CLUSTER_OPTIONS = (
    click.option(
        "--kubeconfig",
        metavar="FILE",
        type=click.Path(),
        help="The kubeconfig file, instead of those of $KUBECONFIG or ~/.kube/config.",
    ),
    click.option(
        "--context",
        metavar="NAME",
        default="",
        shell_complete=_complete_context,
        help="The context of the kubeconfig; by default the current one, or without "
        "any kubeconfig the service account of the pod that this runs in.",
    ),
)


def cluster_options(command: F) -> F:
    """Give a command that always works on a cluster the options that name it."""
    for option in reversed(_CLUSTER_OPTIONS):
        command = option(command)
    return command
