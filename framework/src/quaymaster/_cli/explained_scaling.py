"""Prints what an autoscaler decides about a pod or a node."""

from collections.abc import Sequence
from typing import Final

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.results import duration
from quaymaster._cli.tables import Fit
from quaymaster._studies.autoscaling.explaining_nodes import ExplainedNode
from quaymaster._studies.simulation.scaling import (
    GroupVerdict,
    NodeFact,
    PodOfNode,
    PodScaling,
    ReasonSince,
)

__all__ = [
    "node_document",
    "pod_scaling_document",
    "print_explained_node",
    "print_pod_scaling",
    "print_pods_of_node_csv",
]


def print_pod_scaling(scaling: PodScaling) -> None:
    """Print which group of nodes grows for a pod, and why the others do not."""
    print_line()
    at = "" if scaling.decided is None else f" (at {duration(scaling.decided)})"
    print_line(f"autoscaler: {scaling.summary}{at}")
    if scaling.groups:
        print_line()
        _GROUPS.print(scaling.groups)


def pod_scaling_document(scaling: PodScaling) -> dict[str, object]:
    """Return the decision for a pod as plain data."""
    return {
        "summary": scaling.summary,
        "decided": scaling.decided,
        "groups": _GROUPS.documents(scaling.groups),
    }


def print_explained_node(explained: ExplainedNode) -> None:
    """Print why a node was removed or stays."""
    scaling = explained.scaling
    if scaling.removed is not None:
        fate = f"is removed at {duration(scaling.removed)}"
    else:
        fate = f"stays (no more changes after {duration(explained.until)})"
    print_line(f"{scaling.node} {fate}: {scaling.why}")
    print_line()
    _FACTS.print_section(scaling.facts)
    _PODS.print_section(scaling.pods)
    if _tells_more(scaling.history, scaling.why):
        _HISTORY.print_section(scaling.history)


def print_pods_of_node_csv(explained: ExplainedNode) -> None:
    """Print a line of CSV for each pod of a node."""
    _PODS.print_csv(explained.scaling.pods)


def node_document(explained: ExplainedNode) -> dict[str, object]:
    """Return why a node was removed or stays, as plain data."""
    scaling = explained.scaling
    return {
        "node": scaling.node,
        "group": scaling.group,
        "removed": scaling.removed,
        "why": scaling.why,
        "facts": _FACTS.documents(scaling.facts),
        "pods": _PODS.documents(scaling.pods),
        "history": _HISTORY.documents(scaling.history),
        "until": explained.until,
    }


def _tells_more(history: Sequence[ReasonSince], why: str) -> bool:
    return bool(history) and {each.why for each in history} != {why}


def _count(nodes: int) -> str:
    return str(nodes or "-")


def _price(price: float | None) -> str:
    return "-" if price is None else f"{price:.2f}"


_GROUPS: Final = Columns[GroupVerdict](
    Column("group"),
    Column("fate", value=lambda verdict: verdict.fate.value),
    Column("nodes", text=_count),
    Column("price", text=_price),
    Column("plugin", text=lambda name: name or "-"),
    Column("why"),
)
_FACTS: Final = Columns[NodeFact](Column("name", heading="Fact"), Column("value"))
_PODS: Final = Columns[PodOfNode](
    Column("pod", fit=Fit.NAME),
    Column("fate", value=lambda pod: pod.fate.value),
    Column("why"),
)
_HISTORY: Final = Columns[ReasonSince](
    Column("since", text=duration), Column("why", heading="Why not removed")
)
