"""A check: a deletion removes no object that has taken the name meanwhile."""

from collections.abc import Iterator
from typing import Any, Final

import attrs
from msgspec import Struct
from msgspec.structs import fields, replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.background_acts import (
    acts_of,
    bind_elsewhere,
    delete_pod,
    settle,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import written_objects
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = ["SUCCESSORS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending[:1]:
        for act in acts_of(subject):
            for change in (bind_elsewhere, delete_pod, _wait):
                executor = HeldExecutor()
                services = subject.make_services(subject.empty_cluster)
                services = attrs.evolve(services, executor=executor)
                bench = Bench(subject, cluster, services=services)
                act.play(bench, pod)
                executor.is_holding = True
                change(bench, pod)
                settle(bench)
                successors = [*_replaced(bench, pod)]
                bench.cluster.deleted.clear()
                executor.release()
                _compare(bench, act.hook, successors)


def _compare(bench: Bench, hook: str, successors: list[ApiObject]) -> None:
    for obj in successors:
        stored = {each.uid for each in bench.cluster.stored.list(type(obj)).items}
        if obj.uid in stored or (type(obj), obj.key, None) not in bench.cluster.deleted:
            continue
        text = (
            f"deletes {obj.kind} '{obj.key}', which was deleted and created again for "
            "another pod before the task ran: pass the uid of the object that is "
            "meant, as in handle.cluster.delete(kind, key, uid=obj.uid)"
        )
        fail(hook, text, obj)


def _wait(bench: Bench, _pod: Pod) -> None:
    bench.advance(_SECONDS)


def _replaced(bench: Bench, pod: Pod) -> Iterator[ApiObject]:
    """Replace all objects by those of another pod of the same name; yield these.

    No watch has delivered them yet.
    """
    store = bench.cluster.stored
    for (kind, key), obj in written_objects(bench).items():
        other = make_uid(Pod, f"{pod.name}-successor", pod.namespace)
        successor = _with_text(obj, pod.uid, other)
        uid = make_uid(kind, f"{obj.name}-successor", obj.namespace)
        metadata = replace(successor.metadata, uid=uid, resource_version="")
        store.delete(kind, key)
        store.create(replace(successor, metadata=metadata))
        yield store.get(kind, key)


def _with_text(value: Any, old: str, new: str) -> Any:  # noqa: ANN401 - parts of objects
    """Return a value with one text in place of another."""
    if value == old:
        return new
    if isinstance(value, tuple):
        return tuple(_with_text(part, old, new) for part in value)
    if isinstance(value, dict):
        return {key: _with_text(part, old, new) for key, part in value.items()}
    if not isinstance(value, Struct):
        return value
    names = (field.name for field in fields(value))
    parts = {name: _with_text(getattr(value, name), old, new) for name in names}
    return replace(value, **parts)


SUCCESSORS: Final = Check(
    name="successors",
    promise="a background deletion removes no object that has taken the name since",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
