"""Changes that lower one request of one container."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import Container, PodSpec, ResourceRequirements
from quaymaster._api.objects.quantity import Quantity, QuantityFormat
from quaymaster._studies.why.changes import Candidate, ChangeKind, SuggestedChange
from quaymaster._studies.why.editing import Editing

__all__ = ["lowered_requests", "units_of"]

_STEPS: Final = 64
"""A request is lowered in steps of about one part in so many."""
_CONTAINERS: Final = 3
"""How many containers' requests are tried, the largest first."""
_LEAST: Final = 2
"""A request is lowered to one part in so many at most: less is another program."""
_FAR: Final = 4
"""A request counts as lowered far if it loses more than one part in so many."""
_NANO: Final = 10**9
_MICRO: Final = 10**6
_CPU: Final = "cpu"
_FIELDS: Final = ("containers", "init_containers")
_PATHS: Final = {"containers": "containers", "init_containers": "initContainers"}


@attrs.frozen
class _Place:
    """The place of a request.

    Attributes:
        field: The field of the pod's spec; empty for the pod as a whole.
        index: The number of the container.
        path: Its path in the pod's spec.
        amount: The requested amount.
    """

    field: str
    index: int
    path: str
    amount: Quantity


def lowered_requests(
    editing: Editing, spec: PodSpec, resources: Iterable[str]
) -> Iterator[Candidate]:
    """Offer to lower the containers' requests of some resources.

    Args:
        editing: Makes the changes.
        spec: The spec as stored in the cluster, with defaults from admission.
        resources: The resources that nodes lack.
    """
    for resource in resources:
        places = sorted(_places(spec, resource), key=lambda place: -place.amount.nanos)
        for place in islice(places, _CONTAINERS):
            levels = units_of(resource, place.amount)
            if not levels:
                continue
            yield Candidate(
                kind=ChangeKind.LOWER_REQUEST,
                levels=len(levels),
                at=partial(_lowered, editing, resource, place, levels),
            )


def units_of(resource: str, amount: Quantity) -> Sequence[Quantity]:
    """Return the smaller amounts to try, ascending: round numbers, at least half."""
    # CPU is counted in thousandths, all else in whole units.
    smallest = _MICRO if resource == _CPU else _NANO
    total = amount.nanos // smallest
    unit = _round_unit(total // _STEPS, amount.format is QuantityFormat.BINARY_SI)
    return [
        _quantity(count * unit * smallest, amount)
        for count in range(max(1, -(-total // (_LEAST * unit))), -(-total // unit))
    ]


def _round_unit(least: int, is_binary: bool) -> int:
    """Return the smallest round number that is at least a number, and at least 1."""
    if is_binary:
        return 1 << max(0, (least - 1).bit_length()) if least > 1 else 1
    unit = 1
    while True:
        for factor in (1, 2, 5):
            if unit * factor >= least:
                return unit * factor
        unit *= 10


def _quantity(nanos: int, like: Quantity) -> Quantity:
    """Return an amount in the notation of another one."""
    kibi, rest = divmod(nanos, 1024 * _NANO)
    if like.format is QuantityFormat.BINARY_SI and not rest:
        return Quantity(f"{kibi}Ki")
    return Quantity.from_milli(nanos // _MICRO)


def _places(spec: PodSpec, resource: str) -> Iterator[_Place]:
    # For the scheduler, a request of the pod as a whole replaces those of its
    # containers.
    if spec.resources is not None and resource in spec.resources.requests:
        amount = spec.resources.requests[resource]
        yield _Place("", 0, "resources", amount)
        return
    for field in _FIELDS:
        containers: tuple[Container, ...] = getattr(spec, field)
        for index, container in enumerate(containers):
            amount = container.resources.requests.get(resource, Quantity(0))
            if amount:
                path = f"{_PATHS[field]}[{index}].resources"
                yield _Place(field, index, path, amount)


def _lowered(
    editing: Editing,
    resource: str,
    place: _Place,
    levels: Sequence[Quantity],
    level: int,
) -> SuggestedChange:
    new = levels[level]
    # Programs are written for a number of devices: one less is another program.
    is_far = (
        _is_counted(resource)
        or _FAR * (place.amount.nanos - new.nanos) > place.amount.nanos
    )
    kind = ChangeKind.LOWER_REQUEST_FAR if is_far else ChangeKind.LOWER_REQUEST
    old = place.amount

    def edit(spec: PodSpec) -> PodSpec:
        if not place.field:
            resources = _with(spec.resources or ResourceRequirements(), resource, new)
            return msgspec.structs.replace(spec, resources=resources)
        containers = list(getattr(spec, place.field))
        container = containers[place.index]
        resources = _with(container.resources, resource, new)
        containers[place.index] = msgspec.structs.replace(
            container, resources=resources
        )
        return msgspec.structs.replace(spec, **{place.field: tuple(containers)})

    fields = [f"{place.path}.requests.{resource}"]
    if _is_counted(resource):
        fields.append(f"{place.path}.limits.{resource}")
    return SuggestedChange(
        kinds=(kind,),
        text=f"lower the {resource} request of {editing.subject} from {old} to {new}",
        fields=tuple(editing.field(path, str(old), str(new)) for path in fields),
        apply=editing.apply(edit),
    )


def _with(
    resources: ResourceRequirements, resource: str, amount: Quantity
) -> ResourceRequirements:
    requests = {**resources.requests, resource: amount}
    limits = resources.limits
    if _is_counted(resource):
        limits = {**limits, resource: amount}
    return msgspec.structs.replace(resources, requests=requests, limits=limits)


def _is_counted(resource: str) -> bool:
    """Whether requests and limits of a resource must be equal."""
    return "/" in resource or resource.startswith("hugepages-")
