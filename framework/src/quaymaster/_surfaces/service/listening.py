"""Listening sockets."""

import socket
import sys
from collections.abc import Sequence

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.serving.limited_connections import BACKLOG

__all__ = ["AddressError", "listen", "url_of"]


class AddressError(QuaymasterError):
    """The service cannot listen on an address."""


def listen(address: str, port: int, count: int = 1) -> Sequence[socket.socket]:
    """Open listening sockets on one address; the kernel distributes clients to them.

    With one socket for all, the worker that wakes up first would accept most clients,
    which then keep their connections to it.

    Args:
        address: The address, such as ``127.0.0.1``.
        port: The port; 0 for any free one.
        count: The number of sockets. Only Linux distributes clients over several
            sockets; on other systems the list repeats one socket.

    Raises:
        AddressError: The address cannot be used.
    """
    opened: list[socket.socket] = []
    try:
        for number in range(count if sys.platform == "linux" else 1):
            opened.append(_open(address, port, is_shared=number > 0))
            port = opened[0].getsockname()[1]
            if count > 1:
                # Set after the bind, so that another program's port is not shared.
                opened[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        for opened_socket in opened:
            opened_socket.listen(BACKLOG)
    except OSError as error:
        for opened_socket in opened:
            opened_socket.close()
        reason = error.strerror or error
        raise AddressError(f"cannot listen on {address}:{port}: {reason}") from error
    return opened if len(opened) == count else opened * count


def _open(address: str, port: int, *, is_shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets whose protocol is named. Without it, the
    # second half of a response was sent 40 ms later: 346 responses per second instead
    # of 6,128 (1,000 nodes, two cores).
    opened_socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            opened_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        opened_socket.bind((address, port))
    except OSError:
        opened_socket.close()
        raise
    return opened_socket


def url_of(opened: socket.socket, *, has_tls: bool) -> str:
    """Return the URL of a listening socket."""
    host, port = opened.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if has_tls else 'http'}://{shown}:{port}"
