"""Reserve and PreBind: reserve devices, write allocations, and wait for devices.

Mirrors ``Reserve``, ``Unreserve`` and ``PreBind`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from quaymaster import Handle, Pod, PreBindWait, Status
from quaymaster.cluster import Cluster, EventNote
from quaymaster.objects import AllocationResult, ResourceClaim
from quaymaster_dynamic_resources.conditions import (
    BindingFailedError,
    has_conditions,
    has_timed_out,
    is_ready,
)
from quaymaster_dynamic_resources.extended import is_implicit
from quaymaster_dynamic_resources.group_claims import (
    GroupClaims,
    consumer,
    is_reserved_for,
)
from quaymaster_dynamic_resources.settlements import Settlements, Undo, UnsettledClaim
from quaymaster_dynamic_resources.state import ClaimsState
from quaymaster_dynamic_resources.tracker import ClaimTracker
from quaymaster_dynamic_resources.writes import (
    WriteError,
    create_claim,
    delete_claim,
    remove_reservation,
    reserve_claim,
    write_pod_status,
)

__all__ = ["ClaimBinder"]

_SECONDS_BETWEEN_LOOKS: Final = 5.0
_TIMED_OUT: Final = Status.from_error(
    "device binding timeout: context deadline exceeded"
)


class ClaimBinder:
    """Allocates the devices that the search found on the chosen node to a pod's claims.

    Args:
        handle: The framework.
        tracker: The allocated devices.
        settlements: The claims of failed bindings.
        groups: Finds out which claims are those of a pod's group.
        timeout_seconds: How long devices may take to become ready.
    """

    def __init__(
        self,
        handle: Handle,
        tracker: ClaimTracker,
        settlements: Settlements,
        groups: GroupClaims,
        timeout_seconds: float,
    ) -> None:
        self._handle = handle
        self._tracker = tracker
        self._settlements = settlements
        self._groups = groups
        self._timeout_seconds = timeout_seconds

    def reserve(
        self, state: ClaimsState, node_name: str, pending: set[str] | None
    ) -> Status | None:
        """Reserve the devices that the search found on a node.

        Args:
            state: The claims of the pod.
            node_name: The node.
            pending: The claims that the cycle of the pod's group has reserved, to which
                those of the pod are added; None outside such a cycle.
        """
        places = state.to_allocate
        if not places:
            return None
        allocation = state.allocations.get(node_name)
        if allocation is None or not allocation.results:
            # The node offers the extended resources itself.
            # ``Reserve`` in dynamicresources.go makes the same distinction: without an
            # allocation, only the claim for extended resources may be missing, since a
            # device plugin may serve them.
            if all(place == state.implicit for place in places):
                return None
            return Status.from_error("claim allocation not found for node")
        for place, claim, result in zip(
            places, allocation.claims, allocation.results, strict=True
        ):
            # A pod of a group reserves twice: in its group's cycle, and to be bound.
            # Share ids are drawn once. Drawing them again would give the same share
            # another name than the one that other pods of the group have seen, and
            # would shift all later random numbers.
            named = state.reserved.get(place) or state.pending.get(place)
            if named is None:
                named = self._with_share_ids(result)
            state.reserved[place] = named
            self._tracker.reserve(claim, named)
            if pending is not None:
                pending.add(claim.uid)
        return None

    def unreserve(self, state: ClaimsState, pod: Pod, pending: set[str] | None) -> None:
        """Release unwritten allocations, and remove written reservations of the pod.

        Those of its group stay, because other pods of the group may need them.

        Args:
            state: The claims of the pod.
            pod: The pod.
            pending: See `reserve`.
        """
        unsettled = []
        for place, claim in enumerate(state.claims):
            uid = state.implicit_uid if place == state.implicit else claim.uid
            if place not in state.reserved:
                # Identified by what this pod reserved and not by the claim: the last
                # pod that shares an allocation releases it.
                uid = ""  # another pod may have reserved devices for it since
            undo = self._undo(state, place, pod)
            if undo is None and place not in state.in_doubt:
                if self._tracker.release(uid) and pending is not None:
                    pending.discard(uid)
            else:
                unsettled.append(UnsettledClaim(claim, uid, undo))
        if unsettled:
            self._settlements.begin(self._handle, pod, unsettled)

    def write(self, state: ClaimsState, pod: Pod, node_name: str) -> None:
        """Write allocations and reservations; may be called from any thread.

        Raises:
            WriteError: A write failed. Earlier writes are not undone.
        """
        for place, claim in enumerate(state.claims):
            # A claim that is reserved for the group needs no entry for each pod:
            # ``reservedFor`` holds at most 256.
            if not self._groups.is_reserved(claim, pod):
                self._write(state, place, pod, node_name)

    def wait(
        self, state: ClaimsState, pod: Pod, node_name: str
    ) -> PreBindWait | Status | None:
        """Return how to wait for the devices of the written claims, if necessary."""
        if not any(has_conditions(claim) for claim in state.claims):
            return None
        self._handle.cluster.record(
            EventNote(
                regarding=pod,
                type="Normal",
                reason="BindingConditionsPending",
                action="Scheduling",
                note=f"waiting for binding conditions for device on node {node_name}",
                reporter=pod.spec.scheduler_name,
            )
        )
        # Looked at before waiting, so that devices that are ready already cost no
        # timer.
        answer = self._are_ready(state.claims)
        if isinstance(answer, Status):
            return answer
        if answer:
            return None
        return PreBindWait(
            check=lambda: self._look_again(state),
            timeout_seconds=self._timeout_seconds,
            timed_out=_TIMED_OUT,
            interval_seconds=_SECONDS_BETWEEN_LOOKS,
        )

    def _write(self, state: ClaimsState, place: int, pod: Pod, node_name: str) -> None:
        cluster = self._handle.cluster
        claim, allocation = state.claims[place], state.reserved.get(place)
        is_extended = place == state.implicit
        # The chosen node serves the extended resources itself, so there is no claim to
        # create.
        if is_extended and allocation is None and not claim.spec.devices.requests:
            return
        node_allocation = state.allocations.get(node_name)
        uid = claim.uid
        if is_extended and is_implicit(claim):
            if node_allocation is None:
                text = f"extended resource claim not found for node {node_name}"
                raise WriteError(text)
            claim = state.claims[place] = create_claim(
                cluster, node_allocation.claims[-1]
            )
        now = self._handle.clock.now()
        user = consumer(pod) if is_extended else state.consumers[place]
        try:
            claim = reserve_claim(cluster, claim, allocation, user, now)
        except WriteError as error:
            # The write may have succeeded: Unreserve must not free the devices before
            # it has read the claim.
            if error.is_unknown:
                state.in_doubt.add(place)
            raise
        state.claims[place] = claim
        self._tracker.written(claim, uid)
        if is_extended:
            write_pod_status(
                cluster, pod, claim, node_allocation.mappings if node_allocation else ()
            )

    def _look_again(self, state: ClaimsState) -> bool | Status:
        for place, claim in enumerate(state.claims):
            stored = self._tracker.get(claim.key)
            if stored is not None:
                # Read again each time, since the driver writes conditions into the
                # claim while we wait.
                state.claims[place] = stored
            elif not is_implicit(claim):
                text = f'could not find ResourceClaim "{claim.key}"'
                return Status.from_error(text)
        return self._are_ready(state.claims)

    def _are_ready(self, claims: Sequence[ResourceClaim]) -> bool | Status:
        now = self._handle.clock.now()
        for claim in claims:
            # If the node offers the extended resources itself, there is no claim.
            if is_implicit(claim):
                continue
            try:
                if is_ready(claim):
                    continue
            except BindingFailedError as error:
                return Status.from_error(str(error))
            if has_timed_out(claim, self._timeout_seconds, now):
                text = f"device binding timeout: claim={claim.name}"
                return Status.from_error(text)
            return False
        return True

    def _with_share_ids(self, allocation: AllocationResult) -> AllocationResult:
        """Give each share of a device a unique id."""
        devices = allocation.devices
        if all(result.share_id is None for result in devices.results):
            return allocation
        bits = self._handle.random.getrandbits
        results = tuple(
            replace(result, share_id=str(UUID(int=bits(128), version=4)))
            if result.share_id is not None
            else result
            for result in devices.results
        )
        return replace(allocation, devices=replace(devices, results=results))

    def _undo(self, state: ClaimsState, place: int, pod: Pod) -> Undo | None:
        """Return a function that undoes the writes to a claim, or None."""
        claim = state.claims[place]
        if place == state.implicit:
            return None if is_implicit(claim) else partial(_delete, claim=claim)
        if claim.status.allocation is None or not is_reserved_for(claim, pod.uid):
            return None
        return partial(remove_reservation, claim=claim, uid=pod.uid)


def _delete(cluster: Cluster, claim: ResourceClaim) -> None:
    delete_claim(cluster, claim)
