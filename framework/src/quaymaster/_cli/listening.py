"""The options for the address and certificates of servers."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from quaymaster._base.serving.foreign_requests import is_loopback
from quaymaster._base.serving.tls import CertificateError, ServerTLS, TLSFiles

__all__ = [
    "bind_option",
    "check_encryption",
    "plain_http_option",
    "read_tls",
    "tls_options",
]

F = TypeVar("F", bound=Callable[..., Any])

_LARGEST_PORT: Final = 65535


def bind_option(default: str) -> Callable[[F], F]:
    """The option ``--bind``, which a command gets as ``address``: host and port."""

    def address(
        _context: click.Context, _option: click.Parameter, text: str
    ) -> tuple[str, int]:
        host, colon, port = text.rpartition(":")
        if not (host and colon and port.isdecimal() and int(port) <= _LARGEST_PORT):
            expected = f"a host and a port such as {default}"
            raise click.BadParameter(f"expected {expected}, got {text!r}")
        return host.removeprefix("[").removesuffix("]"), int(port)

    return click.option(
        "--bind",
        "address",
        metavar="HOST:PORT",
        default=default,
        show_default=True,
        callback=address,
        help="The address to listen on; port 0 selects a free port.",
    )


def tls_options(command: F) -> F:
    """Give a command the options ``--tls-cert-file`` and ``--tls-private-key-file``."""
    certificate = click.option(
        "--tls-cert-file",
        type=click.Path(),
        metavar="FILE",
        help="Serve HTTPS with this certificate chain.",
    )
    key = click.option(
        "--tls-private-key-file",
        type=click.Path(),
        metavar="FILE",
        help="The private key of the certificate.",
    )
    return certificate(key(command))


def read_tls(
    certificate: str | None, key: str | None, client_authorities: str | None = None
) -> ServerTLS | None:
    """Return the TLS settings of a server, or None without certificate files.

    Args:
        certificate: The file with the certificate.
        key: The file with its private key.
        client_authorities: The CA file for client certificates.
    """
    if certificate is None and key is None:
        if client_authorities is not None:
            raise click.UsageError("--client-ca-file needs --tls-cert-file")
        return None
    if certificate is None or key is None:
        raise click.UsageError(
            "--tls-cert-file and --tls-private-key-file need each other"
        )
    files = TLSFiles(
        certificate=certificate, key=key, client_authorities=client_authorities
    )
    try:
        return ServerTLS(files)
    except CertificateError as error:
        raise click.UsageError(str(error)) from error


def plain_http_option(what: str) -> Callable[[F], F]:
    """The option ``--plain-http``.

    Args:
        what: What others on the network can read without TLS.
    """
    return click.option(
        "--plain-http",
        is_flag=True,
        help="Serve without TLS although other machines reach the address: others can "
        f"read {what} on the network.",
    )


def check_encryption(host: str, tls: ServerTLS | None, *, plain_http: bool) -> None:
    """Reject plain HTTP on an address that other machines reach, unless allowed.

    Raises:
        UsageError: It is refused.
    """
    if tls is None and not plain_http and not is_loopback(host):
        raise click.UsageError(
            f"other machines reach {host}: expected --tls-cert-file and "
            "--tls-private-key-file, or --plain-http to serve without TLS"
        )
