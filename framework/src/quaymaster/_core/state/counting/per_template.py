"""Caches objects that plugins build from counts, for all pods of a template."""

from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from quaymaster._api.objects import Pod
from quaymaster._core.state.counting.counts import PodCounts

__all__ = ["PerTemplate"]

T = TypeVar("T")

# A bound on memory: an entry takes 225 bytes and the cached object. With more templates
# than this, the cache is cleared, and objects are built again.
_MOST: Final = 1 << 10


class _Entry(NamedTuple, Generic[T]):
    counts: PodCounts
    counts_revision: int
    revision: int
    subject: object
    labels: Mapping[str, str]
    value: T


class PerTemplate(Generic[T]):
    """Caches an object for all pods of a namespace with equal labels and subject.

    The object may refer to anything that `PodCounts` returns. It is built again when
    that may have been replaced.
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[int, str], _Entry[T]] = {}

    def of(
        self,
        pod: Pod,
        subject: object,
        counts: PodCounts,
        make: Callable[[], T],
        revision: int = 0,
    ) -> T:
        """Return the cached object for pods like this one, or build it.

        Args:
            pod: The pod.
            subject: An immutable object that the pods of one template share, and that
                ``make`` depends on besides the pod's namespace and labels.
            counts: The counts that ``make`` reads.
            make: Builds the object.
            revision: The revision of the other data that ``make`` reads.
        """
        metadata = pod.metadata
        # Identity: pods of one template share the subject, and it need not be hashable.
        # The entry holds it, so its id cannot pass on to another object.
        key = id(subject), metadata.namespace
        entry = self._entries.get(key)
        # Identity: as above; a revision is valid only for the same counts.
        if (
            entry is not None
            and entry.counts_revision == counts.revision
            and entry.counts is counts
            and entry.subject is subject
            and entry.revision == revision
            and entry.labels == metadata.labels
        ):
            return entry.value
        value = make()
        if len(self._entries) >= _MOST:
            self._entries.clear()
        # Read the revision after `make`, which may have created more counts.
        self._entries[key] = _Entry(
            counts, counts.revision, revision, subject, metadata.labels, value
        )
        return value
