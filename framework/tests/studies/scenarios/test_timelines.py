"""Scenarios run their steps, waits and assertions in time."""

from collections.abc import Mapping

import pytest

from quaymaster.scenarios import AssertionResult, ScenarioErrors, ScenarioResult
from tests.kit.scenarios import deployment, one_pod, parsed, ran


def creating(*objects: Mapping[str, object], **others: object) -> Mapping[str, object]:
    return {"create": {"objects": list(objects), **others}}


def only(result: ScenarioResult) -> AssertionResult:
    [assertion] = result.assertions
    return assertion


def failed_at(**check: object) -> float | None:
    """Return when an assertion fails for four pods, and four more later."""
    scenario = parsed(
        {"at": "10m", **creating(one_pod("a"), count=4)},
        {"at": "20m", **creating(one_pod("b"), count=4)},
        {"at": "40m", "addNodes": {"nodes": ["1:cpu=4,memory=4Gi"]}},
        nodes=["1:cpu=4,memory=16Gi"],
        assertions=[check],
        until="1h",
    )
    return only(ran(scenario)).failed_at


def test_changes_due_at_the_moment_of_an_assertion_are_included() -> None:
    assert failed_at(placed={"pods": {"name": "b-*"}, "by": "40m"}) is None
    assert failed_at(placed={"pods": {"name": "b-*"}, "by": "39m59s"}) == 2399
    assert failed_at(at="10m", pods={"state": "Running", "equals": 4}) is None
    assert failed_at(at="9m59s", pods={"state": "Running", "equals": 0}) is None


def test_a_window_has_both_its_ends() -> None:
    pending = {"state": "Pending", "equals": 0}
    assert failed_at(**{"from": "10m", "to": "19m59s"}, pods=pending) is None
    assert failed_at(**{"from": "10m", "to": "20m"}, pods=pending) == 1200
    assert failed_at(**{"from": "40m"}, pods=pending) is None


def test_pending_time_fails_at_the_moment_it_is_exceeded() -> None:
    assert failed_at(pendingTime={"atMost": "20m"}) is None
    assert failed_at(pendingTime={"atMost": "5m"}) == 1500
    assert failed_at(pendingTime={"atMost": "5m", "percentile": 50}) is None


@pytest.mark.long
def test_utilisation_and_nodes_over_time() -> None:
    assert failed_at(utilization={"atMost": "100%", "atLeast": "100%"}) is None
    assert failed_at(**{"from": "5m"}, utilization={"atLeast": "50%"}) == 300
    assert failed_at(at="15m", utilization={"of": "Each", "atLeast": "99.5%"}) is None
    assert failed_at(at="45m", nodes={"state": "Used", "equals": 2}) is None
    assert failed_at(to="45m", nodes={"atMost": 1}) == 2400
    assert failed_at(at="5m", nodes={"state": "Empty", "equals": 1}) is None


def test_an_assertion_about_missing_pods_fails() -> None:
    assert failed_at(placed={"pods": {"selector": "app=none"}}) == 3600


def test_a_failed_assertion_names_its_pods() -> None:
    scenario = parsed(
        creating(one_pod("big", cpu="9"), one_pod("small")),
        assertions=[{"placed": {}}],
    )
    assertion = only(ran(scenario))
    assert assertion.objects == ("default/big",)
    assert assertion.found == "1 of 2 pods placed"


def test_a_step_comes_after_the_one_before_it() -> None:
    result = ran(
        parsed(
            {"at": "1m", **creating(one_pod("a"))},
            {"after": "30s", **creating(one_pod("b"))},
            creating(one_pod("c")),
        )
    )
    assert [step.began for step in result.steps] == [60, 90, 90]
    assert [pod.created for pod in result.history.pods] == [60, 90, 90]


def test_a_wait_ends_with_its_condition_and_holds_up_the_next_step() -> None:
    result = ran(
        parsed(
            creating(one_pod("a", cpu="3"), count=4, runTime={"constant": "90s"}),
            {
                "name": "wait",
                "waitUntil": {"placed": {"pods": {}}, "timeout": "10m"},
            },
            {"after": "10s", **creating(one_pod("b"))},
        )
    )
    assert result.passed
    assert only(result).found.endswith("; waited for 1m30s")
    assert [step.began for step in result.steps] == [0, 0, 100]
    assert result.steps[1].ended == 90


def test_a_wait_that_times_out_reports_why_and_the_scenario_continues() -> None:
    result = ran(
        parsed(
            creating(one_pod("big", cpu="9")),
            {"waitUntil": {"pods": {"state": "Pending", "equals": 0}, "timeout": "5m"}},
            creating(one_pod("next")),
        )
    )
    assert not result.passed
    assertion = only(result)
    assert assertion.failed_at == 300
    assert assertion.objects == ("default/big",)
    assert "1 pod: Insufficient cpu" in assertion.found
    assert result.steps[2].began == 300


def test_repeated_steps_go_on_beside_the_others() -> None:
    every_minute = {"constant": {"every": "1m"}, "times": 3}
    result = ran(
        parsed(
            {"repeat": every_minute, **creating(one_pod("a", cpu="100m"), count=2)},
            {"at": "90s", **creating(one_pod("b"))},
        )
    )
    lives = [(pod.pod.name, pod.created) for pod in result.history.pods]
    assert lives == [
        ("a-0", 0),
        ("a-1", 0),
        ("a-2", 60),
        ("a-3", 60),
        ("b", 90),
        ("a-4", 120),
        ("a-5", 120),
    ]
    assert result.steps[0].times == 3


def test_the_number_is_substituted_in_any_text() -> None:
    gang = one_pod("member", labels={"gang": "gang-$(number)"})
    result = ran(parsed(creating(gang, count=3)))
    lives = [(pod.pod.name, pod.pod.labels["gang"]) for pod in result.history.pods]
    assert lives == [(f"member-{i}", f"gang-{i}") for i in range(3)]


def test_one_step_has_the_same_numbers_whatever_others_draw() -> None:
    poisson = {"poisson": {"rate": 10}, "times": 5}
    jobs = {
        "name": "jobs",
        "repeat": poisson,
        **creating(one_pod("j"), runTime={"exponential": {"mean": "1m"}}),
    }
    other = {"repeat": poisson, **creating(one_pod("o"), runTime={"constant": "1m"})}
    results = [ran(parsed(jobs)), ran(parsed(other, jobs)), ran(parsed(jobs), seed=1)]
    alone, beside, reseeded = (
        [
            (pod.created, pod.pod.annotations)
            for pod in result.history.pods
            if pod.pod.name.startswith("j")
        ]
        for result in results
    )
    assert alone == beside
    assert alone != reseeded


@pytest.mark.long
def test_equal_runs_have_equal_results() -> None:
    scenario = parsed(
        {"repeat": {"poisson": {"rate": 30}, "for": "5m"}, **creating(one_pod("p"))},
        {"at": "2m", "failNodes": {"nodes": "kubernetes.io/os=linux", "count": 1}},
        assertions=[{"placed": {}}],
    )
    first, second = ran(scenario), ran(scenario)
    assert first.assertions == second.assertions
    assert first.simulation == second.simulation


def test_a_lost_zone_comes_back() -> None:
    result = ran(
        parsed(
            {"at": "5m", "failZone": {"zone": "zone-a", "backAfter": "10m"}},
            nodes=["4:cpu=4,memory=16Gi,zones=2"],
            objects=[deployment("web", 8)],
            assertions=[
                {"at": "6m", "nodes": {"equals": 2}},
                {"at": "15m", "nodes": {"equals": 4}},
                {"evictions": {"causes": ["Lost"], "atMost": 3}},
                {"at": "1m", "balance": {"maxSkew": 0}},
                {"balance": {"maxSkew": 1}},
            ],
        )
    )
    there, back, lost, even, uneven = result.assertions
    assert (there.passed, back.passed, even.passed) == (True, True, True)
    assert (lost.found, lost.failed_at) == ("4 lost", 300)
    assert uneven.found == "8 (zone-a 0, zone-b 8)"
    assert result.steps[0].lost == 4


def test_evictions_have_priority_and_cause() -> None:
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": f"p{value}"},
            "value": value,
        }
        for value in (100, 1000)
    ]
    low, high = one_pod("low", cpu="4"), one_pod("high", cpu="4")
    for pod, name in ((low, "p100"), (high, "p1000")):
        spec = pod["spec"]
        assert isinstance(spec, dict)
        spec["priorityClassName"] = name
    result = ran(
        parsed(
            creating(low),
            {"after": "1m", **creating(high)},
            {"after": "5m", "drain": {"nodes": "node-000"}},
            nodes=["1:cpu=4,memory=16Gi"],
            objects=classes,
            assertions=[
                {"evictions": {"pods": {"priorityAtMost": 100}}},
                {"evictions": {"pods": {"priorityAtLeast": 1000}}},
                {"evictions": {"causes": ["Lost"]}},
            ],
        )
    )
    preempted, drained, lost = result.assertions
    assert (preempted.found, preempted.objects) == ("1 preempted", ("default/low",))
    assert (drained.found, drained.objects) == ("1 drained", ("default/high",))
    assert lost.passed


def test_rejected_objects_fail_the_scenario_unless_allowed() -> None:
    missing = {"scale": {"target": "deploy/none", "replicas": 2}}
    result = ran(parsed(missing))
    assert not result.passed
    [(message, times)] = result.steps[0].refused
    assert "there is no Deployment 'none'" in message
    assert times == 1
    assert ran(parsed({**missing, "mayFail": True})).passed


def test_many_rejections_of_the_same_cause_are_reported_once() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few"},
        "spec": {"hard": {"pods": "2"}},
    }
    result = ran(parsed(creating(one_pod("p"), count=5), objects=[quota]))
    [(message, times)] = result.steps[0].refused
    assert "exceeded quota" in message
    assert times == 3


def test_a_check_looks_at_its_own_moment() -> None:
    running = {"pods": {"state": "Running", "equals": 1}}
    result = ran(
        parsed(
            creating(one_pod("p"), runTime={"constant": "1m"}),
            {"name": "runs", "check": running},
            {"after": "2m", "name": "has ended", "check": running},
        )
    )
    assert [assertion.passed for assertion in result.assertions] == [True, False]
    assert [assertion.name for assertion in result.assertions] == ["runs", "has ended"]


def test_the_end_cuts_off_later_steps() -> None:
    endless = {"constant": {"every": "1m"}, "times": 1000}
    result = ran(
        parsed(
            {"repeat": endless, **creating(one_pod("p", cpu="1m"))},
            {"waitUntil": {"nodes": {"equals": 9}, "timeout": "10h"}},
            creating(one_pod("never")),
            until="5m30s",
        )
    )
    assert result.ended == 330
    assert len(result.history.pods) == 7


def test_invalid_input_is_reported_with_its_scenario() -> None:
    scenario = parsed(objects=[one_pod("Bad_Name")], file="bad.yaml")
    with pytest.raises(ScenarioErrors, match=r"^bad.yaml: input \(Pod default/Bad"):
        ran(scenario)


def test_other_actions_of_steps_reach_the_cluster() -> None:
    result = ran(
        parsed(
            {"scale": {"target": "deploy/web", "replicas": 3}},
            {"apply": {"objects": [deployment("api", 1)]}},
            {"cordon": {"nodes": "node-000"}},
            {"uncordon": {"nodes": "node-000", "count": 1}},
            {
                "setImage": {"target": "deploy/api", "image": "i:2"},
            },
            {"patch": {"target": "deploy/api", "patch": {"spec": {"replicas": 2}}}},
            {"after": "1m", "removeNodes": {"nodes": "node-001"}},
            {"failNodes": {"nodes": "node-000"}},
            {"after": "1m", "returnNodes": {"nodes": "node-000"}},
            {"useConfig": {"file": "bin-packing"}},
            {"repack": {}},
            {"delete": {"target": "deploy/api"}},
            objects=[deployment("web", 1)],
            assertions=[
                {"pods": {"pods": {"of": "deploy/web"}, "equals": 3}},
                {"pods": {"pods": {"of": "deploy/api"}, "equals": 0}},
                {"nodes": {"equals": 1}},
            ],
        )
    )
    assert [step.refused for step in result.steps if step.refused] == []
    assert [assertion.found for assertion in result.assertions] == ["3", "0", "1"]


def test_a_silent_node_keeps_its_pods_until_their_tolerations_are_over() -> None:
    step = {"at": "10m", "failNodes": {"nodes": "node-000", "mode": "Unreachable"}}
    counted = {"pods": {"of": "deploy/web"}, "state": "Pending"}
    result = ran(
        parsed(
            step,
            objects=[deployment("web", 4, cpu="2")],
            nodes=["2:cpu=4,memory=16Gi"],
            until="20m",
            assertions=[
                {"at": "15m49s", "pods": {**counted, "equals": 0}},
                {"at": "15m50s", "pods": {**counted, "equals": 2}},
                {"evictions": {"causes": ["Lost"], "atMost": 2}},
            ],
        )
    )
    assert [assertion.found for assertion in result.assertions] == ["0", "2", "2 lost"]
    assert result.passed


def test_a_silent_zone_comes_back_before_anything_is_lost() -> None:
    failure = {"zone": "zone-a", "mode": "Unreachable", "backAfter": "5m"}
    result = ran(
        parsed(
            {"at": "10m", "failZone": failure},
            objects=[deployment("web", 4)],
            nodes=["4:cpu=4,memory=16Gi,zones=2"],
            assertions=[{"evictions": {}}],
            until="1h",
        )
    )
    assert result.passed
    assert len(result.history.pods) == 4


def test_a_step_lists_the_pods_that_got_a_node_until_the_next_step() -> None:
    steps = ran(
        parsed(
            {"at": "1m", **creating(one_pod("a"))},
            {"at": "2m", **creating(deployment("web", 3))},
            {"at": "3m", "scale": {"target": "deploy/web", "replicas": 1}},
            nodes=["2:cpu=4,memory=16Gi,zones=2"],
        )
    ).steps
    assert [pod.pod for pod in steps[0].placed] == ["default/a"]
    workloads = [pod.workload for pod in steps[1].placed]
    assert workloads == ["deployment.apps/default/web"] * 3
    assert steps[2].placed == ()
    totals = [
        (sum(spread.before.values()), sum(spread.after.values()))
        for step in steps
        for spread in step.spread
    ]
    assert totals == [(0, 3), (3, 1)]


def test_a_rotation_replaces_the_nodes_of_the_input() -> None:
    rotation = {"nodes": "kubernetes.io/os=linux", "surge": 2, "boot": "90s"}
    result = ran(
        parsed(
            {"rotateNodes": rotation},
            {"at": "1h", "check": {"nodes": {"equals": 2}}},
            nodes=["2:cpu=4,memory=16Gi,name=old"],
        )
    )
    assert result.passed
    assert result.steps[0].notes == ("2 of 2 nodes replaced in 90s",)
    assert (result.steps[0].took, result.steps[0].ended) == (90.0, 90.0)


def test_a_step_reports_how_long_it_took() -> None:
    pod = one_pod("slow")
    result = ran(
        parsed(
            creating(pod),
            {"at": "10s", "drain": {"nodes": "kubernetes.io/os=linux"}},
            {"waitUntil": {"pods": {"equals": 0}, "timeout": "5m"}},
            nodes=["1:cpu=4,memory=16Gi,name=old"],
        )
    )
    assert result.passed
    created, drained, waited = result.steps
    assert (created.took, drained.took, waited.took) == (0.0, 30.0, 30.0)
    assert (drained.began, drained.ended) == (10.0, 40.0)


def test_a_drain_that_is_not_done_has_no_time() -> None:
    pod = one_pod("slow")
    result = ran(
        parsed(
            creating(pod),
            {"at": "10s", "drain": {"nodes": "kubernetes.io/os=linux"}},
            nodes=["1:cpu=4,memory=16Gi,name=old"],
            until="20s",
        )
    )
    assert result.steps[1].took is None
