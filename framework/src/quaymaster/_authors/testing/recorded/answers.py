"""Answers of hooks in the format of the records."""

from collections.abc import Sequence

from quaymaster._authors.testing.recorded.case import Json
from quaymaster._core.contract.cluster_events import ActionType, ClusterEventWithHint
from quaymaster._core.contract.pod_groups import PodGroupPlacement
from quaymaster._core.contract.results import (
    NominatingInfo,
    NominatingMode,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreFilterResult,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_table import NodeTable

__all__ = [
    "event_tree",
    "permit_answer",
    "placements_answer",
    "post_filter_answer",
    "pre_filter_answer",
    "pre_flight_answer",
    "results_answer",
    "status_answer",
    "status_tree",
]

_MODES = {NominatingMode.NOOP: 0, NominatingMode.OVERRIDE: 1}


def status_tree(status: Status | None) -> Json:
    """Write a status; None is Success."""
    if status is None:
        return {"code": "Success"}
    tree: Json = {"code": status.code.label.replace(" ", "")}
    if status.reasons:
        tree["reasons"] = [str(reason) for reason in status.reasons]
    return tree


def status_answer(status: Status | None) -> Json:
    """Write the answer of a hook that returns a status alone."""
    return {"status": status_tree(status)}


def results_answer(value: object, status: Status | None) -> Json:
    """Write the answer of a hook that returns a value and a status."""
    return {"results": [value, None if status is None else status_tree(status)]}


def placements_answer(
    placements: Sequence[PodGroupPlacement], nodes: NodeTable
) -> Json:
    """Write the answer of PlacementGenerate."""
    trees = [
        {"name": placement.name, "nodes": list(nodes.names_at(placement.rows))}
        for placement in placements
    ]
    return results_answer({"placements": trees}, None)


def pre_filter_answer(result: PreFilterResult | Status | None) -> Json:
    """Write the answer of PreFilter."""
    if isinstance(result, PreFilterResult):
        return {**status_answer(None), "nodes": sorted(result.node_names)}
    return status_answer(result)


def permit_answer(result: PermitWait | Status | None) -> Json:
    """Write the answer of Permit."""
    if isinstance(result, PermitWait):
        return {"status": {"code": "Wait"}, "wait": f"{result.timeout_seconds:g}s"}
    return {**status_answer(result), "wait": "0s"}


def pre_flight_answer(result: PreBindPreFlightResult | Status | None) -> Json:
    """Write the answer of PreBindPreFlight."""
    if isinstance(result, PreBindPreFlightResult):
        return {"results": [{"AllowParallel": result.allow_parallel}, None]}
    # A plugin in Go returns both; what a status leaves open is left out.
    return {"results": [{}, status_tree(result)]}


def post_filter_answer(result: PostFilterResult) -> Json:
    """Write the answer of PostFilter."""
    return {
        "results": [_nomination_tree(result.nominating), _post_filter_status(result)]
    }


def _nomination_tree(nomination: NominatingInfo | None) -> Json | None:
    if nomination is None:
        return None
    info = {
        "NominatedNodeName": nomination.node_name,
        "NominatingMode": _MODES[nomination.mode],
    }
    return {"NominatingInfo": info}


def _post_filter_status(result: PostFilterResult) -> Json:
    tree = status_tree(result.status)
    if result.message:
        tree["reasons"] = [result.message]
    return tree


def event_tree(registered: ClusterEventWithHint) -> Json:
    """Write a registration."""
    event = registered.event
    single = (action for action in ActionType if action & event.action == action)
    tree: Json = {
        "resource": event.resource.value,
        "actions": [action.label for action in single],
    }
    if registered.hint is not None:
        tree["hint"] = getattr(registered.hint, "__name__", "hint")
    return tree
