"""The objects of a record, for writing differences and for reading."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import (
    ApiObject,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    from_wire,
)
from quaymaster._api.objects.codec import dec_hook
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.pool import SpecPool
from quaymaster._studies.recording.files import RecordError
from quaymaster._studies.recording.lines import (
    Added,
    Begin,
    Change,
    Deleted,
    End,
    Line,
    Modified,
    Reached,
    Template,
    Tree,
    full_kind,
)
from quaymaster._studies.recording.nearness import binding_time
from quaymaster._studies.recording.patches import patched

__all__ = ["Entry", "RecordState", "SharedSpec", "Stored"]

_WHERE: Final = "the record"


class SharedSpec:
    """A pod spec that many pods have.

    Args:
        tree: The spec.

    Attributes:
        tree: The spec.
    """

    __slots__ = ("_made", "tree")

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._made: PodSpec | None = None

    def made(self, pool: SpecPool) -> PodSpec:
        """Return the spec as an object.

        Raises:
            msgspec.ValidationError: It is not a pod spec.
        """
        if self._made is None:
            spec = msgspec.convert(self.tree, PodSpec, dec_hook=dec_hook)
            self._made = pool.share_spec(spec)
        return self._made


@attrs.frozen
class Stored:
    """An object of a record.

    Attributes:
        own: The object, without a shared spec.
        spec: The shared spec, or None.
        version: Its resource version, if available.
    """

    own: Tree
    spec: SharedSpec | None = None
    version: str = ""

    @property
    def uid(self) -> str:
        """The uid of the object."""
        return str(self.own.get("metadata", {}).get("uid", ""))

    def whole(self) -> Tree:
        """Return the whole object."""
        if self.spec is None:
            return self.own
        # The node is the only own field of a spec: it differs among pods of one
        # template.
        return {**self.own, "spec": {**self.spec.tree, **self.own.get("spec", {})}}


@attrs.frozen(kw_only=True)
class Entry:
    """A change of an object.

    Attributes:
        at: The time, in seconds since the beginning of the record.
        kind: The class of the object.
        key: Its key.
        old: The object before; None if it is new.
        new: The object after; None if it was deleted.
        version: The resource version of the change, if available.
        listed: Whether it is new only because recording began.
        missed: Whether it was deleted at an unknown earlier moment.
    """

    at: float
    kind: type[ApiObject]
    key: str
    old: ApiObject | None
    new: ApiObject | None
    version: str = ""
    listed: bool = False
    missed: bool = False

    @property
    def bound(self) -> float | None:
        """When the API server bound the pod with this change; see `binding_time`."""
        return binding_time(self.old, self.new)


class RecordState:
    """Follows the lines of a record.

    Args:
        kinds: The kinds to read; objects of other kinds are left out.

    Attributes:
        stored: The objects of each kind, by key.
        versions: The version that each kind has reached.
        objects: The objects of known kinds, by full kind and key.
        begins: The first line of each recording in the file.
        end: The time of the last line.
        has_ended: Whether the last line is a regular end.
        unknown: How many lines were about unknown kinds.
    """

    def __init__(self, kinds: KindSet) -> None:
        self.stored: dict[str, dict[str, Stored]] = {}
        self.versions: dict[str, str] = {}
        self.objects: dict[str, dict[str, ApiObject]] = {}
        self.begins: list[Begin] = []
        self.end = 0.0
        self.has_ended = False
        self.unknown = 0
        self._kinds = kinds
        self._classes: dict[str, type[ApiObject] | None] = {}
        self._templates: dict[int, SharedSpec] = {}
        self._pool = SpecPool()

    def entries(self, lines: Iterable[Line]) -> Iterator[Entry]:
        """Follow lines, and yield the changes of objects of known kinds."""
        for line in lines:
            entry = self.take(line)
            if entry is not None:
                yield entry

    def take(self, line: Line) -> Entry | None:
        """Follow one line.

        Raises:
            RecordError: It contradicts the lines before it.
            ObjectError: The object has invalid fields.
        """
        self.end = max(self.end, line.at)
        self.has_ended = isinstance(line, End)
        match line:
            case Begin():
                self._begin(line)
            case Template():
                self._templates[line.number] = SharedSpec(line.spec)
            case Reached():
                self.versions[line.kind] = line.version
            case Added() | Modified() | Deleted():
                return self._changed(line)
        return None

    def all(self) -> list[ApiObject]:
        """Return the current objects of known kinds."""
        return [obj for of in self.objects.values() for obj in of.values()]

    def _begin(self, line: Begin) -> None:
        self.begins.append(line)
        for kind in line.kinds:
            name = full_kind(kind.api_version, kind.kind)
            self._classes[name] = self._kinds.find(kind.api_version, kind.kind)

    def _changed(self, line: Change) -> Entry | None:
        stored = self.stored.setdefault(line.kind, {})
        if isinstance(line, Added):
            key = _key_of(line.object)
            new: Stored | None = Stored(
                line.object, self._spec(line.template), line.version
            )
        elif isinstance(line, Modified):
            key, before = line.key, stored.get(line.key)
            if before is None:
                message = f"{line.kind} {key} changes, and was never there"
                raise RecordError(_WHERE, message)
            spec = before.spec if line.template is None else self._spec(line.template)
            new = Stored(patched(before.own, line.patch), spec, line.version)
        else:
            key, new = line.key, None
        if new is None:
            stored.pop(key, None)
        else:
            stored[key] = new
        return self._entry(line, key, new)

    def _spec(self, number: int | None) -> SharedSpec | None:
        if number is None:
            return None
        spec = self._templates.get(number)
        if spec is None:
            raise RecordError(_WHERE, f"there is no template {number}")
        return spec

    def _entry(self, line: Change, key: str, stored: Stored | None) -> Entry | None:
        kind = self._classes.get(line.kind)
        if kind is None:
            self.unknown += 1
            return None
        objects = self.objects.setdefault(line.kind, {})
        old, new = objects.get(key), None
        if stored is None:
            objects.pop(key, None)
        else:
            new = objects[key] = self._made(stored, kind)
        return Entry(
            at=line.at,
            kind=kind,
            key=key,
            old=old,
            new=new,
            version=line.version,
            listed=isinstance(line, Added) and line.listed,
            missed=isinstance(line, Deleted) and line.missed,
        )

    def _made(self, stored: Stored, kind: type[ApiObject]) -> ApiObject:
        """Return the object; most have the form that this package writes."""
        try:
            if kind is Pod and stored.spec is not None:
                return self._pod(stored.own, stored.spec)
            if kind is not Pod:
                return msgspec.convert(stored.own, kind, dec_hook=dec_hook)
        except msgspec.ValidationError:
            pass
        return from_wire(stored.whole(), kind, pool=self._pool)

    def _pod(self, own: Tree, spec: SharedSpec) -> ApiObject:
        metadata = msgspec.convert(
            own.get("metadata", {}), ObjectMeta, dec_hook=dec_hook
        )
        status = msgspec.convert(own.get("status", {}), PodStatus, dec_hook=dec_hook)
        return Pod(
            metadata=self._pool.share_metadata(metadata),
            spec=spec.made(self._pool),
            node_name=own.get("spec", {}).get("nodeName", ""),
            status=self._pool.share_pod_status(status),
        )


def _key_of(tree: Mapping[str, Tree]) -> str:
    metadata = tree.get("metadata", {})
    namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
    return f"{namespace}/{name}" if namespace else str(name)
