"""Explain a shortage: what a pod requests, and what a node has left of it."""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster import NodeInfo, NodeTable, Pod
from quaymaster.columns import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster.objects import Quantity, pod_request_list, pod_requests
from quaymaster_node_resources_fit.request_parts import request_parts
from quaymaster_node_resources_fit.shortage import (
    Comparison,
    IsIgnored,
    IsServed,
    compared,
)

__all__ = ["explain_shortages"]

_LINES: Final = {
    "cpu": CPU,
    "memory": MEMORY,
    "ephemeral-storage": EPHEMERAL_STORAGE,
}
_UNITS: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def explain_shortages(
    pod: Pod,
    node: NodeInfo,
    nodes: NodeTable,
    is_ignored: IsIgnored,
    is_served: IsServed,
) -> Sequence[str]:
    """Return what a pod requests that a node has too little of, and what is left.

    Args:
        pod: The pod.
        node: The node.
        nodes: All nodes.
        is_ignored: Whether to ignore a resource.
        is_served: Whether devices serve a resource that the node does not offer.
    """
    requests = pod_requests(pod)
    amounts = compared(requests, node, is_ignored, is_served)
    comparisons = [Comparison(*amount) for amount in amounts]
    short = [comparison for comparison in comparisons if comparison.is_short]
    is_full = len(node.pods) >= node.allocatable.allowed_pods
    if not short and not is_full:
        return ()
    needs = ["room for 1 pod"] if is_full else []
    needs += [_need(pod, comparison, nodes) for comparison in short]
    rest = [_free_pods(node)] if is_full else []
    rest += [_rest(comparison) for comparison in short]
    return [f"wants {', '.join(needs)}", ", ".join(rest), *_resized(node, short)]


def _need(pod: Pod, comparison: Comparison, nodes: NodeTable) -> str:
    name = comparison.name
    text = f"{name} {pod_request_list(pod)[name]}"
    notes = [*_split(pod, name), *_excess(comparison, nodes)]
    return f"{text} ({'; '.join(notes)})" if notes else text


def _split(pod: Pod, name: str) -> Iterator[str]:
    """Yield the parts of a request, unless it is that of one container."""
    parts = request_parts(pod, name)
    if len(parts) > 1:
        yield ", ".join(f"{part} {amount}" for part, amount in parts)
    elif parts[0][0] not in [container.name for container in pod.spec.containers]:
        yield parts[0][0]


def _excess(comparison: Comparison, nodes: NodeTable) -> Iterator[str]:
    most = _most(comparison.name, nodes)
    if not most:
        yield "no node offers it"
    elif comparison.amount > most:
        yield f"no node offers more than {_text(comparison.name, most)}"


def _most(name: str, nodes: NodeTable) -> int:
    """Return the largest amount that any node offers, free or not."""
    line = _LINES[name] if name in _LINES else nodes.resource(name)
    if line is None or not len(nodes):
        return 0
    return int(nodes.allocatable[line, nodes.rows].max())


def _free_pods(node: NodeInfo) -> str:
    allowed = node.allocatable.allowed_pods
    return f"free pods {max(0, allowed - len(node.pods))} of {allowed}"


def _rest(comparison: Comparison) -> str:
    name, offered = comparison.name, comparison.offered
    if not offered:
        return f"the node offers no {name}"
    free = _text(name, offered - comparison.used)
    return f"free {name} {free} of {_text(name, offered)}"


def _resized(node: NodeInfo, short: Sequence[Comparison]) -> Iterator[str]:
    """Yield the pods that count with other amounts than their specs request."""
    for pod in node.pods.values():
        counted, requests = node.usage_of(pod).requests, pod_requests(pod)
        for name in (comparison.name for comparison in short):
            used, requested = counted.get(name), requests.get(name)
            if used != requested:
                yield (
                    f"pod {pod.key} counts with {name} {_text(name, used)} instead of "
                    f"{_text(name, requested)} during its resize"
                )


def _text(name: str, amount: int) -> str:
    """Return an amount of a resource as people read it, rounded down."""
    if name == "cpu":
        return str(Quantity.from_milli(amount))
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return _bytes_text(amount)
    return str(amount)


def _bytes_text(amount: int) -> str:
    power = 0
    while power < len(_UNITS) and abs(amount) >= 1024 ** (power + 1):
        power += 1
    if not power:
        return str(amount)
    # Rounded down, so that less than requested never reads as enough.
    hundredths = amount * 100 // 1024**power
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") + _UNITS[power - 1]
