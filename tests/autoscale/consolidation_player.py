"""Plays recorded disruptions of Karpenter."""

from collections.abc import Iterable

from tests.autoscale.cases import Tree
from tests.autoscale.solve_player import claim_tree, options_of, state_of
from tests.kit.internals.karpenter import KarpenterOptions, as_created
from tests.kit.internals.karpenter_disruption import (
    METHODS,
    STATIC_DRIFT,
    BlockedNode,
    Command,
    DisruptionEvent,
    DisruptionEvents,
    Method,
    Survey,
)

__all__ = ["answer_to_consolidation"]

# Identity: a method is one object.
RECORDED = [method for method in METHODS if method is not STATIC_DRIFT]
"""The methods of the recordings, which have no static pools."""


def answer_to_consolidation(case: Tree) -> Tree:
    """Return our answer to a case.

    Each method looks at the same state, as if it were the first.
    """
    options = options_of(case, None)
    survey = Survey(state_of(case), options)
    answer = {
        "nodes": _nodes(survey),
        "methods": [_method(survey, method, options) for method in RECORDED],
    }
    return {"id": case["id"], "answers": [answer]}


def _nodes(survey: Survey) -> Tree:
    return {
        each.node.name: {"blocked": each.problem}
        if isinstance(each, BlockedNode)
        else {
            "price": each.price,
            "disruptionCost": each.disruption_cost(survey.state.now),
            "rescheduleCost": each.reschedule_cost,
            "ratio": each.ratio,
            "empty": each.is_empty,
        }
        for each in survey.judged().verdicts
    }


def _method(survey: Survey, method: Method, options: KarpenterOptions) -> Tree:
    events = DisruptionEvents()
    look = method.look(survey, events)
    answer = {
        "method": method.name,
        "reason": method.reason,
        "eligible": [each.name for each in look.eligible],
        "budgets": look.budgets,
        "events": _shown(events.events),
    }
    if look.eligible:
        command = look.command
        answer["commands"] = [] if command is None else [_command(command, options)]
        answer["totals"] = {
            name: {"cost": total.cost, "disruption": total.disruption}
            for name, total in look.totals.items()
        }
    return answer


def _command(command: Command, options: KarpenterOptions) -> Tree:
    tree: Tree = {
        "decision": command.decision,
        "nodes": command.names,
        "savings": command.savings,
    }
    if command.replacements:
        claims = command.replacements
        created = [as_created(claim, options) for claim in claims]
        tree["replacements"] = [claim_tree(claim, options) for claim in created]
    if command.moves:
        tree["moves"] = {
            node: sorted(pod.key for pod in pods)
            for node, pods in command.moves.items()
        }
    return tree


def _shown(events: Iterable[DisruptionEvent]) -> list[dict[str, str]]:
    """Return events without repetitions."""
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
