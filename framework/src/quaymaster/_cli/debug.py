"""``quaymaster debug``."""

import ipaddress
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any, Final
from urllib.parse import quote, urlsplit

import attrs
import click
import msgspec

from quaymaster._cli.groups import SuggestingGroup
from quaymaster._cli.output import print_line
from quaymaster._clusters.kubernetes.access import Access, Pem
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._surfaces.operation.attempts import attempts_in_lines
from quaymaster._surfaces.operation.dump import dump_in_lines

__all__ = ["group"]

# A scheduler with many pods needs time: it compares its caches twice.
_SECONDS: Final = 300.0


@click.group("debug", cls=SuggestingGroup)
def group() -> None:
    """Inspect a running scheduler."""


_REACHING: Final = (
    click.option(
        "--server",
        metavar="URL",
        default="https://127.0.0.1:10259",
        show_default=True,
        help="The URL of the scheduler's pages.",
    ),
    click.option(
        "--certificate-authority",
        metavar="FILE",
        type=click.Path(),
        help="The CA file for its certificate; optional for loopback addresses.",
    ),
    click.option(
        "--kubeconfig",
        metavar="FILE",
        type=click.Path(),
        help="The kubeconfig file with your credentials.",
    ),
    click.option(
        "--context", metavar="NAME", default="", help="The context of the kubeconfig."
    ),
    click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="The format.",
    ),
)


def _reaching(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for the scheduler's address and credentials to a command."""
    for option in reversed(_REACHING):
        command = option(command)
    return command


@group.command("dump", short_help="Print the queues, nominations and waiting pods")
@_reaching
def dump(
    server: str,
    certificate_authority: str | None,
    kubeconfig: str | None,
    context: str,
    form: str,
) -> None:
    """Print a scheduler's queues, nominations, waiting pods and cache differences.

    The scheduler compares its nodes and pods with those of the API server. You need the
    right to "get" the path /debug/dump.
    """
    access = _aimed_at(
        find_access(kubeconfig=kubeconfig, context=context),
        server,
        certificate_authority,
    )
    tree = _fetched(access, "/debug/dump")
    _print(tree, form, dump_in_lines)


@group.command("attempts", short_help="Print why the last attempts ended as they did")
@click.argument("pod", required=False, default="")
@click.option(
    "--node", metavar="NAME", default="", help="Print only what concerns this node."
)
@click.option(
    "--facts",
    is_flag=True,
    help="Also print the facts that keep the pod pending now, such as requested and "
    "free amounts.",
)
@_reaching
def attempts(
    pod: str,
    node: str,
    facts: bool,
    server: str,
    certificate_authority: str | None,
    kubeconfig: str | None,
    context: str,
    form: str,
) -> None:
    """Print why the last attempts of a scheduler ended as they did.

    POD is a pod as NAMESPACE/NAME, or NAME in the namespace "default". Its attempts are
    printed with the verdict about each node. Without POD, the last 100 attempts are
    printed. The scheduler keeps about a thousand attempts; nothing is simulated
    again. Only the facts of --facts are those of the moment of the request. You need
    the right to "get" the path /debug/attempts.
    """
    for option, is_given in (("--node", bool(node)), ("--facts", facts)):
        if is_given and not pod:
            raise click.UsageError(f"{option} needs a POD")
    if pod and "/" not in pod:
        pod = f"default/{pod}"
    access = _aimed_at(
        find_access(kubeconfig=kubeconfig, context=context),
        server,
        certificate_authority,
    )
    query = f"?pod={quote(pod)}&node={quote(node)}" if pod else ""
    query += "&facts=true" if facts else ""
    _print(_fetched(access, f"/debug/attempts{query}"), form, attempts_in_lines)


def _fetched(access: Access, path: str) -> dict[str, Any]:
    with closing(ApiClient(access, timeout=_SECONDS)) as client:
        return msgspec.json.decode(client.get(path), type=dict[str, Any])


def _print(
    tree: dict[str, Any],
    form: str,
    in_lines: Callable[[dict[str, Any]], Iterable[str]],
) -> None:
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(tree), indent=2).decode()
        print_line(text)
        return
    for line in in_lines(tree):
        print_line(line)


def _aimed_at(access: Access, server: str, authority: str | None) -> Access:
    """Return the same credentials, for the scheduler instead of the API server."""
    url = urlsplit(server)
    if url.scheme != "https" or not url.hostname:
        problem = f"expected a URL such as https://127.0.0.1:10259, got {server!r}"
        raise click.BadParameter(problem, param_hint="--server")
    if authority is None and not _is_loopback(url.hostname):
        # Credentials go only to servers with a trusted certificate.
        problem = f"needs --certificate-authority, since {url.hostname} is not loopback"
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
