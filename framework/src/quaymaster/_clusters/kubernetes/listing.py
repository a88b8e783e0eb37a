"""Lists what is in a cluster."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._clusters.kubernetes.resources import Resource

__all__ = ["LiveObjects", "list_objects", "list_pages"]

_PAGE: Final = 500  # objects, as kubectl asks for
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_GONE: Final = 410
_NEEDED: Final = ("nodes", "pods")
"""Without these there is nothing to simulate."""


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


_PAGE_DECODER: Final = msgspec.json.Decoder(_Page)


@attrs.frozen(kw_only=True)
class LiveObjects:
    """What is in a cluster.

    Attributes:
        name: How messages call the cluster.
        lists: The lists of each resource, as the server gave them, in JSON.
        notices: What could not be read.
    """

    name: str
    lists: Sequence[tuple[Resource, Sequence[bytes]]]
    notices: Sequence[Notice]

    def named_texts(self) -> Sequence[tuple[str, bytes]]:
        """All lists, with what messages call them."""
        return [
            (f"{self.name}: {resource.full_name}", page)
            for resource, pages in self.lists
            for page in pages
        ]


def list_objects(
    client: ApiClient,
    resources: Iterable[Resource],
    *,
    namespace: str = "",
    selector: str = "",
    on_progress: Callable[[str], None] | None = None,
) -> LiveObjects:
    """List the objects of some resources.

    Args:
        client: Whom to ask.
        resources: What to ask for. What may not be read, or is not there, is told and
            left out; but for nodes and pods.
        namespace: The only namespace to look at; empty for all.
        selector: The labels of pods and workloads to look at; empty for all.
        on_progress: Told what is read next.

    Raises:
        ApiError: The server cannot be asked, or refuses nodes or pods.
        CredentialsError: There are no credentials.
    """
    lists: list[tuple[Resource, Sequence[bytes]]] = []
    notices: list[Notice] = []
    name = client.access.name
    for resource in resources:
        if on_progress is not None:
            on_progress(resource.full_name)
        try:
            wanted = selector if resource.runs_pods else ""
            pages = list_pages(client, resource, namespace=namespace, selector=wanted)
            lists.append((resource, pages))
        except ApiError as error:
            if resource.full_name in _NEEDED:
                raise
            notices.append(_notice(name, resource, namespace, error))
    return LiveObjects(name=name, lists=lists, notices=notices)


def list_pages(
    client: ApiClient, resource: Resource, *, namespace: str = "", selector: str = ""
) -> Sequence[bytes]:
    """List one resource, in pages; whole, if the server has forgotten the first ones.

    Raises:
        ApiError: The server cannot be asked, or refuses.
        CredentialsError: There are no credentials.
    """
    path = resource.path(namespace)
    pages: list[bytes] = []
    always = {"labelSelector": selector} if selector else {}
    query: dict[str, str | int] = {"limit": _PAGE, **always}
    while True:
        try:
            page = client.get(path, query)
        except ApiError as error:
            if error.code == _GONE and "continue" in query:
                return [client.get(path, always)]
            raise
        pages.append(page)
        further = _further(client, path, page)
        if not further:
            return pages
        query["continue"] = further


def _further(client: ApiClient, path: str, page: bytes) -> str:
    """By what to ask for the next page; empty if there is none."""
    try:
        return _PAGE_DECODER.decode(page).metadata.continue_
    except msgspec.DecodeError as error:
        message = f"GET {path}: expected a list as JSON: {error}"
        raise ApiError(client.access.name, message) from error


def _notice(name: str, resource: Resource, namespace: str, error: ApiError) -> Notice:
    if error.code == _FORBIDDEN:
        scope = f"in namespace {namespace!r}" if namespace else "of the cluster"
        message = (
            f"the right to list {resource.full_name} {scope} is missing; "
            "they count as none"
        )
    elif error.code == _NOT_FOUND:
        version = f"{resource.kind} ({resource.api_version})"
        message = f"the server has no kind {version}; there is none of it"
    else:
        raise error
    return Notice(reason=NoticeReason.UNREAD_KINDS, where=name, message=message)
