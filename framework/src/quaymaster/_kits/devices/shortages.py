"""Explains in words why claims get no devices on a node.

Upstream reports only that it cannot allocate all claims. Here each request is examined
alone first: which devices fit, and what rejects the others. If each request could be
served alone, the requests conflict: searches without a constraint, or with fewer
requests, find out which.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import DeviceConstraint
from quaymaster._base.errors import counted
from quaymaster._kits.devices.errors import AllocationError, StepLimitError
from quaymaster._kits.devices.inventory import NodeDevices
from quaymaster._kits.devices.obstacles import BlockedDevice, Obstacles
from quaymaster._kits.devices.requests import ClaimRequests, Request
from quaymaster._kits.devices.search import MAX_RESULTS

__all__ = ["Shortage", "shortages"]

_Search = Callable[[Sequence[ClaimRequests]], bool]
"""Whether claims could be served on the node."""

_TOO_MANY: Final = f"the claim wants more than {MAX_RESULTS} devices"


@attrs.frozen(kw_only=True)
class Shortage:
    """A request that gets no devices on a node.

    Attributes:
        claim: The claim, as messages name it.
        request: The request, or the alternative: ``request/alternative``.
        wanted: The number of requested devices; None means all that match.
        devices: The number of devices that the node can reach.
        fitting: How many of them fit, each by itself.
        obstacles: Obstacle of other devices -> their number, the most frequent first.
        together: Why the fitting devices cannot serve it together; empty if there are
            too few of them.
        blocked: The devices that do not fit, in the order of the search.
        pools: Pools that provide no devices -> why.
    """

    claim: str
    request: str
    wanted: int | None
    devices: int
    fitting: int
    obstacles: Mapping[str, int]
    together: str = ""
    blocked: tuple[BlockedDevice, ...] = attrs.field(default=(), repr=False)
    pools: Mapping[str, str] = attrs.field(factory=dict)

    def __str__(self) -> str:
        """Return the shortage as one sentence, which names no device and no pool."""
        return self.told(f"claim {self.claim}, request {self.request}")

    def told(self, subject: str) -> str:
        """Return the shortage as one sentence about a subject of the caller."""
        amount = "all" if self.wanted is None else str(self.wanted)
        problems = Counter(self.pools.values())
        parts = [
            *(f"{count} {what}" for what, count in self.obstacles.items()),
            *(f"{counted(count, 'pool')} {why}" for why, count in problems.items()),
        ]
        if self.together:
            parts.append(self.together)
        text = f"{self.fitting} of {counted(self.devices, 'device')} would do"
        if not self.devices:
            text = "but the node has no devices"
        why = f": {', '.join(parts)}" if parts else ""
        return f"{subject}: wants {amount}, {text}{why}"


def shortages(
    claims: Sequence[ClaimRequests],
    search: _Search,
    devices: NodeDevices,
    obstacles: Obstacles,
) -> Sequence[Shortage]:
    """Return the requests that cannot be served, and why.

    Args:
        claims: The claims, in the order in which they are served.
        search: Returns whether claims could be served on the node.
        devices: The pools that the node sees.
        obstacles: Finds why single devices cannot serve single requests.

    Returns:
        The requests that cannot be served even alone, with one entry for each
        alternative. If there are none, the first one that cannot be served together
        with earlier ones. Empty if all claims can be served.
    """
    if _can(search, claims):
        return ()
    alone = [
        shortage
        for claim in claims
        for choice in claim.choices
        for shortage in _unserved(claim, choice, devices, obstacles)
    ]
    return alone or list(_crowded_out(claims, search, devices, obstacles))


def _can(search: _Search, claims: Sequence[ClaimRequests]) -> bool:
    try:
        return search(claims)
    except (AllocationError, StepLimitError):
        return False


def _unserved(
    claim: ClaimRequests,
    choice: Sequence[Request],
    devices: NodeDevices,
    obstacles: Obstacles,
) -> Sequence[Shortage]:
    """Return the alternatives of a request, if none could be served even alone."""
    shortages = [_shortage(claim, request, devices, obstacles) for request in choice]
    return [] if any(map(_is_enough, choice, shortages)) else shortages


def _is_enough(request: Request, shortage: Shortage) -> bool:
    if not request.wants_all:
        return shortage.fitting >= request.count
    # All selected devices with room must be free.
    blocked = shortage.blocked
    return shortage.fitting > 0 and not any(item.is_asked_for for item in blocked)


def _shortage(
    claim: ClaimRequests, request: Request, devices: NodeDevices, obstacles: Obstacles
) -> Shortage:
    seen = [
        (device, pool)
        for device, pool in devices.candidates
        if obstacles.is_reached(device)
    ]
    blocked = [
        BlockedDevice(device=device.id, causes=causes)
        for device, pool in seen
        if (causes := obstacles.of(request, claim, device, pool))
    ]
    groups = Counter(item.text for item in blocked)
    # Sorted, so that nodes with similar devices have the same message.
    ordered = sorted(groups.items(), key=lambda group: (-group[1], group[0]))
    return Shortage(
        claim=claim.name,
        request=request.full_name,
        wanted=None if request.wants_all else request.count,
        devices=len(seen),
        fitting=len(seen) - len(blocked),
        obstacles=dict(ordered),
        blocked=tuple(blocked),
        pools=dict(_pool_problems(devices)),
    )


def _pool_problems(devices: NodeDevices) -> Iterator[tuple[str, str]]:
    for pool in devices.pools:
        if pool.is_incomplete:
            yield str(pool.id), "being updated"
        elif pool.problem:
            yield str(pool.id), f"invalid ({pool.problem})"


def _crowded_out(
    claims: Sequence[ClaimRequests],
    search: _Search,
    devices: NodeDevices,
    obstacles: Obstacles,
) -> Iterator[Shortage]:
    """Return the first request that cannot be served together with earlier ones."""
    for number, claim in enumerate(claims):
        for count in range(1, len(claim.choices) + 1):
            part = attrs.evolve(claim, choices=claim.choices[:count])
            before = claims[:number]
            if _can(search, [*before, part]):
                continue
            for request in claim.choices[count - 1]:
                shortage = _shortage(claim, request, devices, obstacles)
                if _is_enough(request, shortage):
                    reason = _reason(before, part, request, shortage, search)
                    yield attrs.evolve(shortage, together=reason)
                else:
                    yield shortage
            return


def _reason(
    before: Sequence[ClaimRequests],
    part: ClaimRequests,
    request: Request,
    shortage: Shortage,
    search: _Search,
) -> str:
    """Return what prevents the last request of a claim from being served."""
    *earlier, _ = part.choices
    constraints = part.claim.spec.devices.constraints
    with_earlier = attrs.evolve(part, choices=[*earlier, [request]])
    broken = [
        _constraint_text(index, constraint)
        for index, constraint in enumerate(constraints)
        if _can(
            search,
            [
                *before,
                _constrained(
                    with_earlier, (*constraints[:index], *constraints[index + 1 :])
                ),
            ],
        )
    ]
    if broken:
        return f"no combination satisfies {' or '.join(broken)}"
    if constraints and _can(search, [*before, _constrained(with_earlier, ())]):
        return "no combination satisfies all constraints"
    if _least(part) > MAX_RESULTS or (
        shortage.fitting > MAX_RESULTS and request.wants_all
    ):
        return _TOO_MANY
    if _can(search, [attrs.evolve(part, choices=[[request]])]):
        return "others go to the requests before it"
    return "they take more than there is of what they share"


def _least(claim: ClaimRequests) -> int:
    """Return the minimum number of devices of a claim, without requests for all."""
    return sum(
        min(0 if request.wants_all else request.count for request in choice)
        for choice in claim.choices
    )


def _constrained(
    claim: ClaimRequests, constraints: Iterable[DeviceConstraint]
) -> ClaimRequests:
    """Return the claim with other constraints."""
    devices = replace(claim.claim.spec.devices, constraints=tuple(constraints))
    spec = replace(claim.claim.spec, devices=devices)
    return attrs.evolve(claim, claim=replace(claim.claim, spec=spec))


def _constraint_text(index: int, constraint: DeviceConstraint) -> str:
    match, distinct = constraint.match_attribute, constraint.distinct_attribute
    what = f"matchAttribute {match}" if match else f"distinctAttribute {distinct}"
    return f"constraint #{index} ({what})"
