"""The headline of a report: the state of a cluster in one sentence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import Node
from quaymaster._api.objects.resource_names import CPU
from quaymaster._base.errors import counted
from quaymaster._studies.capacity.node_status import why_closed
from quaymaster._surfaces.reporting.needs import (
    Need,
    NodeAmounts,
    free_share,
    resource_word,
)

__all__ = ["headline", "phrase"]

_NEEDS: Final = 3
"""How many needs are named; the page lists all of them."""
_SINGULAR: Final = {
    "need ": "needs ",
    "have ": "has ",
    "match ": "matches ",
    "request ": "requests ",
    "wait ": "waits ",
}


def headline(
    nodes: Sequence[Node], amounts: NodeAmounts, needs: Sequence[Need]
) -> list[str]:
    """Return the parts of the headline: pending pods, closed nodes, free amounts."""
    reasons = [why_closed(node) for node in nodes]
    usable = [row for row, why in enumerate(reasons) if not why]
    return [
        part
        for part in (
            _pending(needs),
            _closed(reasons),
            _free(amounts, needs, usable),
        )
        if part
    ]


def phrase(count: int, words: str) -> str:
    """Return a number of pods with a need, in the singular or the plural."""
    if count == 1:
        for plural, singular in _SINGULAR.items():
            if words.startswith(plural):
                words = singular + words.removeprefix(plural)
    return f"{count} {words}"


def _pending(needs: Sequence[Need]) -> str:
    pods = sum(len(need.pods) for need in needs)
    if not pods:
        return "No pod is pending"
    parts = [phrase(len(need.pods), need.words) for need in needs[:_NEEDS]]
    rest = sum(len(need.pods) for need in needs[_NEEDS:])
    if rest:
        parts.append(f"{rest} for other reasons")
    return f"{counted(pods, 'pod')} pending: {', '.join(parts)}"


def _closed(reasons: Iterable[str]) -> str:
    counts = Counter(filter(None, reasons))
    parts = [f"{count} {why}" for why, count in counts.most_common()]
    if not parts:
        return ""
    first, *others = parts
    count, why = first.split(" ", 1)
    return ", ".join([f"{counted(int(count), 'node')} {why}", *others])


def _free(amounts: NodeAmounts, needs: Sequence[Need], usable: Sequence[int]) -> str:
    resource = next((need.resource for need in needs if need.resource), CPU)
    share = free_share(amounts, resource, usable)
    if share is None:
        return ""
    word = "of pods" if resource == "pods" else resource_word(resource)
    text = f"{_percent(share)} {word} free on nodes that accept pods"
    where = {row for need in needs if need.resource == resource for row in need.nodes}
    there = free_share(amounts, resource, where)
    if there is None or len(where) == len(usable):
        return text
    return f"{text}, {_percent(there)} where these pods may run"


def _percent(share: float) -> str:
    return "less than 1%" if 0 < share < 0.01 else f"{share:.0%}"
