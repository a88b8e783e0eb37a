"""Plays recorded disruptions of Karpenter."""

from collections.abc import Sequence
from typing import Any, Final

from tests.autoscale.karpenter_cases import claim_tree, options_of, state_of
from tests.kit.internals.karpenter import (
    METHODS,
    BlockedNode,
    Command,
    DisruptionEvent,
    Look,
    Method,
    Survey,
)

__all__ = ["answer_to_consolidation"]

def answer_to_consolidation(case: dict[str, Any]) -> dict[str, Any]:
    """Return our answer to a case."""
    options = options_of(case)
    nodes = _nodes(Survey(state_of(case), options))
    # Each method looks at the same state, as if it were the first.
    survey = Survey(state_of(case), options)
    methods = [_method(survey, method) for method in METHODS]
    return {"id": case["id"], "answers": [{"nodes": nodes, "methods": methods}]}


def _nodes(survey: Survey) -> dict[str, Any]:
    return {
        each.node.name: {"blocked": each.problem}
        if isinstance(each, BlockedNode)
        else {
            "price": each.price,
            "disruptionCost": each.disruption_cost,
            "rescheduleCost": each.reschedule_cost,
            "ratio": each.ratio,
            "empty": each.is_empty,
        }
        for each in survey.judged()
    }


def _method(survey: Survey, method: Method) -> dict[str, Any]:
    events: list[DisruptionEvent] = []
    look = method.look(survey, events.append)
    answer: dict[str, Any] = {
        "method": method.name,
        "reason": method.reason,
        "eligible": [each.name for each in look.eligible],
        "budgets": look.budgets,
        "events": _shown(events),
    }
    if look.eligible:
        answer["commands"] = _commands(look)
        answer["totals"] = {
            name: {"cost": total.cost, "disruption": total.disruption}
            for name, total in look.totals.items()
        }
    return answer


def _commands(look: Look) -> list[dict[str, Any]]:
    return [] if look.command is None else [_command(look.command)]


def _command(command: Command) -> dict[str, Any]:
    tree: dict[str, Any] = {
        "decision": command.decision,
        "nodes": command.names,
        "savings": command.savings,
    }
    if command.replacements:
        tree["replacements"] = [claim_tree(each) for each in command.replacements]
    if command.moves:
        tree["moves"] = {
            node: sorted(pod.key for pod in pods)
            for node, pods in command.moves.items()
        }
    return tree


def _shown(events: Sequence[DisruptionEvent]) -> list[dict[str, str]]:
    """Return events without repetitions; those of claims repeat those of nodes."""
    return [
        {
            "kind": event.kind,
            "name": event.name,
            "reason": event.reason,
            "message": event.message,
            "type": "Normal",
        }
        for event in dict.fromkeys(events)
        if event.kind != "NodeClaim" or event.reason != "Unconsolidatable"
    ]
