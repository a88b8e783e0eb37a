"""Makes the allocation result that is written into a claim.

Mirrors the end of ``Allocate`` and ``createNodeSelector``
(k8s.io/dynamic-resource-allocation v0.36 and v0.37,
``structured/internal/incubating/allocator_incubating.go``).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from quaymaster._api.objects import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from quaymaster._kits.devices.errors import AllocationError
from quaymaster._kits.devices.requests import ClaimRequests, Request
from quaymaster._kits.devices.rules import DeviceRules
from quaymaster._kits.devices.search import Chosen

__all__ = ["result_of"]


def result_of(
    claim: ClaimRequests,
    chosen: Sequence[Chosen],
    picked: Sequence[int],
    node: str,
    make_share_id: Callable[[], str],
    *,
    rules: DeviceRules,
) -> AllocationResult:
    """Make the result of a claim.

    Args:
        claim: The claim.
        chosen: Its devices.
        picked: Per request, which of its alternatives it was.
        node: The name of the node.
        make_share_id: Makes the name of one share of a device.
        rules: The rules of the search. Since Kubernetes 1.37 each configuration is
            written once, and names no requests if it is for all.

    Raises:
        AllocationError: A slice names several alternatives of nodes.
    """
    picks = [
        choice[number] for choice, number in zip(claim.choices, picked, strict=True)
    ]
    results = tuple(
        _device(device, make_share_id, skips_operations=rules.skips_operations)
        for device in chosen
    )
    config = (*_of_classes(picks), *_of_claim(claim, picks, rules.is_1_37))
    if rules.is_1_37:
        config = tuple(_for_all(item, picks) for item in config)
    return AllocationResult(
        devices=DeviceAllocationResult(results=results, config=config),
        node_selector=_node_selector(chosen, node, claim),
    )


def _device(
    chosen: Chosen, make_share_id: Callable[[], str], *, skips_operations: bool
) -> DeviceRequestAllocationResult:
    request, sliced = chosen.request, chosen.device
    skipped = sliced.slice.spec.skip_node_operations if skips_operations else ()
    return DeviceRequestAllocationResult(
        request=request.full_name,
        driver=sliced.id.driver,
        pool=sliced.id.pool,
        device=sliced.id.device,
        admin_access=True if request.has_admin_access else None,
        tolerations=tuple(request.tolerations),
        binding_conditions=sliced.device.binding_conditions,
        binding_failure_conditions=sliced.device.binding_failure_conditions,
        share_id=make_share_id() if sliced.is_shared else None,
        consumed_capacity=chosen.consumed or {},
        skip_node_operations=skipped,
    )


def _of_classes(picks: Iterable[Request]) -> Iterator[DeviceAllocationConfiguration]:
    """Return the configurations of each class once, for all requests that use it."""
    users: dict[str, list[Request]] = {}
    for request in picks:
        users.setdefault(request.device_class.name, []).append(request)
    for requests in users.values():
        # A class that two requests use yields one configuration that names both, not
        # two equal ones.
        names = tuple(request.full_name for request in requests)
        for config in requests[0].device_class.spec.config:
            yield DeviceAllocationConfiguration(
                source="FromClass", requests=names, opaque=config.opaque
            )


def _of_claim(
    claim: ClaimRequests, picks: Sequence[Request], joins_config: bool
) -> Iterator[DeviceAllocationConfiguration]:
    """Return the claim's configurations; as upstream, one copy per named request."""
    for config in claim.claim.spec.devices.config:
        copies = 1
        if config.requests:
            # Before 1.37 upstream appends the configuration in a loop over the
            # requests, so that a driver gets it once for each.
            copies = sum(_is_for(config.requests, request) for request in picks)
            if joins_config:
                copies = min(copies, 1)
        for _ in range(copies):
            yield DeviceAllocationConfiguration(
                source="FromClaim", requests=config.requests, opaque=config.opaque
            )


def _for_all(
    config: DeviceAllocationConfiguration, picks: Iterable[Request]
) -> DeviceAllocationConfiguration:
    """Return a configuration, without the names of requests if it names all."""
    if all(_is_for(config.requests, request) for request in picks):
        return replace(config, requests=())
    return config


def _is_for(names: Collection[str], request: Request) -> bool:
    return request.main_name in names or request.full_name in names


def _node_selector(
    chosen: Iterable[Chosen], node: str, claim: ClaimRequests
) -> NodeSelector | None:
    """Return the nodes that reach all devices; None if every node does."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for choice in chosen:
        device, spec = choice.device.device, choice.device.slice.spec
        of = device if spec.per_device_node_selection else spec
        # One device that is bound to the node binds the whole claim to it. Selectors of
        # the other devices no longer matter.
        if of.node_name is not None or device.binds_to_node:
            here = NodeSelectorRequirement(
                key="metadata.name", operator="In", values=(node,)
            )
            term = NodeSelectorTerm(match_fields=(here,))
            return NodeSelector(node_selector_terms=(term,))
        terms = of.node_selector.node_selector_terms if of.node_selector else ()
        if len(terms) > 1:
            raise AllocationError(
                f"create NodeSelector for claim {claim.claim.name}: unsupported "
                f"ResourceSlice.NodeSelector with {len(terms)} terms"
            )
        for selector_term in terms:
            _add_new(fields, selector_term.match_fields)
            _add_new(expressions, selector_term.match_expressions)
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(
        match_fields=tuple(fields), match_expressions=tuple(expressions)
    )
    return NodeSelector(node_selector_terms=(term,))


def _add_new(
    requirements: list[NodeSelectorRequirement],
    more: Iterable[NodeSelectorRequirement],
) -> None:
    for new in more:
        if not any(_is_same(new, other) for other in requirements):
            requirements.append(new)


def _is_same(first: NodeSelectorRequirement, other: NodeSelectorRequirement) -> bool:
    return (
        first.key == other.key
        and first.operator == other.operator
        and set(first.values) == set(other.values)
    )
