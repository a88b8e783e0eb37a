"""A check: instances share no containers, except by `Handle.shared`."""

import inspect
import sys
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from collections.abc import MutableSet as AbstractMutableSet
from itertools import count
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.own_frames import NOT_PLUGINS
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = ["SHARED_STATE"]

_Container: TypeAlias = Any  # Any: dicts, lists, sets, arrays of the plugin's choice
_MUTABLE: Final = (
    MutableMapping,
    MutableSequence,
    AbstractMutableSet,
    deque,
    bytearray,
)
_WEAK: Final = (WeakKeyDictionary, WeakValueDictionary, WeakSet)
_numbers: Final = count()
"""Names for pods that no earlier run has left in a container."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    containers = dict(_containers(subject.plugin))
    if not containers:
        return
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        # What follows from the texts of a pod may be cached: the second copy has the
        # same ones.
        first, second = _renamed(pod), _renamed(pod)
        _run(bench, first)
        before = {name: _entries(value) for name, value in containers.items()}
        _run(bench, second)
        for name, value in containers.items():
            if _differs(_entries(value), before[name]):
                text = (
                    f"{name} changes with each pod, although all instances share it, "
                    "also those of other profiles and simulations, and after a reload: "
                    "make it in __init__, or share it on purpose by handle.shared"
                )
                fail("", text, pod, cluster.nodes)


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


def _containers(plugin: type) -> Iterator[tuple[str, _Container]]:
    """Yield the containers of a plugin's classes and of the defaults of its methods."""
    for kind in plugin.__mro__:
        if kind.__module__.partition(".")[0] in NOT_PLUGINS:
            continue
        for name, value in vars(kind).items():
            if _is_container(value) and not name.startswith("__"):
                yield f"the class attribute {name}", value
            elif inspect.isfunction(value):
                for default in (
                    *(value.__defaults__ or ()),
                    *(value.__kwdefaults__ or {}).values(),
                ):
                    if _is_container(default):
                        yield f"a default value of {name}", default
        module = sys.modules.get(kind.__module__)
        for name, value in vars(module).items() if module else ():
            if _is_container(value) and not name.startswith("__"):
                yield f"the global {name} of {kind.__module__}", value


def _is_container(value: object) -> bool:
    """Return whether a value is a container of which all entries remain."""
    return isinstance(value, _MUTABLE) and not isinstance(value, _WEAK)


def _entries(value: _Container) -> list[object]:
    """Return what a container holds, two levels deep."""
    entries: list[object] = []
    parts = [*value.items()] if isinstance(value, Mapping) else [*value]
    for part in parts:
        entries.append(part)
        inner = part[1] if isinstance(value, Mapping) else part
        if isinstance(inner, _MUTABLE):
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
    promise="instances share no containers, except by Handle.shared",
    ask=_ask,
)
