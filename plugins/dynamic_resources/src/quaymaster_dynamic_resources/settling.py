"""The end of a failed binding: what was written for a pod is taken back, and read.

A pod is not tried again before that, because a reservation that is being removed still
looks like one; and devices stay promised until it is known that no claim has them,
because a write that was not answered may have given them away.
kube-scheduler 1.36.2 does neither: it takes back in ``Unreserve`` what it knows of, and
frees the rest (``pkg/scheduler/framework/plugins/dynamicresources``).
"""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs

from quaymaster import Handle, Pod
from quaymaster.cluster import ApiError, Cluster, NotFoundError
from quaymaster.objects import ResourceClaim
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = ["Loose", "Settlements", "Undo"]

_SECONDS_TO_READ_AGAIN: Final = 1.0
_log = logging.getLogger(__name__)

Undo: TypeAlias = Callable[[Cluster], ResourceClaim | None]
"""Takes something back; returns the claim as it is then, None if it is gone."""


@attrs.frozen(eq=False)
class Loose:
    """A claim of which it is not known what it will be, or is.

    Attributes:
        claim: The claim as it was known.
        uid: The uid under which its allocation was in flight.
        undo: What is still to be taken back; None if it is only to be read.
    """

    claim: ResourceClaim
    uid: str
    undo: Undo | None


@attrs.define(eq=False)
class _Settlement:
    """The claims of one pod.

    Attributes:
        pod: The pod.
        loose: Those that are not settled.
        is_under_way: Whether calls to the cluster are being made.
        is_awaited: Whether the pod was rejected meanwhile.
    """

    pod: Pod
    loose: Sequence[Loose]
    is_under_way: bool = False
    is_awaited: bool = False


@attrs.frozen(eq=False)
class _Settled:
    """What has become of a claim.

    Attributes:
        loose: The claim as it was known.
        stored: As it is stored; None if it is gone.
    """

    loose: Loose
    stored: ResourceClaim | None


class Settlements:
    """Takes back what was written for pods, and reads what it cannot know.

    Args:
        tracker: Told of what becomes of claims.
    """

    def __init__(self, tracker: ClaimTracker) -> None:
        self._tracker = tracker
        self._handle: Handle | None = None
        self._open: dict[str, _Settlement] = {}

    def resume(self, handle: Handle) -> None:
        """Work by another handle from now on; that of a replaced plugin does nothing.

        Args:
            handle: The framework.
        """
        self._handle = handle
        for settlement in list(self._open.values()):
            self._work_on(settlement)

    def begin(self, handle: Handle, pod: Pod, loose: Sequence[Loose]) -> None:
        """Settle the claims of a pod.

        Args:
            handle: The framework, if no other one was told to `resume`.
            pod: The pod.
            loose: Its claims.
        """
        self._handle = self._handle or handle
        settlement = self._open[pod.uid] = _Settlement(pod, loose)
        self._work_on(settlement)

    def holds_up(self, pod: Pod) -> bool:
        """Return whether a pod has to wait; if so, it is woken when it need not."""
        settlement = self._open.get(pod.uid)
        if settlement is None:
            return False
        settlement.is_awaited = True
        return True

    def _work_on(self, settlement: _Settlement) -> None:
        handle = self._handle
        if handle is None or settlement.is_under_way:
            return

        def work() -> Sequence[_Settled | Loose]:
            # Not before: a replaced plugin's handle never begins.
            settlement.is_under_way = True
            pod = settlement.pod.key
            return [_settle(handle.cluster, one, pod) for one in settlement.loose]

        handle.run_in_background(work, partial(self._take, handle, settlement))

    def _take(
        self,
        handle: Handle,
        settlement: _Settlement,
        outcomes: Sequence[_Settled | Loose],
    ) -> None:
        settlement.is_under_way = False
        # Identity: the calls may have been made twice, for a handle and its successor.
        if self._open.get(settlement.pod.uid) is not settlement:
            return
        settlement.loose = [one for one in outcomes if isinstance(one, Loose)]
        for one in outcomes:
            if isinstance(one, Loose):
                continue
            if one.stored is not None:
                self._tracker.written(one.stored, one.loose.uid)
            else:
                self._tracker.forget(one.loose.claim, one.loose.uid)
        if settlement.loose:
            again = partial(self._work_on, settlement)
            handle.clock.call_later(_SECONDS_TO_READ_AGAIN, again)
            return
        del self._open[settlement.pod.uid]
        if settlement.is_awaited:
            handle.activate([settlement.pod])


def _settle(cluster: Cluster, loose: Loose, pod: str) -> _Settled | Loose:
    """Take back what is to be taken back, and read the claim if that fails."""
    if loose.undo is not None:
        try:
            return _Settled(loose, loose.undo(cluster))
        except NotFoundError:
            return _Settled(loose, None)
        except ApiError as error:
            # It is tried again when the pod is.
            _log.error("the claims of pod %s were not given back: %s", pod, error)
    try:
        return _Settled(loose, cluster.get(ResourceClaim, loose.claim.key))
    except NotFoundError:
        return _Settled(loose, None)
    except ApiError:
        return attrs.evolve(loose, undo=None)
