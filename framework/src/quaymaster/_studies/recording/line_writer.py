"""Writes changes of objects as lines: only differences, and each spec once."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from quaymaster._api.objects import ApiObject, Node, Pod, Time, to_wire
from quaymaster._clusters.kubernetes.resource_versions import is_at_least
from quaymaster._studies.recording.lines import (
    FORMAT,
    Added,
    Begin,
    Deleted,
    End,
    KindName,
    Line,
    Modified,
    Reached,
    Template,
    Tree,
    full_kind,
)
from quaymaster._studies.recording.patches import merge_patch
from quaymaster._studies.recording.state import RecordState, SharedSpec, Stored

__all__ = ["LineWriter", "kind_of", "lean"]

_MOST_TEMPLATES: Final = 4096  # chosen: far more than are in use at a time
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_PLACES: Final = 3  # of seconds: watches are not more precise


class LineWriter:
    """Writes changes of objects as lines of a record.

    Args:
        write: Writes one line.
        earlier: The state of the record that is continued, or None.
    """

    def __init__(
        self, write: Callable[[Line], object], earlier: RecordState | None = None
    ) -> None:
        self._write = write
        self._stored = {} if earlier is None else earlier.stored
        self._versions = {} if earlier is None else earlier.versions
        self._marked_versions = dict(self._versions)
        # Numbers of an earlier recording are reused.
        self._numbers: dict[bytes, tuple[int, SharedSpec]] = {}

    def begin(
        self,
        at: float,
        *,
        now: float,
        source: str,
        kinds: Iterable[type[ApiObject]],
        anonymous: bool = False,
    ) -> None:
        """Write that recording begins or continues.

        Args:
            at: The time, in seconds since the beginning of the record.
            now: The moment, in seconds since the Unix epoch.
            source: The name of the cluster.
            kinds: The recorded kinds.
            anonymous: Whether names were replaced.
        """
        names = [KindName(kind.api_version, kind.kind) for kind in kinds]
        line = Begin(
            at=round(at, _PLACES),
            format=FORMAT,
            time=str(Time(now)),
            source=source,
            kinds=names,
            anonymous=anonymous,
        )
        self._write(line)

    def put(
        self,
        at: float,
        kind: type[ApiObject],
        key: str,
        tree: Tree,
        *,
        version: str = "",
        listed: bool = False,
    ) -> None:
        """Write an object, which may be new, changed or unchanged.

        Args:
            at: The time.
            kind: Its class.
            key: Its key.
            tree: The object, see `lean`.
            version: Its resource version.
            listed: Whether it existed when recording began.
        """
        name, at = kind_of(kind), round(at, _PLACES)
        of_kind = self._stored.setdefault(name, {})
        old = of_kind.get(key)
        if old is not None and _is_written(old, version):
            return
        new, number = (
            self._shared(at, tree, version)
            if kind is Pod
            else (Stored(tree, None, version), None)
        )
        if old is not None and old.uid != new.uid:
            # Another object with the same name: its deletion was never seen.
            self._write(Deleted(at=at, kind=name, key=key, missed=True))
            old = None
        if old is None:
            line: Line = Added(
                at=at,
                kind=name,
                object=new.own,
                template=number,
                listed=listed,
                version=version,
            )
        else:
            is_same_spec = _tree_of(old.spec) == _tree_of(new.spec)
            patch = merge_patch(old.own, new.own)
            # Only what `lean` leaves out has changed, such as the time of a heartbeat.
            if not patch and is_same_spec:
                of_kind[key] = new
                return
            line = Modified(
                at=at,
                kind=name,
                key=key,
                patch=patch,
                template=None if is_same_spec else number,
                version=version,
            )
        of_kind[key] = new
        self._write(line)

    def drop(
        self,
        at: float,
        kind: type[ApiObject],
        key: str,
        *,
        missed: bool = False,
        version: str = "",
    ) -> None:
        """Write that an object was deleted; ignore an unknown object."""
        name = kind_of(kind)
        if self._stored.get(name, {}).pop(key, None) is not None:
            at = round(at, _PLACES)
            line = Deleted(at=at, kind=name, key=key, missed=missed, version=version)
            self._write(line)

    def reached(self, kind: type[ApiObject], version: str) -> None:
        """Note that all changes of a kind up to a version have been written."""
        if version:
            self._versions[kind_of(kind)] = version

    def mark(self, at: float) -> None:
        """Write the version that each kind has reached, where it has changed."""
        for name, version in self._versions.items():
            if self._marked_versions.get(name) != version:
                self._marked_versions[name] = version
                self._write(Reached(at=round(at, _PLACES), kind=name, version=version))

    def end(self, at: float) -> None:
        """Write that recording ends."""
        self.mark(at)
        self._write(End(at=round(at, _PLACES)))

    def _shared(self, at: float, tree: Tree, version: str) -> tuple[Stored, int | None]:
        """Return a pod without its shared spec, and the number of the spec."""
        spec = dict(tree.get("spec", {}))
        node_name = spec.pop("nodeName", "")
        own = {key: value for key, value in tree.items() if key != "spec"}
        if node_name:
            own["spec"] = {"nodeName": node_name}
        # With sorted keys: maps of equal specs may be in different orders.
        text = msgspec.json.encode(spec, order="deterministic")
        digest = hashlib.blake2b(text, digest_size=20).digest()
        numbered = self._numbers.get(digest)
        if numbered is None:
            if len(self._numbers) == _MOST_TEMPLATES:
                # Numbers begin again, and replace those of before for readers, too:
                # their memory is limited as well.
                self._numbers.clear()
            numbered = self._numbers[digest] = (len(self._numbers), SharedSpec(spec))
            self._write(Template(at=at, number=numbered[0], spec=spec))
        number, shared = numbered
        return Stored(own, shared, version), number


def _is_written(old: Stored, version: str) -> bool:
    """Whether this or a newer version was written: servers may send objects again."""
    return bool(version and old.version) and is_at_least(old.version, version)


def kind_of(kind: type[ApiObject]) -> str:
    """Return the name of a class of objects in lines."""
    return full_kind(kind.api_version, kind.kind)


def lean(obj: ApiObject) -> Tree:
    """Return an object without fields that decide nothing or change all the time."""
    tree = to_wire(obj)
    for key in ("apiVersion", "kind"):
        tree.pop(key, None)
    metadata = tree.get("metadata", {})
    metadata.pop("resourceVersion", None)
    if _LAST_APPLIED in obj.annotations:
        metadata["annotations"].pop(_LAST_APPLIED)
    if isinstance(obj, Node):
        for condition in tree.get("status", {}).get("conditions", ()):
            condition.pop("lastHeartbeatTime", None)
    return tree


def _tree_of(spec: SharedSpec | None) -> Tree | None:
    return None if spec is None else spec.tree
