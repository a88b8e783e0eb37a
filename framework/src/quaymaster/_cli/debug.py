"""``quaymaster debug``."""

import ipaddress
from contextlib import closing
from typing import Final
from urllib.parse import urlsplit

import attrs
import click
import msgspec

from quaymaster._cli.output import print_line
from quaymaster._kubernetes.access import Access, Pem
from quaymaster._kubernetes.client import ApiClient
from quaymaster._kubernetes.resolving import find_access
from quaymaster._operation.dump import told_in_lines

__all__ = ["group"]

# A scheduler with many pods needs a while, as it compares twice.
_SECONDS: Final = 300.0


@click.group("debug")
def group() -> None:
    """Look into a scheduler that runs."""


@group.command("dump")
@click.option(
    "--server",
    metavar="URL",
    default="https://127.0.0.1:10259",
    show_default=True,
    help="Where the scheduler serves its pages.",
)
@click.option(
    "--certificate-authority",
    metavar="FILE",
    type=click.Path(),
    help="Who vouches for its certificate; needed but for loopback addresses.",
)
@click.option(
    "--kubeconfig",
    metavar="FILE",
    type=click.Path(),
    help="The kubeconfig file with your credentials.",
)
@click.option(
    "--context", metavar="NAME", default="", help="The context of the kubeconfig."
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format.",
)
def dump(
    server: str,
    certificate_authority: str | None,
    kubeconfig: str | None,
    context: str,
    form: str,
) -> None:
    """Print what a scheduler holds: queues, nominations, waits, and its mistakes.

    It also compares nodes and pods with those of the API server. You need the right to
    "get" the path /debug/dump.
    """
    access = find_access(kubeconfig=kubeconfig, context=context)
    access = _aimed_at(access, server, certificate_authority)
    with closing(ApiClient(access, timeout=_SECONDS)) as client:
        tree = msgspec.json.decode(client.get("/debug/dump"))
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(tree), indent=2).decode()
        print_line(text)
        return
    for line in told_in_lines(tree):
        print_line(line)


def _aimed_at(access: Access, server: str, authority: str | None) -> Access:
    """Return the same credentials, for the scheduler instead of the API server."""
    url = urlsplit(server)
    if url.scheme != "https" or not url.hostname:
        problem = f"expected a URL such as https://127.0.0.1:10259, got {server!r}"
        raise click.BadParameter(problem, param_hint="--server")
    if authority is None and not _is_loopback(url.hostname):
        # Credentials are not shown to somebody whom nobody vouches for.
        problem = f"needs --certificate-authority, since {url.hostname} is elsewhere"
        raise click.BadParameter(problem, param_hint="--server")
    return attrs.evolve(
        access,
        name="scheduler",
        server=server.rstrip("/"),
        authority=Pem(file=authority or ""),
        is_insecure=authority is None,
        server_name="",
        proxy_url="",
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
