"""Facts that follow from a pod's spec, worked out once for all pods that share it."""

import itertools
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from quaymaster._api.objects.pod import Pod, PodSpec

__all__ = ["SpecKey"]

T = TypeVar("T")

_NUMBERS: Final = itertools.count()


class SpecKey(Generic[T]):
    """Names a fact that follows from a `PodSpec`; computes it once and keeps it there.

    Make one per fact, at module level, and ask it for pods::

        _IMAGES = SpecKey(images_of)  # def images_of(spec: PodSpec) -> frozenset[str]
        _IMAGES.of(pod)

    Pods of one template share one spec object, and specs that are equal become one when
    they enter a cluster (`SpecPool`). So a fact is worked out about once per template,
    and goes when the last pod with this spec goes. A spec that is changed is a new
    object without facts.

    ``compute`` must follow from the spec alone: it is asked for one pod, and what it
    says is used for pods with other names, labels and states. What it returns is shared
    by all of them, and must not be changed. (For what depends on something else, too,
    return an empty dict, and keep answers in it by whatever else they depend on.)

    Hooks may ask from several threads. Two that ask for the first time at once may both
    compute; all get what was kept first. An exception of ``compute`` is not kept.

    Args:
        compute: Works out the fact.
    """

    __slots__ = ("_compute", "_name")

    def __init__(self, compute: Callable[[PodSpec], T]) -> None:
        self._compute = compute
        # A string: looking anything else up in a `__dict__` takes longer. The number
        # tells two functions of one name apart.
        self._name = f"{_full_name(compute)}#{next(_NUMBERS)}"

    def of(self, pod: Pod) -> T:
        """The fact for this pod's spec."""
        try:
            fact: T = pod.spec.__dict__[self._name]
        except KeyError:
            return self._computed(pod.spec)
        return fact

    def of_spec(self, spec: PodSpec) -> T:
        """The fact for this spec."""
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
