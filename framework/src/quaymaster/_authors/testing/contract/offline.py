"""A block without a network."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from quaymaster._authors.testing.contract.replacing import replacing

__all__ = ["offline"]


@contextmanager
def offline() -> Iterator[None]:
    """Let connections to servers fail in the block."""

    def connect(_own: socket.socket, _address: Any) -> NoReturn:  # noqa: ANN401 - socket's
        raise ConnectionRefusedError("the contract suite has no network")

    def resolve(*_args: Any, **_options: Any) -> NoReturn:
        raise socket.gaierror("the contract suite has no network")

    with (
        replacing(socket.socket, "connect", connect),
        replacing(socket, "getaddrinfo", resolve),
    ):
        yield
