"""A check: a plugin forgets the pods that are gone."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of
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

__all__ = ["MEMORY"]

_FEW_PODS: Final = 2
"""The pods of each round, to see whether more are worth the time."""

_PODS: Final = 64
"""The pods of each round, more than most caches keep."""

_SECONDS: Final = 3601
"""Enough for timers that run each hour."""

_ROUNDS: Final = 3
_DEPTH: Final = 6

_Life: TypeAlias = Callable[[Bench, Pod], None]
_Sizes: TypeAlias = Mapping[str, int]
"""The name of an attribute -> the number of entries in it."""

_LIVES: Final[Sequence[tuple[str, _Life]]] = (
    ("comes and goes", live),
    ("is deleted before it gets a node", live_unplaced),
    ("is deleted after its attempt has failed on Permit", live_unbound),
)
"""How each pod lives, and how it is described."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    # Other examples begin with other pods.
    pod = cluster.pending[0]
    for what, life in _LIVES:
        growth = _growth(subject, cluster, pod, life, _FEW_PODS)
        if growth:
            growth = _growth(subject, cluster, pod, life, _PODS)
        for name, more in growth.items():
            text = (
                f"self.{name} grows with each pod that {what}: it has {more} more "
                f"entries after {_PODS} more pods"
            )
            fail("", text, pod, cluster.nodes)


def _growth(
    subject: Subject, cluster: SmallCluster, pod: Pod, life: _Life, size: int
) -> _Sizes:
    """Return what grows by an entry or more for each pod of a round, and how much.

    Args:
        subject: The plugin.
        cluster: The cluster of all pods.
        pod: The model of the pods.
        life: What becomes of each pod.
        size: The pods of each round.
    """
    bench = Bench(subject, cluster, services=subject.make_services())
    copies = iter(copies_of(pod, _ROUNDS * size))
    rounds: list[_Sizes] = []
    for _ in range(_ROUNDS):
        for _ in range(size):
            life(bench, next(copies))
        if size == _PODS:
            # Plugins may forget pods by a timer, or when they are called the next time.
            bench.advance(_SECONDS)
            walk(bench, pod)
        rounds.append(
            {name: _size(value, set()) for name, value in _attributes(bench.plugin)}
        )
    before, between, after = rounds
    growth = {}
    for name, count in after.items():
        middle = between.get(name, 0)
        if min(count - middle, middle - before.get(name, 0)) >= size:
            growth[name] = count - middle
    return growth


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
)
