"""Changes that create, apply, patch and delete objects."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import KINDS, ApiObject, Namespace, Node, ObjectMeta
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.wire import from_wire, to_wire
from quaymaster._base.errors import ObjectError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.manifests.applying import applied
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.changes.change import ChangeError, Effect
from quaymaster._studies.changes.deletion import delete_object
from quaymaster._studies.changes.node_changes import RemoveNodes
from quaymaster._studies.changes.target import Target
from quaymaster._studies.changes.workload_changes import SIZED
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Apply", "Create", "Delete", "Patch"]

ObjT = TypeVar("ObjT", bound=ApiObject)


def _all_of(objects: Iterable[ApiObject]) -> tuple[ApiObject, ...]:
    return tuple(objects)


@attrs.frozen(kw_only=True)
class Create:
    """Creates objects, all of them or none.

    Attributes:
        objects: The objects, in any order.
        name: Their name in messages, such as a file.
    """

    objects: Sequence[ApiObject] = attrs.field(converter=_all_of)
    name: str = ""

    def __str__(self) -> str:
        return f"create {self.name or _listed(self.objects)}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        simulation.cluster.load(self.objects)
        return _done(self, simulation, self.objects)


@attrs.frozen(kw_only=True)
class Apply:
    """Creates objects, or changes those that exist, as ``kubectl apply`` does.

    Existing objects keep their status, labels and annotations that the new manifest
    does not name, and the number of replicas if it has none.

    Attributes:
        objects: The objects, in any order.
        name: Their name in messages, such as a file.
    """

    objects: Sequence[ApiObject] = attrs.field(converter=_all_of)
    name: str = ""

    def __str__(self) -> str:
        return f"apply {self.name or _listed(self.objects)}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster = simulation.cluster
        written = [_as_written(obj) for obj in self.objects]
        stored = [_stored(obj, cluster) for obj in written]
        cluster.load(
            [obj for obj, old in zip(written, stored, strict=True) if old is None]
        )
        changed = []
        for obj, old in zip(written, stored, strict=True):
            if old is not None:
                before = old.metadata.resource_version
                new = cluster.update(_merged(obj, old))
                # As in an API server, an update without changes keeps the version.
                if new.metadata.resource_version == before:
                    continue
            changed.append(obj if old is None else old)
        return _done(self, simulation, changed)


@attrs.frozen(kw_only=True)
class Patch:
    """Changes fields of an object by a JSON merge patch (RFC 7386).

    Attributes:
        target: The object.
        patch: The fields as in manifests; None removes a field, and a list replaces the
            whole list.
        kinds: The kinds of plugins and packages, in addition to those of Kubernetes.
    """

    target: Target
    patch: Mapping[str, Any]
    kinds: Sequence[type[ApiObject]] = ()

    def __str__(self) -> str:
        return f"patch {self.target}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster = simulation.cluster
        old = self.target.find(cluster, self, KindSet(self.kinds))
        try:
            new = from_wire(_patched(to_wire(old), self.patch), type(old))
        except ObjectError as error:
            raise ChangeError(str(self), str(error)) from error
        if new.key != old.key:
            raise ChangeError(str(self), "name and namespace cannot be changed")
        cluster.update(new)
        return _done(self, simulation, [old])


@attrs.frozen(kw_only=True)
class Delete:
    """Deletes an object with all its dependents, as ``kubectl delete`` does.

    Attributes:
        target: The object. A namespace is deleted with its objects; the pods of a node
            are deleted 40 seconds later.
        kinds: The kinds of plugins and packages, in addition to those of Kubernetes.
    """

    target: Target
    kinds: Sequence[type[ApiObject]] = ()

    def __str__(self) -> str:
        return f"delete {self.target}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, kinds = simulation.cluster, KindSet(self.kinds)
        obj = self.target.find(cluster, self, kinds)
        if isinstance(obj, Node):
            effect = RemoveNodes(nodes=obj.name).apply(simulation)
            effect.change = str(self)
            return effect
        gone = [obj]
        if isinstance(obj, Namespace):
            gone = [*_inside(obj.name, cluster, kinds), obj]
        for obj in gone:
            delete_object(cluster, obj)
        return _done(self, simulation, gone)


def _inside(
    namespace: str, cluster: InMemoryCluster, kinds: KindSet
) -> list[ApiObject]:
    """Return the objects of a namespace, owners before dependents."""
    members: list[ApiObject] = []
    # Owners first: controllers would otherwise create the dependents again.
    for kind in (*reversed(KINDS.values()), *kinds.custom):
        if kind.namespaced:
            objects = cluster.list(kind).items
            members += (obj for obj in objects if obj.namespace == namespace)
    return members


def _as_written(obj: ObjT) -> ObjT:
    """Return an object without the fields that a server adds."""
    old = obj.metadata
    metadata = ObjectMeta(
        name=old.name,
        generate_name=old.generate_name,
        namespace=old.namespace or ("default" if obj.namespaced else ""),
        labels=old.labels,
        annotations=old.annotations,
        owner_references=old.owner_references,
        finalizers=old.finalizers,
    )
    return replace(obj, metadata=metadata)


def _stored(obj: ObjT, cluster: InMemoryCluster) -> ObjT | None:
    try:
        return cluster.get(type(obj), obj.key)
    except NotFoundError:
        return None


def _merged(written: ObjT, stored: ObjT) -> ObjT:
    """Return the result of applying a manifest to the stored object."""
    new = applied(written, stored)
    # A manifest without a number keeps the current number.
    if not isinstance(new, SIZED) or not isinstance(stored, SIZED):
        return new
    if new.spec.replicas is not None:
        return new
    spec = replace(new.spec, replicas=stored.spec.replicas)
    return replace(new, spec=spec)


def _patched(old: object, patch: object) -> object:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _patched(merged.get(key), value)
    return merged


def _done(
    change: object, simulation: Simulation, objects: Sequence[ApiObject]
) -> Effect:
    now = simulation.now
    names = [f"{obj.kind}/{_as_written(obj).key}" for obj in objects]
    return Effect(change=str(change), at=now, ended=now, objects=names)


def _listed(objects: Sequence[ApiObject]) -> str:
    names = [f"{obj.kind.lower()}/{obj.name}" for obj in objects[:3]]
    more = ", ..." if len(objects) > 3 else ""
    return ", ".join(names) + more
