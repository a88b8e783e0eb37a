"""The decisions of upstream's unit tests, as tables of cases."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quaymaster import Code, Pod, Status
from quaymaster.columns import RowArray
from quaymaster.objects import Resources
from quaymaster.preemption import Candidate
from quaymaster.testing import (
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
    profile_config,
)
from quaymaster_node_resources_fit import NodeResourcesFit

from quaymaster_capacity_scheduling import CapacityScheduling, ElasticQuota
from quaymaster_capacity_scheduling.amounts import Bounds, demanded
from quaymaster_capacity_scheduling.eligibility import why_not_eligible
from quaymaster_capacity_scheduling.testing import make_quota

# Any: a case is what its test takes it for.
Case = Mapping[str, Any]
NODE = "node-a"


def cases(table: str, family: str) -> pytest.MarkDecorator:
    path = Path(__file__).parent / "tables" / f"{table}.json"
    found = json.loads(path.read_text("utf-8"))[family]
    return pytest.mark.parametrize(
        "case", found, ids=[entry["case"] for entry in found]
    )


def listed(amounts: Case | None) -> dict[str, str | int] | None:
    """A table counts CPU in millicores, a manifest in cores."""
    if amounts is None:
        return None
    return {
        name: f"{amount}m" if name == "cpu" else amount
        for name, amount in amounts.items()
    }


def resources(amounts: Case) -> Resources:
    return demanded(make_pod(requests=listed(amounts)))


def bounds(case: Case) -> Bounds:
    return Bounds.of(
        make_quota("ns1", min=listed(case.get("min")), max=listed(case.get("max")))
    )


def pod_of(fields: Case, *, node: str = "") -> Pod:
    counted = {name: fields[name] for name in ("cpu", "memory") if name in fields}
    return make_pod(
        name=fields.get("name") or fields.get("add") or "pod",
        namespace=fields["namespace"],
        node=node or None,
        requests=listed(counted),
        priority=fields.get("priority", 0),
        preemption_policy=fields.get("policy", "PreemptLowerPriority"),
        nominated_node=NODE if fields.get("nominated") else "",
        termination_grace_period_seconds=0,
    )


def quotas(case: Case) -> list[ElasticQuota]:
    return [
        make_quota(name, min=listed(each["min"]), max=listed(each["max"]))
        for name, each in case["quotas"].items()
    ]


def using(case: Case) -> list[Pod]:
    """What the namespaces of a case use already, one pod each."""
    return [
        make_pod(name="used", namespace=name, node="far", requests=listed(each["used"]))
        for name, each in case["quotas"].items()
        if "used" in each
    ]


@cases("quotas", "sums")
def test_pods_are_added_up(case: Case) -> None:
    amounts = resources(case["before"])
    for requests in case["pods"]:
        amounts.add(resources(requests), case["sign"])
    assert amounts == resources(case["after"])


@cases("quotas", "over_min_with")
def test_quota_is_beyond_its_min_with_more(case: Case) -> None:
    found = bounds(case).over_min(resources(case["used"]), resources(case["more"]))
    assert bool(found) is case["over"]


@cases("quotas", "over_max_with")
def test_quota_is_beyond_its_max_with_more(case: Case) -> None:
    found = bounds(case).over_max(resources(case["used"]), resources(case["more"]))
    assert bool(found) is case["over"]


@cases("quotas", "over_min")
def test_quota_is_beyond_its_min(case: Case) -> None:
    assert bool(bounds(case).over_min(resources(case["used"]))) is case["over"]


@cases("quotas", "bounds")
def test_bounds_are_read(case: Case) -> None:
    assert bounds(case) == expected_bounds(case["bounds"])


def expected_bounds(fields: Case) -> Bounds:
    most = fields["max"]
    return Bounds(
        min=resources(fields["min"]), max=None if most is None else resources(most)
    )


@cases("decisions", "pre_filter")
def test_pre_filter_rejects_pods_beyond_the_quotas(case: Case) -> None:
    harness = PluginHarness(
        CapacityScheduling,
        nodes=[make_node(name="far")],
        pods=using(case),
        objects=quotas(case),
    )
    for fields in case["pods"]:
        status = harness.pre_filter(pod_of(fields))
        assert (status is not None) is fields["rejected"]
        assert status is None or getattr(status, "code", None) is Code.UNSCHEDULABLE


@cases("decisions", "preemption")
def test_preemption_finds_its_victims(case: Case) -> None:
    harness = PluginHarness(
        CapacityScheduling,
        nodes=[make_node(name=NODE, allocatable={"memory": case["node_memory"]})],
        pods=[pod_of(fields, node=NODE) for fields in case["on_node"]],
        objects=quotas(case),
        beside=[NodeResourcesFit],
    )
    pod = pod_of(case["pod"])
    nominating = harness.post_filter(pod).nominating
    assert nominating is not None
    assert nominating.node_name == NODE
    candidate = victims_of(harness, pod)
    names = [victim.name for victim in candidate.victims]
    assert names == (case["victims"] or names[:1])


def victims_of(harness: PluginHarness, pod: Pod) -> Candidate:
    plugin = harness.plugin
    assert isinstance(plugin, CapacityScheduling)
    rows = harness.attempt(pod).rows_with(Code.UNSCHEDULABLE)
    (candidate,) = plugin.dry_run.find(harness.state, pod, rows).candidates
    return candidate


class GivenStatuses:
    """All nodes have one status."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def __getitem__(self, node_name: str) -> Status:
        return self._status

    def nodes_with(self, *codes: int) -> list[str]:
        return [NODE, "far"] if self._status.code in codes else []

    def rows_with(self, *codes: int) -> RowArray:
        return np.arange(len(self.nodes_with(*codes)))


@cases("decisions", "eligibility")
def test_pods_wait_for_those_that_end_anyway(case: Case) -> None:
    ending = make_pod(
        name="t1-p0",
        namespace=case["ending"] or "ns1",
        node=NODE,
        priority=100,
        deletion_timestamp=1 if case["ending"] else None,
    )
    harness = PluginHarness(
        CapacityScheduling,
        nodes=[make_node(name=NODE), make_node(name="far")],
        pods=[ending, *using(case)],
        objects=quotas(case),
    )
    pod = pod_of({**case["pod"], "name": "t1-p1", "priority": 1000})
    harness.pre_filter(pod)
    status = Status.unresolvable("") if case["unresolvable"] else Status.skip()
    statuses = GivenStatuses(status)
    problem = why_not_eligible(harness.handle, harness.state, pod, statuses)
    assert (not problem) is case["eligible"]


def running(*objects: ElasticQuota | Pod) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name=NODE), *objects],
        plugins={"CapacityScheduling": CapacityScheduling},
        config=profile_config(
            enable=[CapacityScheduling], disable=["DefaultPreemption"]
        ),
    )


def used_by_ns1(harness: SchedulerHarness) -> Resources:
    # The ledger is updated when a pod is tried.
    harness.settle()
    harness.cluster.create(make_pod(name="try", requests={"cpu": "1m"}))
    harness.settle()
    harness.cluster.delete(Pod, "default/try")
    harness.settle()
    return harness.plugin(CapacityScheduling).ledger.books().of("ns1").used


@cases("decisions", "books")
def test_pods_on_nodes_are_kept_account_of(case: Case) -> None:
    quota = case["quota"]
    before = make_pod(
        name="used", namespace="ns1", node=NODE, requests=listed(case["used"])
    )
    harness = running(
        make_quota("ns1", min=listed(quota["min"]), max=listed(quota["max"])), before
    )
    keys = {}
    for step in case["steps"]:
        if "add" in step:
            pod = harness.cluster.create(pod_of(step, node=NODE))
            keys[pod.name] = pod.key
        elif "remove" in step:
            harness.cluster.delete(Pod, keys[step["remove"]])
        else:
            pod = harness.pod(keys[step["of"]])
            harness.cluster.patch_status(pod, {"phase": step["phase"]})
        assert used_by_ns1(harness) == resources(step["used"])


@cases("decisions", "quota_changes")
def test_changed_quotas_hold_from_then_on(case: Case) -> None:
    harness = running()
    stored: ElasticQuota | None = None
    for step in case["steps"]:
        wanted = step["set"]
        if wanted is None:
            harness.cluster.delete(ElasticQuota, "ns1/quota")
        else:
            quota = make_quota(
                "ns1", min=listed(wanted["min"]), max=listed(wanted["max"])
            )
            put = harness.cluster.create if stored is None else harness.cluster.update
            stored = put(quota)
        harness.settle()
        found = harness.plugin(CapacityScheduling).ledger.books().bounds.get("ns1")
        expected = step["bounds"]
        assert found == (None if expected is None else expected_bounds(expected))
