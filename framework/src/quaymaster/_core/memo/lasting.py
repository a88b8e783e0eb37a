"""The filters of an attempt whose verdicts are valid for the next pod, too."""

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.filter_runner import LastingFilters
from quaymaster._core.cycle.filtering import FilterStation
from quaymaster._core.cycle.nominated import NominatedPods
from quaymaster._core.memo.signatures import Signatures

__all__ = ["LastingMemory"]


class LastingMemory:
    """Finds the filters of the current attempt whose verdicts last.

    Args:
        station: The profile's filters.
        nominated: The pods to leave room for.
        signatures: The memos by signature.
    """

    def __init__(
        self, station: FilterStation, nominated: NominatedPods, signatures: Signatures
    ) -> None:
        self._station = station
        self._nominated = nominated
        self._signatures = signatures

    def find(self, state: CycleState, pod: Pod) -> LastingFilters | None:
        """See `FilterRunner.lasting`."""
        memo = self._signatures.current(state, pod)
        if memo is None:
            return None
        lasting, others = [], []
        for call in self._station.calls:
            if call.plugin in state.skip_filter_plugins:
                continue
            if call.plugin in memo.plugins:
                lasting.append(call.plugin)
            elif call.pod_use_in(state) is PodUse.NONE:
                others.append(call.plugin)
            else:
                return None
        rows = self._nominated.followed(pod)
        if rows is not None and rows.rows_of(pod.uid):
            # The pod leaves no room for itself, but other pods with its signature do.
            return None
        return LastingFilters(
            kind=memo,
            plugins=frozenset(lasting),
            others=frozenset(others),
            nominated=None if rows is None else rows.changes,
        )
