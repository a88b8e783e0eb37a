"""A check: a plugin forgets the pods that are gone."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.pod_lives import (
    live,
    live_unbound,
    live_unplaced,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod

__all__ = ["MEMORY"]

_PODS: Final = 64
"""The pods of each round."""

_SECONDS: Final = 3601
"""Enough for timers that run each hour."""

_DEPTH: Final = 6
_CLUSTER: Final = SmallCluster(
    nodes=(make_node(name="n0"), make_node(name="n1")),
    pending=(make_pod(name="w0"),),
)


_LIVES: Final[Sequence[tuple[str, Callable[[Bench, Pod], None]]]] = (
    ("comes and goes", live),
    ("is deleted before it gets a node", live_unplaced),
    ("is deleted after its attempt has failed on Permit", live_unbound),
)
"""How each pod lives, and how it is described."""


def _ask(subject: Subject, _cluster: SmallCluster, _other: SmallCluster) -> None:
    for what, life in _LIVES:
        _ask_of(subject, what, life)


def _ask_of(subject: Subject, what: str, life: Callable[[Bench, Pod], None]) -> None:
    bench = Bench(subject, _CLUSTER, services=subject.make_services())
    try:
        rounds = (_sizes_after_round(bench, at, life) for at in range(3))
        before, between, after = rounds
    finally:
        subject.close()
    for name, size in after.items():
        middle = between.get(name, 0)
        if min(size - middle, middle - before.get(name, 0)) >= _PODS:
            text = (
                f"self.{name} grows with each pod that {what}: it has "
                f"{size - middle} more entries after {_PODS} more pods"
            )
            fail("", text)


def _sizes_after_round(
    bench: Bench, number: int, life: Callable[[Bench, Pod], None]
) -> Mapping[str, int]:
    for at in range(_PODS):
        life(bench, make_pod(name=f"g{number}-{at}"))
    # Plugins may forget pods by a timer, or when they are called the next time.
    bench.advance(_SECONDS)
    walk(bench, _CLUSTER.pending[0])
    return {name: _size(value, set()) for name, value in _attributes(bench.plugin)}


def _size(value: object, seen: set[int], depth: int = _DEPTH) -> int:
    """Count the entries of a plugin's own containers, but not of the framework's."""
    if id(value) in seen or not depth:
        return 0
    seen.add(id(value))
    parts: list[object] = []
    own = 0
    if isinstance(value, Mapping):
        own, parts = len(value), list(value.values())
    elif isinstance(value, list | tuple | deque | AbstractSet):
        own, parts = len(value), list(value)
    else:
        parts = [part for _, part in _attributes(value)]
    return own + sum(_size(part, seen, depth - 1) for part in parts)


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an object of the plugin's own classes."""
    kind = type(value)
    if isinstance(value, type) or kind.__module__.partition(".")[0] in _FOREIGN:
        return
    names = {*getattr(value, "__dict__", ())}
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        names.update([slots] if isinstance(slots, str) else slots)
    for name in sorted(names):
        if not name.startswith("__") and hasattr(value, name):
            yield name, getattr(value, name)


_FOREIGN: Final = frozenset({"builtins", "numpy", "quaymaster", "threading", "types"})

MEMORY = Check(
    name="memory",
    promise="its own containers do not grow with the pods that are gone",
    ask=_ask,
    needs_clusters=False,
)
