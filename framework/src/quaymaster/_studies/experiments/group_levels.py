"""How many pods of each group wait and run at a time, and what they request."""

from collections.abc import Mapping

import attrs

from quaymaster._api.objects import Pod
from quaymaster._api.objects.resources import Resources, pod_requests
from quaymaster._studies.experiments.lives import group_of
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import History, PodLife

__all__ = ["GroupLevel", "GroupLevels"]


@attrs.define(eq=False)
class GroupLevel:
    """The pods of a group at a time.

    Attributes:
        pending: How many wait for a node.
        running: How many have a node.
        requested: What those with a node request; as pods, their number.
    """

    pending: int = 0
    running: int = 0
    requested: Resources = attrs.field(factory=Resources)


class GroupLevels:
    """Follows the pods of a run by group.

    Args:
        run: The run, at its beginning.
        by: The label whose values are groups, or ``namespace``.
    """

    def __init__(self, run: Run, by: str) -> None:
        self._by = by
        self._history = History(run.cluster)
        self._schedulers = run.simulation.scheduler.frameworks.keys()
        # Uid -> whether the pod runs; pods that neither wait nor run have no entry.
        self._runs: dict[str, bool] = {}
        self._levels: dict[str, GroupLevel] = {}
        self._read = 0
        for life in self._history.pods:
            self._update(life)

    def levels(self) -> Mapping[str, GroupLevel]:
        """Return the level of each group that has had pods, by its name."""
        self._history.catch_up()
        changed = self._history.changed
        for life in changed[self._read :]:
            self._update(life)
        self._read = len(changed)
        return self._levels

    def close(self) -> None:
        """Stop following the pods."""
        self._history.close()

    def _update(self, life: PodLife) -> None:
        group = group_of(life.pod, self._by)
        if not group:
            return
        before, after = self._runs.get(life.pod.uid), self._now(life)
        if before == after:
            return
        level = self._levels.setdefault(group, GroupLevel())
        if before is not None:
            _count(level, life.pod, runs=before, by=-1)
        if after is None:
            del self._runs[life.pod.uid]
            return
        self._runs[life.pod.uid] = after
        _count(level, life.pod, runs=after, by=1)

    def _now(self, life: PodLife) -> bool | None:
        if life.is_running:
            return True
        waits = life.is_waiting and life.ended is None
        if waits and life.pod.spec.scheduler_name in self._schedulers:
            return False
        return None


def _count(level: GroupLevel, pod: Pod, *, runs: bool, by: int) -> None:
    if not runs:
        level.pending += by
        return
    level.running += by
    level.requested.add(pod_requests(pod), by)
    level.requested.allowed_pods += by
