"""Versions of kinds that API servers convert to the version that is read here.

Mirrors ``Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler``
(Kubernetes v1.37, ``pkg/apis/autoscaling/v1/conversion.go``). PodGroups and Workloads
have the same fields in both versions (``pkg/apis/scheduling/v1alpha3``).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    HorizontalPodAutoscaler,
    PodGroup,
    Workload,
)
from quaymaster._base.input.json_values import JsonText
from quaymaster._clusters.manifests.texts import ObjectText
from quaymaster._clusters.manifests.types import ObjectType

__all__ = ["converted_class", "converted_text"]

Tree: TypeAlias = Mapping[str, Any]
PartT = TypeVar("PartT")

_V1: Final = ObjectType("autoscaling/v1", "HorizontalPodAutoscaler")
_CLASSES: Final[Mapping[ObjectType, type[ApiObject]]] = {
    _V1: HorizontalPodAutoscaler,
    ObjectType("scheduling.k8s.io/v1alpha3", "PodGroup"): PodGroup,
    ObjectType("scheduling.k8s.io/v1alpha3", "Workload"): Workload,
}
_ALPHA: Final = "autoscaling.alpha.kubernetes.io/"
_METRICS: Final = f"{_ALPHA}metrics"
_BEHAVIOR: Final = f"{_ALPHA}behavior"
_CURRENT_METRICS: Final = f"{_ALPHA}current-metrics"
_CONDITIONS: Final = f"{_ALPHA}conditions"
_UTILIZATION: Final = "targetCPUUtilizationPercentage"


def converted_class(typed: ObjectType) -> type[ApiObject] | None:
    """Return the class of a kind under an older version; None if it is not older."""
    return _CLASSES.get(typed)


def converted_text(entry: ObjectText) -> JsonText:
    """Return the JSON of an object in the version of its class.

    Raises:
        ContentError: The text is not an object.
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    if entry.typed != _V1:
        return entry.text
    return msgspec.json.encode(_converted(entry.fields()))


def _converted(tree: Tree) -> dict[str, object]:
    """Return an autoscaler of v2; parts of wrong types stay as they are."""
    metadata, spec, status = tree.get("metadata"), tree.get("spec"), tree.get("status")
    annotations: Tree = {}
    if isinstance(metadata, Mapping):
        values = metadata.get("annotations")
        annotations = values if isinstance(values, Mapping) else {}
    new: dict[str, object] = {
        **tree,
        "apiVersion": HorizontalPodAutoscaler.api_version,
    }
    if isinstance(metadata, Mapping) and annotations:
        new["metadata"] = {**metadata, "annotations": _without_encoded(annotations)}
    if isinstance(spec, Mapping):
        new["spec"] = _spec(spec, annotations)
    if status is None or isinstance(status, Mapping):
        new["status"] = {**(status or {}), **_encoded_status(annotations)}
    return new


def _encoded_status(annotations: Tree) -> dict[str, object]:
    """Return what annotations hold of a status; of metrics only the types."""
    conditions = _decoded(annotations.get(_CONDITIONS), list) or ()
    metrics = _decoded(annotations.get(_CURRENT_METRICS), list) or ()
    types = [
        {"type": metric.get("type")} for metric in metrics if isinstance(metric, dict)
    ]
    return {
        **({"conditions": conditions} if conditions else {}),
        **({"currentMetrics": types} if types else {}),
    }


def _without_encoded(annotations: Tree) -> dict[str, object]:
    return {
        name: value
        for name, value in annotations.items()
        if not str(name).startswith(_ALPHA)
    }


def _spec(spec: Tree, annotations: Tree) -> dict[str, object]:
    new = {name: value for name, value in spec.items() if name != _UTILIZATION}
    metrics = [
        metric
        for encoded in _decoded(annotations.get(_METRICS), list) or ()
        for metric in _metric(encoded)
    ]
    if spec.get(_UTILIZATION) is not None:
        target = {"type": "Utilization", "averageUtilization": spec[_UTILIZATION]}
        resource = {"name": "cpu", "target": target}
        metrics.append({"type": "Resource", "resource": resource})
    if metrics:
        new["metrics"] = metrics
    behavior = _decoded(annotations.get(_BEHAVIOR), dict)
    if behavior:
        # It is encoded from a type of Go without names for JSON.
        new["behavior"] = _lower_first(behavior)
    return new


def _decoded(text: object, kind: type[PartT]) -> PartT | None:
    """Return the value of an annotation, or None if it is not of that type."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return value if isinstance(value, kind) else None


def _lower_first(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            key[:1].lower() + key[1:]: _lower_first(part)
            for key, part in value.items()
            # Such types also have empty fields in their JSON, as null.
            if part is not None
        }
    return [_lower_first(part) for part in value] if isinstance(value, list) else value


def _metric(metric: object) -> Iterator[dict[str, object]]:
    """Yield a metric of v2, if it is one of v1."""
    if not isinstance(metric, Mapping):
        return
    for type_name, (field, convert) in _SOURCES.items():
        source = metric.get(field)
        if metric.get("type") == type_name and isinstance(source, Mapping):
            yield {"type": type_name, field: convert(source)}


def _resource(source: Tree) -> dict[str, object]:
    utilization = source.get("targetAverageUtilization")
    kind = "AverageValue" if utilization is None else "Utilization"
    value = source.get("targetAverageValue")
    new = {
        "name": source.get("name"),
        "target": _set(kind, averageUtilization=utilization, averageValue=value),
    }
    if "container" in source:
        new["container"] = source["container"]
    return new


def _pods(source: Tree) -> dict[str, object]:
    value = source.get("targetAverageValue")
    target = _set("AverageValue", averageValue=value)
    return {"metric": _identifier(source, "selector"), "target": target}


def _object(source: Tree) -> dict[str, object]:
    value, average = source.get("targetValue"), source.get("averageValue")
    kind = "Value" if average is None else "AverageValue"
    if average is not None and value == "0":
        value = None  # v1 cannot leave it out
    return {
        "describedObject": source.get("target"),
        "metric": _identifier(source, "selector"),
        "target": _set(kind, value=value, averageValue=average),
    }


def _external(source: Tree) -> dict[str, object]:
    value, average = source.get("targetValue"), source.get("targetAverageValue")
    kind = "Value" if average is None else "AverageValue"
    return {
        "metric": _identifier(source, "metricSelector"),
        "target": _set(kind, value=value, averageValue=average),
    }


def _identifier(source: Tree, selector: str) -> dict[str, object]:
    identifier = {"name": source.get("metricName")}
    if source.get(selector) is not None:
        identifier["selector"] = source[selector]
    return identifier


def _set(kind: str, **values: object) -> dict[str, object]:
    """Return a target with the values that are set."""
    fields = {name: value for name, value in values.items() if value is not None}
    return {"type": kind, **fields}


_SOURCES: Final[Mapping[str, tuple[str, Callable[[Tree], dict[str, object]]]]] = {
    "Resource": ("resource", _resource),
    "ContainerResource": ("containerResource", _resource),
    "Pods": ("pods", _pods),
    "Object": ("object", _object),
    "External": ("external", _external),
}
"""By the type of a metric: the field with its source, and how that is converted."""
