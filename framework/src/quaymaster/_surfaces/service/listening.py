"""Listening sockets."""

import socket
import sys
from collections.abc import Sequence
from typing import Final

from quaymaster._base.errors import QuaymasterError

__all__ = ["AddressError", "listen", "url_of"]

_BACKLOG: Final = 2048


class AddressError(QuaymasterError):
    """An address that cannot be listened on."""


def listen(address: str, port: int, count: int = 1) -> Sequence[socket.socket]:
    """Open listening sockets on one address, among which clients are shared out.

    With one socket for all, the first worker to wake up would take most clients, which
    stay with it for as long as they keep their connections.

    Args:
        address: The address, such as ``127.0.0.1``.
        port: The port; 0 for any that is free.
        count: How many sockets. Where the system would not share clients out among
            them, which Linux does, they are one.

    Raises:
        AddressError: That is not possible.
    """
    opened: list[socket.socket] = []
    try:
        for number in range(count if sys.platform == "linux" else 1):
            opened.append(_open(address, port, is_shared=number > 0))
            port = opened[0].getsockname()[1]
            if count > 1:
                # After the first has the address: somebody else's is not to be shared.
                opened[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        for one in opened:
            one.listen(_BACKLOG)
    except OSError as error:
        for one in opened:
            one.close()
        reason = error.strerror or error
        raise AddressError(f"cannot listen on {address}:{port}: {reason}") from error
    return opened if len(opened) == count else opened * count


def _open(address: str, port: int, *, is_shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # The protocol is named, for asyncio sends at once only on connections that have it.
    # Measured: without, an answer waits 40 ms for the kernel to send its second half.
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        one.bind((address, port))
    except OSError:
        one.close()
        raise
    return one


def url_of(opened: socket.socket, *, has_tls: bool) -> str:
    """The URL that a socket is reached by."""
    host, port = opened.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if has_tls else 'http'}://{shown}:{port}"
