"""Why claims get no devices on a node, in words: for people, not for decisions.

Upstream says only that it cannot allocate all claims.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._devices.allocated import AllocatedDevices
from quaymaster._devices.capacities import CapacityError, has_room
from quaymaster._devices.counters import AvailableCounters, ConsumedCounters
from quaymaster._devices.errors import AllocationError, StepLimitError
from quaymaster._devices.ids import DeviceId
from quaymaster._devices.inventory import NodeDevices, Pool
from quaymaster._devices.requests import ClaimRequests, Request
from quaymaster._devices.sliced import SlicedDevice, VerdictError
from quaymaster._errors import counted
from quaymaster._objects import DeviceConstraint, Node

__all__ = ["Shortage", "shortages"]

_FITS: Final = ""
_NAMED: Final = 3
"""How many of the claims that have devices are named."""


@attrs.frozen(kw_only=True)
class Shortage:
    """A request that gets no devices on a node.

    Attributes:
        claim: The claim, as messages name it.
        request: The request, or the alternative: ``request/alternative``.
        wanted: How many devices it asks for; None stands for all that match.
        devices: How many devices the node sees.
        fitting: How many of them would do, each by itself.
        obstacles: What keeps others off -> how many, the most frequent first.
        together: Why those that would do cannot be had together; empty if there are too
            few of them.
    """

    claim: str
    request: str
    wanted: int | None
    devices: int
    fitting: int
    obstacles: Mapping[str, int]
    together: str = ""

    def __str__(self) -> str:
        """The shortage as one sentence."""
        return self.told(f"claim {self.claim}, request {self.request}")

    def told(self, subject: str) -> str:
        """Return the sentence about what wants the devices, named by somebody else."""
        wanted = "all" if self.wanted is None else str(self.wanted)
        parts = [f"{count} {what}" for what, count in self.obstacles.items()]
        if self.together:
            parts.append(self.together)
        of = f"{self.fitting} of {counted(self.devices, 'device')} would do"
        why = f": {', '.join(parts)}" if parts else ""
        return f"{subject}: wants {wanted}, {of}{why}"


def shortages(
    claims: Sequence[ClaimRequests],
    search: Callable[[Sequence[ClaimRequests]], bool],
    node: Node,
    devices: NodeDevices,
    allocated: AllocatedDevices,
    counters: AvailableCounters,
    holders: Mapping[DeviceId, Iterable[str]],
) -> Sequence[Shortage]:
    """Find the first request that cannot be served, and say why.

    Args:
        claims: The claims, in the order in which they are served.
        search: Says whether claims could be served on the node.
        node: The node.
        devices: What the node sees.
        allocated: The devices that are taken.
        counters: What these have left of the counters.
        holders: Device -> the claims that have it.

    Returns:
        One for each alternative of the request; none if all claims can be served.
    """
    found = _first_unserved(claims, search)
    if found is None:
        return ()
    before, claim = found
    judge = _Judge(node, devices, allocated, counters, holders)
    *earlier, choice = claim.choices
    return [
        judge.shortage(
            claim,
            request,
            _Together(before, attrs.evolve(claim, choices=earlier), request, search),
        )
        for request in choice
    ]


def _first_unserved(
    claims: Sequence[ClaimRequests],
    search: Callable[[Sequence[ClaimRequests]], bool],
) -> tuple[Sequence[ClaimRequests], ClaimRequests] | None:
    """The claims before, and the claim up to its first request that fails."""
    for number, claim in enumerate(claims):
        before = claims[:number]
        for count in range(1, len(claim.choices) + 1):
            part = attrs.evolve(claim, choices=claim.choices[:count])
            if not _can(search, [*before, part]):
                return before, part
    return None


def _can(
    search: Callable[[Sequence[ClaimRequests]], bool], claims: Sequence[ClaimRequests]
) -> bool:
    try:
        return search(claims)
    except (AllocationError, StepLimitError):
        return False


class _Judge:
    """Says of single devices why they will not do."""

    def __init__(
        self,
        node: Node,
        devices: NodeDevices,
        allocated: AllocatedDevices,
        counters: AvailableCounters,
        holders: Mapping[DeviceId, Iterable[str]],
    ) -> None:
        self._node = node
        self._devices = devices
        self._allocated = allocated
        self._counters = counters
        self._holders = holders

    def shortage(
        self, claim: ClaimRequests, request: Request, together: "_Together"
    ) -> Shortage:
        taken_by: set[str] = set()
        obstacles: Counter[str] = Counter()
        candidates = self._devices.candidates
        for device, pool in candidates:
            obstacle = self._obstacle(request, device, pool)
            if obstacle == _TAKEN:
                taken_by.update(self._holders.get(device.id, ()))
            obstacles[obstacle] += 1
        fitting = obstacles.pop(_FITS, 0)
        named = {
            _with_names(text, taken_by) if text == _TAKEN else text: count
            for text, count in obstacles.most_common()
        }
        for problem in self._pool_problems():
            named[problem] = 1
        wanted = None if request.wants_all else request.count
        are_enough = fitting >= (wanted or 1)
        return Shortage(
            claim=claim.name,
            request=request.full_name,
            wanted=wanted,
            devices=len(candidates),
            fitting=fitting,
            obstacles=named,
            together=together.reason() if are_enough else "",
        )

    def _obstacle(self, request: Request, device: SlicedDevice, pool: Pool) -> str:
        """What keeps a device off, whatever else is chosen; empty if nothing does."""
        for expression, where in request.expressions:
            try:
                if not device.matches(expression):
                    return f"not matching {_of(where)} ({expression})"
            except VerdictError as error:
                return f"without an answer to {_of(where)} ({error})"
        if device.slice.spec.per_device_node_selection and not device.is_on(self._node):
            return "for other nodes"
        if device.id in self._allocated.whole and not request.has_admin_access:
            return _TAKEN
        if not request.tolerates(device):
            return f"with taints ({', '.join(one.key for one in device.device.taints)})"
        if not self._has_room(request, device):
            return "without the capacity"
        consumes = device.device.consumes_counters
        if consumes and not ConsumedCounters(self._counters).take(device, pool):
            return f"without enough left of the counters of pool {pool.id}"
        return _FITS

    def _has_room(self, request: Request, device: SlicedDevice) -> bool:
        try:
            return has_room(
                device.device,
                request.capacity,
                self._allocated.consumed.of(device.id),
                {},
            )
        except CapacityError:
            return False

    def _pool_problems(self) -> Iterator[str]:
        for pool in self._devices.pools:
            if pool.is_incomplete:
                yield f"pool that is being updated ({pool.id})"
            elif pool.problem:
                yield f"pool that is invalid ({pool.id}: {pool.problem})"


class _Together:
    """Finds out why devices that would do cannot be had together.

    Args:
        before: The claims before.
        claim: The claim with the requests before.
        request: The request.
        search: Says whether claims could be served.
    """

    def __init__(
        self,
        before: Sequence[ClaimRequests],
        claim: ClaimRequests,
        request: Request,
        search: Callable[[Sequence[ClaimRequests]], bool],
    ) -> None:
        self._before = before
        self._claim = claim
        self._request = request
        self._search = search

    def reason(self) -> str:
        """The first of the reasons without which there would be devices."""
        constraints = self._claim.claim.spec.devices.constraints
        broken = [
            _constraint_text(index, one)
            for index, one in enumerate(constraints)
            if self._is_served([other for other in constraints if other != one])
        ]
        if broken:
            return f"no combination satisfies {' or '.join(broken)}"
        if constraints and self._is_served(()):
            return "no combination satisfies all constraints"
        if self._is_served(constraints, alone=True):
            return "others go to the requests before it"
        return "they take more than there is of what they share"

    def _is_served(
        self, constraints: Sequence[DeviceConstraint], *, alone: bool = False
    ) -> bool:
        claim = self._claim.claim
        devices = replace(claim.spec.devices, constraints=tuple(constraints))
        spec = replace(claim.spec, devices=devices)
        earlier = () if alone else self._claim.choices
        part = attrs.evolve(
            self._claim,
            claim=replace(claim, spec=spec),
            choices=[*earlier, [self._request]],
        )
        return _can(self._search, [part] if alone else [*self._before, part])


_TAKEN: Final = "allocated"


def _of(where: str) -> str:
    """``selector #0 of class gpu`` for ``class gpu: selector #0``."""
    owner, _, selector = where.rpartition(": ")
    return f"{selector} of {owner}"


def _with_names(text: str, claims: Iterable[str]) -> str:
    listed = sorted(claims)
    if not listed:
        return text
    more = ", ..." if len(listed) > _NAMED else ""
    return f"{text} ({', '.join(listed[:_NAMED])}{more})"


def _constraint_text(index: int, constraint: DeviceConstraint) -> str:
    match, distinct = constraint.match_attribute, constraint.distinct_attribute
    what = f"matchAttribute {match}" if match else f"distinctAttribute {distinct}"
    return f"constraint #{index} ({what})"
