"""Evaluates conditions on numbers over time: pods, nodes, utilisation, balance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects.resource_names import PODS
from quaymaster._api.objects.resources import node_allocatable, pod_requests
from quaymaster._studies.scenarios.checks import (
    Balance,
    NodeCount,
    PodCount,
    Utilization,
)
from quaymaster._studies.scenarios.choosing import node_test, pod_test
from quaymaster._studies.scenarios.intervals import (
    Float64Array,
    Interval,
    Steps,
    Window,
    steps_of,
    times_in,
)
from quaymaster._studies.scenarios.verdicts import Events, Verdict
from quaymaster._studies.simulation.history import NodeSpan, PodLife

__all__ = ["judge_balance", "judge_nodes", "judge_pods", "judge_utilization"]

_ALL: Final = 100.0


def judge_pods(check: PodCount, events: Events, window: Window) -> Verdict:
    """Evaluate a condition on the number of pods in a state."""
    is_meant = pod_test(check.pods)
    selected = [pod for pod in events.history.pods if is_meant(pod)]
    number = steps_of(
        interval for life in selected if (interval := _in_state(life, check.state))
    )
    what = "pods" if check.state == "Any" else f"{check.state.lower()} pods"
    times = times_in(window, number)
    verdict = _within(
        check.at_least, check.at_most, check.equals, what, times, number.on(times)
    )
    if verdict.failed_at is None:
        return verdict
    too_many = number.at(verdict.failed_at) > _upper(check.at_most, check.equals)
    blamed = [
        life.pod.key
        for life in selected
        # Of too many pods those in the state are named, of too few those outside it.
        if _holds_at(_in_state(life, "Any"), verdict.failed_at)
        and _holds_at(_in_state(life, check.state), verdict.failed_at) == too_many
    ]
    return attrs.evolve(verdict, objects=tuple(blamed))


def judge_nodes(check: NodeCount, events: Events, window: Window) -> Verdict:
    """Evaluate a condition on the number of all, used or empty nodes."""
    is_meant = node_test(check.selector)
    spans = [node for node in events.history.nodes if is_meant(node.node)]
    every = steps_of((span.since, span.until, 1) for span in spans)
    what = {"Any": "nodes", "Used": "used nodes", "Empty": "empty nodes"}[check.state]
    used = _used_nodes(events.history.pods, {span.node.name for span in spans})
    times = times_in(window, every, used)
    numbers = {
        "Any": every.on(times),
        "Used": used.on(times),
        "Empty": every.on(times) - used.on(times),
    }[check.state]
    return _within(check.at_least, check.at_most, check.equals, what, times, numbers)


def judge_utilization(check: Utilization, events: Events, window: Window) -> Verdict:
    """Evaluate a condition on the utilisation of nodes."""
    is_meant = node_test(check.selector)
    spans = [node for node in events.history.nodes if is_meant(node.node)]
    names = dict.fromkeys(span.node.name for span in spans)
    pods = [pod for pod in events.history.pods if pod.node in names]
    low, high = _share(check.at_least), _share(check.at_most)
    if check.of == "Together":
        times, shares = _shares(pods, spans, check.resource, window)
        return _share_verdict(check, low, high, times, shares)
    verdicts = []
    by_node = _grouped(pods, spans)
    for name, (own_pods, own_spans) in by_node.items():
        times, shares = _shares(own_pods, own_spans, check.resource, window)
        if not np.isnan(shares).all():
            verdict = _share_verdict(check, low, high, times, shares)
            verdicts.append((name, verdict))
    return _worst(check, verdicts)


def judge_balance(check: Balance, events: Events, window: Window) -> Verdict:
    """Evaluate a condition on the spread of running pods over domains."""
    expected = f"skew at most {check.max_skew}"
    domains: dict[str, list[NodeSpan]] = {}
    for node in events.history.nodes:
        value = node.node.labels.get(check.topology_key)
        if value is not None:
            domains.setdefault(value, []).append(node)
    if not domains:
        text = f"no node has the label {check.topology_key}"
        return Verdict(
            holds=False, expected=expected, found=text, failed_at=window.since
        )
    is_meant = pod_test(check.pods)
    pods = _pods_by_domain(filter(is_meant, events.history.pods), domains)
    nodes = {
        value: steps_of((span.since, span.until, 1) for span in spans)
        for value, spans in domains.items()
    }
    times = times_in(window, *pods.values(), *nodes.values())
    skews = _skews(pods, nodes, times)
    verdict = _within(None, check.max_skew, None, "skew", times, skews)
    # Without a failure, the moment of the largest skew is shown, as the most
    # interesting one.
    when = times[int(np.argmax(skews))] if verdict.failed_at is None else None
    shown = verdict.failed_at if when is None else float(when)
    spread = {value: pods[value].at(shown or 0.0) for value in sorted(domains)}
    listed = ", ".join(f"{value} {number}" for value, number in spread.items())
    return Verdict(
        holds=verdict.holds,
        expected=expected,
        found=f"{verdict.found} ({listed})",
        failed_at=verdict.failed_at,
    )


def _in_state(life: PodLife, state: str) -> Interval | None:
    """Return the time in which a pod is in a state, if any."""
    if state == "Pending":
        return life.created, life.waited_until, 1
    if state == "Any":
        return life.created, life.gone, 1
    if state == "Running":
        return None if life.bound is None else (life.bound, life.ran_until, 1)
    return None if life.ended is None else (life.ended, life.gone, 1)


def _holds_at(interval: Interval | None, time: float) -> bool:
    if interval is None:
        return False
    since, until, _ = interval
    return since <= time and (until is None or until > time)


def _used_nodes(pods: Iterable[PodLife], names: set[str]) -> Steps:
    """Count the nodes with a pod that no DaemonSet created."""
    on_node: dict[str, list[Interval]] = {}
    for pod in pods:
        if pod.bound is not None and pod.node in names and not _is_daemon(pod):
            on_node.setdefault(pod.node, []).append((pod.bound, pod.ran_until, 1))
    return steps_of(
        interval for intervals in on_node.values() for interval in _merged(intervals)
    )


# Several pods on one node count once, so their times are united first.
def _merged(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """Return the union of intervals."""
    begin, end = -1.0, -1.0
    for since, until, _ in sorted(intervals, key=lambda interval: interval[0]):
        stop = np.inf if until is None else until
        if since > end:
            if begin >= 0.0:
                yield begin, end, 1
            begin, end = since, stop
        end = max(end, stop)
    if begin >= 0.0:
        yield begin, None if end == np.inf else end, 1


def _is_daemon(life: PodLife) -> bool:
    return any(owner.kind == "DaemonSet" for owner in life.owners)


def _grouped(
    pods: Iterable[PodLife], spans: Iterable[NodeSpan]
) -> Mapping[str, tuple[list[PodLife], list[NodeSpan]]]:
    groups: dict[str, tuple[list[PodLife], list[NodeSpan]]] = {}
    for span_ in spans:
        groups.setdefault(span_.node.name, ([], []))[1].append(span_)
    for pod in pods:
        groups[pod.node][0].append(pod)
    return groups


def _shares(
    pods: Iterable[PodLife],
    spans: Iterable[NodeSpan],
    resource: str,
    window: Window,
) -> tuple[Float64Array, Float64Array]:
    """Return the requested share of a resource in percent: times and values."""
    requested = steps_of(
        (pod.bound, pod.ran_until, _requested(pod, resource))
        for pod in pods
        if pod.bound is not None
    )
    allocatable = steps_of(
        (span.since, span.until, _allocatable(span, resource)) for span in spans
    )
    times = times_in(window, requested, allocatable)
    room = allocatable.on(times)
    used = requested.on(times)
    # A deleted node, or one without the resource, does not count.
    shares = np.full(len(times), np.nan)
    np.divide(used * _ALL, room, out=shares, where=room > 0)
    return times, shares


def _requested(life: PodLife, resource: str) -> int:
    return 1 if resource == PODS else pod_requests(life.pod).get(resource)


def _allocatable(node_span: NodeSpan, resource: str) -> int:
    amounts = node_allocatable(node_span.node)
    return amounts.allowed_pods if resource == PODS else amounts.get(resource)


def _share_verdict(
    check: Utilization,
    low: float | None,
    high: float | None,
    times: Float64Array,
    shares: Float64Array,
) -> Verdict:
    defined = ~np.isnan(shares)
    times, shares = times[defined], shares[defined]
    bounds = [
        *([f"at least {check.at_least}"] if check.at_least else []),
        *([f"at most {check.at_most}"] if check.at_most else []),
    ]
    expected = f"{check.resource} {' and '.join(bounds)}"
    if not len(times):
        text = f"no node has {check.resource}"
        return Verdict(holds=False, expected=expected, found=text, failed_at=0.0)
    outside = np.zeros(len(times), dtype=bool)
    if low is not None:
        outside |= shares < low
    if high is not None:
        outside |= shares > high
    failed = int(np.argmax(outside)) if outside.any() else None
    text = f"{_percent(shares.min())} to {_percent(shares.max())}"
    if shares.min() == shares.max() or failed is not None:
        text = _percent(shares[failed or 0])
    return Verdict(
        holds=failed is None,
        expected=expected,
        found=text,
        failed_at=None if failed is None else float(times[failed]),
    )


def _worst(check: Utilization, verdicts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Combine the verdicts of nodes: the first failure counts."""
    failed = [(name, verdict) for name, verdict in verdicts if not verdict.holds]
    if not verdicts:
        return _share_verdict(check, None, None, np.empty(0), np.empty(0))
    if not failed:
        return Verdict(
            holds=True,
            expected=verdicts[0][1].expected,
            found=f"so on all of {len(verdicts)} nodes",
        )
    # The earliest failure, and of equal ones the first name: the same run gives the
    # same message.
    name, first = min(failed, key=lambda item: (item[1].failed_at or 0.0, item[0]))
    return Verdict(
        holds=False,
        expected=first.expected,
        found=f"{first.found} on {name}, {len(failed)} of {len(verdicts)} nodes fail",
        failed_at=first.failed_at,
        objects=tuple(f"node/{name}" for name, _ in failed),
    )


def _pods_by_domain(
    pods: Iterable[PodLife], domains: Mapping[str, Sequence[NodeSpan]]
) -> Mapping[str, Steps]:
    value_of = {
        span.node.name: value for value, spans in domains.items() for span in spans
    }
    by_domain: dict[str, list[Interval]] = {value: [] for value in domains}
    for pod in pods:
        if pod.bound is not None and pod.node in value_of:
            by_domain[value_of[pod.node]].append((pod.bound, pod.ran_until, 1))
    return {value: steps_of(intervals) for value, intervals in by_domain.items()}


def _skews(
    pods: Mapping[str, Steps], nodes: Mapping[str, Steps], times: Float64Array
) -> Float64Array:
    """Return the fullest domain minus the emptiest one with nodes, at some times."""
    numbers = np.array([pod.on(times) for pod in pods.values()], dtype=np.float64)
    is_there = np.array([nodes[value].on(times) > 0 for value in pods])
    # Domains without nodes at that time take no part, on either side.
    most = np.where(is_there, numbers, -np.inf).max(axis=0)
    least = np.where(is_there, numbers, np.inf).min(axis=0)
    return np.where(is_there.any(axis=0), most - least, 0.0)


def _within(
    at_least: int | None,
    at_most: int | None,
    equals: int | None,
    what: str,
    times: Float64Array,
    values: np.ndarray[tuple[int, ...], np.dtype[np.int64 | np.float64]],
) -> Verdict:
    low = at_least if equals is None else equals
    high = at_most if equals is None else equals
    outside = np.zeros(len(times), dtype=bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    failed = int(np.argmax(outside)) if outside.any() else None
    text = f"{int(values.min())} to {int(values.max())}"
    if values.min() == values.max() or failed is not None:
        text = str(int(values[failed or 0]))
    return Verdict(
        holds=failed is None,
        expected=f"{what}: {_bounds(at_least, at_most, equals)}",
        found=text,
        failed_at=None if failed is None else float(times[failed]),
    )


def _bounds(at_least: int | None, at_most: int | None, equals: int | None) -> str:
    parts = [
        *([f"at least {at_least}"] if at_least is not None else []),
        *([f"at most {at_most}"] if at_most is not None else []),
        *([str(equals)] if equals is not None else []),
    ]
    return " and ".join(parts)


def _upper(at_most: int | None, equals: int | None) -> float:
    limits = [limit for limit in (at_most, equals) if limit is not None]
    return min(limits) if limits else np.inf


def _share(text: str | None) -> float | None:
    return None if text is None else float(text.rstrip("%"))


def _percent(share: float) -> str:
    return f"{share:.1f}".rstrip("0").rstrip(".") + "%"
