"""Keeps the status of groups up to date.

Mirrors ``PodGroupReconciler`` (scheduler-plugins v0.34.7,
``pkg/controllers/podgroup_controller.go``), which runs in a process of its own there.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec
from quaymaster import Handle, Pod
from quaymaster.cluster import ApiError

from quaymaster_coscheduling.pod_group import (
    PodGroup,
    PodGroupPhase,
    PodGroupSpec,
    PodGroupStatus,
    group_key,
)

__all__ = ["Statuses", "status_of"]

_FINAL = frozenset({PodGroupPhase.FINISHED, PodGroupPhase.FAILED})
_BEGINNING = frozenset({PodGroupPhase.PENDING, PodGroupPhase.SCHEDULING})
_LATE_SECONDS = 48 * 3600


def status_of(group: PodGroup, pods: Sequence[Pod]) -> PodGroupStatus:
    """Return the status that a group should have.

    Args:
        group: The group as it is.
        pods: Its pods, those that have ended included.
    """
    status = group.status
    if _is_late(group):
        return status
    while (after := _step(group.spec, status, pods)) != status:
        status = after
    return status


def _is_late(group: PodGroup) -> bool:
    """Whether it took so long that its pods may have been cleared away."""
    status, created = group.status, group.metadata.creation_timestamp
    began = status.schedule_start_time
    if status.phase not in _BEGINNING or status.running:
        return False
    if began is None or created is None:
        return False
    return began - created > _LATE_SECONDS


def _step(
    spec: PodGroupSpec, status: PodGroupStatus, pods: Sequence[Pod]
) -> PodGroupStatus:
    """Return what one look at a group makes of its status."""
    if status.phase in _FINAL:
        return status
    if not status.phase:
        return msgspec.structs.replace(status, phase=PodGroupPhase.PENDING.value)
    needed = max(spec.min_member, 1)
    if status.phase == PodGroupPhase.PENDING:
        if len(pods) < needed:
            return status
        return msgspec.structs.replace(
            status,
            phase=PodGroupPhase.SCHEDULING.value,
            occupied_by=_owners(pods[0]) or status.occupied_by,
        )
    phases = Counter(pod.status.phase for pod in pods)
    running, succeeded, failed = (
        phases[name] for name in ("Running", "Succeeded", "Failed")
    )
    return msgspec.structs.replace(
        status,
        phase=_phase(needed, len(pods), running, succeeded, failed).value,
        running=running,
        succeeded=succeeded,
        failed=failed,
    )


def _phase(
    needed: int, pods: int, running: int, succeeded: int, failed: int
) -> PodGroupPhase:
    if pods < needed:
        return PodGroupPhase.PENDING
    if succeeded >= needed:
        return PodGroupPhase.FINISHED
    if failed and failed + running + succeeded >= needed:
        return PodGroupPhase.FAILED
    if running + succeeded >= needed:
        return PodGroupPhase.RUNNING
    return PodGroupPhase.SCHEDULING


def _owners(pod: Pod) -> str:
    owners = pod.metadata.owner_references
    return ",".join(sorted(f"{pod.namespace}/{owner.name}" for owner in owners))


class Statuses:
    """Writes the status of every group that needs another one.

    Args:
        handle: The framework.
        period_seconds: How often it looks.
    """

    def __init__(self, handle: Handle, period_seconds: float) -> None:
        self._handle = handle
        self._period_seconds = period_seconds
        self._informers = handle.informers
        self._pods = handle.informers.index(Pod, by=lambda pod: group_key(pod) or None)
        self._logs = [handle.informers.changes(kind) for kind in (PodGroup, Pod)]
        self._revisions: list[int] = []
        # Group -> itself and its pods, as they were when its status was right.
        self._settled: dict[str, tuple[PodGroup, Sequence[Pod]]] = {}

    def begin(self) -> None:
        """Look again and again, from the end of the first period on."""
        self._handle.clock.call_later(self._period_seconds, self._keep, background=True)

    def _keep(self) -> None:
        self.begin()
        revisions = [log.revision for log in self._logs]
        if revisions != self._revisions:
            self._revisions = revisions
            self._look()

    def _look(self) -> None:
        before, self._settled = self._settled, {}
        for group in self._informers.list(PodGroup):
            pods = self._pods.get(group.key)
            recorded = before.get(group.key)
            # Identity: both are the same objects as long as nothing has changed.
            if recorded is None or recorded[0] is not group or recorded[1] is not pods:
                status = status_of(group, pods)
                if status != group.status:
                    self._write(group, status)
                    continue
            self._settled[group.key] = group, pods

    def _write(self, group: PodGroup, status: PodGroupStatus) -> None:
        changes = msgspec.structs.asdict(status)

        def write() -> bool:
            try:
                self._handle.cluster.patch_status(group, changes)
            except ApiError:
                return False
            return True

        self._handle.run_in_background(write, self._after_write)

    def _after_write(self, is_written: bool) -> None:
        if not is_written:
            self._revisions = []  # look again next time, whatever has changed
