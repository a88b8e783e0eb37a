"""Claims and their machines from the order to the end, in virtual time.

Mirrors ``pkg/controllers/nodeclaim/lifecycle`` (sigs.k8s.io/karpenter v1.15); what the
cloud and the kubelet take is in `LaunchTimes`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node
from quaymaster._api.objects.meta import ApiObject
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import EventNote, NotFoundError
from quaymaster._studies.autoscaling.karpenter.claim_objects import (
    FINALIZER,
    as_initialized,
    as_launched,
    as_ready,
    new_claim,
    new_node,
    with_condition,
)
from quaymaster._studies.autoscaling.karpenter.labels import NODE_POOL
from quaymaster._studies.autoscaling.karpenter.machines import (
    LaunchTimes,
    Machine,
    Stock,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim

__all__ = ["REGISTRATION_TIMEOUT", "Lifecycle"]

_REPORTER: Final = "karpenter"
_ACTION: Final = "Scaling"

# Both count from the creation of the claim, when its conditions are first set.
_LAUNCH_TIMEOUT: Final = 300.0
REGISTRATION_TIMEOUT: Final = 900.0
"""After which time a claim without a node is given up (upstream's ``liveness.go``)."""


class Lifecycle:
    """Launches claims and ends them.

    Args:
        cluster: The cluster.
        stock: What the cloud has.
        times: How long it takes.
        changed: Called when a claim has failed or its node is initialised.

    Attributes:
        machines: The machine of each claim; the last one if a name came again.
        all_machines: All machines that ever were, in the order of their orders.
        claims_by_node: The claim of each machine that exists, by the name of its node.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        stock: Stock,
        times: LaunchTimes,
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._stock = stock
        self._times = times
        self._changed = changed
        self.machines: dict[str, Machine] = {}
        self.all_machines: list[Machine] = []
        self._running: dict[str, Machine] = {}
        self.claims_by_node: dict[str, str] = {}
        # The claims without an answer of the cloud, and when it comes.
        self._launching: dict[str, float] = {}

    @property
    def is_launching(self) -> bool:
        """Whether the cloud has not answered to some order yet."""
        return bool(self._launching)

    @property
    def launched_at(self) -> float:
        """When the cloud will have answered to all orders so far, at the earliest."""
        return max(self._launching.values(), default=self._clock.now())

    @property
    def is_starting(self) -> bool:
        """Whether a machine is on its way."""
        return any(each.ready is None for each in self.running())

    def running(self) -> Iterator[Machine]:
        """Yield the machines that exist."""
        return iter(self._running.values())

    def adopt(self, claim: NodeClaim, node: Node | None, price: float | None) -> None:
        """Take over a machine that was there from the beginning."""
        now = self._clock.now()
        machine = Machine(
            claim=claim.name,
            pool=claim.labels.get(NODE_POOL, ""),
            ordered=now,
            price=price,
            node=claim.name if node is None else node.name,
            registered=None if node is None else now,
            ready=None if node is None else now,
            is_original=True,
        )
        self._add(machine)

    def order(self, solved: ProposedClaim, reason: str) -> str:
        """Create a claim, and order its machine.

        Args:
            solved: The claim.
            reason: Why, for results.

        Returns:
            The name of the claim.
        """
        now = self._clock.now()
        claim = self._cluster.create(new_claim(solved, now))
        machine = Machine(
            claim=claim.name,
            pool=solved.pool.name,
            ordered=now,
            node=claim.name,
            added_for=reason,
        )
        self._add(machine)
        seconds = min(self._times.launch, _LAUNCH_TIMEOUT)
        self._launching[claim.name] = now + seconds
        if self._times.launch > _LAUNCH_TIMEOUT:
            reason = "it was not launched within 5 minutes"
            self._give_up_later(_LAUNCH_TIMEOUT, claim.name, reason)
        else:
            self._clock.call_later(
                self._times.launch, lambda: self._launch(claim.name, solved)
            )
        return claim.name

    def _add(self, machine: Machine) -> None:
        self.machines[machine.claim] = machine
        self._running[machine.claim] = machine
        self.claims_by_node[machine.node] = machine.claim
        self.all_machines.append(machine)

    def _launch(self, name: str, solved: ProposedClaim) -> None:
        self._launching.pop(name, None)
        claim = self.claim(name)
        if claim is None:
            return
        if claim.metadata.deletion_timestamp is not None:
            self.end(name, "deleted before its launch")
            return
        now = self._clock.now()
        chosen = self._stock.choose(solved, now)
        if chosen is None:
            text = "creating instance, insufficient capacity"
            self.record(claim, "InsufficientCapacityError", text, "Warning")
            self.end(name, "insufficient capacity")
            self._changed()
            return
        instance_type, offering = chosen
        machine = self.machines[name]
        machine.price = offering.price
        machine.offering = (
            f"{instance_type.name}, {offering.zone}, {offering.capacity_type}"
        )
        self._cluster.update(as_launched(claim, instance_type, offering, now))
        left = machine.ordered + REGISTRATION_TIMEOUT - now
        if self._stock.registers(*chosen, now) and self._times.registration <= left:
            self._clock.call_later(
                self._times.registration, lambda: self._register(name)
            )
        else:
            text = "its node did not register within 15 minutes"
            self._give_up_later(left, name, text)

    def _give_up_later(self, seconds: float, name: str, reason: str) -> None:
        # In the background: a cloud that never makes a node would keep a simulation
        # from its end.
        self._clock.call_later(
            seconds, lambda: self._give_up(name, reason), background=True
        )

    def _give_up(self, name: str, reason: str) -> None:
        """End a claim whose machine takes too long; its pods are tried again."""
        self._launching.pop(name, None)
        self.end(name, reason)
        self._changed()

    def _register(self, name: str) -> None:
        claim = self.claim(name)
        if claim is None or name not in self.machines:
            return
        now = self._clock.now()
        self.machines[name].registered = now
        self._cluster.create(new_node(claim, now))
        named = replace(claim, status=replace(claim.status, node_name=name))
        self._cluster.update(with_condition(named, "Registered", now))
        self._clock.call_later(self._times.readiness, lambda: self._be_ready(name))

    def _be_ready(self, name: str) -> None:
        node = self.node(name)
        if node is None:
            return
        now = self._clock.now()
        self.machines[name].ready = now
        self._cluster.update(as_ready(node, now))
        claim = self.claim(name)
        waits = claim is not None and claim.spec.startup_taints
        seconds = self._times.startup_taints if waits else 0.0
        self._clock.call_later(seconds, lambda: self._initialize(name))

    def _initialize(self, name: str) -> None:
        node, claim = self.node(name), self.claim(name)
        if node is None or claim is None:
            return
        now = self._clock.now()
        self._cluster.update(as_initialized(node, claim))
        ready = with_condition(with_condition(claim, "Initialized", now), "Ready", now)
        self._cluster.update(ready)
        self._changed()

    def end(self, name: str, reason: str) -> None:
        """Remove a machine, its node and its claim."""
        machine = self.machines.get(name)
        if machine is not None and machine.ended is None:
            machine.ended = self._clock.now()
            self._running.pop(name, None)
            self.claims_by_node.pop(machine.node, None)
            machine.removed_for = machine.removed_for or reason
        node = self.node(machine.node) if machine is not None else None
        if node is not None:
            self._remove(node)
        claim = self.claim(name)
        if claim is not None:
            self._remove(claim)

    def _remove(self, obj: ApiObject) -> None:
        """Delete an object, whatever holds it."""
        kept = tuple(f for f in obj.metadata.finalizers if f != FINALIZER)
        if kept != obj.metadata.finalizers:
            metadata = replace(obj.metadata, finalizers=kept)
            self._cluster.update(replace(obj, metadata=metadata))
        # A deleted object has gone with its last finalizer.
        try:
            self._cluster.delete(type(obj), obj.key)
        except NotFoundError:
            return

    def claim(self, name: str) -> NodeClaim | None:
        """Return a claim, or None."""
        try:
            return self._cluster.get(NodeClaim, name)
        except NotFoundError:
            return None

    def node(self, name: str) -> Node | None:
        """Return a node, or None."""
        try:
            return self._cluster.get(Node, name)
        except NotFoundError:
            return None

    def prices(self) -> Mapping[str, float | None]:
        """Return the prices of the machines that exist, by node."""
        return {each.node: each.price for each in self.running()}

    def record(
        self,
        obj: ApiObject,
        reason: str,
        text: str | Callable[[], str],
        kind: str = "Normal",
    ) -> None:
        """Write an event of Karpenter."""
        self._cluster.record(
            EventNote(
                regarding=obj,
                type=kind,
                reason=reason,
                action=_ACTION,
                note=text,
                reporter=_REPORTER,
            )
        )
