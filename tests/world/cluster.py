"""Our cluster, as the steps of a course and its kubelet see it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Final

from quaymaster import ApiObject, Node, Pod
from quaymaster.cluster import (
    AlreadyExistsError,
    ApiError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TooManyRequestsError,
)
from quaymaster.config import SchedulerConfig, default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import KINDS, encode, from_wire
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from tests.world import projection
from tests.world.cases import Tree

__all__ = ["PlayedCluster"]

_CODES: Final[tuple[tuple[type[ApiError], int], ...]] = (
    (TooManyRequestsError, 429),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (AlreadyExistsError, 409),
    (InvalidError, 422),
)
_READY: Final = [{"type": "Ready", "status": "True"}]
_SCHEDULED: Final = {"type": "PodScheduled", "status": "True"}


@cache
def _configuration() -> tuple[PluginRegistry, SchedulerConfig]:
    registry = PluginRegistry.discover()
    return registry, default_config(registry=registry)


class PlayedCluster:
    """A cluster with our scheduler, whose pods are left to the kubelet of a case.

    Args:
        case: The course.
    """

    def __init__(self, case: Tree) -> None:
        registry, config = _configuration()
        self._has_nodes = bool(case.get("tell_nodes"))
        self._cluster = InMemoryCluster(VirtualClock(), kubelet=False)
        self._cluster.load(
            [from_wire(_with_ready(tree), Node) for tree in case["nodes"]]
        )
        self._simulation = Simulation(self._cluster, config=config, registry=registry)

    def wait_until(self, seconds: float) -> None:
        """Let everything happen that is due."""
        self._simulation.run_until(seconds)

    def objects(self) -> dict[str, list[Tree]]:
        """The objects in wire form, by kind."""
        trees = {name: self._trees(name) for name in projection.KINDS}
        if not self._has_nodes:
            trees["Node"] = []
        return trees

    def create(self, tree: Tree) -> Tree:
        """Post an object; return the answer."""
        kind = KINDS.get(tree["kind"])
        if kind is None:
            return {"code": 501, "reason": f"unknown kind {tree['kind']}"}
        if kind.namespaced:
            tree["metadata"].setdefault("namespace", "default")
        if kind is Node:
            tree = _with_ready(tree)
        return _answer(lambda: self._cluster.create(from_wire(tree, kind)))

    def patch(self, kind_name: str, name: str, patch: Tree) -> Tree:
        """Apply a JSON merge patch; return the answer."""
        kind = KINDS.get(kind_name)
        if kind is None:
            return {"code": 501, "reason": f"unknown kind {kind_name}"}
        return _answer(lambda: self._patch(kind, name, patch))

    def delete(self, kind_name: str, name: str) -> Tree:
        """Delete an object; return the answer."""
        kind = KINDS[kind_name]
        return _answer(lambda: self._cluster.delete(kind, _key(kind, name)))

    def evict(self, name: str) -> Tree:
        """Evict a pod; return the answer."""
        return _answer(lambda: self._cluster.evict(_key(Pod, name)))

    def start_pod(self, pod: Tree, is_ready: bool) -> None:
        """Write the status of a pod that runs."""
        now = self._now()
        status = {
            "phase": "Running",
            "startTime": pod.get("status", {}).get("startTime") or now,
            "conditions": [_SCHEDULED, _ready_condition(is_ready, now)],
        }
        self.patch("Pod", pod["metadata"]["name"], {"status": status})

    def end_pod(self, pod: Tree, exit_code: int) -> None:
        """Write the status of a pod whose containers have ended."""
        now = self._now()
        terminated = {"exitCode": exit_code, "finishedAt": now}
        status = {
            "phase": "Failed" if exit_code else "Succeeded",
            "conditions": [_SCHEDULED, _ready_condition(False, now)],
            "containerStatuses": [
                {"name": container["name"], "state": {"terminated": terminated}}
                for container in pod["spec"]["containers"]
            ],
        }
        self.patch("Pod", pod["metadata"]["name"], {"status": status})

    def remove_pod(self, pod: Tree) -> None:
        """Confirm the end of a deleted pod."""
        key, uid = _key(Pod, pod["metadata"]["name"]), pod["metadata"]["uid"]
        _answer(lambda: self._cluster.delete(Pod, key, uid=uid, grace_period_seconds=0))

    def stop_kubelet(self, node: str) -> None:
        """Silence a node."""
        self._cluster.stop_kubelets([node])

    def start_kubelet(self, node: str) -> None:
        """End the silence of a node."""
        self._cluster.start_kubelets([node])

    def set_node_ready(self, name: str, status: str) -> None:
        """Write the Ready condition of a node."""
        conditions = [{"type": "Ready", "status": status}]
        self._patch(Node, name, {"status": {"conditions": conditions}})

    def _patch(self, kind: type[ApiObject], name: str, patch: Tree) -> None:
        stored = self._cluster.get(kind, _key(kind, name))
        tree = _merged(json.loads(encode(stored)), patch)
        self._cluster.update(from_wire(tree, kind))

    def _trees(self, kind_name: str) -> list[Tree]:
        kind = KINDS.get(kind_name)
        if kind is None:
            return []
        empty: Tree = {"spec": {}, "status": {}}
        return [
            empty | json.loads(encode(obj)) for obj in self._cluster.list(kind).items
        ]

    def _now(self) -> str:
        # Rounded: steps may be taken just before their second.
        moment = datetime.fromtimestamp(round(self._cluster.clock.now()), UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _key(kind: type[ApiObject], name: str) -> str:
    return f"default/{name}" if kind.namespaced else name


def _with_ready(node: Tree) -> Tree:
    return {**node, "status": {**node.get("status", {}), "conditions": _READY}}


def _ready_condition(is_ready: bool, now: str) -> Tree:
    status = "True" if is_ready else "False"
    return {"type": "Ready", "status": status, "lastTransitionTime": now}


def _merged(old: object, patch: object) -> object:
    """Apply a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    new = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = _merged(new.get(key), value)
    return new


def _answer(call: Callable[[], object]) -> Tree:
    """Make a call; return its HTTP status, with the message of a refusal."""
    try:
        call()
    except ApiError as error:
        code = next((code for kind, code in _CODES if isinstance(error, kind)), 500)
        return {"code": code, "message": str(error)}
    return {"code": 200}
