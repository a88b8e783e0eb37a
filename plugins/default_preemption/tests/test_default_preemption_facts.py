"""The facts of DefaultPreemption: who could be evicted, or why that does not help."""

import pytest

from quaymaster import NodeInfo, Pod, Status, hookimpl
from quaymaster.objects import PodDisruptionBudget
from quaymaster.testing import (
    PluginHarness,
    make_node,
    make_pod,
    make_pod_disruption_budget,
)
from quaymaster_default_preemption import DefaultPreemption


class OnePod:
    """Lets one pod run on each node, and none on nodes labelled ``open=no``."""

    def __init__(self, args: None, handle: object) -> None:
        """Create the plugin."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        if node.labels.get("open") == "no":
            return Status.unschedulable("closed for now")
        return Status.unschedulable("full") if node.pods else None


def facts_of(
    pod: Pod, *pods: Pod, budgets: tuple[PodDisruptionBudget, ...] = ()
) -> tuple[str, ...]:
    """Explain what preemption can do on node n."""
    harness = PluginHarness(
        DefaultPreemption,
        nodes=[make_node(name="n")],
        pods=pods,
        objects=budgets,
        beside=[OnePod],
    )
    return harness.explain_post_filter(pod)["n"]


def running(name: str, priority: int) -> Pod:
    return make_pod(name=name, node="n", priority=priority, labels={"app": "web"})


def test_pods_that_could_be_evicted_are_named() -> None:
    facts = facts_of(make_pod(priority=5), running("a", 0), running("b", 3))
    assert facts == (
        "preemption: would make room",
        "by evicting pod default/b (priority 3), default/a (priority 0)",
    )


@pytest.mark.parametrize(
    ("priorities", "have"),
    [([0, 0], "priority 0"), ([0, 7], "priorities from 0 to 7")],
    ids=["equal", "different"],
)
def test_pods_without_a_lower_priority_cannot_be_preempted(
    priorities: list[int], have: str
) -> None:
    pods = [running(f"p{at}", priority) for at, priority in enumerate(priorities)]
    (fact,) = facts_of(make_pod(priority=0), *pods)
    assert fact == (
        f"preemption: all pods there have {have}, and this pod has 0, "
        "so none can be preempted"
    )


def test_node_that_rejects_the_pod_without_them_too_is_explained() -> None:
    harness = PluginHarness(
        DefaultPreemption,
        nodes=[make_node(name="n", labels={"open": "no"})],
        pods=[running("a", 0)],
        beside=[OnePod],
    )
    assert harness.explain_post_filter(make_pod(priority=5))["n"] == (
        "preemption: not even without the pods of lower priority: closed for now",
        "of lower priority: default/a (priority 0)",
    )


def test_pod_that_never_preempts_is_reported() -> None:
    pod = make_pod(priority=5, preemption_policy="Never")
    assert facts_of(pod, running("a", 0)) == (
        "preemption: not eligible due to preemptionPolicy=Never",
    )


def test_budget_that_protects_the_victims_is_named() -> None:
    budget = make_pod_disruption_budget(name="web", selector={"app": "web"})
    facts = facts_of(make_pod(priority=5), running("a", 0), budgets=(budget,))
    assert facts[2] == (
        "against the disruption budget default/web, which protects default/a"
    )


def test_many_victims_are_counted() -> None:
    pods = [running(f"p{number}", 0) for number in range(5)]
    facts = facts_of(make_pod(priority=5), *pods)
    assert facts[1].endswith(" and 2 more")
