"""A cluster that rejects writes that a plugin does not declare."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract_error import ContractError
from quaymaster._core.contract.cluster import (
    Cluster,
    EventNote,
    ListResult,
    PodStatusPatch,
    Watch,
)
from quaymaster._core.contract.declarations import Verb, Write
from quaymaster._core.registry.access import declares_access, writes_of_plugin

__all__ = ["DeclaredWrites"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class DeclaredWrites:
    """Passes calls on to a cluster, except writes that no plugin declares.

    Plugins that declare neither what they read nor what they write may write anything.

    Args:
        cluster: The cluster.
        plugins: The classes of the plugins, the one under test last.

    Attributes:
        refused: The undeclared writes that the plugins tried.
    """

    def __init__(self, cluster: Cluster, plugins: Sequence[type]) -> None:
        self._cluster = cluster
        self._name = plugins[-1].__name__
        self._is_open = not all(map(declares_access, plugins))
        self._declared = frozenset(
            write for plugin in plugins for write in writes_of_plugin(plugin)
        )
        self.refused: list[Write] = []

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        return self._cluster.list(kind)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        return self._cluster.get(kind, key)

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        return self._cluster.watch(kind, resource_version, notify)

    def create(self, obj: ObjT) -> ObjT:
        self._check(Write(Verb.CREATE, type(obj)))
        return self._cluster.create(obj)

    def update(self, obj: ObjT) -> ObjT:
        self._check(Write(Verb.UPDATE, type(obj)))
        return self._cluster.update(obj)

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        self._check(Write(Verb.DELETE, kind))
        self._cluster.delete(
            kind, key, uid=uid, grace_period_seconds=grace_period_seconds
        )

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._check(Write(Verb.CREATE, Pod, "binding"))
        self._cluster.bind(pod, node_name, annotations=annotations)

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        self._check(Write(Verb.PATCH, Pod, "status"))
        self._cluster.patch_pod_status(pod, patch)

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        self._check(Write(Verb.PATCH, type(obj), "status"))
        return self._cluster.patch_status(obj, changes)

    def record(self, note: EventNote) -> None:
        self._cluster.record(note)

    def _check(self, write: Write) -> None:
        if self._is_open or write in self._declared:
            return
        self.refused.append(write)
        raise ContractError(f"plugin '{self._name}' {undeclared(write)}")


def undeclared(write: Write) -> str:
    """Return the problem of an undeclared write, and the remedy."""
    what = f"{write.verb.value} of {write.resource}"
    return f"asks for {what}, which its class does not declare: writes = ({write},)"
