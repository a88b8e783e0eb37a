"""Facts that depend on a pod's spec, computed once for all pods that share it."""

import itertools
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from quaymaster._api.objects.pod import Pod, PodSpec

__all__ = ["SpecKey"]

T = TypeVar("T")

_NUMBERS: Final = itertools.count()


class SpecKey(Generic[T]):
    """A key for a fact about a `PodSpec`, computed once and cached on the spec.

    Make one per fact, at module level, and read the fact of pods with it::

        _IMAGES = SpecKey(images_of)  # def images_of(spec: PodSpec) -> frozenset[str]
        _IMAGES.of(pod)

    Pods of one template share one spec object, and equal specs become one object when
    they enter a cluster (`SpecPool`). So a fact is computed about once per template,
    and is freed with the last pod of this spec. A changed spec is a new object without
    facts.

    ``compute`` must depend on the spec alone: it is called for one pod, and its result
    is used for pods with other names, labels and states. All of them share the result,
    so never change it. (If a fact also depends on something else, return an empty dict,
    and cache results in it by that dependency.)

    Hooks may use a key from several threads. Two that compute a fact at once may both
    call ``compute``; all get the first result that was cached. An exception of
    ``compute`` is not cached.

    Args:
        compute: Computes the fact.
    """

    __slots__ = ("_compute", "_name")

    def __init__(self, compute: Callable[[PodSpec], T]) -> None:
        self._compute = compute
        # A string: lookups of other keys in a `__dict__` take longer. The number
        # distinguishes two functions of one name.
        self._name = f"{_full_name(compute)}#{next(_NUMBERS)}"

    def of(self, pod: Pod) -> T:
        """Return the fact for this pod's spec."""
        try:
            fact: T = pod.spec.__dict__[self._name]
        except KeyError:
            return self._computed(pod.spec)
        return fact

    def of_spec(self, spec: PodSpec) -> T:
        """Return the fact for this spec."""
        try:
            fact: T = spec.__dict__[self._name]
        except KeyError:
            return self._computed(spec)
        return fact

    def __repr__(self) -> str:
        return f"SpecKey({self._name})"

    def _computed(self, spec: PodSpec) -> T:
        fact: T = spec.__dict__.setdefault(self._name, self._compute(spec))
        return fact


def _full_name(compute: Callable[[PodSpec], object]) -> str:
    name = getattr(compute, "__qualname__", type(compute).__qualname__)
    return f"{compute.__module__}.{name}"
