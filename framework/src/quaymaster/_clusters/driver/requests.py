"""Builds the API requests for the calls of the cluster port."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import msgspec

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.codec import enc_hook
from quaymaster._api.objects.wire import to_wire
from quaymaster._clusters.driver.frames import Lane, Note, Reference, Request
from quaymaster._clusters.kubernetes.resources import resource_of
from quaymaster._core.contract.cluster import EventNote, PodStatusPatch

__all__ = [
    "bind",
    "create",
    "delete",
    "get",
    "patch_pod_status",
    "patch_status",
    "put",
    "record",
]

Tree: TypeAlias = dict[str, Any]

_MERGE_PATCH: Final = "application/merge-patch+json"
_STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"


def get(kind: type[ApiObject], key: str) -> Request:
    """Read an object."""
    return Request(0, Lane.READ, "GET", _target(kind, key), may_repeat=True)


def create(obj: ApiObject) -> Request:
    """Store a new object."""
    path = resource_of(type(obj)).path(obj.namespace)
    return Request(0, Lane.STATUS, "POST", path, msgspec.json.encode(to_wire(obj)))


def put(kind: type[ApiObject], key: str, tree: Tree) -> Request:
    """Replace an object by a whole tree."""
    body = msgspec.json.encode(tree)
    return Request(0, Lane.STATUS, "PUT", _target(kind, key), body)


def delete(
    kind: type[ApiObject],
    key: str,
    uid: str | None,
    grace_period_seconds: float | None,
) -> Request:
    """Delete an object, if it is still the one with this uid."""
    options: Tree = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if uid is not None:
        options["preconditions"] = {"uid": uid}
    if grace_period_seconds is not None:
        options["gracePeriodSeconds"] = int(grace_period_seconds)
    body = msgspec.json.encode(options)
    return Request(
        0,
        Lane.STATUS,
        "DELETE",
        _target(kind, key),
        body,
        may_repeat=uid
        is not None,  # without a uid, a repeat could delete another object
        wants_body=False,
    )


def bind(
    pod: Pod, node_name: str, annotations: Mapping[str, str] | None = None
) -> Request:
    """Bind a pod, if its uid is still the same, and add the annotations to it."""
    metadata = pod.metadata
    binding_metadata: Tree = {
        "name": metadata.name,
        "namespace": metadata.namespace,
        "uid": metadata.uid,
    }
    if annotations:
        binding_metadata["annotations"] = annotations
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": binding_metadata,
        "target": {"kind": "Node", "name": node_name},
    }
    target = f"{_target(Pod, pod.key)}/binding"
    return Request(
        0,
        Lane.BIND,
        "POST",
        target,
        msgspec.json.encode(body),
        key=metadata.uid,
        wants_body=False,
    )


def patch_pod_status(pod: Pod, patch: PodStatusPatch) -> Request:
    """Change a pod's status; the condition replaces the one of the same type."""
    status: Tree = {}
    if patch.condition is not None:
        status["conditions"] = [patch.condition]
    if patch.nominated_node_name is not None:
        # Only null removes a field.
        status["nominatedNodeName"] = patch.nominated_node_name or None
    body = {"metadata": {"uid": pod.metadata.uid}, "status": status}
    return Request(
        0,
        Lane.STATUS,
        "PATCH",
        f"{_target(Pod, pod.key)}/status",
        msgspec.json.encode(body, enc_hook=enc_hook),
        _STRATEGIC_PATCH,
        key=pod.metadata.uid,
        may_repeat=True,
        wants_body=False,
    )


def patch_status(obj: ApiObject, changes: Mapping[str, object]) -> Request:
    """Change fields of an object's status, if its uid and version are unchanged."""
    metadata = obj.metadata
    precondition = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
    status = {_camel(field): value for field, value in changes.items()}
    body = {
        "metadata": {name: text for name, text in precondition.items() if text},
        "status": status,
    }
    return Request(
        0,
        Lane.STATUS,
        "PATCH",
        f"{_target(type(obj), obj.key)}/status",
        msgspec.json.encode(body, enc_hook=enc_hook),
        _MERGE_PATCH,
    )


def record(note: EventNote) -> Note:
    """Write an Event."""
    related = note.related
    return Note(
        _reference(note.regarding),
        note.type,
        note.reason,
        note.action,
        note.note if isinstance(note.note, str) else note.note(),
        note.reporter,
        None if related is None else _reference(related),
    )


def _reference(obj: ApiObject) -> Reference:
    metadata = obj.metadata
    return Reference(
        obj.api_version,
        obj.kind,
        metadata.namespace if obj.namespaced else "",
        metadata.name,
        metadata.uid,
        metadata.resource_version,
    )


def _target(kind: type[ApiObject], key: str) -> str:
    namespace, _, name = key.rpartition("/")
    return f"{resource_of(kind).path(namespace)}/{quote(name, safe='')}"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))
