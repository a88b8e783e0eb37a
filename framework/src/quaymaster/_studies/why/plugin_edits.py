"""Changes that plugins suggest with their hook ``suggest_changes``."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec

from quaymaster._api.objects import ApiObject, Pod, PodSpec
from quaymaster._api.objects.wire import to_wire
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.contract.results import Suggestion
from quaymaster._core.cycle.suggesting import plugin_suggestions
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
)
from quaymaster._studies.why.editing import Editing

__all__ = ["suggested_by_plugins"]

_DEFAULT: Final = "default"
_SPEC: Final = "spec."
_BY_SERVER: Final = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"}
)
"""Metadata that API servers set."""

Json: TypeAlias = Any
"""A value of a JSON document."""


def suggested_by_plugins(
    editing: Editing, pod: Pod, run: Simulation
) -> Iterator[Candidate]:
    """Offer the changes that the plugins of the pod's profile suggest.

    Args:
        editing: Makes the changes of the subject.
        pod: The pod.
        run: The simulation, which has settled.
    """
    framework = run.scheduler.frameworks.get(pod.spec.scheduler_name)
    if framework is None:
        return
    with run.scheduler.hooks_unobserved():
        suggestions = list(plugin_suggestions(framework.plain, pod))
    for suggestion in suggestions:
        yield single(_change(editing, pod, suggestion))


def _change(editing: Editing, pod: Pod, suggestion: Suggestion) -> SuggestedChange:
    own = [obj for obj in suggestion.objects if _is_same(obj, pod)]
    others = [obj for obj in suggestion.objects if not _is_same(obj, pod)]
    fields: list[FieldChange] = []
    for changed in own:
        for path, old, new in _differences(to_wire(pod), to_wire(changed)):
            if path.startswith(_SPEC):
                fields.append(editing.field(path.removeprefix(_SPEC), old, new))
    for obj in others:
        fields += _fields_of(obj, editing.cluster)
    edits = [partial(_edited, old=pod.spec, new=each.spec) for each in _pods(own)]

    def apply(objects: Sequence[ApiObject]) -> list[ApiObject]:
        changed = list(objects)
        for edit in edits:
            changed = editing.apply(edit)(changed)
        for obj in others:
            changed = [*(each for each in changed if not _is_same(each, obj)), obj]
        return changed

    return SuggestedChange(
        kinds=(ChangeKind.PLUGIN,),
        text=suggestion.text,
        fields=tuple(fields),
        apply=apply,
    )


def _pods(objects: Sequence[ApiObject]) -> Iterator[Pod]:
    return (obj for obj in objects if isinstance(obj, Pod))


def _edited(spec: PodSpec, *, old: PodSpec, new: PodSpec) -> PodSpec:
    """Make the changes of a pod's spec in the spec of a template."""
    names = [field.name for field in msgspec.structs.fields(PodSpec)]
    changes = {
        name: getattr(new, name)
        for name in names
        if getattr(new, name) != getattr(old, name)
    }
    return msgspec.structs.replace(spec, **changes)


def _is_same(first: ApiObject, second: ApiObject) -> bool:
    if (first.kind, first.name) != (second.kind, second.name):
        return False
    return (first.namespace or _DEFAULT) == (second.namespace or _DEFAULT)


def _fields_of(obj: ApiObject, cluster: InMemoryCluster) -> Iterator[FieldChange]:
    name = f"{obj.kind.lower()}/{obj.name}"
    key = f"{obj.namespace or _DEFAULT}/{obj.name}" if obj.namespaced else obj.name
    try:
        stored = cluster.get(type(obj), key)
    except NotFoundError:
        yield FieldChange(
            object=name, namespace=obj.namespace, path="", old="", new="a new object"
        )
        return
    for path, old, new in _differences(to_wire(stored), to_wire(obj)):
        if path.removeprefix("metadata.") in _BY_SERVER:
            continue
        yield FieldChange(
            object=name, namespace=obj.namespace, path=path, old=old, new=new
        )


def _differences(
    old: Json, new: Json, path: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the old and the new value of each difference of two trees."""
    if isinstance(old or {}, dict) and isinstance(new, dict):
        old = old or {}
        for key in dict.fromkeys((*old, *new)):
            where = f"{path}.{key}" if path else key
            yield from _differences(old.get(key), new.get(key), where)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(before, after, f"{path}[{index}]")
    elif old != new:
        yield path, _text(old), _text(new)


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
