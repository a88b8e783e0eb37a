"""Sends many requests with little CPU for each: the load of measurements."""

import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

import msgspec

from tests.e2e.client import Tree, path_of
from tests.e2e.control_plane import ControlPlane

__all__ = ["Firehose"]

_MOST: Final = 1 << 16  # bytes of one read
_CONNECTIONS: Final = 16
_SILENCE: Final = 30.0  # seconds to wait for a response
_PAUSE: Final = 0.3  # seconds before a request is repeated
_CONFLICT: Final = 409
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
# The response is only name and uid: the tests read no more.
_ACCEPT: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


class Firehose:
    """Writes as the administrator of a cluster, on several connections at once.

    Args:
        plane: The cluster.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self._address = urlsplit(plane.url).netloc
        self._token = plane.token()
        self._context = ssl.create_default_context(cafile=str(plane.authority))

    def create(self, trees: Iterable[Tree], *, per_second: float = 0.0) -> Counter[int]:
        """Create objects; see `send`."""
        requests = (
            self.request("POST", path_of(tree, named=False), tree) for tree in trees
        )
        return self.send(requests, per_second=per_second)

    def request(self, method: str, path: str, body: object = None) -> bytes:
        """Return the bytes of a request."""
        data = b"" if body is None else msgspec.json.encode(body)
        lines = (
            f"{method} {path} HTTP/1.1",
            f"Host: {self._address}",
            f"Authorization: Bearer {self._token}",
            f"Accept: {_ACCEPT}, application/json",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
        )
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + data

    def send(
        self,
        requests: Iterable[bytes],
        *,
        per_second: float = 0.0,
        connections: int = _CONNECTIONS,
    ) -> Counter[int]:
        """Send requests, each until the server has accepted or refused it.

        Args:
            requests: Requests of the method `request`.
            per_second: The number of requests in a second; 0 for as many as possible.
            connections: The number of connections.

        Returns:
            The number of responses by HTTP status.
        """
        codes: Counter[int] = Counter()
        lock = threading.Lock()
        paced = iter(_paced(requests, per_second) if per_second else requests)

        def work() -> None:
            connection = _Connection(self._address, self._context)
            while True:
                with lock:
                    next_request = next(paced, None)
                if next_request is None:
                    break
                code = connection.insist(next_request)
                with lock:
                    codes[code] += 1
            connection.close()

        threads = [threading.Thread(target=work) for _ in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return codes


class _Connection:
    """One connection, which is opened again when it breaks."""

    def __init__(self, address: str, context: ssl.SSLContext) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port)
        self._context = context
        self._socket: ssl.SSLSocket | None = None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def insist(self, request: bytes) -> int:
        """Repeat a request until it has a final response."""
        tries = 0
        while True:
            code = self._tried(request)
            if 0 < code < _SERVER_ERROR and code != _TOO_MANY:
                # An earlier try may have been executed without a response.
                return 201 if code == _CONFLICT and tries else code
            tries += 1
            time.sleep(_PAUSE)

    def _tried(self, request: bytes) -> int:
        """Return the HTTP status of the response, or 0 without any."""
        try:
            if self._socket is None:
                plain = socket.create_connection((self._host, self._port), _SILENCE)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._socket = self._context.wrap_socket(
                    plain, server_hostname=self._host
                )
            self._socket.sendall(request)
            answer = self._answer(self._socket)
        except OSError:
            self.close()
            return 0
        return int(answer[9:12])

    def _answer(self, source: ssl.SSLSocket) -> bytes:
        answer = b""
        while not _is_whole(answer):
            block = source.recv(_MOST)
            if not block:
                raise ConnectionResetError("the answer is cut off")
            answer += block
        return answer


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    _, named, rest = head.lower().partition(b"\r\ncontent-length:")
    if named:
        return len(body) >= int(rest.partition(b"\r\n")[0])
    return body.endswith(b"0\r\n\r\n")


def _paced(requests: Iterable[bytes], per_second: float) -> Iterator[bytes]:
    begin = time.monotonic()
    for number, request in enumerate(requests):
        time.sleep(max(0.0, begin + number / per_second - time.monotonic()))
        yield request
