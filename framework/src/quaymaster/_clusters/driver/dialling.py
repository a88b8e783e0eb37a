"""Opens connections for the lanes, and keeps their credentials up to date.

Work that may block (files, credential programs, TLS) runs on other threads, so that the
loop of the lanes waits only for its sockets.
"""

import socket
import ssl
import threading
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.connection import (
    connect,
    headers_of,
    stamps_of,
    tls_of,
)
from quaymaster._clusters.kubernetes.credentials import Credentials, Shown
from quaymaster._clusters.kubernetes.http1 import fixed_lines
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._core.binding.executor import Post

__all__ = ["Dial", "Endpoint", "Opened"]

_SECONDS_TO_CONNECT: Final = 15.0
_SECONDS_TO_LOOK: Final = 5.0  # between two checks of the files


class Endpoint(NamedTuple):
    """The server and the credentials of requests.

    Attributes:
        access: The address of the server.
        shown: The credentials.
        stamps: Values that change when connections must be opened again.
        lines: The headers of every request.
        path: The prefix of the path of each resource.
    """

    access: Access
    shown: Shown
    stamps: tuple[object, ...]
    lines: str
    path: str

    def is_reached_like(self, other: "Endpoint") -> bool:
        """Return whether connections of one endpoint can be used for the other."""
        ours, theirs = (self.access, self.stamps), (other.access, other.stamps)
        return ours == theirs


Opened: TypeAlias = Callable[[socket.socket | str, Endpoint], None]
"""Receives a connection or the error, and the endpoint that was used."""


class Dial:
    """Opens connections; only the loop of the lanes reads its attributes.

    Args:
        access: Returns the server's address and the credentials; it may block.
        post: Makes the loop call a function; any thread may call it.
        issuer: Runs the credential program, if any.

    Attributes:
        endpoint: The current server and credentials; None until there are credentials.
        trouble: Why there are no credentials, or no newer ones.
    """

    def __init__(
        self, access: Callable[[], Access], post: Post, issuer: Issuer | None = None
    ) -> None:
        self._issuer = issuer or Issuer()
        self._access = access
        self._post = post
        self._wake = threading.Event()
        self._refused: Endpoint | None = None
        self._tls: tuple[Endpoint, ssl.SSLContext | None] | None = None
        self.endpoint: Endpoint | None = None
        self.trouble = ""

    def start(self) -> None:
        """Start to check the credentials, on a daemon thread.

        Tokens and certificates are checked every few seconds and not before each
        request. That suffices, because they are replaced before they expire.
        """
        threading.Thread(target=self._keep, name="credentials", daemon=True).start()

    def renew(self, used: Endpoint) -> None:
        """Get other credentials, because the server has refused these."""
        # Identity: renewed credentials may have the same content.
        if self.endpoint is used:
            self.endpoint, self._refused = None, used
            self._wake.set()

    def open(self, opened: Opened) -> None:
        """Open a connection on another thread, and pass it to the loop."""
        assert self.endpoint is not None, "called only if there are credentials"
        threading.Thread(
            target=self._open, args=(self.endpoint, opened), name="dial", daemon=True
        ).start()

    def _open(self, endpoint: Endpoint, opened: Opened) -> None:
        result: socket.socket | str
        try:
            tls = self._tls_of(endpoint)
            result = connect(
                endpoint.access, endpoint.shown, _SECONDS_TO_CONNECT, tls
            ).sock
            _make_non_blocking(result)
        except (QuaymasterError, OSError, ValueError) as error:
            result = str(error)
        self._post(lambda: opened(result, endpoint))

    def _tls_of(self, endpoint: Endpoint) -> ssl.SSLContext | None:
        """Return the TLS context of all connections to the endpoint.

        It is cached, because creating it reads all certificate authorities of the
        system, which takes several times as long as a handshake.
        """
        cached = self._tls
        if cached is None or not cached[0].is_reached_like(endpoint):
            cached = self._tls = (endpoint, tls_of(endpoint.access, endpoint.shown))
        return cached[1]

    def _keep(self) -> None:
        access, credentials = None, None
        while True:
            refused, self._refused = self._refused, None
            endpoint: Endpoint | None = None
            trouble = ""
            try:
                new_access = self._access()
                if credentials is None or new_access != access:
                    access = new_access
                    credentials = Credentials(new_access, issuer=self._issuer)
                elif refused is not None:
                    credentials.renew()
                endpoint = _endpoint_of(new_access, credentials.shown())
            except (QuaymasterError, ValueError) as error:
                trouble = str(error)
            self._post(partial(self._set, endpoint, trouble))
            self._wake.wait(_SECONDS_TO_LOOK)
            self._wake.clear()

    def _set(self, endpoint: Endpoint | None, trouble: str) -> None:
        self.trouble = trouble
        if endpoint is not None and endpoint != self.endpoint:
            self.endpoint = endpoint


def _endpoint_of(access: Access, shown: Shown) -> Endpoint:
    server = urlsplit(access.server)
    host = server.netloc.rpartition("@")[2]
    lines = fixed_lines([("Host", host), *headers_of(access, shown)])
    return Endpoint(
        access, shown, stamps_of(access, shown), lines, server.path.rstrip("/")
    )


def _make_non_blocking(connection: socket.socket) -> None:
    """Let the socket send at once, and never block."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
