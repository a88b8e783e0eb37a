"""Makes objects of upstream's template files.

Mirrors ``getSpecFromTextTemplateFile`` (Kubernetes v1.37, ``test/integration/
scheduler_perf/operations.go``). As with Go's JSON, the names of fields may be written
in any case.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import inspect

from quaymaster._api.objects import KINDS, ApiObject, SpecPool, from_wire
from quaymaster._base.errors import ObjectError, Problem
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import documents
from quaymaster._core.config.naming import show
from quaymaster._studies.perf.errors import PerfErrors
from quaymaster._studies.perf.gotext.errors import GoTemplateError
from quaymaster._studies.perf.gotext.template import GoTemplate, ObjectTexts
from quaymaster._studies.perf.pattern import Pattern, make_pattern

__all__ = ["KEPT", "ObjectTemplate", "TemplateFiles", "in_namespace"]

ObjT = TypeVar("ObjT", bound=ApiObject)

KEPT: Final = 2048
"""How many objects a template caches: twice the kinds of ScalingKinds1000.

With 256, the client of that workload parsed each of its objects again, which took a
quarter of the measured time.
"""

_DEVICES: Final = "resource.k8s.io/"
_GROUPS: Final = "scheduling.k8s.io/"
_VERSIONS: Final = {
    f"{_DEVICES}v1": (f"{_DEVICES}v1", f"{_DEVICES}v1beta2"),
    f"{_GROUPS}v1beta1": (f"{_GROUPS}v1beta1", f"{_GROUPS}v1alpha3"),
}
"""Versions of objects that have the same fields."""

_OPTIONAL: Final = frozenset({"DeviceTaintRule"})
"""Kinds that an API server may serve only in other versions, or not at all.

The rules of Kubernetes v1.36's workloads are ``resource.k8s.io/v1alpha3``, and their
feature gate is off.
"""


class TemplateFiles:
    """The templates of one workload; their objects share equal parts."""

    def __init__(self) -> None:
        self._pool = SpecPool()
        self._templates: dict[
            tuple[Path, type[ApiObject] | None, bytes], ObjectTemplate
        ]
        self._templates = {}

    def get(
        self,
        path: Path,
        kind: type[ApiObject] | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> "ObjectTemplate":
        """Return the template in a file.

        Args:
            path: The file.
            kind: The required kind of its objects; None for any kind.
            parameters: Its fields in addition to ``.Index`` and ``.Count``.

        Raises:
            PerfErrors: It cannot be read.
        """
        values = parameters or {}
        key = path, kind, msgspec.json.encode(values, order="deterministic")
        template = self._templates.get(key)
        if template is None:
            template = ObjectTemplate(path, kind, self._pool, values)
            self._templates[key] = template
        return template


class ObjectTemplate:
    """Makes objects of one template, whose YAML is read once.

    Args:
        path: The file.
        kind: The required kind of its objects; None for any kind.
        pool: The pool of shared parts.
        parameters: Its fields in addition to ``.Index`` and ``.Count``.

    Raises:
        PerfErrors: The file is unreadable, or not a template.
    """

    def __init__(
        self,
        path: Path,
        kind: type[ApiObject] | None,
        pool: SpecPool,
        parameters: Mapping[str, object],
    ) -> None:
        self._path = path
        self._kind = kind
        self._pool = pool
        self._cached: dict[tuple[int, tuple[str, ...]], ApiObject] = {}
        self._texts: dict[int, ObjectTexts] = {}
        self._patterns: dict[int, Pattern | None] = {}
        # Patterns whose trees have the fields as the API spells them.
        self._well_spelled: set[int] = set()
        try:
            text = path.read_text(encoding="utf-8")
            self._template = GoTemplate(text, parameters)
        except OSError as error:
            raise self._error((error.strerror or str(error)).lower()) from error
        except GoTemplateError as error:
            raise self._error(str(error)) from error

    @property
    def has_no_effect(self) -> bool:
        """Whether its objects are not served and change no decision.

        Raises:
            PerfErrors: The text is not an object.
        """
        try:
            tree = self._tree(tuple(self._texts_of(1).values(0)), 1)
        except (GoTemplateError, YamlError) as error:
            raise self._error(str(error)) from error
        name = str(tree.get("kind"))
        kind = KINDS.get(name)
        is_served = kind is not None and kind.api_version == tree.get("apiVersion")
        return name in _OPTIONAL and not is_served

    def make(self, index: int, count: int) -> ApiObject:
        """Return one of ``count`` objects; several indexes may return the same object.

        Raises:
            PerfErrors: The text is not an object of the kind.
        """
        try:
            values = tuple(self._texts_of(count).values(index))
            cached = self._cached.get((count, values))
            if cached is None:
                if len(self._cached) >= KEPT:
                    self._cached.clear()
                cached = self._cached[count, values] = self._read(values, count)
        except (GoTemplateError, YamlError) as error:
            raise self._error(str(error)) from error
        return cached

    def _texts_of(self, count: int) -> ObjectTexts:
        texts = self._texts.get(count)
        if texts is None:
            texts = self._texts[count] = self._template.texts(count)
        return texts

    def _read(self, values: Sequence[str], count: int) -> ApiObject:
        tree = self._tree(values, count)
        kind = self._class_of(tree)
        try:
            obj = from_wire(self._spelled(tree, kind, count), kind, pool=self._pool)
        except ObjectError as error:
            raise PerfErrors(
                Problem(
                    where=str(self._path), path=problem.path, message=problem.message
                )
                for problem in error.problems
            ) from error
        return obj

    def _spelled(
        self, tree: Mapping[str, object], kind: type[ApiObject], count: int
    ) -> object:
        if count in self._well_spelled:
            return tree
        spelled = with_field_names(tree, kind)
        pattern = self._patterns[count]
        if pattern is not None and pattern.has_fixed_keys and spelled == tree:
            self._well_spelled.add(count)
        return spelled

    def _tree(self, values: Sequence[str], count: int) -> Mapping[str, object]:
        if count not in self._patterns:
            self._patterns[count] = make_pattern(self._texts_of(count))
        pattern = self._patterns[count]
        given: object
        if pattern is None:
            text = self._texts_of(count).fill(values)
            given = list(documents(text.encode(), unique_keys=True))
        else:
            given = pattern.tree(values)
        assert isinstance(given, list)
        trees = [tree for tree in given if tree is not None]
        if len(trees) != 1 or not isinstance(trees[0], Mapping):
            got = show(trees[0]) if len(trees) == 1 else f"{len(trees)} documents"
            raise self._error(f"expected one object, got {got}")
        return trees[0]

    def _class_of(self, tree: Mapping[str, object]) -> type[ApiObject]:
        api_version, name = tree.get("apiVersion"), tree.get("kind")
        if self._kind is not None and name != self._kind.kind:
            message = f"expected {self._kind.kind!r}, got {show(name)}"
            raise self._error(message, "kind")
        kind = KINDS.get(str(name))
        if kind is not None and api_version in _VERSIONS.get(
            kind.api_version, (kind.api_version,)
        ):
            return kind
        if kind is None:
            message = f"expected a kind that scheduling knows, got {show(name)}"
            raise self._error(message, "kind")
        message = f"expected {kind.api_version!r}, got {show(api_version)}"
        raise self._error(message, "apiVersion")

    def _error(self, message: str, path: str = "") -> PerfErrors:
        return PerfErrors([Problem(where=str(self._path), path=path, message=message)])


def with_field_names(tree: object, kind: type[ApiObject]) -> object:
    """Return the tree with the field names in the API's spelling."""
    return _respelled(tree, _type_info(kind))


@functools.lru_cache(maxsize=64)
def _type_info(kind: type[ApiObject]) -> inspect.Type:
    return inspect.type_info(kind)


def _respelled(value: object, info: inspect.Type) -> object:
    if isinstance(info, inspect.UnionType):
        members = [t for t in info.types if not isinstance(t, inspect.NoneType)]
        return _respelled(value, members[0]) if len(members) == 1 else value
    if isinstance(info, inspect.VarTupleType) and isinstance(value, list):
        return [_respelled(item, info.item_type) for item in value]
    if isinstance(info, inspect.DictType) and isinstance(value, Mapping):
        return {key: _respelled(item, info.value_type) for key, item in value.items()}
    if not isinstance(info, inspect.StructType) or not isinstance(value, Mapping):
        return value
    fields = {field.encode_name.lower(): field for field in info.fields}
    respelled = {}
    for key, item in value.items():
        field = fields.get(str(key).lower())
        if field is None:
            respelled[key] = item
        else:
            respelled[field.encode_name] = _respelled(item, field.type)
    return respelled


def in_namespace(obj: ObjT, namespace: str) -> ObjT:
    """Return the object in a namespace."""
    metadata = msgspec.structs.replace(obj.metadata, namespace=namespace)
    return msgspec.structs.replace(obj, metadata=metadata)
