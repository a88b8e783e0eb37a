"""Collects the objects of all files, and all problems with them."""

import mmap
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    CronJob,
    Job,
    Namespace,
    PodGroup,
    SpecPool,
    decode,
    from_wire,
)
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import GROUP_KINDS, group_of
from quaymaster._api.objects.wire import read_tree
from quaymaster._api.openapi.dropping import without_disabled_fields
from quaymaster._api.openapi.table import FieldTable
from quaymaster._base.errors import ManifestErrors, ObjectError, Problem
from quaymaster._base.input.reading import UnreadableError
from quaymaster._clusters.manifests.applying import applied
from quaymaster._clusters.manifests.field_check import FieldCheck
from quaymaster._clusters.manifests.files import STDIN, files_below, read_bytes
from quaymaster._clusters.manifests.inputs import ManifestInput, named_text
from quaymaster._clusters.manifests.loaded import Loaded, Source
from quaymaster._clusters.manifests.older_versions import (
    converted_class,
    converted_text,
)
from quaymaster._clusters.manifests.texts import (
    ContentError,
    ObjectText,
    begins_json,
    object_texts,
)
from quaymaster._clusters.manifests.types import ObjectType
from quaymaster._clusters.manifests.unrendered import (
    is_chart_template,
    rendering_hint,
    template_hint,
    url_hint,
)
from quaymaster._clusters.manifests.validation import Validation

if TYPE_CHECKING:
    from quaymaster._clusters.manifests.custom_kinds import CustomKind
    from quaymaster._clusters.manifests.foreign import ForeignObjects

__all__ = ["Collector"]

_OBJECTS_PER_REPORT: Final = 256  # chosen, not measured: some reports per second
_LONGEST_KEY: Final = 80  # characters of a key in a message
_LONGEST_VERSION: Final = 20  # digits, as 64 bits have

ObjT = TypeVar("ObjT", bound=ApiObject)


class Collector:
    """Collects objects and problems, file by file.

    Args:
        pool: Shares equal parts between the objects.
        kinds: The kinds that have a class.
        table: The fields of Kubernetes' kinds.
        namespace: The namespace of namespaced objects that name none.
        custom_kinds: Custom kinds whose pods run, by group and kind.
        run_cron_jobs: Whether each CronJob runs once.
        validation: How to treat unknown fields.
        on_progress: Called now and then with the number of objects so far.
        default_namespace: The same as ``namespace``, but others may be named.
    """

    def __init__(
        self,
        pool: SpecPool,
        *,
        kinds: KindSet,
        table: FieldTable,
        namespace: str | None = None,
        custom_kinds: Mapping[tuple[str, str], "CustomKind"] | None = None,
        run_cron_jobs: bool = False,
        validation: Validation | None = None,
        on_progress: Callable[[int], None] | None = None,
        default_namespace: str = "default",
    ) -> None:
        self._on_progress = on_progress
        self._default_namespace = default_namespace
        self._pool = pool
        self._kinds = kinds
        self._own_kinds = frozenset(kinds.own)
        self._fields = FieldCheck(validation, pool, self._place_of, kinds, table)
        self._table = table
        self._namespace = namespace
        self._custom_kinds = custom_kinds or {}
        self._run_cron_jobs = run_cron_jobs
        # None until there is one.
        self._foreign: ForeignObjects | None = None
        self._objects: list[ApiObject] = []
        self._sources: list[Source] = []
        self._skipped: Counter[str] = Counter()
        self._problems: list[Problem] = []
        # How many objects a cluster already has, and those that others are applied to.
        self._stored = 0
        self._applied: set[int] = set()
        # By object: the disabled gates whose fields it has.
        self._used_gates: dict[int, frozenset[str]] = {}
        # The index of each named object in the list of objects.
        self._first: dict[tuple[type[ApiObject], str], int] = {}
        self._read: set[str] = set()
        self._paths: list[str] = []
        self._has_foreign = False

    def result(self) -> Loaded:
        """Return the loaded objects; raise an error if there is any problem."""
        self._add_jobs()
        self._add_groups()
        has_content = self._problems or self._objects or self._has_foreign
        if self._paths and not has_content:
            self._complain(", ".join(self._paths), message="no objects in it")
        if self._problems:
            raise ManifestErrors(self._problems)
        foreign_notices = self._foreign.notices() if self._foreign else ()
        return Loaded(
            objects=tuple(self._objects),
            sources=tuple(self._sources),
            skipped=self._skipped,
            notices=(*foreign_notices, *self._fields.notices()),
        )

    def read_stored(self, name: str, content: bytes) -> None:
        """Read the objects that a cluster already has; call it before reading paths."""
        self._read_content(content, name)
        self._stored = len(self._objects)

    def read(self, source: ManifestInput) -> None:
        """Read a file, all files of a directory, standard input, a text or a stream."""
        try:
            text = named_text(source)
        except (OSError, UnreadableError) as error:
            self._complain(str(getattr(source, "name", "input")), message=str(error))
            return
        if text is not None:
            self._paths.append(text.name)
            self._read_content(text.content, text.name)
        elif isinstance(source, (str, os.PathLike)):
            self._read_path(os.fspath(source))

    def _read_path(self, name: str) -> None:
        self._paths.append(name)
        if name:
            self._read_existing(name)
        else:
            self._complain("''", message="expected a path")

    def _read_existing(self, name: str) -> None:
        try:
            if name != STDIN and Path(name).is_dir():
                self._read_directory(name)
            else:
                self._read_file(name)
        except OSError as error:
            what = (error.strerror or str(error)).lower()
            self._complain(name, message=url_hint(name) or what)
        except UnreadableError as error:
            self._complain(name, message=str(error))
        except ValueError:  # of the name itself
            self._complain(repr(name), message="expected a path, which has no NUL")

    def _read_directory(self, name: str) -> None:
        files, unrendered = files_below(Path(name))
        for path in files:
            self._read_existing(str(path))
        for folder, message in unrendered.items():
            self._complain(str(folder), message=message)
        if not files and not unrendered:
            endings = "no .yaml, .yml or .json files in this directory"
            self._complain(name, message=endings)

    def _read_file(self, name: str) -> None:
        identity = name if name == STDIN else os.path.realpath(name)
        if identity in self._read:
            return
        self._read.add(identity)
        path = Path(name)
        unrendered = rendering_hint(path)
        if unrendered:
            self._complain(name, message=unrendered)
            return
        content = read_bytes(name)
        if not begins_json(content):
            unrendered = is_chart_template(path, content)
            if unrendered:
                self._complain(name, message=unrendered)
                return
        self._read_content(content, name)

    def _read_content(self, content: bytes | mmap.mmap, name: str) -> None:
        try:
            for entry in object_texts(content, name):
                self._add(entry)
        except UnreadableError as error:
            self._complain(name, message=template_hint(content) or str(error))

    def _add(self, entry: ObjectText) -> None:
        """Add the content of one value of a file."""
        try:
            cls = self._class_of(entry.typed)
            if cls is None:
                cls = self._kinds.convertible_class(*entry.typed)
                if cls is not None:
                    # Few inputs have such objects.
                    from quaymaster._clusters.manifests.declared_versions import (  # noqa: PLC0415 - above
                        in_declared_version,
                    )

                    entry = in_declared_version(entry, cls)
            if cls is None:
                self._add_other(entry)
            else:
                self._add_object(entry, cls)
        except ContentError as error:
            self._complain(str(entry.source), error.path, error.message)
        except RecursionError:
            self._complain(str(entry.source), message="nested too deeply")
        except UnicodeDecodeError as error:
            self._complain(str(entry.source), message=f"expected UTF-8: {error.reason}")
        except ValueError as error:
            self._complain(str(entry.source), message=f"malformed JSON: {error}")

    def _class_of(self, typed: ObjectType) -> type[ApiObject] | None:
        """Return the class of a type, or None; groups have one if their gate is on."""
        cls = self._kinds.find(*typed) or converted_class(typed)
        if cls in GROUP_KINDS and not self._table.kubernetes.reads(typed.kind):
            return None
        return cls

    def _add_other(self, entry: ObjectText) -> None:
        """Add a list, or an object of a class that scheduling does not use."""
        tree, typed, items = entry.fields(), entry.full_type(), entry.inner_texts()
        if items is not None:
            for item in items:
                self._add(item)
            return
        self._has_foreign = True
        problems = self._fields.check(entry).problems
        self._problems += problems
        # Otherwise the code that runs its pods would report the same again.
        if not problems and not self._add_foreign(tree, typed, entry.source):
            self._skipped[str(typed)] += 1

    def _add_foreign(
        self, tree: Mapping[str, object], typed: ObjectType, source: Source
    ) -> bool:
        """Add an object without a class; return whether it runs or gets a notice."""
        return self._with_foreign().add(tree, typed, source)

    def _with_foreign(self) -> "ForeignObjects":
        """Return the objects without a class, which are collected from the first on."""
        if self._foreign is None:
            # Few inputs have such objects, and a small simulation takes about as long
            # as its imports.
            from quaymaster._clusters.manifests.foreign import (  # noqa: PLC0415 - above
                ForeignObjects,
            )

            self._foreign = ForeignObjects(
                self._custom_kinds,
                self._kinds,
                run_cron_jobs=self._run_cron_jobs,
                kubernetes=self._table.kubernetes,
            )
        return self._foreign

    def _add_jobs(self) -> None:
        """Add the Jobs that run the pods of objects without a class."""
        if self._foreign is None:
            return
        for job, source in self._foreign.jobs(tuple(self._objects), self._problems):
            structure = self._table.structure_of(Job.api_version, Job.kind)
            tree = without_disabled_fields(job.tree, structure, self._table)
            try:
                read = from_wire if job.is_final else read_tree
                self._keep(read(tree, Job, pool=self._pool), source)
            except ObjectError as error:
                for problem in error.problems:
                    path = problem.path.replace("spec.template", job.path, 1)
                    self._complain(f"{source} ({job.owner})", path, problem.message)

    def _add_groups(self) -> None:
        """Add the PodGroups of custom objects, and put pods into them."""
        if self._foreign is None and not self._custom_kinds:
            return
        objects = tuple(self._objects)
        groups, members = self._with_foreign().groups(objects, self._problems)
        for index, obj in members.items():
            self._objects[index] = obj
        structure = self._table.structure_of(PodGroup.api_version, PodGroup.kind)
        for group, origin in groups:
            source = self._sources[origin] if isinstance(origin, int) else origin
            tree = without_disabled_fields(group, structure, self._table)
            try:
                self._keep(from_wire(tree, PodGroup, pool=self._pool), source)
            except ObjectError as error:
                for problem in error.problems:
                    self._complain(str(source), problem.path, problem.message)

    def _add_object(self, entry: ObjectText, cls: type[ApiObject]) -> None:
        obj: ApiObject | None = None
        reported = set()
        try:
            obj = decode(converted_text(entry), cls, pool=self._pool)
        except ObjectError as error:
            where = self._place_of(entry)
            for problem in error.problems:
                self._complain(where, problem.path, problem.message)
                reported.add(problem.path)
        used = self._gates_in_use(obj)
        checked = self._fields.check(entry, obj, reported=reported, used=used)
        self._problems += checked.problems
        if obj is None:
            return
        if checked.dropped:
            text = self._fields.without_disabled(entry, used).text
            obj = decode(text, cls, pool=self._pool)
        self._keep(obj, entry.source)
        if checked.used and (number := self._number_of(obj)) is not None:
            self._used_gates[number] = checked.used
        if cls in self._own_kinds or cls is CronJob:
            # Its pods run, too, if it has any, or are missing.
            self._add_foreign(entry.fields(), entry.typed, entry.source)

    def _gates_in_use(self, obj: ApiObject | None) -> frozenset[str]:
        """Return the disabled gates that the stored object of the same name uses."""
        if obj is None or not self._used_gates:
            return frozenset()
        number = self._number_of(obj)
        return self._used_gates.get(-1 if number is None else number, frozenset())

    def _number_of(self, obj: ApiObject) -> int | None:
        """Return the index of the object of this name, or None."""
        metadata = obj.metadata
        if obj.namespaced and not metadata.namespace:
            namespace = self._namespace or self._default_namespace
            metadata = msgspec.structs.replace(metadata, namespace=namespace)
            obj = msgspec.structs.replace(obj, metadata=metadata)
        return self._first.get((type(obj), obj.key))

    def _keep(self, obj: ApiObject, source: Source) -> None:
        if obj.namespaced:
            obj = self._in_namespace(obj)
        metadata = obj.metadata
        if metadata.name:
            number = len(self._objects)
            first = self._first.setdefault((type(obj), obj.key), number)
            if first != number:
                self._keep_again(obj, source, first)
                return
        elif not metadata.generate_name:
            where = f"{source} ({obj.kind})"
            self._complain(where, "metadata.name", "expected a name")
            return
        self._objects.append(obj)
        self._sources.append(source)
        count = len(self._objects)
        if count % _OBJECTS_PER_REPORT == 0 and self._on_progress is not None:
            self._on_progress(count)

    def _in_namespace(self, obj: ObjT) -> ObjT:
        """Return the object, in the requested namespace if it names none."""
        if obj.metadata.namespace:
            return obj
        metadata = msgspec.structs.replace(
            obj.metadata, namespace=self._namespace or self._default_namespace
        )
        return msgspec.structs.replace(obj, metadata=metadata)

    def _keep_again(self, obj: ApiObject, source: Source, first: int) -> None:
        """Add an object that was read before: the later version of two wins."""
        existing = self._objects[first]
        is_first = first not in self._applied or isinstance(obj, Namespace)
        if first < self._stored and is_first:
            self._applied.add(first)
            self._objects[first] = applied(obj, existing)
            self._sources[first] = source
            return
        if isinstance(obj, Namespace) and obj == existing:
            return  # many files have the namespace that they all belong to
        if not obj.uid or existing.uid != obj.uid:
            where = self._sources[first]
            message = f"duplicate {obj.kind} {obj.key!r}, first in {where}"
            self._complain(str(source), message=message)
        elif _version(obj) >= _version(existing):
            self._objects[first] = obj
            self._sources[first] = source

    def _complain(self, where: str, path: str = "", message: str = "") -> None:
        self._problems.append(Problem(where=where, path=path, message=message))

    def _place_of(self, entry: ObjectText) -> str:
        """Return the place of an object, and its kind and key if they can be read."""
        tree = entry.tree
        typed = entry.typed
        cls = self._kinds.find(*typed) or self._kinds.declared_as(
            group_of(typed.api_version), typed.kind
        )
        name = typed.kind or "object"
        metadata = tree.get("metadata") if isinstance(tree, Mapping) else None
        if isinstance(metadata, Mapping) and metadata.get("name"):
            is_namespaced = cls is not None and cls.namespaced
            namespace = metadata.get("namespace") or "default" * is_namespaced
            key = f"{namespace}{'/' if namespace else ''}{metadata['name']}"
            name += (
                f" {key if len(key) <= _LONGEST_KEY else key[:_LONGEST_KEY] + '...'}"
            )
        return f"{entry.source} ({name})"


def _version(obj: ApiObject) -> int:
    """Return the resource version of an object from a server; 0 for others."""
    text = obj.metadata.resource_version
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_VERSION else 0
