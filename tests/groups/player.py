"""Plays the steps of a case: a cluster with our scheduler, in virtual time."""

from collections.abc import Iterator
from typing import Final

from quaymaster import ApiObject, Node, Pod
from quaymaster.cluster import ApiError
from quaymaster.objects import KINDS, PodGroup
from quaymaster.simulation import Simulation
from tests.groups.api_server import ApiServer, Rejection
from tests.groups.case_kubelet import CaseKubelet
from tests.groups.cases import Tree, kubernetes_of
from tests.groups.configuration import config_for, registry
from tests.groups.recorded_cluster import RecordedCluster
from tests.groups.shown_names import shown_name
from tests.groups.view import state_of
from tests.kit.internals.groups import is_held, users_of, without_protection

__all__ = ["Player", "steps_of"]

_QUIET_SECONDS: Final = 12.0
"""How long nothing may change: in the recordings, each waiting group was tried again
many times in 0.45 s, while one second of backoff lasted 0.04 s."""
_MOST_ROUNDS: Final = 60
_WITH_CONTROLLERS: Final = ("claims", "jobs")
"""The families that were recorded with a controller of claims, or of Jobs."""
_NOT_READY: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def steps_of(case: Tree) -> Iterator[Tree]:
    """Play a case, and yield what the cluster shows after each step."""
    player = Player(case)
    for step in case["steps"]:
        yield player.play(step)


class Player:
    """A cluster and its scheduler, which follow the steps of a case.

    Args:
        case: The case, whose gates are on.

    Attributes:
        cluster: The cluster.
        simulation: Its scheduler.
    """

    def __init__(self, case: Tree) -> None:
        kubernetes = kubernetes_of(case)
        has_controllers = case.get("family") in _WITH_CONTROLLERS
        self.cluster = RecordedCluster(kubernetes, controllers=has_controllers)
        self.simulation = Simulation(
            self.cluster, config=config_for(kubernetes), registry=registry()
        )
        self._server = ApiServer(self.cluster)
        self._kubelet = CaseKubelet(self.cluster)
        self._names: dict[str, str] = {}

    def play(self, step: Tree) -> Tree:
        """Apply the changes of a step, wait until it is quiet, and return the state."""
        before = self._pod_uids()
        self.cluster.recorded.clear()
        for operation in step["ops"]:
            before |= self._apply(operation)
        self._run_until_quiet()
        events = self._events()
        state = state_of(self.cluster)
        gone = before.keys() - self._pod_uids().keys()
        self._kubelet.start_pods()
        return {**state, "gone": sorted(before[uid] for uid in gone), "events": events}

    def _apply(self, operation: Tree) -> dict[str, str]:
        """Apply a change; return the uid and name of a created pod."""
        ((verb, tree),) = operation.items()
        try:
            obj = self._changed(verb, tree)
        except (ApiError, Rejection):
            # The step's ``answers`` have the refusals, which family api is about.
            return {}
        self._names[obj.uid] = obj.name
        return {obj.uid: obj.name} if isinstance(obj, Pod) else {}

    def _changed(self, verb: str, tree: Tree) -> ApiObject:
        if verb == "create" and tree["kind"] == "Node":
            return self._created_node(tree)
        if verb == "create":
            return self._server.create(tree)
        kind = KINDS[tree["kind"]]
        if verb == "patch":
            sub = tree.get("sub") or ""
            return self._server.patch(kind, tree["name"], tree["body"], sub=sub)
        return self._server.delete(kind, tree["name"])

    def _created_node(self, tree: Tree) -> ApiObject:
        """Create a node; the scheduler sees it not ready first, as a real one does."""
        spec = tree.get("spec", {})
        taints = [*spec.get("taints", ()), _NOT_READY]
        self._server.create({**tree, "spec": {**spec, "taints": taints}})
        self._catch_up()
        patch = {"spec": {"taints": spec.get("taints")}}
        node = self._server.patch(Node, tree["metadata"]["name"], patch)
        self._catch_up()
        return node

    def _catch_up(self) -> None:
        """Let the scheduler do what is due now, as it does between two calls."""
        self.simulation.run_until(self.simulation.now)

    def _run_until_quiet(self) -> None:
        """Run until nothing but retries changes."""
        last: Tree | None = None
        for _ in range(_MOST_ROUNDS):
            self.simulation.run_until(self.simulation.now + _QUIET_SECONDS)
            self._release_groups()
            state = state_of(self.cluster)
            if state == last:
                return
            last = state

    def _release_groups(self) -> None:
        """Let deleted groups go that no pod uses, as their controller does."""
        pods = self.cluster.list(Pod).items
        for group in self.cluster.list(PodGroup).items:
            if is_held(group) and not users_of(group, pods):
                self.cluster.update(without_protection(group))

    def _pod_uids(self) -> dict[str, str]:
        return {pod.uid: shown_name(pod) for pod in self.cluster.list(Pod).items}

    def _events(self) -> list[list[str]]:
        """Return the Events of this step, each once, with names instead of uids."""
        events = dict.fromkeys(self.cluster.recorded)
        return [
            [event.kind, event.name, event.reason, self._named(event.note)]
            for event in events
            if event.reason in ("FailedScheduling", "Preempted")
        ]

    def _named(self, note: str) -> str:
        return " ".join(
            f"uid({self._names[word]})" if word in self._names else word
            for word in note.split(" ")
        )
