"""Claims for new nodes, while pods join them and when they are complete.

Mirrors ``nodeclaim.go`` and ``ToNodeClaim`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from quaymaster._api.objects import Pod, Taint
from quaymaster._api.objects.quantity import ResourceList
from quaymaster._api.objects.resource_sums import add_to
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    added,
    request_list,
    smallest_lists,
)
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
    compatible_offerings,
    launchable,
    order_by_price,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    HOSTNAME,
    INSTANCE_TYPE,
    RESERVED,
    RESTRICTED_LABELS,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.chance import Chance
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import PodData
from quaymaster._studies.autoscaling.karpenter.solve.refusals import Cause, Refusal
from quaymaster._studies.autoscaling.karpenter.solve.reservations import Reservations
from quaymaster._studies.autoscaling.karpenter.solve.templates import (
    SIMULATED_LABELS,
    PoolTemplate,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology import Topology
from quaymaster._studies.autoscaling.karpenter.taints import (
    tolerates_all,
    untolerated_text,
)

__all__ = ["Joining", "OpenClaim", "ProposedClaim", "as_created", "open_labels"]

_RELAXED_MIN_VALUES = "karpenter.sh/nodeclaim-min-values-relaxed"
_PRICE_OVERLAY = "karpenter.sh/price-overlay-applied"
_CAPACITY_OVERLAY = "karpenter.sh/capacity-overlay-applied"


@attrs.frozen(kw_only=True, eq=False)
class ProposedClaim:
    """A claim that a round would make.

    Attributes:
        pool: Its pool.
        pods: The pods that it is for.
        instance_types: The types that it may be of, the cheapest first.
        requirements: What its labels can be, without the type.
        requests: What its pods and the DaemonSets request.
        labels: The labels that its node gets.
        annotations: Its annotations.
        reserved_offerings: The reserved capacity that it holds.
    """

    pool: NodePool
    pods: Sequence[Pod]
    instance_types: Sequence[InstanceType]
    requirements: Requirements
    requests: ResourceList
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    reserved_offerings: Sequence[Offering] = ()

    @property
    def taints(self) -> Sequence[Taint]:
        """The taints of its node."""
        return self.pool.spec.template.spec.taints

    @property
    def startup_taints(self) -> Sequence[Taint]:
        """The taints that its node has until it has started."""
        return self.pool.spec.template.spec.startup_taints

    def requirement_trees(self) -> list[dict[str, Any]]:
        """Return the requirements as the spec of a NodeClaim has them."""
        types: dict[str, Any] = {
            "key": INSTANCE_TYPE,
            "operator": "In",
            "values": sorted(each.name for each in self.instance_types),
        }
        least = self.requirements.get(INSTANCE_TYPE).min_values
        if least is not None:
            types["minValues"] = least
        others = [
            tree
            for tree in self.requirements.trees()
            if tree["key"] not in SIMULATED_LABELS and tree["key"] != INSTANCE_TYPE
        ]
        if self.pool.is_static:
            # The cloud chooses the type, so upstream lists none.
            trees = self.requirements.trees()
            return [tree for tree in trees if tree["key"] not in SIMULATED_LABELS]
        return sorted([*others, types], key=lambda tree: tree["key"])


@attrs.frozen
class Joining:
    """What a claim would be like with one more pod.

    Attributes:
        requirements: What its labels could be.
        types: The types that it could be of, as bits.
        offerings: The reserved offerings that it would hold.
    """

    requirements: Requirements
    types: int
    offerings: Sequence[Offering]


class OpenClaim:
    """A claim that pods can still join.

    Args:
        template: The pool.
        host: A placeholder for the name of its host.
        types: The types that limits leave.
        topology: The constraints of pods.
        reservations: Reserved capacity.
        options: The options.
    """

    def __init__(
        self,
        template: PoolTemplate,
        host: str,
        types: int,
        topology: Topology,
        reservations: Reservations,
        options: KarpenterOptions,
    ) -> None:
        self.template = template
        self.pods: list[Pod] = []
        self.types = types
        self.requirements = template.requirements.copy()
        self.requirements.add([Requirement.of(HOSTNAME, "In", (host,))])
        self.relaxes_min_values = False
        self._host = host
        self._topology = topology
        self._reservations = reservations
        self._options = options
        self._requests: Amounts = {}
        self._volumes: dict[str, frozenset[str]] = {}
        self._ports = [group.ports.copy() for group in template.type_filter.groups]
        self._offerings: Sequence[Offering] = []

    def try_pod(self, data: PodData, *, relax_min_values: bool) -> Joining | Refusal:
        """Return what the claim would be like with a pod, or why it cannot join."""
        pod, taints = data.pod, self.template.taints
        # The order of these checks is that of ``CanAdd`` (nodeclaim.go): taints,
        # volumes, labels, topology, types. It decides which error users read, since the
        # first refusal is the only one.
        if taints and not tolerates_all(taints, pod.spec.tolerations):
            return Refusal(lambda: untolerated_text(taints, pod.spec.tolerations))
        types = self._with_room_for_volumes(data) if data.volumes else self.types
        if not types:
            return Refusal.of("would exceed volume limit for all instance type options")
        well_known = self._options.well_known_labels
        if not self.requirements.compatible(data.requirements, well_known):
            problem = self.requirements.problem_with(data.requirements, well_known)
            return Refusal.of(f"incompatible requirements, {problem}")
        requirements = self.requirements.copy()
        requirements.add(data.requirements)
        result: Joining | Refusal = Refusal.of("")
        # These places are alternatives. The first that works is taken, though a later
        # one might leave cheaper types.
        for places in data.volume_alternatives or (None,):
            result = self._try_place(
                data, types, requirements, places, relax_min_values
            )
            if isinstance(result, Joining):
                break
        return result

    def _with_room_for_volumes(self, data: PodData) -> int:
        """Return the types that can attach the volumes of all pods."""
        index = self.template.type_filter.index
        types = self.types
        for driver in self._volumes.keys() | data.volumes.keys():
            claims = self._volumes.get(driver, frozenset())
            count = len(claims | data.volumes.get(driver, frozenset()))
            for place, each in enumerate(index.types):
                if count > each.volume_limits.get(driver, count):
                    types &= ~(1 << place)
        return types

    def _try_place(
        self,
        data: PodData,
        types: int,
        base: Requirements,
        places: Requirements | None,
        relax_min_values: bool,
    ) -> Joining | Refusal:
        """Try one of the places where the volumes of the pod can be."""
        well_known = self._options.well_known_labels
        requirements = base
        if places is not None:
            if not base.compatible(places, well_known):
                problem = base.problem_with(places, well_known)
                return Refusal.of(f"incompatible volume requirements, {problem}")
            requirements = base.copy()
            requirements.add(places)
        if self._topology.concerns(data.pod):
            narrowed = self._topology.narrowed(data.pod, data.strict, requirements)
            if isinstance(narrowed, Refusal):
                return narrowed
            if not requirements.compatible(narrowed, well_known):
                return Refusal.of(requirements.problem_with(narrowed, well_known))
            requirements = narrowed
        return self._select(data, types, requirements.copy(), relax_min_values)

    def _select(
        self,
        data: PodData,
        types: int,
        requirements: Requirements,
        relax_min_values: bool,
    ) -> Joining | Refusal:
        """Choose the types that are left, and reserved capacity."""
        selection = self.template.type_filter.select(
            requirements,
            data.pod,
            added(self._requests, data.requests),
            types,
            self._ports,
            relax_min_values=relax_min_values,
        )
        if relax_min_values:
            for key, count in selection.missing.items():
                requirements.replace(requirements.get(key).with_min_values(count))
        if not selection.types:
            return Refusal(selection.problem, cause=Cause.TYPES)
        reserved = self._to_reserve(requirements, selection.types)
        if isinstance(reserved, Refusal):
            return reserved
        return Joining(requirements, selection.types, reserved)

    def _to_reserve(
        self, requirements: Requirements, types: int
    ) -> Sequence[Offering] | Refusal:
        if not self._options.reserved_capacity or self._reservations.are_empty:
            return []
        offerings = self.template.type_filter.index.offerings(requirements, types)
        return self._reservations.to_reserve(self._host, offerings, self._offerings)

    def has_room(self, data: PodData) -> bool:
        """Return whether some type could hold a pod, whatever else it requires.

        This is cheap, and most claims that are full fail here.
        """
        total = added(self._requests, data.requests)
        type_filter = self.template.type_filter
        # A necessary condition only. Labels and topology are left to ``try_pod``, which
        # costs far more.
        return any(
            type_filter.index.have_room(
                added(total, group.overhead) if group.overhead else total,
                self.types & group.types,
            )
            for group in type_filter.groups
        )

    def join(self, data: PodData, joining: Joining) -> None:
        """Add a pod."""
        self.pods.append(data.pod)
        self.types = joining.types
        self.requirements = joining.requirements
        self._requests = added(self._requests, data.requests)
        for driver, claims in data.volumes.items():
            self._volumes[driver] = self._volumes.get(driver, frozenset()) | claims
        # Before the pod is counted: no group counts in the host of a new claim until
        # its first pod has joined.
        self._topology.register_host(self._host)
        self._topology.record(data.pod, self.template.taints, joining.requirements)
        for usage in self._ports:
            usage.add(data.pod)
        if joining.offerings or self._offerings:
            self._reservations.hold(self._host, self._offerings, joining.offerings)
            self._offerings = joining.offerings

    def completed(self, chance: Chance) -> ProposedClaim:
        """Return the claim as it would be made."""
        requirements = self.requirements.copy()
        # The host is a placeholder that only the topology needs. With it no real node
        # would match.
        requirements.remove(HOSTNAME)
        if self._offerings:
            names = [offering.reservation_id for offering in self._offerings]
            # Reservations are held for this claim alone, so it must not be launched as
            # anything else.
            requirements.replace(Requirement.of(CAPACITY_TYPE, "In", (RESERVED,)))
            requirements.add(
                [Requirement.of(self._options.reservation_label, "In", names)]
            )
        return ProposedClaim(
            pool=self.template.pool,
            pods=tuple(self.pods),
            instance_types=self.template.type_filter.index.members(self.types),
            requirements=requirements,
            requests=self._total_requests(),
            labels=open_labels(self.template, requirements, self._options, chance),
            annotations={
                **self.template.pool.spec.template.metadata.annotations,
                _RELAXED_MIN_VALUES: str(self.relaxes_min_values).lower(),
            },
            reserved_offerings=self._offerings,
        )

    def _total_requests(self) -> ResourceList:
        """Return what the pods request, and the least that DaemonSets need."""
        total = request_list(self.pods)
        # The type is not chosen yet. More than the least of all types could rule out
        # types on which the pods do fit.
        least: ResourceList = {}
        for group in self.template.type_filter.groups:
            if group.types & self.types:
                overhead = group.overhead_list
                least = smallest_lists(least, overhead) if least else overhead
        add_to(total, least)
        return total


def open_labels(
    template: PoolTemplate,
    requirements: Requirements,
    options: KarpenterOptions,
    chance: Chance,
) -> dict[str, str]:
    """Return the labels of a new node, with a value for each open custom label.

    Args:
        template: The pool of the node.
        requirements: What the labels can be.
        options: The options of Karpenter.
        chance: Draws the values.
    """
    hidden = options.well_known_labels | RESTRICTED_LABELS | SIMULATED_LABELS
    labels = dict(template.labels)
    for requirement in requirements:
        if requirement.key in hidden:
            continue
        value = _any_value(requirement, chance)
        if value:
            labels[requirement.key] = value
    return labels


def _any_value(requirement: Requirement, chance: Chance) -> str:
    """Return a value that a requirement allows; any number for an open one."""
    if not requirement.complement:
        return chance.choice(requirement.values) if requirement.values else ""
    least = 0 if requirement.gte is None else requirement.gte
    most = 2**63 - 2 if requirement.lte is None else requirement.lte
    return str(chance.number(least, most))


def as_created(claim: ProposedClaim, options: KarpenterOptions) -> ProposedClaim:
    """Return a claim with its cheapest types and the capacity types they have.

    Mirrors ``ToNodeClaim``.
    """
    well_known = options.well_known_labels
    types = order_by_price(claim.instance_types, claim.requirements, well_known)
    types = types[: options.max_instance_types]
    requirements = claim.requirements.copy()
    kinds = {
        offering.capacity_type
        for each in types
        for offering in compatible_offerings(
            launchable(each.offerings), requirements, well_known
        )
    }
    if kinds:
        requirements.add([Requirement.of(CAPACITY_TYPE, "In", kinds)])
    annotations = dict(claim.annotations)
    if any(each.has_price_overlay for each in types):
        annotations[_PRICE_OVERLAY] = "true"
    if any(each.has_capacity_overlay for each in types):
        annotations[_CAPACITY_OVERLAY] = "true"
    return attrs.evolve(
        claim,
        instance_types=types,
        requirements=requirements,
        annotations=annotations,
    )
