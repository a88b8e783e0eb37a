"""Lists the objects of a cluster."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._clusters.kubernetes.resources import Resource

__all__ = ["LiveObjects", "list_objects", "list_pages"]

_PAGE: Final = 500  # objects, as in kubectl
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_GONE: Final = 410
_NEEDED: Final = ("nodes", "pods")
"""A simulation needs these."""


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


_PAGE_DECODER: Final = msgspec.json.Decoder(_Page)


@attrs.frozen(kw_only=True)
class LiveObjects:
    """The objects of a cluster.

    Attributes:
        name: The cluster's name in messages.
        lists: The lists of each resource, in the JSON of the server.
        notices: The resources that could not be read.
    """

    name: str
    lists: Sequence[tuple[Resource, Sequence[bytes]]]
    notices: Sequence[Notice]

    def named_texts(self) -> Sequence[tuple[str, bytes]]:
        """Return all lists, each with its name in messages."""
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
        client: The client of the server.
        resources: The resources to list. Those that are forbidden or missing are
            reported and left out, except nodes and pods. Optional ones are listed only
            if the server has them.
        namespace: The only namespace to list; empty for all.
        selector: The labels of the pods and workloads to list; empty for all.
        on_progress: Called with the name of each resource before it is listed.

    Raises:
        ApiError: The server cannot be reached, or refuses nodes or pods.
        CredentialsError: There are no credentials.
    """
    lists: list[tuple[Resource, Sequence[bytes]]] = []
    notices: list[Notice] = []
    name = client.access.name
    served = functools.cache(functools.partial(_served_names, client))
    for resource in resources:
        if resource.is_optional and resource.plural not in served(resource.group_path):
            continue
        if on_progress is not None:
            on_progress(resource.full_name)
        try:
            labels = selector if resource.runs_pods else ""
            pages = list_pages(client, resource, namespace=namespace, selector=labels)
            lists.append((resource, pages))
        except ApiError as error:
            if resource.full_name in _NEEDED:
                raise
            notices.append(_notice(name, resource, namespace, error))
    return LiveObjects(name=name, lists=lists, notices=notices)


def list_pages(
    client: ApiClient, resource: Resource, *, namespace: str = "", selector: str = ""
) -> Sequence[bytes]:
    """List one resource in pages, or without pages if the continue token expires.

    Raises:
        ApiError: The server cannot be reached, or refuses.
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
            # A continue token ends with etcd's compaction, after some minutes. Pages of
            # two versions together would not be the state of any moment, so all is read
            # once more.
            if error.code == _GONE and "continue" in query:
                return [client.get(path, always)]
            raise
        pages.append(page)
        further = _further(client, path, page)
        if not further:
            return pages
        query["continue"] = further


class _ServedResource(msgspec.Struct):
    name: str = ""


class _ServedResources(msgspec.Struct):
    resources: tuple[_ServedResource, ...] = ()


def _served_names(client: ApiClient, group_path: str) -> frozenset[str]:
    """Return the resources of a group version, by the server's discovery document.

    Without it, a resource that is not there would seem to be forbidden for users that
    have no rights to it.
    """
    try:
        content = client.get(group_path)
        served = msgspec.json.decode(content, type=_ServedResources)
    except (ApiError, msgspec.DecodeError, RecursionError):
        return frozenset()
    return frozenset(entry.name for entry in served.resources)


def _further(client: ApiClient, path: str, page: bytes) -> str:
    """Return the continue token of a page; empty for the last page."""
    try:
        return _PAGE_DECODER.decode(page).metadata.continue_
    except msgspec.DecodeError as error:
        message = f"GET {path}: expected a list as JSON: {error}"
        raise ApiError(client.access.name, message) from error
    except RecursionError as error:
        message = f"GET {path}: expected a list as JSON, which is nested too deeply"
        raise ApiError(client.access.name, message) from error


def _notice(name: str, resource: Resource, namespace: str, error: ApiError) -> Notice:
    if error.code == _FORBIDDEN:
        scope = f"in namespace {namespace!r}" if namespace else "of the cluster"
        message = (
            f"the right to list {resource.full_name} {scope} is missing; "
            "they are left out"
        )
    elif error.code == _NOT_FOUND:
        version = f"{resource.kind} ({resource.api_version})"
        message = (
            f"the server does not have the kind {version}; it counts as having no "
            "objects"
        )
    else:
        raise error
    return Notice(reason=NoticeReason.UNREAD_KINDS, where=name, message=message)
