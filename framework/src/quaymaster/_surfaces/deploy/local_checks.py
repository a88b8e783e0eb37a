"""Checks of the machine that this runs on: packages, extenders, the port."""

import importlib.util
import socket
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._core.config.settings import Extender
from quaymaster._core.extenders.errors import ExtenderError
from quaymaster._core.extenders.transport import Endpoint
from quaymaster._surfaces.deploy.findings import Finding, fine, missing, worrying

__all__ = ["extenders_reached", "packages_installed", "port_free"]

_PACKAGES: Final = ("cryptography", "greenlet", "prometheus_client")
_REMEDY: Final = "pip install 'quaymaster[kubernetes]'"


def packages_installed() -> Iterator[Finding]:
    """Whether the packages are there that ``quaymaster run`` needs."""
    absent = [one for one in _PACKAGES if importlib.util.find_spec(one) is None]
    if absent:
        yield missing("packages", f"not installed: {', '.join(absent)}; {_REMEDY}")
    else:
        yield fine("packages", "all are installed")


def extenders_reached(extenders: Iterable[Extender]) -> Iterator[Finding]:
    """Whether each extender can be connected to, by TLS where it has some."""
    for one in extenders:
        try:
            Endpoint(one).reach()
        except ExtenderError as error:
            tell = worrying if one.ignorable else missing
            yield tell("extenders", f"{one.url_prefix}: {error}")
        else:
            yield fine("extenders", f"{one.url_prefix} can be connected to")


def port_free(address: str, port: int) -> Iterator[Finding]:
    """Whether health and metrics can be served.

    Args:
        address: The address to listen on.
        port: The port; 0 serves nothing.
    """
    if not port:
        return
    where = f"{address}:{port}"
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address, port))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        yield worrying("port", f"{where} cannot be served on here: {why}")
    else:
        yield fine("port", f"{where} is free here")
