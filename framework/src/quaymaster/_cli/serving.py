"""The pages that ``quaymaster run`` serves, and the options for their address."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import attrs
import click

from quaymaster._base.serving.tls import (
    Authorities,
    CertificateError,
    ServerTLS,
    TLSFiles,
    WrapsConnections,
)
from quaymaster._cli.signals import on_signal
from quaymaster._clusters.driver.cluster import KubernetesCluster
from quaymaster._clusters.kubernetes.authorities import ClusterAuthorities
from quaymaster._core.contract.clock import Clock
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._surfaces.operation.access import Gate
from quaymaster._surfaces.operation.attempts import attempts_page, facts_now
from quaymaster._surfaces.operation.background import DriftWatch
from quaymaster._surfaces.operation.client_stats import ClientStats
from quaymaster._surfaces.operation.configz import configz
from quaymaster._surfaces.operation.dump import (
    Dump,
    dump_page,
    holdings,
    log_dump,
    whole_dump,
)
from quaymaster._surfaces.operation.engine_probe import EngineProbe
from quaymaster._surfaces.operation.pages import Page
from quaymaster._surfaces.operation.readiness import Readiness, health
from quaymaster._surfaces.operation.readings import SchedulerReader, client_readings
from quaymaster._surfaces.operation.reviews import ApiReviewer, CachedReviewer
from quaymaster._surfaces.operation.server import PageServer, ServingOptions
from quaymaster._surfaces.operation.server_view import ServerComparer, view_of

__all__ = ["Operated", "ServingArguments", "operating", "serving_options"]

# kubeadm sets the timeout of the scheduler's probes to 15 s; this leaves time for the
# rest of the answer.
_SECONDS_TO_ANSWER: Final = 10.0
# An estimate: a watch reports events much sooner than this.
_SECONDS_BETWEEN_LOOKS: Final = 2.0
# Half of Prometheus' default.
_SECONDS_TO_MEASURE: Final = 5.0
_LARGEST_PORT: Final = 65535


@attrs.frozen
class ServingArguments:
    """The address and certificates to serve with.

    Attributes:
        bind_address: The address to listen on.
        secure_port: The port; 0 serves nothing.
        tls_cert_file: The server's certificate; by default a self-signed one.
        tls_private_key_file: Its key.
        client_ca_file: The CA file for client certificates.
        authentication_skip_lookup: Whether to skip reading these authorities from the
            cluster if there is no file.
    """

    bind_address: str
    secure_port: int
    tls_cert_file: str | None
    tls_private_key_file: str | None
    client_ca_file: str | None
    authentication_skip_lookup: bool


def serving_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `ServingArguments` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: Final = (
    click.option(
        "--bind-address",
        default="127.0.0.1",
        show_default=True,
        metavar="ADDRESS",
        help="The address for health and metrics; 0.0.0.0 for all addresses.",
    ),
    click.option(
        "--secure-port",
        type=click.IntRange(0, _LARGEST_PORT),
        default=10259,
        show_default=True,
        metavar="PORT",
        help="The port for them, over HTTPS; 0 serves nothing.",
    ),
    click.option(
        "--tls-cert-file",
        type=click.Path(),
        metavar="FILE",
        help="Serve with this certificate; by default, with a self-signed one.",
    ),
    click.option(
        "--tls-private-key-file",
        type=click.Path(),
        metavar="FILE",
        help="The private key of the certificate.",
    ),
    click.option(
        "--client-ca-file",
        type=click.Path(),
        metavar="FILE",
        help="Authenticate clients by certificates of these authorities, besides "
        "tokens; by default, by the client CA of the cluster.",
    ),
    click.option(
        "--authentication-skip-lookup",
        is_flag=True,
        help="Do not read the client CA from the cluster.",
    ),
)


@contextmanager
def _serving(
    arguments: ServingArguments, pages: Mapping[str, Page], cluster: KubernetesCluster
) -> Iterator[None]:
    """Serve pages on other threads, unless the port is 0.

    Args:
        arguments: The address and certificates.
        pages: Path -> page.
        cluster: The cluster that authorises clients.
    """
    if not arguments.secure_port:
        yield
        return
    gate = Gate(CachedReviewer(ApiReviewer(cluster.post)))
    authorities = ClusterAuthorities(cluster.read)
    options = ServingOptions(tls=_tls(arguments, authorities.text))
    address = (arguments.bind_address, arguments.secure_port)
    try:
        server = PageServer(address, pages, gate, options)
    except OSError as error:
        where = f"{address[0]}:{address[1]}"
        problem = f"cannot listen on {where}: {error.strerror}; 0 serves nothing"
        raise click.BadParameter(problem, param_hint="--secure-port") from error
    if arguments.client_ca_file is None and not arguments.authentication_skip_lookup:
        authorities.start()
    server.start()
    try:
        yield
    finally:
        authorities.stop()
        server.stop()


@attrs.frozen(eq=False)
class Operated:
    """A running scheduler with its metrics, clock and cluster.

    Attributes:
        scheduler: The scheduler; it must run on the main thread.
        metrics: Its metrics.
        clock: Its clock.
        cluster: Its cluster.
        host: The host of the API server, with its port.
    """

    scheduler: Scheduler
    metrics: SchedulerMetrics
    clock: Clock
    cluster: KubernetesCluster
    host: str

    def stats(self) -> ClientStats:
        """Return the statistics of its requests and its lease."""
        return ClientStats.of(self.host, self.cluster.counted, self.cluster.lease)


@contextmanager
def operating(
    operated: Operated,
    readiness: Readiness,
    arguments: ServingArguments,
) -> Iterator[None]:
    """Serve the pages of a scheduler, compare its caches, and dump it on SIGUSR2.

    Args:
        operated: The scheduler.
        readiness: The readiness of the process.
        arguments: The address and certificates.
    """
    scheduler, clock = operated.scheduler, operated.clock
    probe = EngineProbe(scheduler, _SECONDS_TO_ANSWER, readiness.is_leading)
    quick = EngineProbe(scheduler, _SECONDS_TO_MEASURE, readiness.is_leading)
    drift = DriftWatch(scheduler, clock)
    reader = SchedulerReader(scheduler, operated.metrics, drift.counter.counts)
    comparer = ServerComparer(scheduler, probe, lambda: view_of(operated.cluster.read))

    def dump() -> Dump:
        return whole_dump(
            lambda: probe.ask(lambda: holdings(scheduler, clock.now())),
            lambda: comparer.differences(_SECONDS_BETWEEN_LOOKS),
        )

    # Imported here: it needs the extra.
    from quaymaster._surfaces.operation.exposition import metrics_page  # noqa: PLC0415 - above

    pages: Mapping[str, Page] = {
        **health(readiness, probe, scheduler),
        "/metrics": metrics_page(
            quick,
            reader.read,
            lambda: client_readings(operated.stats(), scheduler.config.kubernetes),
            scheduler.plugin_metrics,
        ),
        "/debug/dump": dump_page(dump),
        "/debug/attempts": attempts_page(
            probe, scheduler.past_attempts, facts_now(scheduler)
        ),
        "/configz": configz(lambda: scheduler.config),
    }
    drift.start()
    with (
        _serving(arguments, pages, operated.cluster),
        on_signal("SIGUSR2", lambda: log_dump(dump)),
    ):
        yield


def _tls(arguments: ServingArguments, authorities: Authorities) -> WrapsConnections:
    certificate, key = arguments.tls_cert_file, arguments.tls_private_key_file
    if (certificate is None) != (key is None):
        raise click.UsageError(
            "--tls-cert-file and --tls-private-key-file need each other"
        )
    try:
        if certificate is not None and key is not None:
            files = TLSFiles(
                certificate=certificate,
                key=key,
                client_authorities=arguments.client_ca_file,
            )
            return ServerTLS(files, authorities)
        return _self_signed(arguments, authorities)
    except CertificateError as error:
        raise click.UsageError(str(error)) from error


def _self_signed(
    arguments: ServingArguments, authorities: Authorities
) -> WrapsConnections:
    # Imported here: the import is slow, and it needs the extra.
    from quaymaster._base.serving.self_signed import SelfSignedTLS  # noqa: PLC0415 - above

    host, file = arguments.bind_address, arguments.client_ca_file
    return SelfSignedTLS(host, file, authorities)
