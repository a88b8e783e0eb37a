"""A check: instances share nothing that changes, except by `Handle.shared`."""

from collections.abc import Mapping
from itertools import count
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.shared_arguments import (
    ask_shared_arguments,
)
from quaymaster._authors.testing.contract.shared_names import (
    MUTABLE,
    REMEDY,
    rebound,
    shared_containers,
    shared_names,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = ["SHARED_STATE"]

_Container: TypeAlias = Any  # Any: dicts, lists, sets, arrays of the plugin's choice
_numbers: Final = count()
"""Names for pods that no earlier run has left in a container."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    names = shared_names(subject.plugin)
    Bench(subject, cluster)
    name = rebound(names, shared_names(subject.plugin))
    if name is not None:
        fail("__init__", f"each new instance sets {name}, {REMEDY}")
    containers = shared_containers(subject.plugin)
    for pod in cluster.pending if containers else cluster.pending[:1]:
        # What follows from the texts of a pod may be cached: the second copy has the
        # same ones.
        first, second = _renamed(pod), _renamed(pod)
        _run(bench, first)
        before = {name: _entries(value) for name, value in containers.items()}
        names = shared_names(subject.plugin)
        _run(bench, second)
        changed = rebound(names, shared_names(subject.plugin))
        for name, value in containers.items():
            if _differs(_entries(value), before[name]):
                changed = name
        if changed is not None:
            fail("", f"{changed} changes with each pod, {REMEDY}", pod, cluster.nodes)
    ask_shared_arguments(subject, cluster)


def _run(bench: Bench, pod: Pod) -> None:
    """Call the hooks for a pod that stays in the cluster."""
    bench.add(pod)
    try:
        walk(bench, pod)
        node_name = first_open_node(bench, pod)
        if node_name:
            reserve_and_return(bench, pod, node_name)
            bench.room.drop()
    except HookFailedError:
        return  # another check reports failures


def _renamed(pod: Pod) -> Pod:
    name = f"{pod.name}-shared-{next(_numbers)}"
    uid = make_uid(Pod, name, pod.namespace)
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))


def _entries(value: _Container) -> list[object]:
    """Return what a container holds, two levels deep."""
    entries: list[object] = []
    parts = [*value.items()] if isinstance(value, Mapping) else [*value]
    for part in parts:
        entries.append(part)
        inner = part[1] if isinstance(value, Mapping) else part
        if isinstance(inner, MUTABLE):
            entries.append([*inner.items()] if isinstance(inner, Mapping) else [*inner])
    return entries


def _differs(after: list[object], before: list[object]) -> bool:
    if len(after) != len(before):
        return True
    try:
        return after != before
    except Exception:
        return False  # such as arrays, which do not compare


SHARED_STATE: Final = Check(
    name="shared state",
    promise="instances share nothing that changes, except by Handle.shared",
    ask=_ask,
)
