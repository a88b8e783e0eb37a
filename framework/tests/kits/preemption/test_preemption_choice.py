"""Importance, budgets and the best candidate, beyond the tests of plugins."""

import pytest

from quaymaster.objects import LabelSelector, LabelSelectorRequirement
from quaymaster.preemption import (
    Candidate,
    best_candidates,
    importance,
    is_protected,
    split_by_budgets,
    unfit_message,
)
from quaymaster.testing import make_pod, make_pod_disruption_budget

LABELS = {"app": "x"}


def test_importance_sorts_by_priority_then_by_start() -> None:
    pods = [
        make_pod(name="unstarted", priority=1),
        make_pod(name="late", priority=1, start_time=20),
        make_pod(name="early", priority=1, start_time=10),
        make_pod(name="low", priority=0, start_time=0),
        make_pod(name="high", priority=2),
    ]
    names = [pod.name for pod in sorted(pods, key=importance)]
    assert names == ["high", "early", "late", "unstarted", "low"]


def test_equal_candidates_are_sorted_by_node_name() -> None:
    victims = (make_pod(start_time=1),)
    candidates = [Candidate(node_name=name, victims=victims) for name in "cab"]
    assert [candidate.node_name for candidate in best_candidates(candidates)] == [
        "a",
        "b",
        "c",
    ]


def test_victims_of_low_priority_do_not_outweigh_fewer_of_the_same() -> None:
    few = Candidate(node_name="few", victims=(make_pod(priority=-10),))
    many = Candidate(node_name="many", victims=(make_pod(priority=-10),) * 2)
    assert best_candidates([many, few]) == [few]


def test_plugin_may_define_other_costs() -> None:
    def containers(candidate: Candidate) -> tuple[float, ...]:
        return (sum(len(victim.spec.containers) for victim in candidate.victims),)

    low = Candidate(node_name="low", victims=(make_pod(images=["a", "b", "c"]),))
    high = Candidate(node_name="high", victims=(make_pod(priority=9),) * 2)
    same = Candidate(node_name="again", victims=(make_pod(images=["a", "b"]),))
    assert best_candidates([low, high]) == [low]
    assert best_candidates([low, high, same], cost=containers) == [same, high]


def test_later_costs_decide_between_equal_ones() -> None:
    victims = (make_pod(),)
    candidates = [Candidate(node_name=name, victims=victims) for name in "ab"]
    (best,) = best_candidates(
        candidates,
        cost=lambda candidate: (len(candidate.victims), candidate.node_name == "a"),
    )
    assert best.node_name == "b"


def test_every_budget_that_selects_a_pod_is_used_up() -> None:
    budgets = [
        make_pod_disruption_budget(name="a", selector=LABELS, disruptions_allowed=2),
        make_pod_disruption_budget(name="b", selector=LABELS, disruptions_allowed=1),
    ]
    pods = [make_pod(name=name, labels=LABELS) for name in "xyz"]
    violating, others = split_by_budgets(pods, budgets)
    assert [pod.name for pod in violating] == ["y", "z"]
    assert [pod.name for pod in others] == ["x"]


def test_since_1_37_a_pod_uses_up_no_budget_behind_the_first_that_it_breaks() -> None:
    budgets = [
        make_pod_disruption_budget(name="b", selector=LABELS, disruptions_allowed=1),
        make_pod_disruption_budget(
            name="a", selector={"app": "x", "role": "db"}, disruptions_allowed=0
        ),
    ]
    pods = [
        make_pod(name="first", labels={**LABELS, "role": "db"}),
        make_pod(name="second", labels=LABELS),
    ]
    violating, others = split_by_budgets(pods, budgets)
    assert [pod.name for pod in violating] == ["first", "second"]
    # Budget a comes first by its name, breaks, and leaves b to the second pod.
    violating, others = split_by_budgets(pods, budgets, stops_at_violated=True)
    assert [pod.name for pod in violating] == ["first"]
    assert [pod.name for pod in others] == ["second"]


BROKEN = LabelSelector(
    match_expressions=(LabelSelectorRequirement(key="app", operator="Near"),)
)


@pytest.mark.parametrize(
    ("selector", "labels", "namespace", "expected"),
    [
        pytest.param(LABELS, LABELS, "default", True, id="selected"),
        pytest.param(LABELS, LABELS, "other", False, id="other namespace"),
        pytest.param(LABELS, {"app": "y"}, "default", False, id="other label"),
        pytest.param(None, LABELS, "default", False, id="no selector"),
        pytest.param({}, LABELS, "default", False, id="empty selector"),
        pytest.param(BROKEN, LABELS, "default", False, id="selector that is wrong"),
        pytest.param({}, None, "default", False, id="pod without labels"),
    ],
)
def test_rule_33_pods_that_a_budget_protects(
    selector: LabelSelector | dict[str, str] | None,
    labels: dict[str, str] | None,
    namespace: str,
    expected: bool,
) -> None:
    budget = make_pod_disruption_budget(selector=selector)
    pod = make_pod(labels=labels, namespace=namespace)
    assert is_protected(pod, [budget]) is expected


@pytest.mark.parametrize(
    ("reasons", "text"),
    [
        ({}, "0/3 nodes are available:"),
        ({"b": 2, "a": 10}, "0/3 nodes are available: 10 a, 2 b."),
    ],
)
def test_unfit_message(reasons: dict[str, int], text: str) -> None:
    assert unfit_message(3, reasons) == text
