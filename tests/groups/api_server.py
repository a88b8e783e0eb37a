"""An API server of the in-memory cluster: requests as trees, answers as trees."""

import json
from collections.abc import Mapping
from typing import Any, Final

from quaymaster import ApiObject
from quaymaster.cluster import NotFoundError
from quaymaster.errors import ObjectError, Problem
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import KINDS, encode, from_wire
from tests.groups.cases import Tree
from tests.groups.go_forms import as_go_writes, pruned, unmarshal_error
from tests.kit.internals.groups import long_name_problems
from tests.kit.internals.objects import GROUP_KINDS
from tests.kit.internals.openapi import field_table, find_odd_fields, find_wrong
from tests.kit.internals.recording import patched

__all__ = ["ApiServer", "Rejection"]

_NOT_SERVED: Final = "the server could not find the requested resource"
_FORBIDDEN: Final = "forbidden: "
_REASONS: Final = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Duplicate value": "FieldValueDuplicate",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Too many": "FieldValueTooMany",
    "Too long": "FieldValueTooLong",
}
"""The beginning of an error's text -> the reason of the cause."""


class Rejection(Exception):
    """The API server rejects a request.

    Attributes:
        answer: The status, as the recordings have it.
    """

    def __init__(
        self, code: int, reason: str, message: str, causes: list[Tree] | None = None
    ) -> None:
        super().__init__(message)
        self.answer: Tree = {
            "code": code,
            "reason": reason,
            "message": message,
            "causes": causes or [],
        }


class ApiServer:
    """Answers requests about the objects of a cluster.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self._table = field_table(cluster.kubernetes)

    def answer(self, request: Tree) -> Tree:
        """Return the answer to a request, as the recordings have it."""
        try:
            kind = self._served(request["kind"], request["version"])
            obj = self._handled(request, kind)
        except Rejection as rejection:
            return rejection.answer
        code = 201 if request["method"] == "POST" else 200
        return {"code": code, "object": shown(obj, request["version"])}

    def create(self, tree: Tree) -> ApiObject:
        """Create an object.

        Raises:
            Rejection: It cannot be created.
        """
        kind = self._served(tree["kind"], tree["apiVersion"])
        return self._create(tree, kind, tree["apiVersion"])

    def patch(
        self, kind: type[ApiObject], name: str, patch: Tree, *, sub: str = ""
    ) -> ApiObject:
        """Apply a JSON merge patch to an object or to its status.

        Raises:
            Rejection: It cannot be changed so.
        """
        request = {"name": name, "body": patch, "version": kind.api_version, "sub": sub}
        return self._patch(request, kind)

    def delete(self, kind: type[ApiObject], name: str) -> ApiObject:
        """Delete an object, and return its last state.

        Raises:
            Rejection: There is no such object.
        """
        obj = self._get(kind, name)
        self._cluster.delete(kind, obj.key)
        try:
            return self._cluster.get(kind, obj.key)
        except NotFoundError:
            return obj

    def _served(self, name: str, version: str) -> type[ApiObject]:
        kind = KINDS[name]
        is_served = self._table.structure_of(version, name)
        if not is_served or not self._cluster.kubernetes.reads(name):
            raise Rejection(404, "NotFound", _NOT_SERVED)
        return kind

    def _handled(self, request: Tree, kind: type[ApiObject]) -> ApiObject:
        match request["method"]:
            case "POST":
                return self._create(request["body"], kind, request["version"])
            case "PATCH":
                return self._patch(request, kind)
            case "DELETE":
                return self.delete(kind, request["name"])
        return self._get(kind, request["name"])

    def _get(self, kind: type[ApiObject], name: str) -> ApiObject:
        try:
            return self._cluster.get(kind, _key(kind, name))
        except NotFoundError as error:
            message = f'{_resource(kind)} "{name}" not found'
            raise Rejection(404, "NotFound", message) from error

    def _create(self, tree: Tree, kind: type[ApiObject], version: str) -> ApiObject:
        obj = self._decoded(tree, kind, version)
        try:
            return self._cluster.create(obj)
        except AdmissionError as error:
            raise _rejected(kind, obj.name, error.problems) from error

    def _patch(self, request: Tree, kind: type[ApiObject]) -> ApiObject:
        stored = self._get(kind, request["name"])
        tree = patched(json.loads(encode(stored)), request["body"])
        obj = self._decoded(tree, kind, request["version"])
        try:
            if request.get("sub") == "status":
                return self._cluster.patch_status(stored, _status_of(obj))
            return self._cluster.update(obj)
        except AdmissionError as error:
            raise _rejected(kind, obj.name, error.problems) from error

    def _decoded(self, tree: Tree, kind: type[ApiObject], version: str) -> ApiObject:
        """Decode an object as strictly as an API server does."""
        structure = self._table.structure_of(version, kind.kind)
        short = version.rpartition("/")[2]
        begin = f'{kind.kind} in version "{short}" cannot be handled as a {kind.kind}: '
        for wrong in find_wrong(tree, structure, self._table):
            text = unmarshal_error(kind, wrong.path, wrong.value)
            raise Rejection(400, "BadRequest", begin + text)
        odd_fields = find_odd_fields(tree, structure, self._table)
        unknown = [odd.path for odd in odd_fields if not odd.gate]
        if unknown:
            fields = ", ".join(f'unknown field "{path}"' for path in unknown)
            text = f"strict decoding error: {fields}"
            raise Rejection(400, "BadRequest", begin + text)
        try:
            return from_wire({**tree, "apiVersion": kind.api_version}, kind)
        except ObjectError as error:
            raise _rejected(
                kind, str(tree["metadata"]["name"]), error.problems
            ) from error


def shown(obj: ApiObject, version: str) -> Tree:
    """Return what the recordings have of a stored object."""
    tree: Tree = json.loads(encode(obj))
    if type(obj) in GROUP_KINDS:
        return as_go_writes(tree, version)
    names = ("schedulingGroup", "scheduling", "priority", "parallelism")
    return {"kind": obj.kind, "spec": pruned(tree["spec"], names)}


def _status_of(obj: ApiObject) -> Mapping[str, Any]:
    status = getattr(obj, "status")  # noqa: B009 - not a field of every kind
    return {name: getattr(status, name) for name in status.__struct_fields__}


def _key(kind: type[ApiObject], name: str) -> str:
    return f"default/{name}" if kind.namespaced else name


def _group(kind: type[ApiObject]) -> str:
    return kind.api_version.rpartition("/")[0]


def _resource(kind: type[ApiObject]) -> str:
    return f"{kind.kind.lower()}s.{_group(kind)}".rstrip(".")


def _rejected(
    kind: type[ApiObject], name: str, problems: tuple[Problem, ...]
) -> Rejection:
    """Return the rejection of an object in an API server's words."""
    for problem in problems:
        if problem.message.startswith(_FORBIDDEN):
            text = problem.message.removeprefix(_FORBIDDEN)
            message = f'{_resource(kind)} "{name}" is forbidden: {text}'
            return Rejection(403, "Forbidden", message)
    causes = [cause for problem in problems for cause in _causes(problem, name)]
    texts = [f"{cause['field']}: {cause['message']}" for cause in causes]
    texts = list(dict.fromkeys(texts))
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    full_kind = f"{kind.kind}.{_group(kind)}".rstrip(".")
    message = f'{full_kind} "{name}" is invalid: {listed}'
    return Rejection(422, "Invalid", message, causes)


def _causes(problem: Problem, name: str) -> list[Tree]:
    """Return the causes of a problem; names of objects are reported in other words."""
    messages = [problem.message]
    if problem.path == "metadata.name":
        quoted = json.dumps(name)
        messages = [f"Invalid value: {quoted}: {t}" for t in long_name_problems(name)]
    return [
        {
            "reason": _REASONS.get(message.partition(":")[0], ""),
            "field": problem.path,
            "message": message,
        }
        for message in messages
    ]
