"""Objects from manifests: files, directories and standard input.

YAML and JSON, several documents or values in one file, lists (``kind: List``) and whole
dumps (``kubectl get pods -o json``) can be mixed. Kinds that scheduling does not know
are counted and left out. Everything that is wrong is told at once, with its place.
"""

import gc
import mmap
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import attrs
import msgspec

from quaymaster._json_values import (
    JsonError,
    JsonText,
    JsonValue,
    head,
    json_values,
)
from quaymaster._yaml import YamlError, documents
from quaymaster.errors import ManifestErrors, ObjectError, Problem
from quaymaster.objects import KINDS, ApiObject, SpecPool, decode, from_wire

__all__ = ["Loaded", "ManifestErrors", "Problem", "Source", "load"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_STDIN: Final = "-"
_MAPPED_FROM: Final = 1 << 25  # bytes: larger files are not copied into memory


class Source(NamedTuple):
    """Where an object came from.

    Attributes:
        path: The file, as it was named; ``-`` is standard input.
        document: Its number in the file, from 1; 0 if the file has only one.
        item: Its index in a list; -1 if it is in none.
    """

    path: str
    document: int = 0
    item: int = -1

    def __str__(self) -> str:
        place = []
        if self.document:
            place.append(f"document {self.document}")
        if self.item >= 0:
            place.append(f"items[{self.item}]")
        return f"{self.path}: {', '.join(place)}" if place else self.path


@attrs.frozen(kw_only=True)
class Loaded:
    """What manifests hold.

    Attributes:
        objects: In the order of the files, and of the documents in them.
        sources: Where each of the objects came from, in the same order.
        skipped: How often each kind that scheduling does not know was there, such as
            ``Prometheus (monitoring.coreos.com/v1)``.
    """

    objects: tuple[ApiObject, ...]
    sources: tuple[Source, ...] = attrs.field(repr=False)
    skipped: Counter[str]

    def of(self, kind: type[ObjT]) -> list[ObjT]:
        """The objects of one kind."""
        return [obj for obj in self.objects if isinstance(obj, kind)]


def load(
    paths: Iterable[str | os.PathLike[str]], *, pool: SpecPool | None = None
) -> Loaded:
    """Load manifests; a namespaced object without a namespace goes to ``default``.

    Directories are searched for ``.yaml``, ``.yml`` and ``.json`` files, with all that
    is below them but without what begins with a dot, in the order of the paths. The
    garbage collector pauses meanwhile.

    Args:
        paths: Files, directories, or ``-`` for standard input.
        pool: What the objects share their parts with.

    Raises:
        ManifestErrors: Something is wrong; nothing was loaded.
    """
    collector = _Collector(pool if pool is not None else SpecPool())
    with _paused_gc():
        for path in paths:
            collector.read_path(os.fspath(path))
    return collector.result()


@contextmanager
def _paused_gc() -> Iterator[None]:
    """Keep the collector from looking again and again at all that was loaded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Type(NamedTuple):
    """What an object says it is."""

    api_version: str
    kind: str

    @property
    def item_type(self) -> "_Type | None":
        """What the items of a list are, unless they say so; None if this is no list."""
        if self.kind in KINDS or not self.kind.endswith("List"):
            return None
        kind = self.kind.removesuffix("List")
        return _Type(self.api_version if kind else "", kind)

    @property
    def object_class(self) -> type[ApiObject] | None:
        """The class of such objects; None if scheduling does not know it."""
        cls = KINDS.get(self.kind)
        return cls if cls is not None and cls.api_version == self.api_version else None

    def __str__(self) -> str:
        return f"{self.kind} ({self.api_version})"


_UNTYPED: Final = _Type("", "")


class _Collector:
    """Gathers objects and problems, file by file."""

    def __init__(self, pool: SpecPool) -> None:
        self._pool = pool
        self._objects: list[ApiObject] = []
        self._sources: list[Source] = []
        self._skipped: Counter[str] = Counter()
        self._problems: list[Problem] = []
        self._first: dict[tuple[type[ApiObject], str], Source] = {}
        self._read: set[str] = set()

    def result(self) -> Loaded:
        """What was loaded, if nothing is wrong."""
        if self._problems:
            raise ManifestErrors(self._problems)
        return Loaded(
            objects=tuple(self._objects),
            sources=tuple(self._sources),
            skipped=self._skipped,
        )

    def read_path(self, name: str) -> None:
        """Read a file, all files of a directory, or standard input."""
        try:
            if name != _STDIN and Path(name).is_dir():
                self._read_directory(name)
            else:
                self._read_file(name)
        except OSError as error:
            self._complain(name, message=(error.strerror or str(error)).lower())
        except UnicodeDecodeError as error:
            self._complain(name, message=f"expected UTF-8: {error.reason}")

    def _read_directory(self, name: str) -> None:
        found = False
        for path in _files_below(Path(name)):
            found = True
            self.read_path(str(path))
        if not found:
            endings = "no .yaml, .yml or .json files in this directory"
            self._complain(name, message=endings)

    def _read_file(self, name: str) -> None:
        identity = name if name == _STDIN else os.path.realpath(name)
        if identity in self._read:
            return
        self._read.add(identity)
        text = _read_bytes(name)
        if text[:256].lstrip()[:1] in (b"{", b"["):
            try:
                values = json_values(text)
            except JsonError as error:
                # JSON that only YAML can read (comments, --- in between) is YAML.
                if name.endswith(".json"):
                    self._complain(name, message=str(error))
                    return
            else:
                self._add_json(values, name)
                return
        self._add_yaml(bytes(text), name)

    def _add_json(self, values: list[JsonValue], name: str) -> None:
        for number, value in enumerate(values, 1):
            source = Source(name, number if len(values) > 1 else 0)
            typed = _Type(value.api_version, value.kind)
            item_type = typed.item_type
            if item_type is None or value.items is None:
                self._add_text(value.text, typed, source)
                continue
            for index, text in enumerate(value.items):
                api_version, kind = head(text)
                own = _Type(
                    api_version or item_type.api_version, kind or item_type.kind
                )
                self._add_text(text, own, source._replace(item=index))

    def _add_text(self, text: JsonText, typed: _Type, source: Source) -> None:
        cls = typed.object_class
        if cls is None:
            self._add_tree(msgspec.json.decode(text), source, typed)
            return
        try:
            self._keep(decode(text, cls, pool=self._pool), source)
        except ObjectError as error:
            self._add_problems(error, cls, msgspec.json.decode(text), source)

    def _add_yaml(self, text: bytes, name: str) -> None:
        trees: list[object] = []
        try:
            trees.extend(documents(text))
        except YamlError as error:
            self._complain(name, message=str(error))
            return
        for number, tree in enumerate(trees, 1):
            if tree is not None:
                source = Source(name, number if len(trees) > 1 else 0)
                self._add_tree(tree, source, _UNTYPED)

    def _add_tree(self, tree: object, source: Source, hint: _Type) -> None:
        if not isinstance(tree, Mapping):
            message = "expected an object with apiVersion and kind"
            self._complain(str(source), message=message)
            return
        typed = self._type_of(tree, source, hint)
        if typed is None:
            return
        items = tree.get("items")
        if typed.item_type is not None and (items is None or isinstance(items, list)):
            for index, item in enumerate(items or ()):
                self._add_tree(item, source._replace(item=index), typed.item_type)
        elif typed.object_class is None:
            self._skipped[str(typed)] += 1
        else:
            self._add_object(tree, typed.object_class, source)

    def _type_of(
        self, tree: Mapping[str, object], source: Source, hint: _Type
    ) -> _Type | None:
        found = []
        for field, default in (("apiVersion", hint.api_version), ("kind", hint.kind)):
            value = tree.get(field) or default
            if not isinstance(value, str) or not value:
                message = f"expected the {field} of a Kubernetes object"
                self._complain(str(source), field, message)
                return None
            found.append(value)
        return _Type(*found)

    def _add_object(
        self, tree: Mapping[str, object], cls: type[ApiObject], source: Source
    ) -> None:
        try:
            self._keep(from_wire(tree, cls, pool=self._pool), source)
        except ObjectError as error:
            self._add_problems(error, cls, tree, source)

    def _keep(self, obj: ApiObject, source: Source) -> None:
        metadata = obj.metadata
        if obj.namespaced and not metadata.namespace:
            metadata = msgspec.structs.replace(metadata, namespace="default")
            obj = msgspec.structs.replace(obj, metadata=metadata)
        if metadata.name:
            first = self._first.setdefault((type(obj), obj.key), source)
            if first is not source:
                message = f"duplicate {obj.kind} {obj.key!r}, first in {first}"
                self._complain(str(source), message=message)
                return
        elif not metadata.generate_name:
            where = f"{source} ({obj.kind})"
            self._complain(where, "metadata.name", "expected a name")
            return
        self._objects.append(obj)
        self._sources.append(source)

    def _add_problems(
        self, error: ObjectError, cls: type[ApiObject], tree: object, source: Source
    ) -> None:
        where = f"{source} ({cls.kind}{_name_in(tree, cls)})"
        for problem in error.problems:
            self._complain(where, problem.path, problem.message)

    def _complain(self, where: str, path: str = "", message: str = "") -> None:
        self._problems.append(Problem(where=where, path=path, message=message))


def _files_below(directory: Path) -> list[Path]:
    found = []
    for parent, folders, files in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(parent, name)
            for name in files
            if name.endswith(_SUFFIXES) and not name.startswith(".")
        ]
    return sorted(found)


def _read_bytes(name: str) -> bytes | mmap.mmap:
    if name == _STDIN:
        return sys.stdin.buffer.read()
    with Path(name).open("rb") as file:
        if os.fstat(file.fileno()).st_size >= _MAPPED_FROM:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return file.read()


def _name_in(tree: object, cls: type[ApiObject]) -> str:
    """The key of an object that could not be made, as far as it can be told."""
    metadata = tree.get("metadata") if isinstance(tree, Mapping) else None
    if not isinstance(metadata, Mapping) or not metadata.get("name"):
        return ""
    if not cls.namespaced:
        return f" {metadata['name']}"
    return f" {metadata.get('namespace') or 'default'}/{metadata['name']}"
