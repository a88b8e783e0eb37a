"""``quaymaster run``."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

import click

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.configuration import ConfigSource, config_options, read_config
from quaymaster._cli.live_options import cluster_options
from quaymaster._cli.logs import log_formats, logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.reaching import connection_notices
from quaymaster._cli.serving import (
    Operated,
    ServingArguments,
    operating,
    serving_options,
)
from quaymaster._cli.signals import on_hangup, stopping, waking
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._core.config.watcher import ConfigWatcher
from quaymaster._core.contract.clock import Clock
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._surfaces.deploy.findings import State
from quaymaster._surfaces.deploy.group_checks import unserved_groups
from quaymaster._surfaces.deploy.local_checks import packages_installed
from quaymaster._surfaces.deploy.server_checks import version_skew
from quaymaster._surfaces.operation.live import ClusterLostError, KubernetesScheduler
from quaymaster._surfaces.operation.readiness import Readiness

__all__ = ["command"]

_TIMEOUT: Final = 5.0  # seconds


@click.command("run")
@config_options()
@cluster_options
@click.option(
    "--logging-format",
    type=click.Choice(log_formats()),
    default="text",
    show_default=True,
    help="The format of the log, which goes to standard error.",
)
@serving_options
def command(
    configured: ConfigSource,
    kubeconfig: str | None,
    context: str,
    logging_format: str,
    **served: Any,  # what `serving_options` name
) -> None:
    """Schedule the pods of a cluster: bind them, and preempt others.

    It runs until SIGINT (Ctrl-C) or SIGTERM, finishes the binds in progress, and exits
    with 0. A second signal ends it at once. It exits with 1 when it has lost the lease,
    or lost its connection to the cluster permanently: start it again.
    """
    _check_packages()
    registry = installed_plugins()
    config, notices = read_config(configured, registry)
    print_notices(
        [*notices, *connection_notices(config.client_connection, configured.file)]
    )
    connection = config.client_connection
    kubeconfig = kubeconfig or connection.kubeconfig or None
    access = find_access(kubeconfig=kubeconfig, context=context)
    _check_groups(access, config.kubernetes)
    metrics = SchedulerMetrics()
    with logging_to_stderr(logging_format) as announce:
        live = KubernetesScheduler(
            config,
            registry,
            kubeconfig=kubeconfig,
            context=context,
            metrics=metrics,
            logging_format=logging_format,
        )
        cluster = live.cluster
        readiness = Readiness(
            is_leading=lambda: cluster.is_leading,
            lease_problem=lambda: cluster.lease_problem,
            io_problem=lambda: cluster.end,
            troubles=lambda: cluster.troubles,
            is_stopping=live.stopping.is_set,
        )
        host = urlsplit(access.server).netloc
        operated = Operated(live.scheduler, metrics, live.clock, cluster, host)
        with (
            closing(cluster),
            operating(operated, readiness, ServingArguments(**served)),
        ):
            if config.leader_election.leader_elect:
                lease = config.leader_election
                name = f"{lease.resource_namespace}/{lease.resource_name}"
                announce(f"waiting for the lease {name} on {access.server}")
            try:
                _announce_skew(access, config.kubernetes, announce)
                _run(live, configured.file, registry, announce)
            except ClusterLostError as error:
                raise click.ClickException(str(error)) from error
            live.close()
            announce("stopped")


def _announce_skew(
    access: Access, kubernetes: Kubernetes, announce: Callable[[str], None]
) -> None:
    """Print the Kubernetes version of decisions, and that of the server if another."""
    announce(f"decisions are those of Kubernetes {kubernetes}")
    with suppress(ApiError), closing(ApiClient(access, timeout=_TIMEOUT)) as client:
        answer = client.request("GET", "/version")
        skew = version_skew(answer.body, kubernetes)
        if skew.state is not State.OK or kubernetes.version in skew.text:
            announce(f"the server is {skew.text}")


def _check_groups(access: Access, kubernetes: Kubernetes) -> None:
    """Report kinds of groups that the server does not serve; it may be unreachable.

    Otherwise the scheduler would wait for their list, and schedule nothing.
    """
    with suppress(ApiError), closing(ApiClient(access, timeout=_TIMEOUT)) as client:
        for problem in unserved_groups(client, kubernetes):
            raise click.ClickException(f"{access.server}: {problem}")


def _check_packages() -> None:
    """Report missing packages before any work starts."""
    for finding in packages_installed():
        if finding.state is State.MISSING:
            raise click.UsageError(finding.text)


def _run(
    live: KubernetesScheduler,
    config_file: str | None,
    registry: PluginRegistry,
    announce: Callable[[str], None],
) -> None:
    """Schedule until a signal arrives, and follow the configuration file."""
    scheduler = live.scheduler
    is_at_work = threading.Event()

    def begin_to_stop() -> None:
        # A handler runs on this thread, which holds no lock that this needs.
        live.stopping.set()
        if not is_at_work.is_set():
            raise KeyboardInterrupt  # no work has started yet

    @contextmanager
    def following() -> Iterator[None]:
        is_at_work.set()
        with _following(config_file, registry, scheduler, live.clock):
            yield

    watch = live.cluster.engine_watch
    signals = waking(
        scheduler.wake,
        channel=(watch.receiver, watch.sender) if watch is not None else None,
        note=live.cluster.note_signals,
    )
    with stopping(begin_to_stop), signals, suppress(KeyboardInterrupt):
        live.lead()
        announce(f"scheduling {', '.join(scheduler.frameworks)}")
        live.run(following)


@contextmanager
def _following(
    config_file: str | None,
    registry: PluginRegistry,
    scheduler: Scheduler,
    clock: Clock,
) -> Iterator[None]:
    """Follow the configuration file, if there is one."""
    if config_file is None:
        yield
        return
    watcher = ConfigWatcher(config_file, registry, scheduler, clock)
    watcher.start()
    with on_hangup(watcher.check):
        yield
