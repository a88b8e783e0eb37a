"""PodGroupPodsCount scores by counts; whole cycles: ``framework/tests/core/groups``."""

import numpy as np
import pytest

from quaymaster import CycleState, Status
from quaymaster.config import ConfigErrors
from quaymaster.hookspecs import (
    MemberAttempt,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster.testing import PluginHarness, make_node, make_pod, make_pod_group
from quaymaster_pod_group_pods_count import PodGroupPodsCount
from tests.kit.internals.groups import kubernetes_with_groups


def plugin() -> PodGroupPodsCount:
    kubernetes = kubernetes_with_groups(TopologyAwareWorkloadScheduling=True)
    made = PluginHarness(PodGroupPodsCount, kubernetes=kubernetes).plugin
    assert isinstance(made, PodGroupPodsCount)
    return made


def test_each_pod_that_would_get_a_node_counts() -> None:
    attempts = [MemberAttempt(make_pod(name=n), CycleState(), "a") for n in ("p", "q")]
    assignments = PodGroupAssignments(PodGroupPlacement("rack", slice(0, 1)), attempts)
    group = PodGroupInfo(group=make_pod_group(), pods=())
    assert plugin().placement_score(group, assignments) == 2


def test_many_placements_get_the_scores_that_each_gets_alone() -> None:
    kubernetes = kubernetes_with_groups(TopologyAwareWorkloadScheduling=True)
    bound = make_pod(name="old", node="a", scheduling_group="group")
    harness = PluginHarness(
        PodGroupPodsCount,
        nodes=[make_node(name=name) for name in ("a", "b", "c")],
        pods=[bound],
        kubernetes=kubernetes,
    )
    pods = [make_pod(name=f"p-{n}", node=n) for n in ("a", "b", "c")]
    placements = {"two": ["a", "b"], "one": ["c"]}
    scores = harness.normalized_placements(make_pod_group(), placements, pods)
    assert scores == {"two": 100, "one": 66}


@pytest.mark.parametrize(
    ("counts", "scores"),
    [
        pytest.param([3, 1, 2], [100, 33, 66], id="rounded down"),
        pytest.param([5, 5], [100, 100], id="equal"),
        pytest.param([0, 4], [0, 100], id="none on one of them"),
    ],
)
def test_the_highest_count_becomes_100(counts: list[int], scores: list[int]) -> None:
    answer = plugin().normalize_placement_score(np.array(counts, dtype=np.int64))
    assert not isinstance(answer, Status)
    assert answer.tolist() == scores


def test_no_pod_anywhere_is_an_error() -> None:
    answer = plugin().normalize_placement_score(np.zeros(2, dtype=np.int64))
    assert answer == Status.from_error(
        "no pods from pod group are assigned to any of the candidate placements"
    )


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'PodGroupPodsCount' takes no arguments"):
        PluginHarness(PodGroupPodsCount, args={"weight": 3})
