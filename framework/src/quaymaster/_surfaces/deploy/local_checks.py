"""Checks of this machine: packages, extenders, the port."""

import importlib.util
import socket
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._base.missing_packages import not_installed
from quaymaster._core.config.settings import Extender
from quaymaster._core.extenders.errors import ExtenderError
from quaymaster._core.extenders.transport import Endpoint
from quaymaster._surfaces.deploy.findings import Finding, fine, missing, worrying

__all__ = ["extenders_reached", "packages_installed", "port_free"]

_PACKAGES: Final = ("cryptography", "greenlet", "prometheus_client")


def packages_installed() -> Iterator[Finding]:
    """Check that the packages of ``quaymaster run`` are installed."""
    absent = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        yield missing("packages", not_installed(absent, "kubernetes"))
    else:
        yield fine("packages", "all are installed")


def extenders_reached(extenders: Iterable[Extender]) -> Iterator[Finding]:
    """Check that each extender accepts connections, with TLS if configured."""
    for extender in extenders:
        try:
            Endpoint(extender).reach()
        except ExtenderError as error:
            finding_of = worrying if extender.ignorable else missing
            yield finding_of("extenders", f"{extender.url_prefix}: {error}")
        else:
            yield fine("extenders", f"{extender.url_prefix} can be connected to")


def port_free(address: str, port: int) -> Iterator[Finding]:
    """Check that the port for health and metrics is free.

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
        yield worrying("port", f"cannot listen on {where} here: {why}")
    else:
        yield fine("port", f"{where} is free here")
