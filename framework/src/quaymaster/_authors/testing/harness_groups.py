"""Runs the hooks of one plugin that are about groups of pods."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import PodGroup
from quaymaster._authors.testing.contract_error import ContractError
from quaymaster._authors.testing.harness_base import HarnessBase, PluginT, value_of
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.runtime.guards import unguarded
from quaymaster._core.state.arrays import Int64Array, freeze

__all__ = ["GroupHarness"]


class GroupHarness(HarnessBase[PluginT]):
    """The part of a plugin's harness for the hooks of groups.

    They need the feature gate GenericWorkload, and those of placements also
    TopologyAwareWorkloadScheduling. Pods of groups are taken from the pods and objects
    of the harness, and groups from the objects.
    """

    def placement_generate(
        self,
        group: PodGroup,
        *,
        pods: Sequence[Pod] = (),
        parent: Iterable[str] | None = None,
    ) -> dict[str, tuple[str, ...]]:
        """Return the placements of ``placement_generate`` for a group.

        Args:
            group: The group.
            pods: The pods that the cycle tries.
            parent: The names of the nodes to divide; by default all nodes.

        Returns:
            The name of each placement -> the names of its nodes, in order.

        Raises:
            LookupError: The plugin has no such hook, or a feature gate is off.
            PluginStatusError: The hook returned a status instead.
        """
        call = self._call("placementGenerate")
        nodes = self.snapshot.nodes
        rows = nodes.rows if parent is None else nodes.rows_of(list(parent))
        self.state = CycleState()
        placements: Sequence[PodGroupPlacement] = value_of(
            self._ask(
                call,
                "placement_generate",
                self.state,
                PodGroupInfo(group=group, pods=tuple(pods)),
                nodes,
                PodGroupPlacement("", rows),
            )
        )
        return {
            placement.name: tuple(nodes.names_at(placement.rows))
            for placement in placements
        }

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
        text = f"{self._name} has no hook placement_feasible{self._gate_hint()}"
        raise LookupError(text)

    def placement_score(
        self,
        group: PodGroup,
        placements: Mapping[str, Iterable[str]],
        pods: Iterable[Pod] = (),
    ) -> dict[str, int]:
        """Return the raw score of each placement.

        Args:
            group: The group.
            placements: The name of each placement -> the names of its nodes.
            pods: The pods that would get a node, with this node
                (``make_pod(node=...)``): each in the placements that have the node.

        Raises:
            ContractError: ``placement_score`` and ``placement_scores`` differ.
            LookupError: The plugin has no such hook, or a feature gate is off.
            PluginStatusError: A hook returned a status instead.
        """
        scores, twin = self._placement_scores(group, placements, pods)
        if twin is not None:
            again = dict(zip(scores, twin.tolist(), strict=True))
            self._compare_placements("placement_score", scores, again)
        return scores

    def normalized_placements(
        self,
        group: PodGroup,
        placements: Mapping[str, Iterable[str]],
        pods: Iterable[Pod] = (),
    ) -> dict[str, int]:
        """Return the score of each placement after ``normalize_placement_score``.

        Args:
            group: See `placement_score`.
            placements: See `placement_score`.
            pods: See `placement_score`.

        Raises:
            ContractError: ``placement_score`` and ``placement_scores`` differ.
            LookupError: The plugin has no such hook, or a feature gate is off.
            PluginStatusError: A hook returned a status instead.
        """
        scores = self.placement_score(group, placements, pods)
        call = self._call("placementScore")
        if "normalize_placement_score" not in call.hooks or not scores:
            return scores
        raw: Int64Array = freeze(np.array(list(scores.values()), dtype=np.int64))
        nodes = self.snapshot.nodes
        answer: Int64Array | None = value_of(
            self._ask(
                call,
                "normalize_placement_score",
                self.state,
                PodGroupInfo(group=group, pods=()),
                [
                    PodGroupPlacement(name, nodes.rows_of(list(names)))
                    for name, names in placements.items()
                ],
                raw,
            )
        )
        normalized = raw if answer is None else answer
        return dict(zip(scores, normalized.tolist(), strict=True))

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
        state = CycleState()
        attempts = [MemberAttempt(pod, self._filtered(state, pod)) for pod in pods]
        answer: PodGroupPostFilterResult | Status | None = self._ask(
            call, "pod_group_post_filter", state, info, attempts, place
        )
        if isinstance(answer, PodGroupPostFilterResult):
            return answer
        return PodGroupPostFilterResult(status=answer)

    def _filtered(self, group: CycleState, pod: Pod) -> CycleState:
        """Return the state of a pod after filtering."""
        self._informers.put(pod)
        attempt = Attempt.begin(CycleState(group=group), pod, self.snapshot.nodes)
        self._framework.plain.find_feasible(attempt)
        return attempt.state

    def _placement_scores(
        self,
        group: PodGroup,
        placements: Mapping[str, Iterable[str]],
        pods: Iterable[Pod],
    ) -> tuple[dict[str, int], Int64Array | None]:
        """Return the scores of the scalar hook and of its batch twin, if any."""
        call = self._call("placementScore")
        self.state = CycleState()
        proposed, nodes = list(pods), self.snapshot.nodes
        info = PodGroupInfo(group=group, pods=_tried(proposed))
        candidates = [
            self._assignments(name, list(names), proposed)
            for name, names in placements.items()
        ]
        scores = {
            candidate.placement.name: value_of(
                self._ask(call, "placement_score", CycleState(), info, nodes, candidate)
            )
            for candidate in candidates
        }
        if "placement_scores" not in call.hooks or not candidates:
            return scores, None
        twin: Int64Array = value_of(
            self._ask(call, "placement_scores", self.state, info, nodes, candidates)
        )
        return scores, twin

    def _assignments(
        self, name: str, names: Sequence[str], pods: Iterable[Pod]
    ) -> PodGroupAssignments:
        attempts = [
            MemberAttempt(_without_node(pod), CycleState(), pod.node_name)
            for pod in pods
            if pod.node_name in names
        ]
        placement = PodGroupPlacement(name, self.snapshot.nodes.rows_of(names))
        return PodGroupAssignments(placement, attempts)

    def _compare_placements(
        self, hook: str, scalar: Mapping[str, int], twin: Mapping[str, int]
    ) -> None:
        for name, expected in scalar.items():
            if twin[name] != expected:
                raise ContractError(
                    f"plugin '{self._name}': {hook} and {hook}s differ for placement "
                    f"'{name}': {expected!r} and {twin[name]!r}"
                )


def _tried(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return each pod once, without its node."""
    return tuple({pod.key: _without_node(pod) for pod in pods}.values())


def _without_node(pod: Pod) -> Pod:
    return replace(pod, node_name="")
