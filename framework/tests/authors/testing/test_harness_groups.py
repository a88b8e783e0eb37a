"""The harness runs the hooks of groups, which need a feature gate."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pytest

from quaymaster import (
    MAX_NODE_SCORE,
    Code,
    Handle,
    Int64Array,
    NodeTable,
    Pod,
    Status,
    hookimpl,
)
from quaymaster.hookspecs import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
    PodGroupPostFilterResult,
)
from quaymaster.testing import (
    ContractError,
    PluginHarness,
    PluginStatusError,
    make_node,
    make_pod,
    make_pod_group,
)
from tests.kit.internals.groups import kubernetes_with_groups

GROUP = make_pod_group(name="gang", min_count=2)


class Halves:
    """Lets a group start with half of its pods."""

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def placement_feasible(
        self, group: PodGroupInfo, progress: PlacementProgress
    ) -> Status | None:
        if progress.scheduled * 2 >= group.group.min_count:
            return None
        return Status(Code.WAIT, (f"{progress.remaining} pods are left",))

    @hookimpl
    def permit(self, pod: Pod) -> Status | None:
        groups = self._handle.pod_groups
        state = None if groups is None else groups.get(pod.group_key)
        count = 0 if state is None else state.scheduled_count
        return None if count else Status.unschedulable("no pod has a node")

    @hookimpl
    def pod_group_post_filter(
        self, group: PodGroupInfo, attempts: Sequence[MemberAttempt], place: PlaceGroup
    ) -> PodGroupPostFilterResult | Status | None:
        answer = place()
        if isinstance(answer, Status):
            return answer
        names = ", ".join(attempt.pod.name for attempt in attempts)
        return PodGroupPostFilterResult(message=f"{group.key}: {names}")


def harness(*objects: Pod) -> PluginHarness:
    return PluginHarness(
        Halves,
        nodes=[make_node(name="a")],
        pods=[pod for pod in objects if pod.node_name],
        objects=[GROUP],
        kubernetes=kubernetes_with_groups(),
    )


def test_placement_feasible_gets_the_progress() -> None:
    assert harness().placement_feasible(GROUP, scheduled=1, remaining=1) is None
    waiting = harness().placement_feasible(GROUP, scheduled=0, remaining=2)
    assert waiting == Status(Code.WAIT, ("2 pods are left",))


def test_post_filter_gets_the_pods_after_filtering() -> None:
    pods = [make_pod(name="p"), make_pod(name="q")]
    result = harness().pod_group_post_filter(GROUP, pods, tuple)
    assert result.message == "default/gang: p, q"


def test_status_of_post_filter_becomes_a_result() -> None:
    status = Status.unschedulable("too large")
    result = harness().pod_group_post_filter(GROUP, [], lambda: status)
    assert result.status == status


def test_handle_has_the_groups_of_the_harness() -> None:
    pod = make_pod(name="p", scheduling_group="gang")
    bound = make_pod(name="q", node="a", scheduling_group="gang")
    assert harness().permit(pod, "a") is not None
    assert harness(bound).permit(pod, "a") is None


def test_hooks_of_groups_need_the_feature_gate() -> None:
    alone = PluginHarness(Halves)
    with pytest.raises(LookupError, match="has no hook placement_feasible"):
        alone.placement_feasible(GROUP, scheduled=0, remaining=1)
    with pytest.raises(LookupError, match="has no hook at podGroupPostFilter without"):
        alone.pod_group_post_filter(GROUP, [], tuple)


class Racks:
    """One placement for each rack; the racks with more nodes are better."""

    def __init__(self, _args: None, _handle: Handle) -> None:
        pass

    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement] | Status:
        rows: dict[str, list[int]] = {}
        for node in nodes.infos_at(parent.rows):
            rows.setdefault(node.labels["rack"], []).append(node.row)
        if not rows:
            return Status.unschedulable("no racks")
        return [PodGroupPlacement(name, np.array(rows[name])) for name in sorted(rows)]

    @hookimpl
    def placement_score(
        self, nodes: NodeTable, assignments: PodGroupAssignments
    ) -> int:
        return nodes.count(assignments.placement.rows) * 10

    @hookimpl
    def placement_scores(
        self, nodes: NodeTable, candidates: Sequence[PodGroupAssignments]
    ) -> Int64Array:
        scores = [self.placement_score(nodes, each) for each in candidates]
        return np.array(scores, dtype=np.int64)

    @hookimpl
    def normalize_placement_score(self, scores: Int64Array) -> Int64Array:
        normalized: Int64Array = scores * MAX_NODE_SCORE // scores.max()
        return normalized


class WrongTwin(Racks):
    @hookimpl
    def placement_scores(
        self, nodes: NodeTable, candidates: Sequence[PodGroupAssignments]
    ) -> Int64Array:
        return np.zeros(len(candidates), dtype=np.int64)


RACKS: Final = {"one": ("a", "b"), "two": ("c",)}


def racks(plugin: type = Racks) -> PluginHarness:
    rack_of = {name: rack for rack, names in RACKS.items() for name in names}
    return PluginHarness(
        plugin,
        nodes=[make_node(name=n, labels={"rack": rack_of[n]}) for n in rack_of],
        kubernetes=kubernetes_with_groups(TopologyAwareWorkloadScheduling=True),
    )


def test_placements_are_shown_with_the_names_of_their_nodes() -> None:
    assert racks().placement_generate(GROUP) == RACKS
    assert racks().placement_generate(GROUP, parent=["c"]) == {"two": ("c",)}


def test_status_of_placement_generate_is_raised() -> None:
    with pytest.raises(PluginStatusError, match="no racks"):
        racks().placement_generate(GROUP, parent=[])


def test_placements_are_scored_and_normalised() -> None:
    pods = [make_pod(name="p", node="a"), make_pod(name="p", node="c")]
    assert racks().placement_score(GROUP, RACKS, pods) == {"one": 20, "two": 10}
    assert racks().normalized_placements(GROUP, RACKS) == {"one": 100, "two": 50}


def test_wrong_twin_of_placement_scores_is_reported() -> None:
    with pytest.raises(ContractError, match="differ for placement 'one': 20 and 0"):
        racks(WrongTwin).placement_score(GROUP, RACKS)


def test_plugin_with_only_hooks_of_groups_needs_their_feature_gates() -> None:
    text = "has no hook that is called without the feature gates of groups"
    with pytest.raises(LookupError, match=text):
        PluginHarness(Racks)
