"""Karpenter as a controller in virtual time."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.meta import ApiObject
from quaymaster._base.notices import Notice
from quaymaster._core.contract.cluster import WatchEventType
from quaymaster._studies.autoscaling.karpenter.adoption import adopt_nodes
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.conditions import (
    ClaimConditions,
    PodEvents,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    CandidateFinder,
)
from quaymaster._studies.autoscaling.karpenter.disruption.loop import DisruptionLoop
from quaymaster._studies.autoscaling.karpenter.disruption.node_explanations import (
    NodeExplanation,
)
from quaymaster._studies.autoscaling.karpenter.disruption.queue import DisruptionQueue
from quaymaster._studies.autoscaling.karpenter.disruption.recorder import (
    EventRecorder,
)
from quaymaster._studies.autoscaling.karpenter.disruption.staying import (
    reasons_to_stay,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.interruptions import (
    Interruption,
    Interruptions,
)
from quaymaster._studies.autoscaling.karpenter.labels import INSTANCE_TYPE
from quaymaster._studies.autoscaling.karpenter.lifecycle import (
    REGISTRATION_TIMEOUT,
    Lifecycle,
)
from quaymaster._studies.autoscaling.karpenter.machines import (
    Failure,
    LaunchTimes,
    Machine,
    Stock,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodeOverlay,
    NodePool,
)
from quaymaster._studies.autoscaling.karpenter.offers import node_offers
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import is_provisionable
from quaymaster._studies.autoscaling.karpenter.pool_checks import check_pools
from quaymaster._studies.autoscaling.karpenter.pool_hashes import write_hashes
from quaymaster._studies.autoscaling.karpenter.provisioner import Provisioner
from quaymaster._studies.autoscaling.karpenter.scale_up_log import ScaleUpLog
from quaymaster._studies.autoscaling.karpenter.states import (
    Calendar,
    Past,
    StateReader,
)
from quaymaster._studies.autoscaling.karpenter.static_pools import StaticPools
from quaymaster._studies.autoscaling.karpenter.termination import Terminations
from quaymaster._studies.autoscaling.karpenter.unknown_labels import (
    notices_of_unknown_labels,
)
from quaymaster._studies.autoscaling.outcomes import Outcomes
from quaymaster._studies.autoscaling.reason_history import ReasonHistory
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    AutoscalerContext,
    NodeOffer,
)
from quaymaster._studies.simulation.scaling import NodeScaling, PodScaling

__all__ = ["KarpenterController", "KarpenterSetup"]

_DIGITS: Final = 6
_QUIET_SECONDS: Final = 60.0
"""How much longer than its own delays it must have been quiet to be settled."""

_LONGEST_WAIT: Final = 1800.0
"""After how many seconds without a new outcome it is settled in any case."""


@attrs.frozen(kw_only=True, eq=False)
class KarpenterSetup:
    """Karpenter with its pools; it makes one for each simulation.

    Attributes:
        types: The types that the cloud offers to every pool.
        pools: Pools that the input need not have.
        options: The options of Karpenter.
        times: How long machines need.
        failures: What the cloud lacks at times.
        interruptions: Which spot nodes the cloud takes back.
        real_start: When the simulation begins on the calendar, in seconds since the
            epoch; None if that is unknown.
        files: The files that were read beside its own.
        source: The name of its file, for messages.
        kinds: The kinds of objects that it reads.
    """

    kinds: ClassVar[Sequence[type[ApiObject]]] = (NodePool, NodeClaim, NodeOverlay)

    types: Sequence[InstanceType]
    pools: Sequence[NodePool] = ()
    options: KarpenterOptions = attrs.field(factory=KarpenterOptions)
    times: LaunchTimes = attrs.field(factory=LaunchTimes)
    failures: Sequence[Failure] = ()
    interruptions: Sequence[Interruption] = ()
    real_start: float | None = None
    files: Sequence[Path] = ()
    source: str = "autoscaler"

    def __call__(self, context: AutoscalerContext) -> "KarpenterController":
        """Make the autoscaler of a simulation."""
        return KarpenterController(self, context)

    def offers(self, objects: Sequence[ApiObject]) -> Sequence[NodeOffer]:
        """Return the nodes that the pools may get, without those that others replace.

        Args:
            objects: The objects of the cluster.
        """
        return node_offers(self.types, self.pools, self.options, objects)


class KarpenterController:
    """Runs Karpenter on the clock of a cluster.

    Args:
        setup: Karpenter and its pools.
        context: The cluster and the seed.
    """

    def __init__(self, setup: KarpenterSetup, context: AutoscalerContext) -> None:
        cluster = self._cluster = context.cluster
        self._clock = cluster.clock
        self._setup = setup
        self._start = self._clock.now()
        self._calendar = Calendar(self._start, setup.real_start)
        options = setup.options
        _add_pools(setup, context)
        check_pools(cluster.list(NodePool).items, setup.source)
        adopt_nodes(cluster)
        write_hashes(cluster)
        pools = [pool.name for pool in cluster.list(NodePool).items]
        types = dict.fromkeys(pools, setup.types)
        self._stock = Stock(types, options, setup.failures, self._start, context.seed)
        self._past = Past(cluster, self._calendar)
        self._reader = StateReader(cluster, self._stock.types, self._past)
        self._lifecycle = Lifecycle(cluster, self._stock, setup.times, self._wake)
        self._log = (
            ScaleUpLog(cluster, self._lifecycle, options) if context.explains else None
        )
        self._provisioner = Provisioner(
            cluster,
            self._lifecycle,
            options,
            self._read_state,
            self._facts,
            self._reader.unbound_pods,
            self._log,
        )
        self._interruptions = Interruptions(
            cluster,
            self._lifecycle,
            setup.interruptions,
            context.seed,
            lambda key: self._stock.note_missing(key, self._clock.now()),
        )
        self._static_pools = (
            StaticPools(cluster, self._lifecycle, options, self._read_state)
            if options.static_capacity
            else None
        )
        self._queue = DisruptionQueue(
            cluster, self._lifecycle, options, self._provisioner.nominate
        )
        self._terminations = Terminations(
            cluster,
            self._lifecycle,
            setup.times.termination,
            self._wake,
            self._reader.pods_on,
        )
        self._conditions = ClaimConditions(cluster, options)
        self._recorder = EventRecorder(cluster, self._lifecycle)
        self._loop = DisruptionLoop(
            cluster,
            self._queue,
            prepare=self._prepare,
            survey=self._survey,
            report=self._recorder,
            chance=random.Random(context.seed),
            lifecycle=self._lifecycle,
            read_facts=self._facts,
            note=self._note_reasons if context.explains else None,
        )
        self._history = ReasonHistory()
        self._pod_events = PodEvents(cluster)
        self._will_read = False
        # From here on: what was changed above is part of the input, and not an event.
        version = cluster.resource_version
        self._pods = cluster.watch(Pod, version, self._changed)
        self._claims = cluster.watch(NodeClaim, version, self._changed)
        self._pools = cluster.watch(NodePool, version, self._changed)
        self._nodes = cluster.watch(Node, version, self._changed)
        self._outcomes = Outcomes(cluster, _type_of)
        self._state: ClusterState | None = None
        self._state_facts: object = None
        self._refreshed: object = None
        self._refreshed_until = 0.0

    def start(self) -> None:
        """Take over the nodes of the input, and begin to look."""
        state = self._read_state()
        finder = CandidateFinder(state, self._setup.options)
        for node in state.nodes:
            claim = node.claim
            if claim is None:
                continue
            price = finder.price_of(node.pool, claim.labels)
            self._lifecycle.adopt(claim, node.node, price or None)
            self._expire_later(claim)
            self._interruptions.see(claim)
            if node.is_deleted:
                self._terminations.begin(claim)
        self._interruptions.start()
        if self._static_pools is not None:
            self._static_pools.start()
        self._loop.start()
        if any(is_provisionable(pod) for pod in self._cluster.list(Pod).items):
            self._provisioner.trigger()

    @property
    def is_settled(self) -> bool:
        """Whether nothing has changed for longer than any of its delays.

        Expirations, and budgets that open at times, are not waited for.
        """
        delay = self._longest_delay
        # A claim that is given up has changed nothing for long.
        unchanged, without_progress = self._outcomes.look(
            max(delay, REGISTRATION_TIMEOUT)
        )
        # What fails again and again is not waited for.
        if without_progress > max(_LONGEST_WAIT, 2 * delay):
            return True
        return unchanged > delay and not self._is_busy

    @property
    def _is_busy(self) -> bool:
        """Whether something is under way, or the cloud will have more again."""
        now = self._clock.now()
        is_missing = self._stock.missing(now) and self._stock.will_return(now)
        return (
            self._lifecycle.is_starting
            or len(self._queue) > 0
            or self._loop.is_validating
            or self._provisioner.draws_again
            or bool(is_missing)
            or self._interruptions.are_expected
            or (self._static_pools is not None and self._static_pools.is_short)
        )

    @property
    def _longest_delay(self) -> float:
        pools = self._cluster.list(NodePool).items
        delays = (pool.spec.disruption.consolidate_after_seconds for pool in pools)
        return _QUIET_SECONDS + max((each or 0.0 for each in delays), default=0.0)

    def notices(self) -> Sequence[Notice]:
        """Return the labels in requirements that are probably misspelt."""
        pods = self._cluster.list(Pod).items
        return [
            *notices_of_unknown_labels(
                self._cluster.list(NodePool).items,
                self._setup.types,
                self._cluster.list(Node).items,
                [pod for pod in pods if not (pod.node_name or pod.is_finished)],
                self._setup.options,
            )
        ]

    def nodes(self) -> Sequence[AutoscaledNode]:
        """Return all nodes that it ever had, in the order in which they came."""
        return [self._life_of(each) for each in self._lifecycle.all_machines]

    def _life_of(self, machine: Machine) -> AutoscaledNode:
        def since(moment: float | None) -> float | None:
            return None if moment is None else round(moment - self._start, _DIGITS)

        # Without capacity no machine was launched, which has a price from then on.
        is_refused = machine.ended is not None and machine.price is None
        has_no_cost = is_refused and not machine.is_original
        return AutoscaledNode(
            node=machine.node,
            group=machine.pool,
            ordered=None if machine.is_original else since(machine.ordered),
            registered=since(machine.registered),
            ready=since(machine.ready),
            removed=since(machine.ended),
            price=0.0 if has_no_cost else machine.price,
            until=self._clock.now() - self._start,
            added_for=machine.added_for,
            removed_for=machine.removed_for,
        )

    def reasons_to_stay(self) -> Mapping[str, str]:
        """Return why each node of the cluster stays, in words, by name."""
        self._prepare()
        return reasons_to_stay(self._survey())

    def reasons_not_to_grow(self) -> Mapping[str, Mapping[str, str]]:
        """Return why no pool helps pending pods: pod's key -> pool -> reason."""
        pools = [pool.name for pool in self._cluster.list(NodePool).items]
        reasons = {pool: self._provisioner.reasons(pool) for pool in pools}
        return {
            key: {pool: reasons[pool][key] for pool in pools}
            for key in self._provisioner.problems
        }

    def scaling_of_pod(self, key: str) -> PodScaling | None:
        """Return what was last decided for a pod; None if it was never pending."""
        return None if self._log is None else self._log.scaling_of(key)

    def scaling_of_node(self, name: str) -> NodeScaling | None:
        """Return why a node was removed or stays; None if it never existed."""
        lives = {life.node: life for life in self.nodes()}
        life, why = lives.get(name), self.reasons_to_stay().get(name)
        if life is None and why is None:
            return None
        if life is not None and why is None:
            why = life.removed_for or "it has not come into the cluster"
        node = self._read_state().node_by_name.get(name)
        explanation = node and NodeExplanation(self._survey(), node, self._start)
        return NodeScaling(
            node=name,
            group=life.group if life is not None else "",
            removed=life.removed if life is not None else None,
            why=why or "",
            facts=tuple(explanation.facts()) if explanation else (),
            pods=tuple(explanation.pods()) if explanation else (),
            history=self._history.of(name),
        )

    def _note_reasons(self, survey: Survey) -> None:
        since = round(self._clock.now() - self._start, _DIGITS)
        staying = {
            node.name for node in survey.state.nodes if not node.marked_for_deletion
        }
        reasons = reasons_to_stay(survey)
        self._history.note({k: v for k, v in reasons.items() if k in staying}, since)

    def close(self) -> None:
        """End its watches."""
        for watch in (self._pods, self._claims, self._nodes, self._pools):
            watch.stop()
        self._reader.close()

    def _read_state(self) -> ClusterState:
        """Return the state of the cluster, the last one if nothing has changed."""
        busy, nominated = self._queue.busy(), self._provisioner.nominated
        facts = (self._facts(), self._clock.now(), busy, dict(nominated))
        if self._state is None or self._state_facts != facts:
            self._state = self._reader.state(busy, nominated)
            self._state_facts = facts
        return self._state

    def _facts(self) -> object:
        """Return all that decisions depend on, apart from time."""
        missing = self._stock.missing(self._clock.now())
        return self._cluster.resource_version, missing

    def _survey(self) -> Survey:
        self._recorder.begin_look()
        return Survey(
            self._read_state(),
            self._setup.options,
            busy=self._queue.busy(),
            calendar_offset=self._calendar.offset,
        )

    def _prepare(self) -> None:
        """Bring the conditions of claims up to date."""
        facts = self._facts()
        if facts == self._refreshed and self._clock.now() < self._refreshed_until:
            return
        state = self._read_state()
        if self._conditions.refresh(state):
            self._refreshed = None
        else:
            self._refreshed = facts
            self._refreshed_until = self._conditions.hold_until

    def _wake(self) -> None:
        """Look at pending pods again, as a machine has come, failed or gone."""
        self._provisioner.trigger()

    def _changed(self) -> None:
        # The first call reads the changes of all calls before it.
        if self._will_read:
            return
        self._will_read = True
        self._clock.call_at(self._clock.now(), self._read_changes, background=True)

    def _read_changes(self) -> None:
        self._will_read = False
        if self._pools.take():
            write_hashes(self._cluster)
            if self._static_pools is not None:
                self._static_pools.look_soon()
        self._read_claims()
        self._read_nodes()
        claims = self._lifecycle.claims_by_node
        for event in self._pods.take():
            if event.type is WatchEventType.DELETED:
                self._pod_events.gone(event.object.key, claims)
                continue
            self._pod_events.see(event.object, claims)
            if is_provisionable(event.object):
                self._provisioner.trigger()

    def _read_claims(self) -> None:
        for event in self._claims.take():
            claim = event.object
            self._interruptions.see(claim)
            if self._static_pools is not None:
                self._static_pools.look_soon()
            if event.type is WatchEventType.ADDED:
                self._expire_later(claim)
            elif event.type is WatchEventType.DELETED:
                self._lifecycle.end(claim.name, "its claim was deleted")
            elif claim.metadata.deletion_timestamp is not None:
                self._terminations.begin(claim)
                self._provisioner.trigger()

    def _read_nodes(self) -> None:
        """End the machines whose nodes were deleted from outside."""
        gone = {
            event.object.name
            for event in self._nodes.take()
            if event.type is WatchEventType.DELETED
        }
        if not gone:
            return
        for machine in [*self._lifecycle.running()]:
            if machine.node in gone and self._lifecycle.node(machine.node) is None:
                self._lifecycle.end(machine.claim, "its node was deleted")

    def _expire_later(self, claim: NodeClaim) -> None:
        """Set the time when a claim expires; no budget holds that up."""
        seconds = claim.spec.expire_after_seconds
        if seconds is not None:
            due = max(self._past.birth(claim) + seconds, self._clock.now())
            self._clock.call_at(
                due, lambda: self._expire(claim.name, claim.uid), background=True
            )

    def _expire(self, name: str, uid: str) -> None:
        claim = self._lifecycle.claim(name)
        if claim is None or claim.uid != uid:
            return
        if claim.metadata.deletion_timestamp is None:
            self._lifecycle.machines[name].removed_for = "Expired"
            self._cluster.delete(NodeClaim, name)


def _add_pools(setup: KarpenterSetup, context: AutoscalerContext) -> None:
    """Create the pools of the file that the input does not have."""
    present = {pool.name for pool in context.cluster.list(NodePool).items}
    for pool in setup.pools:
        if pool.name not in present:
            context.cluster.create(pool)


def _type_of(node: Node) -> str:
    return node.labels.get(INSTANCE_TYPE, node.name)
