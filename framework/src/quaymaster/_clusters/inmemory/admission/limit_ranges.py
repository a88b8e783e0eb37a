"""LimitRanges: the defaults that they give pods, and the bounds that they set.

Mirrors ``plugin/pkg/admission/limitranger`` and ``SetDefaults_LimitRangeItem``
(Kubernetes v1.36), except the annotation that lists the added defaults.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import (
    Container,
    LimitRange,
    LimitRangeItem,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
)
from quaymaster._api.objects.pod_limits import pod_limit_list
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._clusters.inmemory.admission.refusal import Refusal
from quaymaster._clusters.inmemory.admission.rounding import round_amounts

__all__ = [
    "check_claim",
    "check_limits",
    "default_limit_range",
    "with_item_defaults",
    "with_limits",
]

_Amounts: TypeAlias = Mapping[str, Quantity]
_Rule: TypeAlias = Callable[[str, str, Quantity, _Amounts, _Amounts], str]

_CONTAINER: Final = "Container"
_POD: Final = "Pod"
_CLAIM: Final = "PersistentVolumeClaim"
_MAX_MILLI: Final = (2**63 - 1) // 1000
_ZERO: Final = Quantity(0)


def default_limit_range(limit_range: LimitRange) -> LimitRange:
    """Return a limit range with the defaults that follow from its bounds."""
    limits = tuple(
        with_item_defaults(_rounded(item)) for item in limit_range.spec.limits
    )
    return replace(limit_range, spec=replace(limit_range.spec, limits=limits))


def with_item_defaults(item: LimitRangeItem) -> LimitRangeItem:
    """Return a limit for containers, with the defaults that follow from its bounds."""
    if item.type != _CONTAINER:
        return item
    # The order is that of upstream: a limit comes from the maximum, a request from the
    # limit, and only then from the minimum.
    default = {**item.max, **item.default}
    default_request = {**item.min, **default, **item.default_request}
    return replace(item, default=default, default_request=default_request)


def _rounded(item: LimitRangeItem) -> LimitRangeItem:
    return replace(
        item,
        max=round_amounts(item.max),
        min=round_amounts(item.min),
        default=round_amounts(item.default),
        default_request=round_amounts(item.default_request),
        max_limit_request_ratio=round_amounts(item.max_limit_request_ratio),
    )


def with_limits(spec: PodSpec, ranges: Iterable[LimitRange]) -> PodSpec:
    """Return the spec with the default requests and limits of its containers."""
    # One range after the other: with several, the first one that has a value wins,
    # since a filled field is the container's own for the next.
    for limit_range in ranges:
        requests: ResourceList = {}
        limits: ResourceList = {}
        for item in limit_range.spec.limits:
            if item.type == _CONTAINER:
                requests |= item.default_request
                limits |= item.default
        if not requests and not limits:
            continue

        def filled(
            container: Container,
            # Default arguments bind the values of this turn of the loop; a closure
            # would see those of the last.
            requests: ResourceList = requests,
            limits: ResourceList = limits,
        ) -> Container:
            own = container.resources
            own = replace(
                own,
                requests={**requests, **own.requests},
                limits={**limits, **own.limits},
            )
            return replace(container, resources=own)

        spec = replace(
            spec,
            containers=tuple(map(filled, spec.containers)),
            init_containers=tuple(map(filled, spec.init_containers)),
        )
    return spec


def check_limits(spec: PodSpec, ranges: Iterable[LimitRange]) -> None:
    """Check a pod against the bounds of its namespace.

    Raises:
        Refusal: The pod exceeds the bounds of a LimitRange; lists all bounds of that
        one.
    """
    # The first range that is broken ends it, so the message has the bounds of one range
    # only (``runLimitFunc``).
    for limit_range in ranges:
        _refuse(_of_pod(spec, limit_range.spec.limits))


def check_claim(claim: PersistentVolumeClaim, ranges: Iterable[LimitRange]) -> None:
    """Check a claim against the bounds of its namespace.

    Raises:
        Refusal: The claim exceeds the bounds of a LimitRange; lists all bounds of that
        one.
    """
    requests = claim.spec.resources.requests
    for limit_range in ranges:
        items = [item for item in limit_range.spec.limits if item.type == _CLAIM]
        _refuse(
            problem
            for item in items
            for rule, bounds in ((_least, item.min), (_most_requested, item.max))
            for problem in _broken(rule, bounds, _CLAIM, requests, {})
        )


def _refuse(problems: Iterable[str]) -> None:
    messages = tuple(dict.fromkeys(problems))
    if messages:
        text = ", ".join(messages)
        raise Refusal(f"[{text}]" if len(messages) > 1 else text)


def _of_pod(spec: PodSpec, items: Iterable[LimitRangeItem]) -> Iterator[str]:
    for item in items:
        if item.type == _CONTAINER:
            # Init containers have the same bounds each, although they run one by one.
            for container in (*spec.containers, *spec.init_containers):
                own = container.resources
                yield from _of_item(item, own.requests, own.limits)
        elif item.type == _POD:
            yield from _of_item(item, *_totals(spec))


def _of_item(
    item: LimitRangeItem, requests: _Amounts, limits: _Amounts
) -> Iterator[str]:
    ratios = item.max_limit_request_ratio
    yield from _broken(_least, item.min, item.type, requests, limits)
    yield from _broken(_most, item.max, item.type, requests, limits)
    yield from _broken(_ratio, ratios, item.type, requests, limits)


def _broken(
    rule: _Rule, bounds: _Amounts, what: str, requests: _Amounts, limits: _Amounts
) -> Iterator[str]:
    for name, bound in bounds.items():
        message = rule(name, what, bound, requests, limits)
        if message:
            yield message


def _totals(spec: PodSpec) -> tuple[ResourceList, ResourceList]:
    """Return requests and limits of the whole pod, without its class's overhead."""
    pod = Pod(spec=spec)
    requests = pod_request_list(pod, pod_level=False, overhead=False)
    # The plugin replaces cpu and memory below, and keeps the sums of other resources,
    # so the usual sum over both levels would be wrong.
    limits = pod_limit_list(pod, pod_level=False, overhead=False)
    if spec.resources is not None:
        for total, own in (
            (requests, spec.resources.requests),
            (limits, spec.resources.limits),
        ):
            total |= {name: own[name] for name in ("cpu", "memory") if name in own}
    return requests, limits


def _least(
    name: str, what: str, bound: Quantity, requests: _Amounts, limits: _Amounts
) -> str:
    # The two spaces in these messages are those of ``minConstraint`` and others.
    least = f"minimum {name} usage per {what} is {bound}"
    request, limit = requests.get(name), limits.get(name)
    if request is None:
        # A bound is a requirement, too: a container without a request breaks a minimum.
        return f"{least}.  No request is specified"
    requested, most, enforced = _comparable(request, limit, bound)
    if requested < enforced:
        return f"{least}, but request is {request}"
    if limit is not None and most < enforced:
        return f"{least}, but limit is {limit}"
    return ""


def _most(
    name: str, what: str, bound: Quantity, requests: _Amounts, limits: _Amounts
) -> str:
    largest = f"maximum {name} usage per {what} is {bound}"
    request, limit = requests.get(name), limits.get(name)
    if limit is None:
        return f"{largest}.  No limit is specified"
    requested, most, enforced = _comparable(request, limit, bound)
    if most > enforced:
        return f"{largest}, but limit is {limit}"
    if request is not None and requested > enforced:
        return f"{largest}, but request is {request}"
    return ""


def _most_requested(
    name: str, what: str, bound: Quantity, requests: _Amounts, _: _Amounts
) -> str:
    largest = f"maximum {name} usage per {what} is {bound}"
    request = requests.get(name)
    if request is None:
        return f"{largest}.  No request is specified"
    requested, _unused, enforced = _comparable(request, None, bound)
    return f"{largest}, but request is {request}" if requested > enforced else ""


def _ratio(
    name: str, what: str, bound: Quantity, requests: _Amounts, limits: _Amounts
) -> str:
    largest = f"{name} max limit to request ratio per {what} is {bound}"
    request, limit = requests.get(name), limits.get(name)
    requested, most, _ = _comparable(request, limit, bound)
    if not requested:
        return f"{largest}, but no request is specified or request is 0"
    if not most:
        return f"{largest}, but no limit is specified or limit is 0"
    # ``limitRequestRatioConstraint`` compares thousandths, and prints the plain ratio.
    ratio = most / requested
    # A float, as in Go: ratios such as 1.5 must round the same way on both sides.
    observed, allowed = ratio, float(bound.value)
    if bound.value <= _MAX_MILLI:
        observed, allowed = ratio * 1000, float(bound.milli_value)
    return f"{largest}, but provided ratio is {ratio:f}" if observed > allowed else ""


def _comparable(
    request: Quantity | None, limit: Quantity | None, bound: Quantity
) -> tuple[int, int, int]:
    """Return three amounts in thousandths, or as whole numbers if one is very large."""
    # ``requestLimitEnforcedValues``: thousandths, unless an int64 is too small for
    # them.
    amounts = (request or _ZERO, limit or _ZERO, bound)
    if all(amount.value <= _MAX_MILLI for amount in amounts):
        requested, most, enforced = (amount.milli_value for amount in amounts)
    else:
        requested, most, enforced = (amount.value for amount in amounts)
    return requested, most, enforced
