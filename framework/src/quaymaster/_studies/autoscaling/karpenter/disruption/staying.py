"""Why nodes stay, in words."""

from collections.abc import Mapping

from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Blocked,
    Candidate,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    BLOCKED,
    UNCONSOLIDATABLE,
    DisruptionEvents,
)
from quaymaster._studies.autoscaling.karpenter.disruption.methods import METHODS
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey
from quaymaster._studies.autoscaling.karpenter.objects import is_true

__all__ = ["reasons_to_stay"]


def reasons_to_stay(survey: Survey) -> Mapping[str, str]:
    """Return why each node stays, by name.

    Args:
        survey: The cluster, in which no method finds anything to do.
    """
    events = DisruptionEvents()
    looks = [method.look(survey, events) for method in METHODS]
    reported = {
        event.name: event.message
        for event in events.events
        if event.kind == "Node" and event.reason in (BLOCKED, UNCONSOLIDATABLE)
    }
    closed = {
        candidate.name: f"a budget of NodePool {candidate.pool.name} allows no "
        f"disruption for the reason {method.reason} now"
        for method, look in zip(METHODS, looks, strict=True)
        for candidate in look.eligible
        if not look.budgets.get(candidate.pool.name)
    }
    leaving = {
        name: "is about to be removed"
        for look in looks
        if look.command is not None
        for name in look.command.names
    }
    reasons = {}
    for each in survey.judged().verdicts:
        name = each.node.name
        default = each.problem if isinstance(each, Blocked) else _other(each, survey)
        reasons[name] = (
            leaving.get(name) or closed.get(name) or reported.get(name) or default
        )
    return reasons


def _other(candidate: Candidate, survey: Survey) -> str:
    """Return why a node that no method looks at stays."""
    if candidate.pool.is_static:
        replicas = candidate.pool.spec.replicas
        return f"NodePool {candidate.pool.name} has a fixed number of nodes, {replicas}"
    if not is_true(candidate.claim.status.conditions, "Consolidatable"):
        seconds = candidate.pool.spec.disruption.consolidate_after
        return f"its pods have changed within consolidateAfter ({seconds})"
    if not survey.has_pools:
        return "no NodePool can be used, and Karpenter moves no pods without one"
    return "its removal would save too little for its disruption"
