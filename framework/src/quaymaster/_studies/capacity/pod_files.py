"""Reads the pod of a manifest, as cluster-capacity's ``--podspec`` does."""

from pathlib import Path
from typing import Final

from quaymaster._api.objects import ApiObject, ObjectMeta, Pod, PodTemplateSpec
from quaymaster._base.errors import ManifestErrors, Problem
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.manifests.load import load

__all__ = ["is_pod_file", "pod_of_file"]

_ENDINGS: Final = (".yaml", ".yml", ".json")
_NAME: Final = "more"


def is_pod_file(text: str) -> bool:
    """Return whether a text is the path of a manifest, unlike ``cpu=2``."""
    return Path(text).suffix in _ENDINGS


def pod_of_file(
    path: str, *, namespace: str = "", kubernetes: Kubernetes = DEFAULT_KUBERNETES
) -> Pod:
    """Read a new pod from a manifest.

    Args:
        path: A file with one Pod, or with one workload that has a template.
        namespace: The namespace of the pod if the manifest names none.
        kubernetes: The version of Kubernetes whose fields are read.

    Returns:
        The pod, without a node and without a status.

    Raises:
        ManifestErrors: The file cannot be read, or describes no pod or several.
    """
    objects = load([path], kubernetes=kubernetes).objects
    pods = [pod for pod in map(_pod, objects) if pod is not None]
    if len(pods) != 1 or len(objects) != 1:
        kinds = ", ".join(obj.kind for obj in objects) or "nothing"
        message = f"expected one Pod, or one workload with a template, got {kinds}"
        raise ManifestErrors([Problem(where=path, message=message)])
    [pod] = pods
    metadata = ObjectMeta(
        name=pod.name or _NAME,
        namespace=pod.namespace or namespace or "default",
        labels=pod.labels,
        annotations=pod.annotations,
    )
    return Pod(metadata=metadata, spec=pod.spec)


def _pod(obj: ApiObject) -> Pod | None:
    """The pod that an object is, or that it creates."""
    if isinstance(obj, Pod):
        return obj
    template = getattr(getattr(obj, "spec", None), "template", None)
    if not isinstance(template, PodTemplateSpec):
        return None
    metadata = ObjectMeta(
        name=obj.name,
        namespace=obj.namespace,
        labels=template.metadata.labels,
        annotations=template.metadata.annotations,
    )
    return Pod(metadata=metadata, spec=template.spec)
