"""The cluster of a bench: it stores objects, counts calls, and lets some fail."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.stored_objects import StoredObjects
from quaymaster._authors.testing.faults import Fault, FaultyCluster
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    ListResult,
    PodStatusPatch,
)

__all__ = ["PAUSES", "BenchCluster", "EndlessCallsError"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_MOST_FAILED: Final = 1000
"""Chosen, not measured: so many calls in a row fail without a pause between them."""


PAUSES: Final = (
    "return from the task, and wait before each further one with "
    "handle.clock.call_later(seconds, callback, background=True); let the pauses grow, "
    "such as from 1 s to 5 minutes"
)
"""What to do about calls that fail."""


def _do_nothing() -> None:
    """By default, nothing happens before a call."""


class EndlessCallsError(BaseException):
    """A plugin repeats a call that fails without any pause, so that it never returns.

    It is not an Exception, so that loops which catch errors of the cluster end.
    """

    def __init__(self) -> None:
        super().__init__(
            f"{_MOST_FAILED:,} calls of handle.cluster in a row fail, and none waits "
            f"for the one before: {PAUSES}"
        )


class BenchCluster(FaultyCluster):
    """The stored objects of a bench, with the faults that a check wants.

    Attributes:
        stored: The stored objects.
        is_used: Whether the plugin has called it.
        deleted: The kind, key and uid of each deletion that the plugin has asked for.
        owned: The objects with owner references that the plugin has written.
        calls: A description of a call, with its object -> how often it was made. New
            objects have no names, because each may have another one.
        before_call: Called before each call.
    """

    def __init__(self, stored: StoredObjects, clock: Clock) -> None:
        super().__init__(stored, clock=clock, rates={})
        self.stored = stored
        self.is_used = False
        self.deleted: list[tuple[type[ApiObject], str, str | None]] = []
        self.owned: list[ApiObject] = []
        self.calls: Counter[str] = Counter()
        self.before_call: Callable[[], None] = _do_nothing
        self._time = clock
        self._next: tuple[Fault, int] | None = None
        self._failed = 0
        self._failed_at = -math.inf

    def fail_once(self, fault: Fault, number: int) -> None:
        """Let one call fail: the one of this number, from 1, that may have a fault."""
        self._next = fault, number

    def stop_failing(self) -> bool:
        """Let no call fail; return whether one has yet to fail."""
        is_left, self._next = self._next is not None, None
        return is_left

    def _begin(self, call: str) -> None:
        self.calls[call] += 1
        self.before_call()

    def _draw(self, fault: Fault) -> bool:
        if self._next is not None and self._next[0] == fault:
            number = self._next[1] - 1
            self._next = (fault, number) if number else None
            return not number
        is_drawn = super()._draw(fault)
        if is_drawn:
            self._count_failure()
        return is_drawn

    def _count_failure(self) -> None:
        """Count the failures of this moment.

        Raises:
            EndlessCallsError: There are too many.
        """
        now = self._time.now()
        self._failed = self._failed + 1 if now == self._failed_at else 1
        self._failed_at = now
        if self._failed > _MOST_FAILED:
            raise EndlessCallsError

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        self._begin(f"list of {kind.kind}")
        return super().list(kind)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        self._begin(f"get of {kind.kind} '{key}'")
        return super().get(kind, key)

    def create(self, obj: ObjT) -> ObjT:
        self._begin(f"create of {obj.kind}")
        return self._written(super().create(obj))

    def update(self, obj: ObjT) -> ObjT:
        self._begin(f"update of {obj.kind} '{obj.key}'")
        return self._written(super().update(obj))

    def _written(self, obj: ObjT) -> ObjT:
        if obj.metadata.owner_references:
            self.owned.append(obj)
        return obj

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        self._begin(f"delete of {kind.kind} '{key}'")
        self.deleted.append((kind, key, uid))
        super().delete(kind, key, uid=uid, grace_period_seconds=grace_period_seconds)

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._begin(f"bind of Pod '{pod.key}'")
        super().bind(pod, node_name, annotations=annotations)

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        self._begin(f"patch of the status of Pod '{pod.key}'")
        super().patch_pod_status(pod, patch)

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        self._begin(f"patch of the status of {obj.kind} '{obj.key}'")
        return super().patch_status(obj, changes)

    def _maybe_fail(self) -> None:
        self.is_used = True
        super()._maybe_fail()
