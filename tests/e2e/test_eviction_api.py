"""Drains refuse the same evictions as the eviction API, with the same texts.

Deployments, StatefulSets and bare pods with budgets of all kinds are created on a real
API server, whose disruption controller settles them. Then the controller is stopped,
and each pod is evicted, once by the API server, and once by a drain of the same
objects.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.manifests import load
from quaymaster.objects import PodDisruptionBudget, PodDisruptionBudgetStatus
from quaymaster.planning import Drain, Effect, what_if
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod
from tests.e2e.binaries import SERVED
from tests.e2e.client import ApiClient, RefusedError, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.processes import eventually

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY, kubernetes=SERVED)

Answer = tuple[str, str]
"""The message of an error, and its cause; both are empty if the eviction is allowed."""

CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
POLICY = "/apis/policy/v1/namespaces/default"
READY, UNREADY, PENDING = "ready", "unready", "pending"
ALWAYS, IF_HEALTHY = "AlwaysAllow", "IfHealthyBudget"

CASES: Mapping[str, tuple[str, Sequence[str], Sequence[Tree]]] = {
    # name: (the workload, the states of its pods, the specs of its budgets)
    "no-budget": ("Deployment", [READY] * 2, []),
    "count-stays": ("Deployment", [READY] * 3, [{"minAvailable": 2}]),
    "count-gone": ("Deployment", [READY] * 3, [{"maxUnavailable": 2}]),
    "none-may-go": ("Deployment", [READY] * 2, [{"maxUnavailable": 0}]),
    "half-stays": ("Deployment", [READY] * 5, [{"minAvailable": "50%"}]),
    "all-stay": ("StatefulSet", [READY] * 2, [{"minAvailable": "100%"}]),
    "third-gone": ("StatefulSet", [READY] * 4, [{"maxUnavailable": "34%"}]),
    "one-percent": ("Deployment", [READY] * 3, [{"maxUnavailable": "1%"}]),
    "too-few": ("Deployment", [READY, UNREADY, UNREADY], [{"minAvailable": 2}]),
    "enough": ("Deployment", [READY, READY, UNREADY], [{"minAvailable": 2}]),
    "healthy": (
        "Deployment",
        [READY, READY, UNREADY],
        [{"minAvailable": 2, "unhealthyPodEvictionPolicy": IF_HEALTHY}],
    ),
    "always": (
        "Deployment",
        [READY, UNREADY, UNREADY],
        [{"minAvailable": 2, "unhealthyPodEvictionPolicy": ALWAYS}],
    ),
    "nothing-needed": ("Deployment", [UNREADY] * 2, [{"minAvailable": 0}]),
    "pending": ("Deployment", [READY, PENDING, PENDING], [{"minAvailable": 2}]),
    "two-budgets": (
        "Deployment",
        [READY, READY, PENDING],
        [{"minAvailable": 1}, {"maxUnavailable": 2}],
    ),
    "bare-count": ("Pod", [READY] * 2, [{"minAvailable": 1}]),
    "bare-share": ("Pod", [READY] * 2, [{"maxUnavailable": 1}]),
}


def labels(case: str) -> dict[str, str]:
    return {"app": case}


def workload(case: str, kind: str, count: int) -> Tree:
    spec: dict[str, Any] = {
        "replicas": count,
        "selector": {"matchLabels": labels(case)},
        "template": {
            "metadata": {"labels": labels(case)},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }
    if kind == "StatefulSet":
        spec |= {"podManagementPolicy": "Parallel", "serviceName": case}
    metadata = {"name": case, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def budget(case: str, index: int, spec: Tree) -> Tree:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"{case}-{index}", "namespace": "default"},
        "spec": {**spec, "selector": {"matchLabels": labels(case)}},
    }


def listed(admin: ApiClient, path: str, **query: str) -> list[Tree]:
    """List a collection, with the kinds of its items."""
    answer = admin.request("GET", path, query=query)
    kind = {"kind": answer["kind"].removesuffix("List")}
    version = {"apiVersion": answer["apiVersion"]}
    return [{**version, **kind, **item} for item in answer["items"] or ()]


def pods_in(admin: ApiClient, case: str) -> list[Tree]:
    """Return the pods of a case, by name."""
    found = listed(admin, f"{CORE}/pods", labelSelector=f"app={case}")
    return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))


def set_state(admin: ApiClient, pod: Tree, state: str, node: str) -> None:
    """Bind a pod to its node, and make it ready, unready, or leave it pending."""
    admin.bind(pod, node)
    if state == PENDING:
        return
    ready = {"type": "Ready", "status": "True" if state == READY else "False"}
    status = {"phase": "Running", "conditions": [ready]}
    admin.patch(f"{path_of(pod)}/status", {"status": status}, kind="strategic-merge")


def settled_budgets(admin: ApiClient) -> list[Tree]:
    """Return the budgets, except those that share pods.

    When such a pod changes, upstream's controller updates only the first of these that
    it finds, so the status of the others is not predictable.
    """
    path = f"{POLICY}/poddisruptionbudgets"
    return [
        budget for budget in listed(admin, path) if case_of(budget) != "two-budgets"
    ]


def case_of(budget: Tree) -> str:
    return str(budget["metadata"]["name"]).rpartition("-")[0]


def is_counted(budget: Tree) -> bool:
    """Whether the disruption controller has seen the current state of all pods."""
    status, states = budget.get("status", {}), CASES[case_of(budget)][1]
    is_seen = status.get("observedGeneration") == 1
    return is_seen and bool(status["currentHealthy"] == states.count(READY))


def create(admin: ApiClient, case: str) -> None:
    """Create a case, and bind its pods to its node."""
    kind, states, budgets = CASES[case]
    admin.create(make_node(name=case))
    if kind == "Pod":
        for index in range(len(states)):
            admin.create(make_pod(name=f"{case}-{index}", labels=labels(case)))
    else:
        admin.create(workload(case, kind, len(states)))
    for index, spec in enumerate(budgets):
        admin.create(budget(case, index, spec))
    eventually(lambda: len(pods_in(admin, case)) == len(states), what=case)
    for pod, state in zip(pods_in(admin, case), states, strict=True):
        set_state(admin, pod, state, case)


@pytest.fixture(scope="module")
def settled(control_plane: ControlPlane) -> Iterator[ApiClient]:
    """Create all cases, let controllers settle them, and stop the controllers."""
    admin = control_plane.client()
    controllers = ("deployment", "replicaset", "statefulset", "disruption")
    with control_plane.controller_manager(controllers=controllers):
        for case in CASES:
            create(admin, case)
        eventually(
            lambda: all(map(is_counted, settled_budgets(admin))),
            what="the status of all budgets",
        )
    yield admin
    for case, (kind, _, _) in CASES.items():
        if kind != "Pod":
            admin.delete(path_of(workload(case, kind, 0)))
        for pod in pods_in(admin, case):
            admin.delete(path_of(pod), grace=0)
        admin.delete(f"/api/v1/nodes/{case}")
    for item in listed(admin, f"{POLICY}/poddisruptionbudgets"):
        admin.delete(path_of(item))


@pytest.fixture(scope="module")
def dump(settled: ApiClient, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write all objects of the server to one file of manifests."""
    paths = (
        "/api/v1/nodes",
        f"{CORE}/pods",
        f"{APPS}/deployments",
        f"{APPS}/replicasets",
        f"{APPS}/statefulsets",
        f"{POLICY}/poddisruptionbudgets",
    )
    items = [item for path in paths for item in listed(settled, path)]
    file = tmp_path_factory.mktemp("dump") / "cluster.json"
    tree = {"apiVersion": "v1", "kind": "List", "items": items}
    file.write_text(json.dumps(tree), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def ours(dump: Path) -> InMemoryCluster:
    """Load the same cluster in memory, with the pods as they are."""
    cluster = InMemoryCluster(VirtualClock(), kubelet=False)
    objects = load([dump]).objects
    forgotten = PodDisruptionBudgetStatus()
    cluster.load(
        replace(obj, status=forgotten) if isinstance(obj, PodDisruptionBudget) else obj
        for obj in objects
    )
    return cluster


def evicted(admin: ApiClient, pod: Tree) -> Answer:
    """Call the eviction API, and return its error, if any."""
    metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    try:
        admin.request("POST", f"{path_of(pod)}/eviction", eviction)
    except RefusedError as error:
        return error.message, " ".join(error.causes)
    return "", ""


def refused(effect: Effect, pods: Sequence[str]) -> list[Answer]:
    """Return a drain's error for each pod, if any."""
    found = [effect.refused.get(pod) for pod in pods]
    return [
        ("", "") if refusal is None else (refusal.message, refusal.cause)
        for refusal in found
    ]


def test_budgets_are_counted_alike(settled: ApiClient, ours: InMemoryCluster) -> None:
    fields = {
        "observedGeneration": "observed_generation",
        "disruptionsAllowed": "disruptions_allowed",
        "currentHealthy": "current_healthy",
        "desiredHealthy": "desired_healthy",
        "expectedPods": "expected_pods",
    }
    for item in settled_budgets(settled):
        key = f"default/{item['metadata']['name']}"
        status = ours.get(PodDisruptionBudget, key).status
        mine = {name: getattr(status, own) for name, own in fields.items()}
        theirs = {name: item["status"].get(name, 0) for name in fields}
        assert mine == theirs, key
        assert [
            (each.type, each.status, each.reason, each.message)
            for each in status.conditions
        ] == [
            (each["type"], each["status"], each["reason"], each["message"])
            for each in item["status"]["conditions"]
        ], key


@pytest.mark.parametrize("case", CASES)
def test_a_drain_is_refused_as_by_the_eviction_api(
    case: str, settled: ApiClient, dump: Path, ours: InMemoryCluster
) -> None:
    pods = pods_in(settled, case)
    keys = [f"default/{pod['metadata']['name']}" for pod in pods]
    drain = Drain(nodes=case, timeout_seconds=0)
    with Simulation(ours, config=CONFIG, registry=REGISTRY) as simulation:
        simulation.run_until(0)
        mine = refused(drain.apply(simulation), keys)
    if PENDING not in CASES[case][1]:
        # Otherwise what-if starts them before the eviction.
        result = what_if(
            load([dump]).objects, [drain], config=CONFIG, registry=REGISTRY
        )
        refusals = {
            refusal.pod: (refusal.message, refusal.cause) for refusal in result.refused
        }
        assert [refusals.get(key, ("", "")) for key in keys] == mine
        assert len(result.evicted) == len(keys) - len(refusals)
    theirs = [evicted(settled, pod) for pod in pods]
    assert mine == theirs
