"""Plays the steps of upstream's integration tests of groups, and checks each.

The tests are those of Kubernetes v1.37, ``test/integration/scheduler/podgroup``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.objects import CompositePodGroup, PodGroup, Workload
from quaymaster.scheduler import QueueName
from quaymaster.simulation import Simulation
from tests.groups.cases import Tree, kubernetes_of
from tests.groups.configuration import config_for, registry
from tests.groups.recorded_cluster import RecordedCluster
from tests.kit.internals.testing import object_from

__all__ = ["failed_checks"]

_SECONDS: Final = 30.0
"""Long enough for each group to be tried again."""


def failed_checks(case: Tree) -> Iterator[str]:
    """Play a case, and yield each check that fails."""
    player = _StepsPlayer(case)
    for number, step in enumerate(case["steps"]):
        ((name, argument),) = step["step"].items()
        problem = player.play(name, argument)
        if problem:
            yield f"{case['id']}: step {number}, {name}: {problem}"


class _StepsPlayer:
    """A cluster and its scheduler, which some tests run by hand.

    Args:
        case: The case.
    """

    def __init__(self, case: Tree) -> None:
        kubernetes = kubernetes_of(case)
        self.cluster = RecordedCluster(kubernetes)
        self.simulation = Simulation(
            self.cluster, config=config_for(kubernetes), registry=registry()
        )
        steps = (step["step"] for step in case["steps"])
        self._is_by_hand = any("RunScheduleOne" in step for step in steps)
        self.simulation.start()

    def play(self, name: str, argument: Any) -> str:  # noqa: ANN401 - parts of JSON
        """Take a step; return what is wrong, or an empty text."""
        if name in _ACTIONS:
            _ACTIONS[name](self, argument)
            self._catch_up()
            return ""
        problem: str = _CHECKS[name](self, argument)
        return problem

    def _catch_up(self) -> None:
        if self._is_by_hand:
            while self.simulation.scheduler.catch_up():
                pass
        else:
            self.simulation.run_until(self.simulation.now + _SECONDS)

    # Actions ------------------------------------------------------------------------

    def create_nodes(self, trees: Sequence[Tree]) -> None:
        for tree in trees:
            self.cluster.create(object_from(tree, Node))

    def create_pods(self, trees: Sequence[Tree]) -> None:
        for tree in trees:
            self.cluster.create(_placed(object_from(tree, Pod)))

    def create_group(self, tree: Tree) -> None:
        self.cluster.create(_placed(object_from(tree, PodGroup)))

    def create_composite(self, tree: Tree) -> None:
        self.cluster.create(_placed(object_from(tree, CompositePodGroup)))

    def create_workloads(self, trees: Sequence[Tree]) -> None:
        for tree in trees:
            self.cluster.create(_placed(object_from(tree, Workload)))

    def update_group(self, tree: Tree) -> None:
        group = self._get(PodGroup, tree["metadata"]["name"])
        assert group is not None
        spec = object_from(tree, PodGroup).spec
        policy = spec.scheduling_policy
        self.cluster.update(
            replace(group, spec=replace(group.spec, scheduling_policy=policy))
        )

    def delete_group(self, name: str) -> None:
        group = self._get(PodGroup, name)
        assert group is not None
        # Upstream's tests run no admission plugin that protects groups.
        metadata = replace(group.metadata, finalizers=())
        self.cluster.update(replace(group, metadata=metadata))
        self.cluster.delete(PodGroup, group.key)

    def update_pod(self, tree: Tree) -> None:
        pod = self._pod(tree["metadata"]["name"])
        gates = object_from(tree, Pod).spec.scheduling_gates
        self.cluster.update(
            replace(pod, spec=replace(pod.spec, scheduling_gates=gates))
        )

    def delete_pods(self, names: Sequence[str]) -> None:
        for name in names:
            self.cluster.delete(Pod, self._pod(name).key)

    def schedule_one(self, _argument: object) -> None:
        self.simulation.scheduler.turn()

    # Checks -------------------------------------------------------------------------

    def are_scheduled(self, names: Sequence[str]) -> str:
        present = self._present(names)
        return _listed(name for name in present if not self._pod(name).node_name)

    def are_any_scheduled(self, tree: Tree) -> str:
        names = [pod["metadata"]["name"] for pod in tree["Pods"]]
        placed = [name for name in names if self._pod(name).node_name]
        return "" if len(placed) == tree["NumScheduled"] else f"scheduled: {placed}"

    def are_on_nodes(self, tree: Tree) -> str:
        nodes = {name: self._pod(name).node_name for name in tree["Pods"]}
        return _listed(
            f"{name} on {node}"
            for name, node in nodes.items()
            if not node or node not in tree.get("Nodes", (node,))
        )

    def are_in_one_domain(self, tree: Tree) -> str:
        names = {self._pod(name).node_name for name in tree["Pods"]}
        nodes = [self._get(Node, name) for name in sorted(names) if name]
        domains = {node.metadata.labels.get(tree["TopologyKey"]) for node in nodes}
        return "" if len(domains) == 1 else f"nodes: {sorted(names)}"

    def have_attempts(self, tree: Tree) -> str:
        queued = {
            name: self.simulation.scheduler.queue.get(f"default/{name}")
            for name in tree["PodNames"]
        }
        return _listed(
            f"{name}: {record}"
            for name, record in queued.items()
            if record is None or record.attempts != tree["Attempts"]
        )

    def are_unschedulable(self, names: Sequence[str]) -> str:
        return self._without_reason(names, "Unschedulable")

    def have_errors(self, names: Sequence[str]) -> str:
        return self._without_reason(names, "SchedulerError")

    def _without_reason(self, names: Sequence[str], reason: str) -> str:
        return _listed(
            name
            for name in self._present(names)
            if reason not in {c.reason for c in self._pod(name).status.conditions}
        )

    def are_incomplete(self, names: Sequence[str]) -> str:
        return self._not_in(names, QueueName.INCOMPLETE)

    def are_gated(self, names: Sequence[str]) -> str:
        return self._not_in(names, QueueName.UNSCHEDULABLE)

    def are_active(self, names: Sequence[str]) -> str:
        if not self._is_by_hand:
            return ""
        # Backoff is off in these tests.
        return self._not_in(names, QueueName.ACTIVE, QueueName.ERROR_BACKOFF)

    def _not_in(self, names: Sequence[str], *places: QueueName) -> str:
        queue = self.simulation.scheduler.queue
        records = {name: queue.get(f"default/{name}") for name in self._present(names)}
        return _listed(
            f"{name}: {record}"
            for name, record in records.items()
            if record is None or record.queue not in places
        )

    def _present(self, names: Sequence[str]) -> Sequence[str]:
        """Leave out the pods that the record lacks: tests create some in other ways."""
        return [name for name in names if self._get(Pod, name) is not None]

    def are_removed(self, names: Sequence[str]) -> str:
        return _listed(name for name in names if self._get(Pod, name) is not None)

    def has_condition(self, tree: Tree) -> str:
        group = self._get(PodGroup, tree["PodGroupName"])
        conditions = group.status.conditions if group is not None else ()
        states = {(state.status, state.reason) for state in conditions}
        is_there = (tree["ConditionStatus"], tree["Reason"]) in states
        return "" if is_there else f"conditions: {sorted(states)}"

    def _pod(self, name: str) -> Pod:
        pod: Pod | None = self._get(Pod, name)
        assert pod is not None, name
        return pod

    def _get(self, kind: Any, name: str) -> Any:  # noqa: ANN401 - of either kind
        objects = self.cluster.list(kind).items
        return next((obj for obj in objects if obj.name == name), None)


def _placed(obj: Any) -> Any:  # noqa: ANN401 - of either kind
    """Put an object of a test into the namespace of all tests."""
    return replace(obj, metadata=replace(obj.metadata, namespace="default"))


def _listed(problems: Iterable[str]) -> str:
    return ", ".join(problems)


_Step: TypeAlias = Callable[[_StepsPlayer, Any], Any]

_ACTIONS: Final[Mapping[str, _Step]] = {
    "CreateCompositePodGroup": _StepsPlayer.create_composite,
    "CreateNodes": _StepsPlayer.create_nodes,
    "CreatePodGroup": _StepsPlayer.create_group,
    "CreatePods": _StepsPlayer.create_pods,
    "CreatePodsInOrder": _StepsPlayer.create_pods,
    "CreateWorkloads": _StepsPlayer.create_workloads,
    "DeletePodGroup": _StepsPlayer.delete_group,
    "DeletePods": _StepsPlayer.delete_pods,
    "RunScheduleOne": _StepsPlayer.schedule_one,
    "UpdatePod": _StepsPlayer.update_pod,
    "UpdatePodGroup": _StepsPlayer.update_group,
}

_CHECKS: Final[Mapping[str, _Step]] = {
    "VerifyAssignedInOneDomain": _StepsPlayer.are_in_one_domain,
    "VerifyAssignments": _StepsPlayer.are_on_nodes,
    "VerifyPodSchedulingAttempts": _StepsPlayer.have_attempts,
    "WaitForAnyPodsScheduled": _StepsPlayer.are_any_scheduled,
    "WaitForPodGroupCondition": _StepsPlayer.has_condition,
    "WaitForPodsInActiveQ": _StepsPlayer.are_active,
    "WaitForPodsInIncompletePodGroupPods": _StepsPlayer.are_incomplete,
    "WaitForPodsInUnschedulableEntities": _StepsPlayer.are_gated,
    "WaitForPodsRemoved": _StepsPlayer.are_removed,
    "WaitForPodsScheduled": _StepsPlayer.are_scheduled,
    "WaitForPodsSchedulingError": _StepsPlayer.have_errors,
    "WaitForPodsUnschedulable": _StepsPlayer.are_unschedulable,
}
