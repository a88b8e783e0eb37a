"""Reads live clusters that the command line names."""

import os
from collections.abc import Iterable
from contextlib import closing

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
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
from quaymaster._clusters.kubernetes.resources import (
    CRON_JOBS,
    operator_resources,
    resources_of,
)
from quaymaster._core.config.errors import ConfigErrors

__all__ = ["access_of", "context_names", "read_live"]


def context_names(kubeconfig: str | None) -> list[str]:
    """Return the sorted contexts of a kubeconfig; none if it cannot be read."""
    files = kubeconfig_files(kubeconfig, os.environ)
    try:
        return sorted(merged(map(read_kubeconfig, files)).contexts)
    except ConfigErrors:
        return []


def access_of(context: str | None, kubeconfig: str | None) -> Access:
    """Return the access to the cluster that the options name."""
    return find_access(kubeconfig=kubeconfig, context=context or "")


def read_live(
    access: Access,
    kinds: Iterable[type[ApiObject]],
    *,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    namespace: str = "",
    selector: str = "",
    cron_jobs: bool = False,
) -> LiveObjects:
    """Read the objects of a cluster that scheduling uses.

    Args:
        access: How to reach it.
        kinds: Kinds that plugins and packages declare.
        kubernetes: The version and feature gates of the simulation.
        namespace: The only namespace to read; empty for all.
        selector: The labels of pods and workloads to read; empty for all.
        cron_jobs: Whether to read CronJobs as well.
    """
    kinds = tuple(kinds)
    resources = [
        *resources_of(kinds, kubernetes),
        *operator_resources(kinds),
        *([CRON_JOBS] if cron_jobs else ()),
    ]
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
