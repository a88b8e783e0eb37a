"""Runs the hooks of one plugin that are about groups of pods."""

from collections.abc import Sequence

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import PodGroup
from quaymaster._authors.testing.harness_base import HarnessBase
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupInfo,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.runtime.guards import unguarded

__all__ = ["GroupHarness"]


class GroupHarness(HarnessBase):
    """The part of a plugin's harness for the hooks of groups.

    They need the feature gate GenericWorkload. Pods of groups are taken from the pods
    and objects of the harness, and groups from the objects.
    """

    def placement_feasible(
        self, group: PodGroup, *, scheduled: int, remaining: int
    ) -> Status | None:
        """Return the answer of ``placement_feasible`` for a group.

        Args:
            group: The group.
            scheduled: How many of its pods have a node.
            remaining: How many of its pods have not been tried.

        Raises:
            LookupError: The plugin has no such hook, or the feature gate is off.
        """
        for plugin, function in self._framework.profile.placement_feasible:
            if plugin == self._name:
                info = PodGroupInfo(group=group, pods=())
                progress = PlacementProgress(scheduled, remaining)
                answer: Status | None = unguarded(function)(self.state, info, progress)
                return answer
        raise LookupError(f"{self._name} has no hook placement_feasible")

    def pod_group_post_filter(
        self, group: PodGroup, pods: Sequence[Pod], place: PlaceGroup
    ) -> PodGroupPostFilterResult:
        """Run ``pod_group_post_filter`` for a group that does not fit.

        Args:
            group: The group.
            pods: Its pods: PreFilter and Filter of all plugins run for each of them.
            place: Places the group once more, in the cluster as it is then.

        Raises:
            LookupError: The plugin has no such hook, or the feature gate is off.
        """
        call = self._call("podGroupPostFilter")
        info = PodGroupInfo(group=group, pods=tuple(pods))
        attempts = [MemberAttempt(pod, self._filtered(pod)) for pod in pods]
        answer: PodGroupPostFilterResult | Status | None = self._ask(
            call, "pod_group_post_filter", CycleState(), info, attempts, place
        )
        if isinstance(answer, PodGroupPostFilterResult):
            return answer
        return PodGroupPostFilterResult(status=answer)

    def _filtered(self, pod: Pod) -> CycleState:
        """Return the state of a pod after filtering."""
        self._informers.put(pod)
        attempt = Attempt.begin(CycleState(), pod, self.snapshot.nodes)
        self._framework.plain.find_feasible(attempt)
        return attempt.state
