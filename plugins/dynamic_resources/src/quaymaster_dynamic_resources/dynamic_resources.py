"""Allocate the devices that pods claim.

An unallocated claim gets the first suitable devices on a node, together with the other
claims of the pod. An allocated claim restricts the pod to the nodes that can use its
devices. Extended resources with a device class are served by an implicit claim.
Reserve reserves the devices, and PreBind writes them. PreBind then waits until drivers
report the devices ready.

Mirrors ``DynamicResources`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources``).
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

import numpy as np

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    default_normalize,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.devices import DeviceTotals, ExtendedResources
from quaymaster.errors import SelectorError
from quaymaster.hookspecs import MemberAttempt, PodGroupInfo
from quaymaster.objects import (
    AllocationResult,
    DeviceClass,
    DeviceTaintRule,
    NodeMatcher,
    PodGroup,
    ResourceClaim,
    ResourceSlice,
    compile_node_selector,
)
from quaymaster_dynamic_resources.args import DynamicResourcesArgs
from quaymaster_dynamic_resources.binding import ClaimBinder
from quaymaster_dynamic_resources.cached_verdicts import CachedVerdicts, VerdictMemo
from quaymaster_dynamic_resources.claims import (
    claims_of,
    may_need_devices,
)
from quaymaster_dynamic_resources.extended import (
    extended_amounts,
    make_claim,
)
from quaymaster_dynamic_resources.filtering import NodeJudge
from quaymaster_dynamic_resources.group_claims import (
    ClaimError,
    GroupClaims,
    pending_claims,
)
from quaymaster_dynamic_resources.group_post_filter import ClaimReleaser
from quaymaster_dynamic_resources.hints import (
    after_claim_change,
    after_claim_generation,
    claim_keys,
    keys_of_claim_change,
)
from quaymaster_dynamic_resources.score import score_of
from quaymaster_dynamic_resources.settlements import Settlements
from quaymaster_dynamic_resources.state import ClaimsState, NodeAllocation
from quaymaster_dynamic_resources.tracker import ClaimTracker
from quaymaster_dynamic_resources.verification import differences
from quaymaster_dynamic_resources.writes import WriteError

__all__ = ["DynamicResources"]

_STATE: Final = StateKey[ClaimsState](
    "DynamicResources",
    missing="not found",
)
# Shared by all pods without claims, which are most pods; never modified.
_NO_CLAIMS: Final = ClaimsState()
_SKIP: Final = Status.skip()
_NOTHING_TO_FREE: Final = Status.unschedulable("no new claims to deallocate")
_NOT_SETTLED: Final = Status.unresolvable(
    "the claims of its last attempt are still being given back"
)
_STILL_NOT: Final = Status.unschedulable("still not schedulable")
_NO_MESSAGE: Final = Status.unschedulable()


class DynamicResources:
    """Allocates devices to pods, and rejects nodes without suitable devices.

    Args:
        args: The limits for searching devices and for waiting.
        handle: The framework.
    """

    Args = DynamicResourcesArgs
    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = (DeviceClass, DeviceTaintRule, PodGroup, ResourceClaim, ResourceSlice)
    writes = (
        Write(Verb.CREATE, ResourceClaim),
        Write(Verb.UPDATE, ResourceClaim),
        Write(Verb.DELETE, ResourceClaim),
        Write(Verb.PATCH, ResourceClaim, "status"),
        # API servers also require this right if allocation or reservation changes.
        Write(Verb.PATCH, ResourceClaim, "binding"),
        Write(Verb.PATCH, Pod, "status"),
    )
    blocks = False
    skips_binding = True
    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "bound pods": (
            "as upstream's Unreserve: Kubernetes' controller of resource claims "
            "reserves them again for pods that have a node"
        )
    }

    def __init__(self, args: DynamicResourcesArgs, handle: Handle) -> None:
        self._handle = handle
        informers = handle.informers
        kubernetes = handle.kubernetes
        self._reads_rules = kubernetes.reads(DeviceTaintRule.kind)
        self._tracker = handle.shared(
            ClaimTracker, lambda: ClaimTracker(informers, kubernetes)
        )
        handle.shared(DeviceTotals, DeviceTotals).follow(self._tracker)
        self._resources = ExtendedResources(informers)
        timeout = args.binding_timeout.total_seconds()
        self._judge = NodeJudge(args, handle, self._tracker, self._resources)
        self._memo = VerdictMemo(self._tracker, self._class_revision)
        self._settlements = handle.shared(
            Settlements, lambda: Settlements(self._tracker)
        )
        self._groups = GroupClaims(handle)
        self._binder = ClaimBinder(
            handle, self._tracker, self._settlements, self._groups, timeout
        )
        self._releaser = ClaimReleaser(
            handle, self._tracker, self._settlements, self._groups
        )
        self._is_silent = handle.kubernetes.has("preemption-messages")
        self._without_claims = PostFilterResult(
            _NO_MESSAGE if self._is_silent else _NOTHING_TO_FREE,
            # A pod with claims fails in another way: `sign_pod` does not sign it.
            repeats=lambda _pod: True,
        )
        self._registers_deleted_claims = handle.kubernetes.since("1.37")
        gate = "TopologyAwareWorkloadScheduling"
        self._has_topology = handle.kubernetes.enabled(gate)

    def allocations(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[tuple[ResourceClaim, AllocationResult]]:
        """Return the allocations of a pod's claims on a node that passed."""
        allocation = self._allocation_on(state.get(_STATE) or _NO_CLAIMS, pod, node)
        if allocation is None:
            return ()
        return list(zip(allocation.claims, allocation.results, strict=True))

    def unavailable_claims(self, state: CycleState) -> Sequence[ResourceClaim]:
        """Return the claims whose devices some node could not use, in order."""
        return (state.get(_STATE) or _NO_CLAIMS).unavailable_claims

    @hookimpl
    def start(self) -> None:
        # The tracker outlives a reload, which may switch the gate.
        self._tracker.read_rules(is_on=self._reads_rules)
        self._settlements.resume(self._handle)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        # Pods with claims are never alike to the framework, since claims change while
        # pods wait. `VerdictMemo` caches for them, with knowledge of devices.
        return None if may_need_devices(pod) else ()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        add_or_update = Change.ADD | Change.UPDATE
        change = Change.ALL if self._registers_deleted_claims else add_or_update
        claims = EventsOf(ResourceClaim)(change, self._after_claim_change)
        nodes = Change.ADD | Change.UPDATE_NODE_LABEL | Change.UPDATE_NODE_ALLOCATABLE
        generated = Change.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        return [
            on_node(nodes),
            claims.indexed(claim_keys, keys_of_claim_change),
            on_pod.target(generated, self._after_claim_generation),
            EventsOf(DeviceClass)(add_or_update),
            EventsOf(ResourceSlice)(add_or_update),
        ]

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.spec.resource_claims:
            return None
        try:
            claims_of(self._tracker, pod, self._groups)
        except ClaimError as error:
            return Status.unresolvable(str(error))
        return None

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        state[_STATE] = _NO_CLAIMS
        # Before anything can end this hook: Reserve and PreBind read the state of pods
        # without claims, too.
        try:
            claims = claims_of(self._tracker, pod, self._groups)
            consumers = self._groups.consumers(pod)
        except ClaimError as error:
            return Status.unresolvable(str(error))
        prepared = ClaimsState(claims, consumers=consumers)
        self._add_extended(prepared, pod)
        if not prepared.claims:
            return _SKIP
        # Only pods with claims must wait here: the stored claims are in doubt until the
        # last attempt is undone, and devices could be given twice.
        if self._settlements.holds_up(pod):
            return _NOT_SETTLED
        self._share(prepared, pending_claims(state))
        status = next(self._problems(prepared), None)
        if status is not None:
            return status
        try:
            # Compiled once for all nodes. A selector that cannot be parsed is an error
            # of the pod and not of a node.
            prepared.matchers = [
                _matcher(claim.status.allocation or prepared.pending.get(at))
                for at, claim in enumerate(prepared.claims)
            ]
        except SelectorError as error:
            return Status.from_error(error)
        prepared.needs_devices = bool(prepared.to_allocate)
        prepared.has_alternatives = any(map(_has_alternatives, prepared.claims))
        state[_STATE] = prepared
        return None

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        claims = state[_STATE]
        return self._judge.judge(claims, pod, node) if claims.claims else None

    @hookimpl
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        claims = state[_STATE]
        if not claims.claims:
            return None
        # Before the verdicts are read: it notes the nodes that have changed.
        self._tracker.take_stock()
        verdicts = self._memo.of(claims, pod)
        if verdicts is None:
            verdicts = CachedVerdicts()
        verdicts.catch_up(nodes, self._tracker.changes)
        error = verdicts.fill(
            nodes,
            rows,
            lambda node: self._judge.judge(claims, pod, node),
            claims.results_on,
        )
        if error is not None:
            return error
        claims.verdicts = verdicts
        # A copy: the result is read later, when the cache may have changed.
        codes, statuses = verdicts.codes[rows].copy(), verdicts.statuses
        return NodeVerdicts(codes, lambda code: statuses[code - 1])

    @hookimpl
    def explain_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[str]:
        return self._judge.explain(state[_STATE], pod, node)

    @hookimpl
    def post_filter(self, state: CycleState, pod: Pod) -> PostFilterResult | Status:
        claims = state[_STATE]
        if not claims.claims:
            return self._without_claims
        try:
            status = self._releaser.free(claims, pod)
        except ApiError as error:
            return Status.from_error(error)
        if status is not None:
            return status
        return _NO_MESSAGE if self._is_silent else _STILL_NOT

    @hookimpl
    def pod_group_post_filter(
        self, group: PodGroupInfo, attempts: Sequence[MemberAttempt]
    ) -> Status:
        has_constraints = group.group.spec.scheduling_constraints is not None
        if group.is_composite or (self._has_topology and has_constraints):
            return _NO_MESSAGE
        prepared = [attempt for attempt in attempts if _STATE in attempt.state]
        if not prepared:
            # Upstream's text: no pod has left anything in the state of the group.
            return Status.from_error("not found")
        try:
            return self._releaser.free_for_group(
                group, [(attempt.pod, attempt.state[_STATE]) for attempt in prepared]
            )
        except (ApiError, ClaimError) as error:
            return Status.from_error(str(error))

    @hookimpl
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        claims = state[_STATE]
        allocation = (
            self._allocation_on(claims, pod, node) if claims.has_alternatives else None
        )
        return 0 if allocation is None else score_of(claims.claims, allocation.results)

    @hookimpl
    def score_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        claims = state[_STATE]
        scores = np.zeros(nodes.count(rows), dtype=np.int64)
        if claims.has_alternatives:
            # Without ``firstAvailable`` all scores are 0, so the allocations need not
            # be read.
            for at, node in enumerate(nodes.infos_at(rows)):
                allocation = self._allocation_on(claims, pod, node)
                if allocation is not None:
                    scores[at] = score_of(claims.claims, allocation.results)
        return scores

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores)

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        claims = state[_STATE]
        if not claims.claims:
            return None
        node = self._handle.snapshot.get(node_name)
        if node is not None:
            # For a node with a cached verdict, the devices are taken over, or searched,
            # only here.
            self._allocation_on(claims, pod, node)
        return self._binder.reserve(claims, node_name, pending_claims(state))

    @hookimpl
    def unreserve(self, state: CycleState, pod: Pod) -> None:
        claims = state.get(_STATE)
        if claims is not None and claims.claims:
            self._binder.unreserve(claims, pod, pending_claims(state))

    @hookimpl
    def verify_reserve(self, state: CycleState, node_name: str) -> Sequence[str]:
        node = self._handle.snapshot.get(node_name)
        claims = state[_STATE]
        if node is None or not claims.reserved:
            return ()
        return list(differences(claims, node.node, self._judge, self._tracker))

    @hookimpl
    def pre_bind_pre_flight(self, state: CycleState) -> PreBindPreFlightResult | Status:
        return PreBindPreFlightResult(True) if state[_STATE].claims else _SKIP

    @hookimpl
    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindWait | Status | None:
        claims = state[_STATE]
        if not claims.claims:
            return None
        try:
            self._binder.write(claims, pod, node_name)
        except WriteError as error:
            return Status.from_error(str(error))
        return self._binder.wait(claims, pod, node_name)

    def _allocation_on(
        self, claims: ClaimsState, pod: Pod, node: NodeInfo
    ) -> NodeAllocation | None:
        """Return a pod's allocation on a node that passed, or None if it needs none."""
        allocation = claims.allocations.get(node.name)
        verdicts = claims.verdicts
        if (
            allocation is None
            and verdicts is not None
            and verdicts.has_passed(node.row)
        ):
            # The verdict was cached, and nothing has changed since.
            results = verdicts.results.get(node.row)
            if results is None:
                self._judge.judge(claims, pod, node)
            else:
                claims.take_on(node, results)
            allocation = claims.allocations.get(node.name)
        return allocation

    def _add_extended(self, claims: ClaimsState, pod: Pod) -> None:
        """Add the implicit claim, if devices serve any of the extended resources."""
        amounts = extended_amounts(pod, self._resources)
        if amounts is None:
            return
        claims.implicit, claims.amounts = len(claims.claims), amounts
        earlier = self._tracker.extended_claims_of(pod)
        claim = earlier[0] if earlier else make_claim(pod, self._tracker.new_uid())
        claims.implicit_uid = claim.uid
        claims.claims.append(claim)

    def _share(self, claims: ClaimsState, pending: set[str] | None) -> None:
        """Use the allocations that other pods of the group reserved in this cycle."""
        if not pending:
            return
        for place in claims.to_allocate:
            uid = claims.claims[place].uid
            allocation = self._tracker.pending(uid) if uid in pending else None
            if allocation is not None:
                claims.pending[place] = allocation

    def _problems(self, claims: ClaimsState) -> Iterator[Status]:
        """Yield the reasons why claims cannot be allocated on any node."""
        for place in claims.to_search:
            claim = claims.claims[place]
            if self._tracker.is_in_flight(claim.uid):
                yield Status.unresolvable(
                    f"resource claim {claim.key} is in the process of being allocated"
                )
            if place == claims.implicit:
                continue
            for name, class_name in _classes(claim):
                if class_name is None:
                    yield Status.unresolvable(
                        f"resource claim {claim.key}, request {name}: unknown request "
                        "type"
                    )
                elif not class_name:
                    text = f"request {name}: unsupported request type"
                    yield Status.from_error(text)
                elif self._handle.informers.get(DeviceClass, class_name) is None:
                    yield Status.unresolvable(
                        f"request {name}: device class {class_name} does not exist"
                    )

    def _class_revision(self) -> int:
        return self._resources.revision

    def _after_claim_change(
        self, pod: Pod, old: ApiObject | None, new: ApiObject | None
    ) -> QueueingHint:
        # Registered only for claims.
        assert new is None or isinstance(new, ResourceClaim)
        assert old is None or isinstance(old, ResourceClaim)
        return after_claim_change(self._tracker, self._groups, pod, old, new)

    def _after_claim_generation(self, pod: Pod, _old: Pod, new: Pod) -> QueueingHint:
        return after_claim_generation(self._tracker, self._groups, pod, new)


def _matcher(allocation: AllocationResult | None) -> NodeMatcher | None:
    """Return a matcher for the nodes that can use a claim's devices; None means all.

    Raises:
        SelectorError: The selector is invalid.
    """
    if allocation is None or allocation.node_selector is None:
        return None
    matcher = compile_node_selector(allocation.node_selector)
    matcher.check()
    return matcher


def _classes(claim: ResourceClaim) -> Iterator[tuple[str, str | None]]:
    """Yield the name and the class of each request; None if it has no class."""
    for request in claim.spec.devices.requests:
        if request.exactly is not None:
            yield request.name, request.exactly.device_class_name
        elif request.first_available:
            for alternative in request.first_available:
                yield (
                    f"{request.name}/{alternative.name}",
                    alternative.device_class_name,
                )
        else:
            yield request.name, None


def _has_alternatives(claim: ResourceClaim) -> bool:
    return any(request.first_available for request in claim.spec.devices.requests)
