"""Changes of the snapshot for a trial, which are all reverted at its end.

Mirrors ``StartMutations`` and ``EndMutations`` (Kubernetes v1.37,
``pkg/scheduler/backend/cache/snapshot.go``).
"""

import logging
from types import TracebackType

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._core.binding.stations import BindingStations
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["EngineTrial"]

_log = logging.getLogger(__name__)


class EngineTrial:
    """Implements `quaymaster._core.contract.handle.SnapshotTrial`.

    Args:
        snapshot: The snapshot.
        stations: Reserve and Unreserve of the profile.
    """

    def __init__(self, snapshot: Snapshot, stations: BindingStations) -> None:
        self._snapshot = snapshot
        self._stations = stations
        # The changed pods as they were: uid -> the pod, or None if it was not there.
        self._before: dict[str, Pod | None] = {}
        self._now: dict[str, Pod | None] = {}
        # Node name -> the uids of its pods, in the order before the trial.
        self._orders: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> "EngineTrial":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        for uid, before in self._before.items():
            now = self._now[uid]
            # Identity: a pod that was removed and added again is the same object.
            if now is before:
                continue
            if now is not None:
                self._snapshot.remove_pod(now)
            if before is not None:
                self._snapshot.add_pod(before)
        for name, order in self._orders.items():
            node = self._snapshot.get(name)
            if node is not None:
                node.reorder_pods(order)

    def remove_pod(self, pod: Pod) -> None:
        node = self._snapshot.get(pod.node_name)
        present = None if node is None else node.pods.get(pod.uid)
        if present is None:
            return
        self._note(pod.uid, present, pod.node_name)
        self._snapshot.remove_pod(present)
        self._now[pod.uid] = None

    def add_pod(self, pod: Pod) -> None:
        self._note(pod.uid, None, pod.node_name)
        self._snapshot.add_pod(pod)
        self._now[pod.uid] = pod

    def assume_pod(self, pod: Pod, node_name: str) -> Pod:
        assumed = replace(pod, node_name=node_name)
        self.add_pod(assumed)
        return assumed

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        # As upstream, the result does not matter: the filters have passed.
        self._stations.reserve(state, pod, node_name)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        for error in self._stations.unreserve(state, pod, node_name):
            _log.error("%s", error.message)

    def _note(self, uid: str, before: Pod | None, node_name: str) -> None:
        """Keep what is needed to revert a change."""
        self._before.setdefault(uid, before)
        node = self._snapshot.get(node_name)
        if node is not None and node_name not in self._orders:
            self._orders[node_name] = tuple(node.pods)
