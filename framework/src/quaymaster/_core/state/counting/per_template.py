"""Remembers what plugins make of counts, for all pods of a template."""

from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from quaymaster._api.objects import Pod
from quaymaster._core.state.counting.counts import PodCounts

__all__ = ["PerTemplate"]

T = TypeVar("T")

# A bound on memory: an entry takes 225 bytes and what was made. Fewer templates than
# this take turns; with more, things are made anew as for a first pod.
_MOST: Final = 1 << 10


class _Entry(NamedTuple, Generic[T]):
    counts: PodCounts
    counts_revision: int
    revision: int
    subject: object
    labels: Mapping[str, str]
    made: T


class PerTemplate(Generic[T]):
    """Makes something once for all pods of a namespace with equal labels and subject.

    What is made may refer to anything that `PodCounts` hands out, since it is made anew
    when that may have been replaced.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], _Entry[T]] = {}

    def of(
        self,
        pod: Pod,
        subject: object,
        counts: PodCounts,
        make: Callable[[], T],
        revision: int = 0,
    ) -> T:
        """Return what was made for pods like this one, or make it.

        Args:
            pod: The pod.
            subject: What ``make`` depends on, beside the pod's namespace and labels:
                an object that the pods of one template share, and that never changes.
            counts: The counts that ``make`` reads.
            make: Makes the thing.
            revision: The revision of whatever else ``make`` reads.
        """
        metadata = pod.metadata
        # Identity: pods of one template share the subject, and it need not be hashable.
        # The entry holds it, so its id cannot pass on to another object.
        key = id(subject), metadata.namespace
        known = self._known.get(key)
        # Identity: as above; and of the same counts, the same revision.
        if (
            known is not None
            and known.counts_revision == counts.revision
            and known.counts is counts
            and known.subject is subject
            and known.revision == revision
            and known.labels == metadata.labels
        ):
            return known.made
        made = make()
        if len(self._known) >= _MOST:
            self._known.clear()
        # Read the revision after `make`, which may have had the counts count more.
        self._known[key] = _Entry(
            counts, counts.revision, revision, subject, metadata.labels, made
        )
        return made
