"""Headroom for groups: how many more copies of a PodGroup fit as a whole."""

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Node,
    ObjectMeta,
    Pod,
    PodStatus,
    PriorityClass,
)
from quaymaster._api.objects.groups import PodGroup, PodGroupStatus
from quaymaster._api.objects.pod import PodSchedulingGroup
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.capacity.figures import Headroom
from quaymaster._studies.capacity.headroom import MORE_PODS, OWNER, create_copies
from quaymaster._studies.simulation.ended_groups import explained_group, topology_key
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.group_names import (
    GroupName,
    GroupNotFoundError,
)
from quaymaster._studies.simulation.run import Simulation

__all__ = ["find_gang_headroom", "gang_of"]

_NEVER: Final = "Never"
_PREEMPTION: Final = ", pod group preemption: "
_LARGEST_BATCH: Final = 64
_LONGEST_STEM: Final = 200  # a name has at most 253 characters


def gang_of(
    name: GroupName, cluster: InMemoryCluster
) -> tuple[PodGroup, Sequence[Pod]]:
    """Return a PodGroup with the pods that each copy of it has.

    A group with fewer pods than its quorum gets as many as that; its pods are repeated.

    Args:
        name: The name of the group.
        cluster: The cluster that has it.

    Raises:
        GroupNotFoundError: The group does not exist, has no pods, or is below a
            CompositePodGroup.
    """
    key = name.key_in(cluster)
    try:
        group = cluster.get(PodGroup, key)
    except NotFoundError:
        problem = "only pods name it, and the PodGroup does not exist"
        raise GroupNotFoundError(key, problem) from None
    parent = group.spec.parent_composite_pod_group_name
    if parent:
        problem = (
            f"it is below CompositePodGroup {parent}, and is placed only with it, so "
            "copies of it alone cannot be counted"
        )
        raise GroupNotFoundError(key, problem)
    pods = sorted(
        (pod for pod in cluster.list(Pod).items if pod.group_key == key),
        key=lambda pod: natural_key(pod.key),
    )
    if not pods:
        problem = "it has no pods, so a copy of it cannot be made"
        raise GroupNotFoundError(key, problem)
    size = max(len(pods), group.min_count)
    return group, [pods[number % len(pods)] for number in range(size)]


def find_gang_headroom(
    simulation: Simulation,
    group: PodGroup,
    pods: Sequence[Pod],
    *,
    name: str,
    limit: int = MORE_PODS,
    settle: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
) -> Headroom:
    """Schedule copies of a group until one does not fit with all its pods.

    The copies preempt no pods, run without end, and have no scheduling gates. At the
    end they are deleted.

    Args:
        simulation: The simulation, which has been run.
        group: The group.
        pods: The pods of each copy.
        name: The name of the group in the result.
        limit: How many pods to try at most.
        settle: Whether time may pass.
        on_progress: Called with the number of pods that fit so far, and the limit.

    Raises:
        AdmissionError: The group or its pods break rules of the cluster.
    """
    most = max(1, limit // len(pods))
    search = _Search(simulation, group, pods, most, settle)
    while search.goes_on():
        search.step()
        if on_progress is not None:
            on_progress(search.fits * len(pods), most * len(pods))
    search.end()
    nodes = search.nodes
    return Headroom(
        pod=name,
        fits=search.fits,
        limit=most,
        nodes={node: nodes[node] for node in sorted(nodes, key=natural_key)},
        message=search.message,
        group_size=len(pods),
        domains=search.domains(),
    )


class _Search:
    """Creates copies in growing batches, until one does not fit."""

    def __init__(
        self,
        simulation: Simulation,
        group: PodGroup,
        pods: Sequence[Pod],
        most: int,
        settle: bool,
    ) -> None:
        self.fits = 0
        self.nodes: Counter[str] = Counter()
        self.message = ""
        self._simulation = simulation
        self._cluster = simulation.cluster
        self._copies = _Copies(simulation, group, pods)
        self._key = topology_key(group)
        self._in_domain: Counter[str] = Counter()
        self._most = most
        self._settle = settle
        # A single copy may fill the cluster, and each one too many must be scheduled
        # and deleted again.
        self._batch = 1

    def goes_on(self) -> bool:
        """Whether all copies fit so far, and more may be tried."""
        return not self.message and self.fits < self._most

    def step(self) -> None:
        """Try the next batch."""
        count = min(self._batch, self._most - self.fits)
        keys, self.message = create_copies(self._copies.create, count)
        self._schedule()
        for key in keys:
            self._count(key)
        self._batch = min(2 * self._batch, _LARGEST_BATCH)

    def end(self) -> None:
        """Delete all copies."""
        self._copies.delete()
        self._schedule()

    def domains(self) -> Mapping[str, int]:
        """Return how many copies fit in each topology domain; 0 for the others."""
        if not self._key:
            return {}
        names = {
            node.labels[self._key]
            for node in self._cluster.list(Node).items
            if self._key in node.labels
        }
        ordered = sorted(names, key=lambda name: (-self._in_domain[name], name))
        return {name: self._in_domain[name] for name in ordered}

    def _schedule(self) -> None:
        if self._settle:
            self._simulation.settle()
        else:
            self._simulation.run_until(self._simulation.now)

    def _count(self, key: str) -> None:
        copy = explained_group(self._simulation, key, GroupLog())
        if copy.placed < self._copies.size:
            if not self.message:
                # Copies never preempt, so why preemption did not help says nothing.
                self.message = copy.message.partition(_PREEMPTION)[0] or (
                    f"only {copy.placed} of {self._copies.size} pods fit"
                )
            return
        self.fits += 1
        self.nodes.update(member.node for member in copy.members)
        self._in_domain.update({member.domain for member in copy.members})


class _Copies:
    """Creates copies of a group with its pods in a cluster."""

    def __init__(
        self, simulation: Simulation, group: PodGroup, pods: Sequence[Pod]
    ) -> None:
        self.size = len(pods)
        self._cluster = simulation.cluster
        self._pods = pods
        self._number = 0
        self._made: list[ApiObject] = []
        has_policies = simulation.config.kubernetes.enabled("PodGroupPreemptionPolicy")
        # Admission refuses a group whose priority or policy differs from its class.
        self._class = self._own_class(group.spec.priority or 0)
        self._group = replace(
            group,
            spec=replace(
                group.spec,
                priority=None,
                priority_class_name=self._class,
                preemption_policy=_NEVER if has_policies else None,
            ),
            status=PodGroupStatus(),
        )

    def _own_class(self, priority: int) -> str:
        """Create the class of the copies, which preempt nothing; return its name."""
        taken = {each.name for each in self._cluster.list(PriorityClass).items}
        name = next(name for n in count(1) if (name := f"more-{n}") not in taken)
        made = PriorityClass(
            metadata=ObjectMeta(name=name), value=priority, preemption_policy=_NEVER
        )
        self._made.append(self._cluster.create(made))
        return name

    def create(self) -> str:
        """Create one more, and return its key.

        Raises:
            ForbiddenError: A quota has no room for it.
            AdmissionError: It breaks rules.
        """
        old = self._group.metadata
        name = self._free_name()
        metadata = ObjectMeta(name=name, namespace=old.namespace, labels=old.labels)
        group = self._cluster.create(replace(self._group, metadata=metadata))
        self._made.append(group)
        for number, pod in enumerate(self._pods):
            member = _member(pod, name, self._class, number)
            self._made.append(self._cluster.create(member))
        return f"{old.namespace}/{name}"

    def delete(self) -> None:
        """Delete all that was created and still exists, the pods first."""
        while self._made:
            obj = self._made.pop()
            with contextlib.suppress(NotFoundError):
                self._cluster.delete(type(obj), obj.key, grace_period_seconds=0)

    def _free_name(self) -> str:
        stem = self._group.name[:_LONGEST_STEM]
        taken = {group.key for group in self._cluster.list(PodGroup).items}
        while True:
            self._number += 1
            name = f"{stem}-more-{self._number}"
            if f"{self._group.namespace}/{name}" not in taken:
                return name


def _member(pod: Pod, group: str, priority_class: str, number: int) -> Pod:
    """Return a new pod of a copy, like a pod of the group."""
    old = pod.metadata
    annotations = {
        key: value
        for key, value in old.annotations.items()
        if key != RUN_SECONDS_ANNOTATION
    }
    metadata = ObjectMeta(
        name=f"{group}-{number}",
        namespace=old.namespace,
        labels=old.labels,
        annotations=annotations,
        owner_references=(OWNER,),
    )
    spec = replace(
        pod.spec,
        node_name="",
        priority=None,
        preemption_policy=None,
        priority_class_name=priority_class,
        scheduling_gates=(),
        scheduling_group=PodSchedulingGroup(pod_group_name=group),
    )
    return Pod(metadata=metadata, spec=spec, status=PodStatus())
