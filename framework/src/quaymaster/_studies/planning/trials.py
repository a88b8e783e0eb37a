"""Tries plans: one simulation for each, and more for possible losses."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Binding,
    DaemonSet,
    Event,
    Job,
    Lease,
    Node,
    Pod,
    PodStatus,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.kinds import KINDS, OPERATOR_KINDS
from quaymaster._base.errors import counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.node_health import zone_of
from quaymaster._studies.planning.amounts import Amounts, offered, requested, total
from quaymaster._studies.planning.growing import (
    GrowingCluster,
    Rounds,
    growing_cluster,
)
from quaymaster._studies.planning.losses import Loss, lost_sets
from quaymaster._studies.planning.pace import Pace
from quaymaster._studies.planning.question import (
    Counts,
    Question,
    is_tied,
)
from quaymaster._studies.planning.shapes import Shapes
from quaymaster._studies.planning.spot import SPOT
from quaymaster._studies.simulation.results import SimulationResult, UnscheduledPod

__all__ = ["Trial", "Trials", "Utilization", "utilization_of"]

_REPLACING: Final = (ReplicaSet, ReplicationController, StatefulSet, Job, DaemonSet)
BuyFn: TypeAlias = Callable[[GrowingCluster, "Trial | None"], Counts | None]
"""Returns the nodes of the next round, or None at the end.

It gets the cluster, and what is wrong with it if no pod is pending.
"""
_PASSING: Final = (Event, Lease, Binding)


@attrs.frozen(kw_only=True)
class Utilization:
    """The utilisation of one resource, over all nodes.

    CPU is in millicores, memory and storage are in bytes.

    Attributes:
        requested: What the pods on the nodes request.
        allocatable: What the nodes offer.
    """

    requested: int
    allocatable: int

    @property
    def share(self) -> float:
        """The part that is requested; 0 if nothing is offered."""
        return self.requested / self.allocatable if self.allocatable else 0.0


@attrs.frozen(kw_only=True, eq=False)
class Trial:
    """The result of trying one plan.

    Attributes:
        counts: The plan.
        problem: Why it does not work; empty if it works.
        pending: The pods without a node, each with the scheduler's verdict.
        missing: Resource -> how much more of it nodes must offer, for a limit of its
            utilisation.
        idle: The groups of which a node in every zone was left without pods of its own
            when it failed, so that more of them would not help.
        utilization: Resource -> how much of it is requested in the end.
        taken: Node -> what is requested of it in the end.
        pods_of: Node -> the pods that use its resources in the end.
        nodes: All nodes in the end.
        cluster: The settled cluster; None after its last use.
        result: The result of the simulation.
        rounds: The nodes by round.
        pending_by_round: How many pods had no node after each round.
    """

    counts: Counts
    problem: str
    pending: tuple[tuple[Pod, UnscheduledPod], ...] = ()
    missing: Mapping[str, int] = attrs.field(factory=dict)
    idle: frozenset[int] = frozenset()
    utilization: Mapping[str, Utilization] = attrs.field(factory=dict)
    taken: Mapping[str, Amounts] = attrs.field(factory=dict)
    pods_of: Mapping[str, Sequence[Pod]] = attrs.field(factory=dict, repr=False)
    nodes: Sequence[Node] = ()
    cluster: InMemoryCluster | None = attrs.field(default=None, repr=False)
    result: SimulationResult
    rounds: Rounds = ()
    pending_by_round: tuple[int, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the plan works."""
        return not self.problem


class Trials:
    """Tries plans, each once.

    Args:
        question: The input.
        on_try: Called with the number of plans that were tried, before each.
        on_better: Called with each plan that does and is better than those before.
        pace: Ends the search, and the plan that is being tried, when the time is over.
        shapes: The shapes of the groups' nodes.

    Attributes:
        tried: Plan -> whether it does if all nodes are there from the beginning.
        number: How many plans were tried, those in rounds included.
        report: Reports a plan that does and is better than those before.
    """

    def __init__(
        self,
        question: Question,
        on_try: Callable[[int], None],
        on_better: Callable[[Trial], None] = lambda _trial: None,
        pace: Pace | None = None,
        shapes: Shapes | None = None,
    ) -> None:
        self._question = question
        self._on_try = on_try
        self.report = on_better
        self._pace = pace or Pace()
        self._shapes = shapes
        self._irreplaceable: frozenset[str] | None = None
        self._missing: frozenset[str] = frozenset()
        self.tried: dict[Counts, bool] = {}
        self.number = 0

    def know(self, cluster: InMemoryCluster) -> None:
        """Record what a cluster with only the input lacks, and its bare pods."""
        # What the input lacks without any new node is not the fault of a plan.
        self._missing = _missing(cluster.notices())
        owners = {
            owner.uid for kind in _REPLACING for owner in cluster.list(kind).items
        }
        self._irreplaceable = frozenset(
            pod.key
            for pod in cluster.list(Pod).items
            if pod.metadata.controller is None
            or pod.metadata.controller.uid not in owners
        )

    @property
    def is_over(self) -> bool:
        """Whether no more plans may be tried, since the search has taken too long."""
        return self._pace.is_late()

    def at(self, counts: Counts) -> Trial:
        """Try a plan whose nodes are all there from the beginning.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
            LateError: The time of the search is over.
        """
        return self.replayed((counts,))

    def replayed(self, rounds: Rounds) -> Trial:
        """Try a plan whose nodes are added in rounds.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
            LateError: The time of the search is over.
        """
        rest = iter(rounds[1:])
        trial = self.grown(rounds[0], lambda _growing, _trial: next(rest, None), True)
        # Only plans at once are remembered: the same counts in rounds may have another
        # outcome.
        if len(rounds) == 1:
            self.tried[trial.counts] = trial.fits
        return trial

    def grown(self, first: Counts, buy: BuyFn, is_fixed: bool = False) -> Trial:
        """Add nodes in rounds, until all is well or the buyer gives up.

        Args:
            first: The nodes that are there from the beginning.
            buy: Decides what to add in each round.
            is_fixed: Whether the buyer neither looks at the cluster nor ends early.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
            LateError: The time of the search is over.
        """
        self._on_try(self.number)
        self.number += 1
        with growing_cluster(self._question, first, self._pace) as growing:
            while True:
                trial = None
                if not is_fixed and not growing.pending[-1]:
                    trial = self._held(growing)
                    if trial.fits:
                        return trial
                more = buy(growing, trial)
                if more is None:
                    return trial or self._held(growing)
                growing.add(more)

    def _held(self, growing: GrowingCluster) -> Trial:
        """Hold a settled cluster against the question."""
        cluster = growing.cluster
        trial = self._judged(growing.counts, cluster, growing.simulation.result(), "")
        trial = attrs.evolve(
            trial,
            rounds=tuple(growing.rounds),
            pending_by_round=tuple(growing.pending),
        )
        # In the order of their price: a comparison first, whole simulations last.
        if trial.fits:
            trial = self._short(trial)
        if trial.fits and self._question.loss is not None:
            trial = self._bereft(trial, cluster, self._question.loss)
        return trial

    def _judged(
        self,
        counts: Counts,
        cluster: InMemoryCluster,
        result: SimulationResult,
        after: str,
    ) -> Trial:
        """Return the trial of a settled cluster, with its pending pods."""
        pods = {pod.key: pod for pod in cluster.list(Pod).items}
        pending = tuple(
            (pods[verdict.pod], verdict)
            for verdict in result.unscheduled
            if not self._question.leaves_out(pods[verdict.pod])
        )
        problem = self._problem(result, len(pending), after)
        nodes = cluster.list(Node).items
        at_node = _by_node(pods.values())
        taken = {name: total(map(requested, there)) for name, there in at_node.items()}
        return Trial(
            counts=counts,
            problem=problem,
            pending=pending,
            idle=self._idle(counts, cluster, at_node) if problem else frozenset(),
            utilization=utilization_of(
                (node for node in nodes if node.name not in self._question.closed),
                taken,
            ),
            taken=taken,
            pods_of=at_node,
            cluster=cluster,
            nodes=nodes,
            result=result,
        )

    def _problem(self, result: SimulationResult, pending: int, after: str) -> str:
        if pending:
            return f"{after}no node for {counted(pending, 'pod')}"
        for victim in result.preempted:
            # A preempted pod with a controller comes back, and is then counted as
            # pending.
            if victim.pod in (self._irreplaceable or ()):
                return f"{after}pod {victim.pod}: preempted by {victim.by} for good"
        # Sorted, so that the same plan has the same problem.
        for message in sorted(_missing(result.notices) - self._missing):
            return f"{after}{message}"
        return ""

    def _short(self, trial: Trial) -> Trial:
        """Compare the utilisation and the part of spot nodes with the limits."""
        none = Utilization(requested=0, allocatable=0)
        for name, most in self._question.max_utilization.items():
            there = trial.utilization.get(name, none)
            # Exact fractions, not floats: a limit of 70 % must not fail at exactly 70
            # %.
            if there.requested > most * there.allocatable:
                got, limit = f"{there.share:.1%}", f"{float(most):.1%}"
                problem = f"{name}: {got} of it is requested, expected at most {limit}"
                lack = math.ceil(there.requested / most) - there.allocatable
                trial = attrs.evolve(
                    trial, problem=problem, missing={**trial.missing, name: lack}
                )
        rule = self._question.spot_rule()
        if rule is not None and not rule.is_met(trial.counts):
            problem = f"too few {rule.of}"
            missing = {**trial.missing, SPOT: rule.missing(trial.counts)}
            trial = attrs.evolve(trial, problem=problem, missing=missing)
        return trial

    def is_irreplaceable(self, pod: Pod) -> bool:
        """Whether no controller of the input creates a pod again."""
        return pod.key in (self._irreplaceable or ())

    def holds_without(self, trial: Trial, lost: frozenset[str]) -> bool:
        """Whether a plan that works still works without some nodes.

        Their pods must fit on the remaining nodes, while the others stay.

        Raises:
            LateError: The time of the search is over.
        """
        assert trial.cluster is not None, "the plan that was found has its cluster"
        self._pace.check()
        rest = self._question.cluster_of(_objects_after(trial.cluster, lost))
        with self._question.simulation(rest) as simulation:
            self._pace.settle(simulation)
            result = simulation.result()
        judged = self._judged(trial.counts, rest, result, "")
        if judged.fits:
            judged = self._short(judged)
        if judged.fits and self._question.loss is not None:
            judged = self._bereft(judged, rest, self._question.loss)
        return judged.fits

    def _idle(
        self,
        counts: Counts,
        cluster: InMemoryCluster,
        at_node: Mapping[str, Sequence[Pod]],
    ) -> frozenset[int]:
        there = {node.name for node in cluster.list(Node).items}
        made = iter(self._question.nodes(counts))
        idle = set()
        for index, (group, count) in enumerate(
            zip(self._question.groups, counts, strict=True)
        ):
            own = [next(made) for _ in range(count)]
            here = [node for node in own if node.name in there]
            # One empty node is enough for each zone; zones that are lost altogether
            # cannot have one.
            bare = {
                zone_of(node) for node in here if self._is_bare(at_node, node, index)
            }
            lost = {zone_of(node) for node in own} - {zone_of(node) for node in here}
            if bare and bare >= {*group.zones()} - lost:
                idle.add(index)
        return frozenset(idle)

    def _is_bare(
        self, at_node: Mapping[str, Sequence[Pod]], node: Node, index: int
    ) -> bool:
        """Whether a node has only the pods that every node of its group has."""
        pods = at_node.get(node.name, ())
        if not all(map(is_tied, pods)):
            return False
        if self._shapes is None:
            return True
        # A DaemonSet may have a pod on this node and on no other one of the group.
        usual = self._shapes.shapes[index].taken
        taken = total(map(requested, pods))
        return all(
            amount <= usual.get(name, 0)
            for name, amount in taken.items()
            if name != "pods"
        )

    def _bereft(self, trial: Trial, cluster: InMemoryCluster, loss: Loss) -> Trial:
        """Remove each zone, or each node, and test whether its pods fit on the rest."""
        moving = {
            name: sum(not is_tied(pod) for pod in pods)
            for name, pods in trial.pods_of.items()
        }
        for lost in lost_sets(loss, cluster.list(Node).items, moving):
            # From the settled cluster, not from the input: pods stay where they are
            # when nodes are lost.
            rest = self._question.cluster_of(_objects_after(cluster, lost.nodes))
            with self._question.simulation(rest) as simulation:
                self._pace.settle(simulation)
                result = simulation.result()
            after = f"after the loss of {loss} {lost.name}: "
            judged = self._judged(trial.counts, rest, result, after)
            if not judged.fits:
                return attrs.evolve(
                    judged,
                    result=trial.result,
                    rounds=trial.rounds,
                    pending_by_round=trial.pending_by_round,
                )
        return trial


def _missing(notices: Iterable[Notice]) -> frozenset[str]:
    return frozenset(
        str(notice) for notice in notices if notice.reason is NoticeReason.MISSING_PODS
    )


def _by_node(pods: Iterable[Pod]) -> Mapping[str, Sequence[Pod]]:
    """Return the pods that use resources of each node."""
    pods_by_node: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.node_name and not pod.is_finished:
            pods_by_node[pod.node_name].append(pod)
    return pods_by_node


def utilization_of(
    nodes: Iterable[Node], taken: Mapping[str, Amounts]
) -> Mapping[str, Utilization]:
    """Return the utilisation of some nodes, by resource."""
    mine = list(nodes)
    there = total(map(offered, mine))
    requests = total(taken.get(node.name, {}) for node in mine)
    return {
        name: Utilization(
            requested=requests.get(name, 0), allocatable=there.get(name, 0)
        )
        for name in dict.fromkeys([*there, *requests])
    }


def _objects_after(
    cluster: InMemoryCluster, lost: Collection[str]
) -> Iterable[ApiObject]:
    """Return the objects of a cluster after a loss, with new pods for the lost ones.

    Pods that belong to a lost node are lost with it. Each other lost pod is created
    again, without a node.
    """
    for kind in (*KINDS.values(), *OPERATOR_KINDS):
        if kind in _PASSING:
            continue
        for obj in cluster.list(kind).items:
            if isinstance(obj, Node) and obj.name in lost:
                continue
            if isinstance(obj, Pod) and obj.node_name in lost and not obj.is_finished:
                if is_tied(obj) or obj.is_terminating:
                    continue
                # Without its status, so that the pod is new for the scheduler.
                yield replace(obj, node_name="", status=PodStatus())
            else:
                yield obj
