"""``quaymaster extender``."""

from collections.abc import Sequence
from contextlib import closing

import click

from quaymaster._cli.configuration import ConfigSource, config_options
from quaymaster._cli.inputs import InputOptions, read_inputs
from quaymaster._cli.listening import (
    bind_option,
    check_encryption,
    plain_http_option,
    read_tls,
    tls_options,
)
from quaymaster._cli.logs import logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import announce, print_line
from quaymaster._cli.signals import interruptible, on_hangup, waking
from quaymaster._cli.values import MANIFEST
from quaymaster._core.config.watcher import ConfigWatcher
from quaymaster._core.contract.clock import RealClock
from quaymaster._surfaces.extender_server.http_server import (
    ExtenderServer,
    ServerOptions,
)
from quaymaster._surfaces.extender_server.service import ExtenderService, UnknownNodes

__all__ = ["command"]


@click.command("extender")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=MANIFEST)
@config_options(required=True)
@bind_option("127.0.0.1:8888")
@click.option(
    "--unknown-nodes",
    type=click.Choice([choice.value for choice in UnknownNodes]),
    default=UnknownNodes.REJECT.value,
    show_default=True,
    help="How to treat nodes that a request only names and that PATH lacks.",
)
@tls_options
@click.option(
    "--client-ca-file",
    type=click.Path(),
    metavar="FILE",
    help="Accept only clients with a certificate of these authorities.",
)
@plain_http_option("pods, nodes and answers")
@click.option(
    "--max-request-bytes",
    type=click.IntRange(min=1),
    default=ServerOptions().max_request_bytes,
    show_default=True,
    metavar="N",
    help="The maximum size of a request.",
)
def command(
    paths: Sequence[str],
    configured: ConfigSource,
    address: tuple[str, int],
    unknown_nodes: str,
    tls_cert_file: str | None,
    tls_private_key_file: str | None,
    client_ca_file: str | None,
    plain_http: bool,
    max_request_bytes: int,
) -> None:
    """Serve a profile's plugins to kube-scheduler, as its extender.

    The verbs are "filter" (the profile's PreFilter and Filter plugins) and "prioritize"
    (PreScore and Score). PATH is a file, a directory, or - for standard input, with the
    initial nodes and pods; a kube-scheduler that sends only the names of nodes
    (nodeCacheCapable) needs them here. It runs until SIGINT (Ctrl-C) or SIGTERM,
    and then exits with 0.

    A changed configuration file is loaded within seconds, or at once after the signal
    SIGHUP. An invalid file is reported, and the old configuration stays in use.
    """
    tls = read_tls(tls_cert_file, tls_private_key_file, client_ca_file)
    check_encryption(address[0], tls, plain_http=plain_http)
    options = ServerOptions(tls=tls, max_request_bytes=max_request_bytes)
    inputs = read_inputs(
        InputOptions(paths=tuple(paths), configured=configured),
        asks_extenders=False,
        needs_paths=False,
    )
    clock = RealClock()
    with logging_to_stderr(), inputs.located():
        service = ExtenderService(
            inputs.config,
            inputs.registry,
            inputs.objects,
            clock=clock,
            unknown_nodes=UnknownNodes(unknown_nodes),
        )
    print_notices(inputs.notices)
    assert configured.file is not None, "it is required"
    watcher = ConfigWatcher(configured.file, inputs.registry, service, clock)
    with logging_to_stderr(), closing(service):
        _serve(_listening(address, service, options), watcher)


def _serve(server: ExtenderServer, watcher: ConfigWatcher) -> None:
    """Serve until a signal arrives, and follow the configuration file."""
    watcher.start()
    with (
        interruptible(),
        server,
        on_hangup(watcher.check),
        waking(server.service.wake),
    ):
        announce(f"serving filter and prioritize on {server.url}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print_line("stopped")


def _listening(
    address: tuple[str, int], service: ExtenderService, options: ServerOptions
) -> ExtenderServer:
    try:
        return ExtenderServer(address, service, options)
    except OSError as error:
        where = f"{address[0]}:{address[1]}"
        raise click.BadParameter(
            f"cannot listen on {where}: {error.strerror}", param_hint="--bind"
        ) from error
