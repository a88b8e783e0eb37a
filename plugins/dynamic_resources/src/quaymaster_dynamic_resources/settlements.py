"""Cleanup after a failed binding: undo the writes for a pod, and read its claims.

The pod is not retried before that, because a reservation that is being removed still
looks like a reservation. Devices stay reserved until the claims have been read, because
a write without a response may have allocated them.
kube-scheduler 1.36.2 does neither: ``Unreserve`` undoes the confirmed writes, and frees
the other devices (``pkg/scheduler/framework/plugins/dynamicresources``).
"""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs
import msgspec
from msgspec.structs import replace

from quaymaster import Handle, Pod
from quaymaster.cluster import ApiError, Cluster, NotFoundError
from quaymaster.objects import ResourceClaim
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = ["Settlements", "Undo", "UnsettledClaim"]

_SECONDS_TO_READ_AGAIN: Final = 1.0
_log = logging.getLogger(__name__)

Undo: TypeAlias = Callable[[Cluster], ResourceClaim | None]
"""Undoes a write; returns the stored claim, or None if it was deleted."""


class UnsettledClaim(msgspec.Struct, frozen=True, eq=False):
    """A claim whose stored state is not known.

    Attributes:
        claim: The last known version of the claim.
        uid: The uid under which its allocation was in flight.
        undo: Undoes a write; None if the claim only has to be read.
    """

    claim: ResourceClaim
    uid: str
    undo: Undo | None


@attrs.define(eq=False)
class _Settlement:
    """The claims of one pod.

    Attributes:
        pod: The pod.
        unsettled: The claims that are still to be undone or read.
        is_under_way: Whether calls to the cluster are in progress.
        is_awaited: Whether the pod was rejected in the meantime.
    """

    pod: Pod
    unsettled: Sequence[UnsettledClaim]
    is_under_way: bool = False
    is_awaited: bool = False


class _Settled(msgspec.Struct, frozen=True, eq=False):
    """The final state of a claim.

    Attributes:
        unsettled: The claim before.
        stored: The stored claim, or None if it was deleted.
    """

    unsettled: UnsettledClaim
    stored: ResourceClaim | None


class Settlements:
    """Undoes the writes for pods, and reads claims whose state is unknown.

    Args:
        tracker: Receives the final state of claims.
    """

    def __init__(self, tracker: ClaimTracker) -> None:
        self._tracker = tracker
        self._handle: Handle | None = None
        self._open: dict[str, _Settlement] = {}

    def resume(self, handle: Handle) -> None:
        """Use another handle from now on; that of a replaced plugin runs nothing.

        Args:
            handle: The framework.
        """
        self._handle = handle
        for settlement in list(self._open.values()):
            self._work_on(settlement)

    def begin(
        self, handle: Handle, pod: Pod, unsettled: Sequence[UnsettledClaim]
    ) -> None:
        """Settle the claims of a pod.

        Args:
            handle: The framework, unless `resume` has set another one.
            pod: The pod.
            unsettled: Its claims.
        """
        self._handle = self._handle or handle
        settlement = self._open[pod.uid] = _Settlement(pod, unsettled)
        self._work_on(settlement)

    def holds_up(self, pod: Pod) -> bool:
        """Return whether a pod has to wait; if so, it is activated afterwards."""
        settlement = self._open.get(pod.uid)
        if settlement is None:
            return False
        settlement.is_awaited = True
        return True

    def _work_on(self, settlement: _Settlement) -> None:
        handle = self._handle
        if handle is None or settlement.is_under_way:
            return

        def work() -> Sequence[_Settled | UnsettledClaim]:
            # Set only here, because a replaced plugin's handle never runs the task.
            settlement.is_under_way = True
            pod = settlement.pod.key
            return [
                _settle(handle.cluster, claim, pod) for claim in settlement.unsettled
            ]

        handle.run_in_background(work, partial(self._take, handle, settlement))

    def _take(
        self,
        handle: Handle,
        settlement: _Settlement,
        outcomes: Sequence[_Settled | UnsettledClaim],
    ) -> None:
        settlement.is_under_way = False
        # Identity: the task may have run twice, for a handle and its successor.
        if self._open.get(settlement.pod.uid) is not settlement:
            return
        settlement.unsettled = [
            outcome for outcome in outcomes if isinstance(outcome, UnsettledClaim)
        ]
        for outcome in outcomes:
            if isinstance(outcome, UnsettledClaim):
                continue
            if outcome.stored is not None:
                self._tracker.written(outcome.stored, outcome.unsettled.uid)
            else:
                self._tracker.forget(outcome.unsettled.claim, outcome.unsettled.uid)
        if settlement.unsettled:
            again = partial(self._work_on, settlement)
            handle.clock.call_later(_SECONDS_TO_READ_AGAIN, again)
            return
        del self._open[settlement.pod.uid]
        if settlement.is_awaited:
            handle.activate([settlement.pod])


def _settle(
    cluster: Cluster, unsettled: UnsettledClaim, pod: str
) -> _Settled | UnsettledClaim:
    """Undo the write, and read the claim if that fails or there is nothing to undo."""
    if unsettled.undo is not None:
        try:
            return _Settled(unsettled, unsettled.undo(cluster))
        except NotFoundError:
            return _Settled(unsettled, None)
        except ApiError as error:
            # The next attempt of the pod undoes it again.
            _log.error("the claims of pod %s were not released: %s", pod, error)
    try:
        return _Settled(unsettled, cluster.get(ResourceClaim, unsettled.claim.key))
    except NotFoundError:
        return _Settled(unsettled, None)
    except ApiError:
        return replace(unsettled, undo=None)
