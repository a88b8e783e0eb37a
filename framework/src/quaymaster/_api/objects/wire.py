"""Reads and writes objects in Kubernetes' JSON and YAML form.

Reading ignores unknown fields and null fields. A null in a map or a list is the empty
value of its type: ``""`` for a label, 0 for an amount. All problems of an object are
reported at once. Fields of pods that objects do not keep are checked here, unless the
object comes from a server, which has checked them.
"""

import functools
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar, cast

import msgspec

from quaymaster._api.objects.check import clean
from quaymaster._api.objects.codec import dec_hook, enc_hook
from quaymaster._api.objects.jobs import Job
from quaymaster._api.objects.meta import ApiObject, ApiValue, ObjectMeta
from quaymaster._api.objects.node import Node
from quaymaster._api.objects.pod import Pod, PodSpec, PodStatus
from quaymaster._api.objects.pool import SpecPool
from quaymaster._api.objects.unread.objects import pod_problems, template_problems
from quaymaster._api.objects.unread.profiles import ANNOTATIONS
from quaymaster._api.objects.workloads import (
    DaemonSet,
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._base.errors import ObjectError, Problem
from quaymaster._base.input.json_values import json_tree

__all__ = ["decode", "encode", "from_wire", "read_tree", "to_wire"]

JsonText: TypeAlias = bytes | memoryview | msgspec.Raw
ObjT = TypeVar("ObjT", bound=ApiObject)


class _PodText(ApiValue, frozen=True, kw_only=True):
    """A pod whose spec is not decoded yet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: PodStatus = PodStatus()


class _PodTree(ApiValue, frozen=True, kw_only=True):
    """The same, from a tree."""

    metadata: ObjectMeta = ObjectMeta()
    spec: Any = {}
    status: PodStatus = PodStatus()


class _WirePod(ApiValue, frozen=True, kw_only=True):
    """A pod as Kubernetes has it, to check a tree against."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


_WITH_TEMPLATE: Final = frozenset(
    (DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet)
)
_POD_DECODER: Final = msgspec.json.Decoder(_PodText, dec_hook=dec_hook)


def decode(text: JsonText, kind: type[ObjT], *, pool: SpecPool | None = None) -> ObjT:
    """Read one object from its JSON.

    Args:
        text: The JSON.
        kind: The class of the object; ``apiVersion`` and ``kind`` are not checked.
        pool: Shares equal parts between objects.

    Raises:
        ObjectError: Some fields are invalid.
        msgspec.DecodeError: The text is not JSON.
    """
    if pool is None:
        pool = SpecPool()
    try:
        if kind is Pod:
            return _decode_pod(text, pool)  # type: ignore[return-value]  # kind is Pod
        obj = _share(cast(ObjT, _decoder(kind).decode(text)), pool)
    except msgspec.ValidationError:
        return from_wire(json_tree(text), kind, pool=pool)
    if kind in _WITH_TEMPLATE and not _is_stored(obj.metadata):
        _reject(_problems_of_workload(json_tree(text), kind))
    return obj


def encode(obj: ApiObject) -> bytes:
    """Write an object as JSON."""
    return msgspec.json.encode(to_wire(obj))


def from_wire(tree: object, kind: type[ObjT], *, pool: SpecPool | None = None) -> ObjT:
    """Make an object from parsed JSON or YAML.

    Args:
        tree: Dicts, lists, strings, numbers; as ``json.loads`` returns them.
        kind: The class of the object; ``apiVersion`` and ``kind`` are not checked.
        pool: Shares equal parts between objects.

    Raises:
        ObjectError: Some fields are invalid.
    """
    obj = read_tree(tree, kind, pool=pool)
    if isinstance(tree, Mapping) and not _is_stored(obj.metadata):
        if isinstance(obj, Pod):
            _reject(_problems_of_pod(tree.get("spec"), obj))
        elif kind in _WITH_TEMPLATE:
            _reject(_problems_of_workload(tree, kind))
    return obj


def read_tree(tree: object, kind: type[ObjT], *, pool: SpecPool | None = None) -> ObjT:
    """Make an object, without a check of the fields that it does not keep.

    Raises:
        ObjectError: Some fields are invalid.
    """
    if pool is None:
        pool = SpecPool()
    if kind is Pod:
        # Nearly all pods are valid and without nulls; this takes a third of the time.
        with suppress(msgspec.ValidationError):
            return _pod_of(tree, pool)  # type: ignore[return-value]  # kind is Pod
    problems: list[Problem] = []
    model = _WirePod if kind is Pod else kind
    cleaned: Any = clean(tree, model, problems)
    if problems:
        raise ObjectError(problems)
    if kind is Pod:
        return _pod_of(cleaned, pool)  # type: ignore[return-value]  # kind is Pod
    try:
        obj = msgspec.convert(cleaned, kind, dec_hook=dec_hook)
    except msgspec.ValidationError as error:
        # The constraints of a class beyond types: bounds, patterns, its own checks.
        raise ObjectError([_problem_of(error)]) from error
    return _share(obj, pool)


def _problem_of(error: msgspec.ValidationError) -> Problem:
    text, _, place = str(error).partition(" - at `$")
    text = text[:1].lower() + text[1:]
    return Problem(path=place.rstrip("`").lstrip("."), message=text)


def to_wire(obj: ApiObject) -> dict[str, Any]:
    """Return the tree of an object in Kubernetes' JSON or YAML."""
    tree = msgspec.to_builtins(obj, enc_hook=enc_hook)
    tree = {"apiVersion": obj.api_version, "kind": obj.kind, **tree}
    if isinstance(obj, Pod):
        node_name = tree.pop("nodeName", "")
        if node_name:
            tree["spec"] = {**tree.get("spec", {}), "nodeName": node_name}
    return tree


def _decode_pod(text: JsonText, pool: SpecPool) -> Pod:
    parts = _POD_DECODER.decode(text)
    texts_read = pool.texts_read
    spec, node_name = pool.decode_spec(bytes(parts.spec))
    pod = Pod(
        metadata=pool.share_metadata(parts.metadata),
        spec=spec,
        node_name=node_name,
        status=pool.share_pod_status(parts.status),
    )
    if not _is_stored(parts.metadata):
        is_new_text = texts_read != pool.texts_read
        if is_new_text or any(key.startswith(ANNOTATIONS) for key in pod.annotations):
            problems = _problems_of_pod(json_tree(parts.spec), pod)
            if problems:
                # Then the next pod with this spec is checked again.
                pool.forget_texts()
                raise ObjectError(problems)
    return pod


def _is_stored(metadata: ObjectMeta) -> bool:
    """Return whether an object comes from a server, which has checked it."""
    return (
        bool(metadata.uid or metadata.resource_version)
        or metadata.creation_timestamp is not None
    )


def _problems_of_pod(spec: object, pod: Pod) -> tuple[Problem, ...]:
    return pod_problems(
        spec, pod.annotations, phase=pod.status.phase, node_name=pod.node_name
    )


def _problems_of_workload(tree: object, kind: type[ApiObject]) -> tuple[Problem, ...]:
    return template_problems(tree, names_hosts=kind is StatefulSet)


def _reject(problems: tuple[Problem, ...]) -> None:
    if problems:
        raise ObjectError(problems)


def _pod_of(tree: object, pool: SpecPool) -> Pod:
    parts = msgspec.convert(tree, _PodTree, dec_hook=dec_hook)
    spec = msgspec.convert(parts.spec, PodSpec, dec_hook=dec_hook)
    return Pod(
        metadata=pool.share_metadata(parts.metadata),
        spec=pool.share_spec(spec),
        node_name=spec.node_name,
        status=pool.share_pod_status(parts.status),
    )


def _share(obj: ObjT, pool: SpecPool) -> ObjT:
    pool.share_metadata(obj.metadata)
    if isinstance(obj, Node):
        pool.share_node_status(obj.status)
    return obj


@functools.lru_cache(maxsize=64)
def _decoder(kind: type[ApiObject]) -> msgspec.json.Decoder[ApiObject]:
    return msgspec.json.Decoder(kind, dec_hook=dec_hook)
