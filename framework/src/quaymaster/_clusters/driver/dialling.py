"""Makes connections for the lanes, and keeps their credentials up to date.

What may block (files, programs that give credentials, TLS) is done on threads of its
own: the loop of the lanes waits for nothing but its sockets.
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

__all__ = ["Dial", "Made", "Opened"]

_SECONDS_TO_CONNECT: Final = 15.0
_SECONDS_TO_LOOK: Final = 5.0  # between two looks at files that may be new


class Made(NamedTuple):
    """What requests are made with.

    Attributes:
        access: Where the server is.
        shown: The credentials.
        stamps: What differs if connections have to be made anew.
        lines: The headers of every request.
        path: What comes before the path of a resource.
    """

    access: Access
    shown: Shown
    stamps: tuple[object, ...]
    lines: str
    path: str

    def is_reached_like(self, other: "Made") -> bool:
        """Whether connections made with one of them serve the other, too."""
        ours, theirs = (self.access, self.stamps), (other.access, other.stamps)
        return ours == theirs


Opened: TypeAlias = Callable[[socket.socket | str, Made], None]
"""Takes a connection, or why there is none; and what it was made with."""


class Dial:
    """Makes connections; its attributes are for the loop of the lanes alone.

    Args:
        access: Returns where the server is, and as whom to ask; it may block.
        post: Has a call made by the loop, from any thread.
        issuer: Asks the program that gives credentials, if there is one.

    Attributes:
        made: What requests are made with now; None until there are credentials.
        trouble: Why there are none, or no newer ones.
    """

    def __init__(
        self, access: Callable[[], Access], post: Post, issuer: Issuer | None = None
    ) -> None:
        self._issuer = issuer or Issuer()
        self._access = access
        self._post = post
        self._look = threading.Event()
        self._refused: Made | None = None
        self._tls: tuple[Made, ssl.SSLContext | None] | None = None
        self.made: Made | None = None
        self.trouble = ""

    def start(self) -> None:
        """Begin to look after the credentials, on a thread that ends with the process.

        Tokens and certificates are looked at every few seconds, not before each
        request: what is written anew is written before the old one expires.
        """
        threading.Thread(target=self._keep, name="credentials", daemon=True).start()

    def renew(self, used: Made) -> None:
        """Get other credentials, since the server has refused these."""
        # Identity: others may have the same content, after these were renewed.
        if self.made is used:
            self.made, self._refused = None, used
            self._look.set()

    def open(self, opened: Opened) -> None:
        """Make a connection; tell the loop of it."""
        assert self.made is not None, "asked only if there are credentials"
        threading.Thread(
            target=self._open, args=(self.made, opened), name="dial", daemon=True
        ).start()

    def _open(self, made: Made, opened: Opened) -> None:
        result: socket.socket | str
        try:
            tls = self._tls_of(made)
            result = connect(made.access, made.shown, _SECONDS_TO_CONNECT, tls).sock
            _prepare(result)
        except (QuaymasterError, OSError, ValueError) as error:
            result = str(error)
        self._post(lambda: opened(result, made))

    def _tls_of(self, made: Made) -> ssl.SSLContext | None:
        """The context of all connections that are made alike.

        It reads all authorities of the system: several times as long as a handshake.
        """
        known = self._tls
        if known is None or not known[0].is_reached_like(made):
            known = self._tls = (made, tls_of(made.access, made.shown))
        return known[1]

    def _keep(self) -> None:
        access, credentials = None, None
        while True:
            refused, self._refused = self._refused, None
            made: Made | None = None
            trouble = ""
            try:
                found = self._access()
                if credentials is None or found != access:
                    access = found
                    credentials = Credentials(found, issuer=self._issuer)
                elif refused is not None:
                    credentials.renew()
                made = _made(found, credentials.shown())
            except (QuaymasterError, ValueError) as error:
                trouble = str(error)
            self._post(partial(self._set, made, trouble))
            self._look.wait(_SECONDS_TO_LOOK)
            self._look.clear()

    def _set(self, made: Made | None, trouble: str) -> None:
        self.trouble = trouble
        if made is not None and made != self.made:
            self.made = made


def _made(access: Access, shown: Shown) -> Made:
    server = urlsplit(access.server)
    host = server.netloc.rpartition("@")[2]
    lines = fixed_lines([("Host", host), *headers_of(access, shown)])
    return Made(access, shown, stamps_of(access, shown), lines, server.path.rstrip("/"))


def _prepare(connection: socket.socket) -> None:
    """Have it send at once, and never block."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
