"""Finds changes for many pending workloads: one for several of them if possible."""

from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.candidates import first_node_kind
from quaymaster._studies.why.changes import SuggestedChange
from quaymaster._studies.why.joint_changes import joint_change
from quaymaster._studies.why.remarks import remarks
from quaymaster._studies.why.suggestions import search
from quaymaster._studies.why.trials import OutOfTrialsError, Trials

__all__ = ["GroupChanges", "PodGroup"]

_SHARE: Final = 12
"""How many simulations each group may use at least, as long as there are any."""


@attrs.frozen(eq=False)
class PodGroup:
    """Pending pods of one workload with the same causes.

    Attributes:
        pods: The pods.
        cause: The plugin of a cause that alone keeps nodes from the pods; or empty.
        message: Why the first of them is pending, in upstream's words.
    """

    pods: Sequence[Pod]
    cause: str
    message: str


class GroupChanges:
    """Finds a change for each of some groups of pending pods.

    Args:
        run: The simulation of the input, which has settled.
        result: Its result.
        trials: Tries changes out.

    Attributes:
        is_complete: Whether all changes were tried.
        remarks: Facts about the first pod of each group, as in `Suggestions`.
    """

    def __init__(
        self, run: Simulation, result: SimulationResult, trials: Trials
    ) -> None:
        self._run = run
        self._result = result
        self._trials = trials
        self.is_complete = True
        self.remarks: dict[PodGroup, tuple[str, ...]] = {}

    def of(self, groups: Sequence[PodGroup]) -> list[SuggestedChange | None]:
        """Return the change that places each group, or None.

        The same object is returned for groups that one change places together. Such
        changes are tried first: workloads that wait for the same room take it from each
        other, so more nodes for only one of them would help another one. Then each
        group is tried alone, first with one change and then with two.
        """
        changes = self._together(groups)
        # Each group gets its single changes before any pair is tried. There are many
        # pairs, and the last groups would have no simulations left.
        for size in (1, 2):
            left = [group for group in groups if group not in changes]
            for number, group in enumerate(left):
                change = self._alone(group, size, len(left) - number)
                if change is not None:
                    changes[group] = change
        return [changes.get(group) for group in groups]

    def _together(self, groups: Sequence[PodGroup]) -> dict[PodGroup, SuggestedChange]:
        """Find a change for the groups that wait for the same kind of node."""
        waiting: dict[object, list[PodGroup]] = {}
        for group in groups:
            if group.cause:
                kind = first_node_kind(group.pods[0], self._run.cluster)
                waiting.setdefault((group.cause, kind), []).append(group)
        changes: dict[PodGroup, SuggestedChange] = {}
        try:
            for members in waiting.values():
                while self._placed_together(members, changes):
                    members[:] = [each for each in members if each not in changes]
        except OutOfTrialsError:
            self.is_complete = False
        return changes

    def _placed_together(
        self, groups: Sequence[PodGroup], changes: dict[PodGroup, SuggestedChange]
    ) -> bool:
        """Find a change that places some of these groups; return whether there is."""
        if len(groups) < 2:
            return False
        pods = [group.pods for group in groups]
        joint = joint_change(self._run, self._result, pods, self._trials)
        if joint is None:
            return False
        for group in (groups[number] for number in joint.groups):
            changes[group] = joint.change
            facts = remarks(group.pods[0], group.message, self._run.cluster)
            self.remarks[group] = tuple(facts)
        return True

    def _alone(self, group: PodGroup, size: int, left: int) -> SuggestedChange | None:
        """Find the first change of a size, with a fair part of the simulations."""
        share = max(_SHARE, (self._trials.most - self._trials.count) // left)
        with self._trials.limited(share):
            answer = search(
                self._run,
                self._result,
                group.pods,
                "",
                self._trials,
                is_one_enough=True,
                sizes=(size,),
            )
        self.is_complete = self.is_complete and answer.is_complete
        self.remarks[group] = answer.remarks
        return answer.changes[0] if answer.changes else None
