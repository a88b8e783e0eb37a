"""A bench where the pods of a small cluster are in one group."""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from functools import lru_cache
from typing import NoReturn, Self

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod, PodGroup, PodSchedulingGroup
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.kept_arrays import KeptArrays
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.groups import make_pod_group
from quaymaster._base.versions.kubernetes import Kubernetes, KubernetesError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.group_states import GroupStates

__all__ = ["GroupBench", "group_benches"]

_GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
_NAME = "group"


class GroupBench:
    """A plugin on a cluster whose waiting pods are in one group.

    Args:
        subject: The plugin, with the gates of groups.
        cluster: The cluster.
        group: The group.

    Attributes:
        cluster: The cluster, with its pods in the group.
        info: The group, with its waiting pods.
        subject: The plugin.
        snapshot: The nodes and pods.
    """

    def __init__(
        self, subject: Subject, cluster: SmallCluster, group: PodGroup
    ) -> None:
        pending = tuple(_member(pod, group) for pod in cluster.pending)
        bound = tuple(_member(pod, group) for pod in cluster.pods[::2])
        pods = (*bound, *cluster.pods[1::2])
        self.cluster = attrs.evolve(cluster, pods=pods, pending=pending)
        self.info = PodGroupInfo(group=group, pods=pending)
        states = GroupStates()
        states.set_group(group)
        for pod in (*pods, *pending):
            states.put(pod)
        services = subject.make_services(subject.empty_cluster)
        services = attrs.evolve(services, pod_groups=states)
        self._kept = KeptArrays()
        self._bench = Bench(
            subject,
            self.cluster,
            is_guarded=True,
            services=services,
            watches=[self._kept],
        )
        self.subject = subject
        self.snapshot = self._bench.snapshot

    def become_nodes_of(self, other: SmallCluster) -> None:
        """Replace the nodes, and their pods, by those of another cluster."""
        after = attrs.evolve(self.cluster, nodes=other.nodes, pods=())
        self._bench.become(self.cluster, after)
        self.cluster = after

    def expect_unchanged(self) -> None:
        """Fail if an array has changed since a hook returned it."""
        change = self._kept.first_change("after later calls on a changed cluster")
        if change is not None:
            self.fail(change.hook, change.problem)

    def renewed(self) -> Self:
        """Return a bench on the same cluster, with a new instance of the plugin."""
        bench = copy(self)
        bench._bench = self._bench.renewed()
        return bench

    def ask(self, hook: str, *args: object) -> object:
        """Return the answer of a hook; a hook that fails is a finding."""
        try:
            return self._bench.ask(hook, *args)
        except HookFailedError as failure:
            self.fail(failure.hook, failure.problem)

    def fail(self, hook: str, problem: str) -> NoReturn:
        """Report a finding with the group and the cluster.

        Raises:
            Finding: Always.
        """
        cluster = self.cluster
        fail(hook, problem, self.info.group, cluster.pending, cluster.nodes)

    def attempts(self) -> Sequence[MemberAttempt]:
        """Return the attempts of the waiting pods, after PreFilter."""
        attempts = []
        for pod in self.info.pods:
            state = CycleState(group=CycleState())
            self._bench.pre_filter(state, pod)
            attempts.append(MemberAttempt(pod, state))
        return attempts

    def candidates(self) -> Sequence[PodGroupAssignments]:
        """Return placements of all nodes, of half of them, and of each node alone."""
        rows = self.snapshot.nodes.row_numbers(self.snapshot.nodes.rows)
        alone = [rows[at : at + 1] for at in range(len(rows))]
        chosen = [rows, rows[: (len(rows) + 1) // 2], *alone]
        return [self._assignments(at, part) for at, part in enumerate(chosen)]

    def _assignments(self, number: int, rows: RowArray) -> PodGroupAssignments:
        """Return a placement; every second one has no room for the last pod."""
        names = self.snapshot.nodes.names_at(rows)
        fitting = self.info.pods[: max(1, len(self.info.pods) - number % 2)]
        attempts = [
            MemberAttempt(pod, CycleState(), names[at % len(names)])
            for at, pod in enumerate(fitting)
        ]
        placement = PodGroupPlacement(f"place-{number}", rows)
        return PodGroupAssignments(placement, attempts)


def group_benches(
    subject: Subject, cluster: SmallCluster
) -> Iterator[tuple[GroupBench, GroupBench]]:
    """Yield groups of the waiting pods, each on two benches with the same cluster.

    There are none for versions of Kubernetes without groups.
    """
    gated = _with_gates(subject)
    if gated is None or not cluster.nodes or not cluster.pending:
        return
    for group in (*_groups(cluster), *_groups_of_author(cluster)):
        yield GroupBench(gated, cluster, group), GroupBench(gated, cluster, group)


@lru_cache(maxsize=8)
def _with_gates(subject: Subject) -> Subject | None:
    kubernetes = subject.kubernetes
    gates = {**kubernetes.feature_gates, **_GATES}
    try:
        with_groups = Kubernetes(kubernetes.version, gates)
    except KubernetesError:
        return None
    return attrs.evolve(subject, kubernetes=with_groups)


def _groups(cluster: SmallCluster) -> Iterator[PodGroup]:
    namespace = cluster.pending[0].namespace
    yield make_pod_group(name=_NAME, namespace=namespace)
    keys = Counter(key for node in cluster.nodes for key in node.metadata.labels)
    for key, _ in keys.most_common(2):
        yield make_pod_group(
            name=_NAME,
            namespace=namespace,
            min_count=len(cluster.pending),
            topology_key=key,
        )


def _groups_of_author(cluster: SmallCluster) -> Iterator[PodGroup]:
    """Yield groups like those of the cluster, with their labels and rules."""
    namespace = cluster.pending[0].namespace
    for group in cluster.objects:
        if isinstance(group, PodGroup):
            metadata = replace(group.metadata, name=_NAME, namespace=namespace)
            yield replace(group, metadata=metadata)


def _member(pod: Pod, group: PodGroup) -> Pod:
    if pod.namespace != group.namespace:
        return pod
    reference = PodSchedulingGroup(pod_group_name=group.name)
    return replace(pod, spec=replace(pod.spec, scheduling_group=reference))
