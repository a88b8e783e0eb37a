"""Live clusters: the options that select one, and its objects."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any, TypeVar

import click

from quaymaster._api.objects import ApiObject
from quaymaster._cli.output import progress_bar
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.kubeconfig import (
    kubeconfig_files,
    merged,
    read_kubeconfig,
)
from quaymaster._clusters.kubernetes.listing import LiveObjects, list_objects
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._clusters.kubernetes.resources import CRON_JOBS, resources_of
from quaymaster._core.config.errors import ConfigErrors

__all__ = ["access_of", "cluster_options", "live_options", "read_live"]

F = TypeVar("F", bound=Callable[..., Any])


def _complete_context(
    context: click.Context, _option: click.Parameter, incomplete: str
) -> list[str]:
    """Propose the contexts of the kubeconfig; none if it cannot be read."""
    files = kubeconfig_files(context.params.get("kubeconfig"), os.environ)
    try:
        names = merged(map(read_kubeconfig, files)).contexts
    except ConfigErrors:
        return []
    return [name for name in sorted(names) if name.startswith(incomplete)]


_OPTIONS = (
    click.option(
        "--context",
        metavar="NAME",
        shell_complete=_complete_context,
        help="Read the live cluster of this context of the kubeconfig; '' is the "
        "current one. Nothing is written to it.",
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


def access_of(context: str | None, kubeconfig: str | None) -> Access | None:
    """The access to the cluster that the options name, or None."""
    if context is None and kubeconfig is None:
        return None
    return find_access(kubeconfig=kubeconfig, context=context or "")


def read_live(
    access: Access,
    kinds: Iterable[type[ApiObject]],
    *,
    namespace: str = "",
    selector: str = "",
    cron_jobs: bool = False,
) -> LiveObjects:
    """Read the objects of a cluster that scheduling uses.

    Args:
        access: How to reach it.
        kinds: Kinds that plugins and packages declare.
        namespace: The only namespace to read; empty for all.
        selector: The labels of pods and workloads to read; empty for all.
        cron_jobs: Whether to read CronJobs as well.
    """
    resources = [*resources_of(kinds), *([CRON_JOBS] if cron_jobs else ())]
    with progress_bar() as progress, closing(ApiClient(access)) as client:
        task = progress.add_task("reading", total=len(resources))

        def follow(what: str) -> None:
            progress.update(task, advance=1, description=f"reading {what}")

        return list_objects(
            client,
            resources,
            namespace=namespace,
            selector=selector,
            on_progress=follow,
        )
