"""Drains refuse what the eviction API refuses, in the same words.

Deployments, StatefulSets and bare pods with budgets of all kinds live on a real API
server, whose disruption controller settles them. Then it is stopped, and each pod is
evicted in turn, once by the API server, and once by a drain of the same objects.
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
"""The message of a refusal, and its cause; both empty if the pod may go."""

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
    """A collection, whose items say what they are."""
    answer = admin.request("GET", path, query=query)
    kind = {"kind": answer["kind"].removesuffix("List")}
    version = {"apiVersion": answer["apiVersion"]}
    return [{**version, **kind, **item} for item in answer["items"] or ()]


def pods_in(admin: ApiClient, case: str) -> list[Tree]:
    """The pods of a case, by name."""
    found = listed(admin, f"{CORE}/pods", labelSelector=f"app={case}")
    return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))


def set_state(admin: ApiClient, pod: Tree, state: str, node: str) -> None:
    """Put a pod on its node, where it is ready, is not, or has not begun."""
    admin.bind(pod, node)
    if state == PENDING:
        return
    ready = {"type": "Ready", "status": "True" if state == READY else "False"}
    status = {"phase": "Running", "conditions": [ready]}
    admin.patch(f"{path_of(pod)}/status", {"status": status}, kind="strategic-merge")


def settled_budgets(admin: ApiClient) -> list[Tree]:
    """The budgets, but for those that share pods.

    Upstream's controller looks at one of these alone when such a pod changes, whichever
    it finds first, so nobody knows what the other ones say.
    """
    path = f"{POLICY}/poddisruptionbudgets"
    return [one for one in listed(admin, path) if case_of(one) != "two-budgets"]


def case_of(budget: Tree) -> str:
    return str(budget["metadata"]["name"]).rpartition("-")[0]


def is_counted(budget: Tree) -> bool:
    """Whether the disruption controller has seen all pods as they are."""
    status, states = budget.get("status", {}), CASES[case_of(budget)][1]
    is_seen = status.get("observedGeneration") == 1
    return is_seen and bool(status["currentHealthy"] == states.count(READY))


def create(admin: ApiClient, case: str) -> None:
    """Create a case, and put its pods on its node."""
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
    """All cases, settled by controllers that do nothing any more."""
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
    for one in listed(admin, f"{POLICY}/poddisruptionbudgets"):
        admin.delete(path_of(one))


@pytest.fixture(scope="module")
def dump(settled: ApiClient, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that the server has, as one file of manifests."""
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
    """The same cluster in memory, where bound pods are as they are."""
    cluster = InMemoryCluster(VirtualClock(), kubelet=False)
    objects = load([dump]).objects
    forgotten = PodDisruptionBudgetStatus()
    cluster.load(
        replace(obj, status=forgotten) if isinstance(obj, PodDisruptionBudget) else obj
        for obj in objects
    )
    return cluster


def evicted(admin: ApiClient, pod: Tree) -> Answer:
    """What the eviction API says."""
    metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    try:
        admin.request("POST", f"{path_of(pod)}/eviction", eviction)
    except RefusedError as error:
        return error.message, " ".join(error.causes)
    return "", ""


def refused(effect: Effect, pods: Sequence[str]) -> list[Answer]:
    """What a drain says of each pod."""
    found = [effect.refused.get(pod) for pod in pods]
    return [("", "") if one is None else (one.message, one.cause) for one in found]


def test_budgets_are_counted_alike(settled: ApiClient, ours: InMemoryCluster) -> None:
    fields = {
        "observedGeneration": "observed_generation",
        "disruptionsAllowed": "disruptions_allowed",
        "currentHealthy": "current_healthy",
        "desiredHealthy": "desired_healthy",
        "expectedPods": "expected_pods",
    }
    for one in settled_budgets(settled):
        key = f"default/{one['metadata']['name']}"
        status = ours.get(PodDisruptionBudget, key).status
        mine = {name: getattr(status, own) for name, own in fields.items()}
        theirs = {name: one["status"].get(name, 0) for name in fields}
        assert mine == theirs, key


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
        # Else what-if has them begin before it asks.
        result = what_if(
            load([dump]).objects, [drain], config=CONFIG, registry=REGISTRY
        )
        told = {one.pod: (one.message, one.cause) for one in result.refused}
        assert [told.get(key, ("", "")) for key in keys] == mine
        assert len(result.evicted) == len(keys) - len(told)
    theirs = [evicted(settled, pod) for pod in pods]
    assert mine == theirs
