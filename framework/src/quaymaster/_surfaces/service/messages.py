"""The bodies of requests."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Final, TypeVar

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._base.errors import KindError, ManifestErrors, Problem
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.manifests.load import load
from quaymaster._clusters.manifests.loaded import Loaded
from quaymaster._clusters.manifests.validation import Validation
from quaymaster._studies.capacity.pod_text import PodTextError, pod_of_text
from quaymaster._surfaces.service.errors import RequestError

__all__ = [
    "ExplainRequest",
    "FitRequest",
    "SimulateRequest",
    "WantedPod",
    "explained_pod",
    "objects_of",
    "pods_of",
    "read_body",
]

BodyT = TypeVar("BodyT", bound=msgspec.Struct)

_WRONG: Final = "Unprocessable request"
_UNSET: Final = msgspec.Raw()
# Limits of memory: more templates than clients use in turn, and longer than most are.
_MOST_CACHED: Final = 1024
_LONGEST_CACHED: Final = 1 << 15


class WantedPod(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A number of equal pods.

    Attributes:
        pod: A manifest of a Pod.
        line: A short description instead, such as ``cpu=2,memory=4Gi``.
        count: The number of pods.
    """

    pod: msgspec.Raw = _UNSET
    line: str = ""
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


class FitRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Would these pods fit, one after the other?"""

    pods: Annotated[list[WantedPod], msgspec.Meta(min_length=1)]


class ExplainRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Why would this pod go where it would go?

    Attributes:
        pod: A manifest of a Pod.
        line: A short description instead.
        top: The most feasible and the most rejected nodes to list; 0 for all.
    """

    pod: msgspec.Raw = _UNSET
    line: str = ""
    top: Annotated[int, msgspec.Meta(ge=0)] = 10


class SimulateRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What if these objects came in?

    Attributes:
        objects: Manifests; they replace objects of the cluster with the same name.
        all: Whether the response has all pods, and not only the new ones.
    """

    objects: Annotated[list[msgspec.Raw], msgspec.Meta(min_length=1)]
    all: bool = False


def read_body(body: bytes, kind: type[BodyT]) -> BodyT:
    """Read the body of a request.

    Raises:
        RequestError: It is not JSON, or not of this form.
    """
    if not body:
        raise RequestError(400, "Malformed request", "expected JSON, got no body")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        problem = Problem(path=path.rstrip("`").lstrip("."), message=message)
        raise RequestError(422, _WRONG, problems=[problem]) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(400, "Malformed request", str(error)) from error
    except RecursionError as error:
        raise RequestError(400, "Malformed request", "nested too deeply") from error


def pods_of(request: FitRequest, most: int, kubernetes: Kubernetes) -> list[Pod]:
    """Return the pods of a request, each with its own name and uid.

    Args:
        request: The request.
        most: The most pods.
        kubernetes: The version of Kubernetes whose fields are valid.

    Raises:
        RequestError: A manifest is wrong, or there are too many pods.
    """
    total = sum(item.count for item in request.pods)
    if total > most:
        message = f"expected at most {most} pods in all, got {total}"
        raise RequestError(
            422, _WRONG, problems=[Problem(path="pods", message=message)]
        )
    pods: list[Pod] = []
    for index, item in enumerate(request.pods):
        pod = _pod(item.pod, item.line, f"pods[{index}]", kubernetes)
        name = pod.name or "pod"
        for number in range(item.count):
            own = name if item.count == 1 else f"{name}-{number}"
            pods.append(_named(pod, own, f"request-{len(pods)}"))
    return pods


def explained_pod(request: ExplainRequest, kubernetes: Kubernetes) -> Pod:
    """Return the pod of a request.

    Args:
        request: The request.
        kubernetes: The version of Kubernetes whose fields are valid.

    Raises:
        RequestError: Its manifest is wrong.
    """
    pod = _pod(request.pod, request.line, "", kubernetes)
    return _named(pod, pod.name or "pod", "request-0")


def objects_of(request: SimulateRequest, kubernetes: Kubernetes) -> Loaded:
    """Return the objects of a request, and its skipped parts.

    Args:
        request: The request.
        kubernetes: The version of Kubernetes whose fields are valid.

    Raises:
        RequestError: A manifest is wrong.
    """
    texts = [(f"objects[{i}]", bytes(item)) for i, item in enumerate(request.objects)]
    return _loaded(texts, kubernetes)


def _pod(manifest: msgspec.Raw, line: str, place: str, kubernetes: Kubernetes) -> Pod:
    text = bytes(manifest)
    if bool(text) is bool(line):
        got = "both" if line else "neither"
        message = f"expected pod (a manifest) or line (such as cpu=2), got {got}"
        raise RequestError(422, _WRONG, problems=[Problem(path=place, message=message)])
    if line:
        return _of_line(line, f"{place}.line".lstrip("."))
    read = _of_manifest if len(text) <= _LONGEST_CACHED else _read_manifest
    return read(text, f"{place}.pod".lstrip("."), kubernetes)


def _read_manifest(text: bytes, where: str, kubernetes: Kubernetes) -> Pod:
    loaded = _loaded([(where, text)], kubernetes)
    objects = loaded.objects
    if len(objects) != 1 or not isinstance(objects[0], Pod):
        kinds = (
            ", ".join([*(obj.kind for obj in objects), *loaded.skipped]) or "nothing"
        )
        message = f"expected one Pod, got {kinds}"
        raise RequestError(
            422, _WRONG, problems=[Problem(where=where, message=message)]
        )
    return objects[0]


# Clients send the same pods repeatedly, and a request took 0.5 ms for a line and 1.0 ms
# for a manifest, most of it to read and admit the pod. Errors are not cached.
_of_manifest: Final = lru_cache(_MOST_CACHED)(_read_manifest)
_pod_of_text: Final = lru_cache(_MOST_CACHED)(pod_of_text)


def _of_line(line: str, place: str) -> Pod:
    try:
        return _pod_of_text(line)
    except PodTextError as error:
        problem = Problem(path=place, message=str(error))
        raise RequestError(422, _WRONG, problems=[problem]) from error


def _loaded(texts: Iterable[tuple[str, bytes]], kubernetes: Kubernetes) -> Loaded:
    try:
        return load(
            (), stored=texts, validation=Validation.STRICT, kubernetes=kubernetes
        )
    except (ManifestErrors, AdmissionError) as error:
        raise RequestError(422, _WRONG, problems=error.problems) from error
    except KindError as error:
        raise RequestError(422, _WRONG, str(error)) from error


def _named(pod: Pod, name: str, uid: str) -> Pod:
    """Return the pod as a new one: without a node, and with a uid."""
    metadata = msgspec.structs.replace(
        pod.metadata,
        name=name,
        uid=uid,
        resource_version="",
        creation_timestamp=None,
        deletion_timestamp=None,
    )
    return Pod(metadata=metadata, spec=pod.spec)
