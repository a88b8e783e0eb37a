"""Objects as Go's encoder writes them, and the errors of its decoder."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import inspect

from quaymaster import ApiObject
from tests.groups.cases import Tree

__all__ = ["as_go_writes", "unmarshal_error"]

_JSON_NAMES: Final = {str: "string", bool: "bool", dict: "object", list: "array"}


def as_go_writes(tree: Tree, api_version: str) -> Tree:
    """Return an object of a group or workload with the fields that Go never omits."""
    kind, spec = tree["kind"], tree.get("spec", {})
    metadata = {k: v for k, v in tree["metadata"].items() if k not in _GENERATED}
    written: Tree = {"kind": kind, "apiVersion": api_version, "metadata": metadata}
    if kind == "Workload":
        spec = _templates({"podGroupTemplates": None, **spec})
        return {**written, "spec": spec}
    status = tree.get("status", {})
    if "conditions" in status:
        conditions = [_condition(condition) for condition in status["conditions"]]
        status = {**status, "conditions": conditions}
    return {**written, "spec": spec, "status": status}


_GENERATED: Final = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "managedFields",
)


def _condition(condition: Tree) -> Tree:
    empty = dict.fromkeys(("type", "status", "reason", "message"), "")
    return {**empty, "lastTransitionTime": None, **condition}


def _templates(parent: Tree) -> Tree:
    """Return a parent of templates: those of groups show that they lack constraints."""
    written = dict(parent)
    for template in written.get("podGroupTemplates") or ():
        template.setdefault("schedulingConstraints", None)
    composites = written.get("compositePodGroupTemplates")
    if composites:
        written["compositePodGroupTemplates"] = list(map(_templates, composites))
    return written


def unmarshal_error(kind: type[ApiObject], path: str, value: object) -> str:
    """Return the error of Go's decoder for a value of a wrong type.

    Args:
        kind: The class of the object.
        path: The path of the field.
        value: The value.
    """
    owner, info = _field_at(kind, path)
    got = _JSON_NAMES.get(type(value), f"number {value}")
    field = f"{owner}.{_without_indexes(path)}"
    return (
        f"json: cannot unmarshal {got} into Go struct field {field} of type "
        f"{_go_type(info)}"
    )


def _without_indexes(path: str) -> str:
    return ".".join(part.partition("[")[0] for part in path.split("."))


def _field_at(kind: type[ApiObject], path: str) -> tuple[str, inspect.Type]:
    """Return the structure that has a field, and the type of the field."""
    info: inspect.Type = inspect.type_info(kind)
    owner = kind.__name__
    for part in path.split("."):
        name = part.partition("[")[0]
        info = _structure(info)
        assert isinstance(info, inspect.StructType), path
        owner = info.cls.__name__
        info = next(f.type for f in info.fields if f.encode_name == name)
    return owner, info


def _structure(info: inspect.Type) -> inspect.Type:
    if isinstance(info, inspect.UnionType):
        (info,) = (t for t in info.types if not isinstance(t, inspect.NoneType))
    return (
        _structure(info.item_type) if isinstance(info, inspect.VarTupleType) else info
    )


def _go_type(info: inspect.Type) -> str:
    if isinstance(info, inspect.UnionType):
        (info,) = (t for t in info.types if not isinstance(t, inspect.NoneType))
    if isinstance(info, inspect.IntType):
        return "int32" if info.le == 2**31 - 1 else "int64"
    if isinstance(info, inspect.BoolType):
        return "bool"
    if isinstance(info, inspect.StructType):
        return f"v1beta1.{info.cls.__name__}"
    if isinstance(info, inspect.VarTupleType):
        return f"[]{_go_type(info.item_type)}"
    return "string"


def pruned(tree: Mapping[str, Any], names: tuple[str, ...]) -> Tree:
    """Return some fields of a spec."""
    return {name: tree[name] for name in names if name in tree}
