"""The harness runs the hooks of groups, which need a feature gate."""

from collections.abc import Sequence

import pytest

from quaymaster import Code, Handle, Pod, Status, hookimpl
from quaymaster.hookspecs import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupInfo,
    PodGroupPostFilterResult,
)
from quaymaster.testing import PluginHarness, make_node, make_pod, make_pod_group
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
    with pytest.raises(LookupError, match="has no hook at podGroupPostFilter"):
        alone.pod_group_post_filter(GROUP, [], tuple)
