"""``quaymaster run``."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

import click

from quaymaster._cli.configuration import read_config
from quaymaster._cli.live import cluster_options
from quaymaster._cli.logs import log_formats, logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.reaching import begin_of, connection_notices
from quaymaster._cli.serving import (
    Operated,
    ServingArguments,
    operating,
    serving_options,
)
from quaymaster._cli.signals import on_hangup, stopping, waking
from quaymaster._cli.values import config_option
from quaymaster._config.watcher import ConfigWatcher
from quaymaster._contract.clock import Clock, RealClock
from quaymaster._deploy.findings import State
from quaymaster._deploy.local_checks import packages_installed
from quaymaster._driver.cluster import KubernetesCluster
from quaymaster._engine.scheduler import Scheduler
from quaymaster._kubernetes.resolving import find_access
from quaymaster._operation.standing import Standing
from quaymaster._registry.registry import PluginRegistry
from quaymaster._runtime.metrics import SchedulerMetrics

__all__ = ["command"]

# Of the 30 s that a pod has to end; the rest is for what the cluster is still told.
_SECONDS_TO_DRAIN: Final = 20.0
_SECONDS_TO_LEAVE: Final = 3.0  # for events that wait


@click.command("run")
@config_option()
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
    config_file: str | None,
    kubeconfig: str | None,
    context: str,
    logging_format: str,
    **served: Any,  # what `serving_options` name
) -> None:
    """Schedule the pods of a cluster: bind them, and preempt others.

    It runs until SIGINT (Ctrl-C) or SIGTERM, lets the binds that are under way end,
    and exits with 0 then. A second signal ends it at once. It exits with 1 when it has
    lost the lease, or its connection to the cluster for good: start it again.
    """
    _check_packages()
    # Only here: it is not there without the extra.
    from quaymaster._driver.executor import (  # noqa: PLC0415 - above
        GreenletExecutor,
        wait_for,
    )

    registry = PluginRegistry.discover()
    config, notices = read_config(config_file, registry)
    begin = begin_of(config, kubeconfig, context, logging_format)
    print_notices(
        [*notices, *connection_notices(config.client_connection, config_file)]
    )
    access = find_access(kubeconfig=begin.kubeconfig, context=context)
    clock, metrics = RealClock(), SchedulerMetrics()
    log = logging_to_stderr(logging_format)
    with log as tell, closing(KubernetesCluster(begin, wait_for)) as cluster:
        scheduler = Scheduler(
            cluster,
            config,
            registry,
            clock=clock,
            seed=random.SystemRandom().getrandbits(64),
            make_executor=GreenletExecutor,
            metrics=metrics,
        )
        stop = threading.Event()
        standing = Standing(
            is_leading=lambda: cluster.is_leading,
            lease_problem=lambda: cluster.lease_problem,
            io_problem=lambda: cluster.end,
            is_stopping=stop.is_set,
        )
        host = urlsplit(access.server).netloc
        operated = Operated(scheduler, metrics, clock, cluster, host)
        with operating(operated, standing, ServingArguments(**served)):
            if begin.election is not None:
                lease = f"{begin.election.namespace}/{begin.election.name}"
                tell(f"waiting for the lease {lease} on {access.server}")
            _run(operated, stop, config_file, registry, tell)
            if cluster.end:
                raise click.ClickException(cluster.end)
            cluster.close(_SECONDS_TO_LEAVE)
            tell("stopped")


def _check_packages() -> None:
    """Say what is not installed, before anything is begun."""
    for finding in packages_installed():
        if finding.state is State.MISSING:
            raise click.UsageError(finding.text)


def _run(
    operated: Operated,
    stop: threading.Event,
    config_file: str | None,
    registry: PluginRegistry,
    tell: Callable[[str], None],
) -> None:
    """Schedule until somebody interrupts, and follow the configuration file."""
    scheduler, cluster, clock = operated.scheduler, operated.cluster, operated.clock

    def end() -> None:
        stop.set()
        scheduler.wake()

    cluster.at_end(end)

    def drain_seconds() -> float:
        return 0.0 if cluster.end else _SECONDS_TO_DRAIN

    is_at_work = threading.Event()

    def begin_to_stop() -> None:
        # A handler runs on this thread, which holds no lock that these need.
        stop.set()
        if not is_at_work.is_set():
            raise KeyboardInterrupt  # nothing has been begun that must end well

    with stopping(begin_to_stop), waking(scheduler.wake), suppress(KeyboardInterrupt):
        cluster.lead()
        if cluster.end:
            return
        tell(f"scheduling {', '.join(scheduler.frameworks)}")
        scheduler.start()
        cluster.attend(clock)
        is_at_work.set()
        with _following(config_file, registry, scheduler, clock):
            scheduler.run(stop, drain_seconds)
    scheduler.close()


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
