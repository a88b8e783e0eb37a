"""A client of an API server for tests: trees in, trees out."""

import http.client
import ssl
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Self, TypeAlias
from urllib.parse import urlencode, urlsplit

import msgspec

from quaymaster import ApiObject
from quaymaster.objects import to_wire

__all__ = ["ApiClient", "RefusedError", "Tree", "path_of"]

Tree: TypeAlias = dict[str, Any]

_OF_THE_CLUSTER: Final = {
    "ClusterRole",
    "ClusterRoleBinding",
    "CSIDriver",
    "CSINode",
    "CustomResourceDefinition",
    "DeviceClass",
    "DeviceTaintRule",
    "KWOKNodeClass",
    "Namespace",
    "Node",
    "NodeClaim",
    "NodePool",
    "PersistentVolume",
    "PriorityClass",
    "ResourceSlice",
    "RuntimeClass",
    "StorageClass",
    "VolumeAttachment",
}
_PATCH: Final = "application/{}-patch+json"
_BAD: Final = 400
_UNREADABLE: Final = "the answer is no JSON"
# less than the time for which the server keeps an idle connection
_KEPT_SECONDS: Final = 20.0


class RefusedError(Exception):
    """The API server refused a request.

    Attributes:
        code: The HTTP status.
        reason: The reason in one word, as ``NotFound``.
        message: The server's message.
        causes: The messages of the causes.
    """

    def __init__(
        self, code: int, reason: str, message: str, causes: Sequence[str] = ()
    ) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.causes = causes


def path_of(tree: Tree, *, named: bool = True) -> str:
    """Return the path of an object, or with ``named=False`` of its collection."""
    group, kind, metadata = tree["apiVersion"], tree["kind"], tree["metadata"]
    path = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    if kind not in _OF_THE_CLUSTER:
        path += f"/namespaces/{metadata.get('namespace', 'default')}"
    plural = kind.lower() + ("es" if kind.endswith("s") else "s")
    if kind.endswith("y"):
        plural = kind.lower()[:-1] + "ies"
    return f"{path}/{plural}" + (f"/{metadata['name']}" if named else "")


class ApiClient:
    """Sends requests to one API server as one user, with a connection per thread.

    As a context manager it closes the connections.

    Args:
        url: Its address.
        token: The user's bearer token.
        authority: The certificate that identifies the server.
    """

    def __init__(self, url: str, token: str, authority: Path) -> None:
        self._host = urlsplit(url).netloc
        self._token = token
        self._context = ssl.create_default_context(cafile=str(authority))
        self._kept: deque[tuple[http.client.HTTPSConnection, float]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next request opens one again."""
        while self._kept:
            self._kept.pop()[0].close()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str | int] | None = None,
        content_type: str = "application/json",
    ) -> Tree:
        """Send one request on a kept connection; it is not repeated.

        Raises:
            RefusedError: The server refuses it.
            OSError: No server listens, or it does not respond.
            HTTPException: The response is cut off.
        """
        headers = self._headers(content_type)
        data = None if body is None else msgspec.json.encode(body)
        target = f"{path}?{urlencode(query)}" if query else path
        is_kept = bool(self._kept)
        try:
            return self._exchange(method, target, data, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError):
            if method == "GET" and is_kept:  # the server has closed it since
                self.close()
                return self._exchange(method, target, data, headers)
            raise

    def _exchange(
        self, method: str, target: str, data: bytes | None, headers: dict[str, str]
    ) -> Tree:
        connection = self._kept_connection() or self._connect()
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            content = answer.read()
        except BaseException:
            connection.close()
            raise
        self._kept.append((connection, time.monotonic()))
        return _tree(answer.status, content)

    def get(self, path: str) -> Tree:
        """Read one object, or the document at another path."""
        return self.request("GET", path)

    def items(self, path: str, **query: str | int) -> list[Tree]:
        """List a collection, in one page."""
        items: list[Tree] = self.request("GET", path, query=query)["items"] or []
        return items

    def create(self, item: Tree | ApiObject) -> Tree:
        """Create an object."""
        tree = item if isinstance(item, dict) else to_wire(item)
        return self.request("POST", path_of(tree, named=False), tree)

    def create_all(
        self, items: Iterable[Tree | ApiObject], *, threads: int = 8
    ) -> list[Tree]:
        """Create many objects, on several connections."""
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self.create, items))

    def replace(self, tree: Tree, *, part: str = "") -> Tree:
        """Write an object, or its part ``status``."""
        return self.request("PUT", path_of(tree) + (part and f"/{part}"), tree)

    def patch(self, path: str, patch: object, *, kind: str = "merge") -> Tree:
        """Patch an object; the kind is ``merge``, ``strategic-merge`` or ``json``."""
        return self.request("PATCH", path, patch, content_type=_PATCH.format(kind))

    def delete(self, path: str, *, grace: int | None = None) -> Tree:
        """Delete an object, with a grace period in seconds."""
        query = {} if grace is None else {"gracePeriodSeconds": grace}
        return self.request("DELETE", path, query=query)

    def bind(self, pod: Tree, node: str) -> None:
        """Bind a pod to a node, as a scheduler does."""
        metadata = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": metadata,
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        self.request("POST", f"{path_of(pod)}/binding", binding)

    def watch(
        self, path: str, *, since: str = "0", within: int = 3600
    ) -> Iterator[tuple[str, Tree]]:
        """Follow a collection, on its own connection.

        Args:
            path: The collection.
            since: A resource version; with ``0`` the existing objects are reported
                first, as added.
            within: The seconds after which the server ends the watch.

        Yields:
            The type of each event, and its object.
        """
        connection = self._connect()
        query = {"watch": 1, "resourceVersion": since, "timeoutSeconds": within}
        try:
            connection.request(
                "GET", f"{path}?{urlencode(query)}", headers=self._headers("")
            )
            answer = connection.getresponse()
            if answer.status >= _BAD:
                _tree(answer.status, answer.read())
            for line in answer:
                event = msgspec.json.decode(line)
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _kept_connection(self) -> http.client.HTTPSConnection | None:
        """Return a connection that was used lately, or None; close older ones."""
        while self._kept:
            try:
                connection, used = self._kept.pop()
            except IndexError:  # another thread took it
                return None
            if time.monotonic() - used < _KEPT_SECONDS:
                return connection
            connection.close()
        return None

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            self._host, context=self._context, timeout=60
        )

    def _headers(self, content_type: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self._token}"}
        if content_type:
            headers["Content-Type"] = content_type
        return headers


def _tree(code: int, content: bytes) -> Tree:
    """Return the document of a response.

    Raises:
        RefusedError: The response is an error.
    """
    try:
        tree = msgspec.json.decode(content)
    except msgspec.DecodeError:
        tree = {"message": content.decode(errors="replace")}
    if code >= _BAD:
        reason = tree.get("reason", "")
        causes = (tree.get("details") or {}).get("causes") or ()
        messages = [str(cause.get("message", "")) for cause in causes]
        raise RefusedError(code, reason, tree.get("message", _UNREADABLE), messages)
    assert isinstance(tree, dict)
    return tree
