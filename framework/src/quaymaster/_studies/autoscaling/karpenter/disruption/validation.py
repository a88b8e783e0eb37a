"""Whether a command still holds some seconds after it was found.

Mirrors ``pkg/controllers/disruption/validation.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Sequence

import attrs

from quaymaster._studies.autoscaling.karpenter.disruption.budgets import EMPTY
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.events import ignore
from quaymaster._studies.autoscaling.karpenter.disruption.methods import Method
from quaymaster._studies.autoscaling.karpenter.disruption.multi_node import (
    within_budgets,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey

__all__ = ["validated"]


def validated(command: Command, method: Method, survey: Survey) -> Command | None:
    """Return a command as it is valid now, or None if it is not.

    Empty nodes go without those that got pods; other commands hold as a whole.

    Args:
        command: The command.
        method: The method that found it.
        survey: The cluster now.
    """
    eligible = method.still_eligible(survey, {*command.names})
    current = [eligible[name] for name in command.names if name in eligible]
    budgets = survey.budgets(method.reason, ignore)
    allowed = within_budgets(current, budgets)
    if method.reason == EMPTY:
        return attrs.evolve(command, candidates=allowed) if allowed else None
    if len(allowed) < len(command.candidates):
        return None
    if not _fits(command, allowed, survey):
        return None
    return attrs.evolve(command, candidates=allowed)


def _fits(command: Command, candidates: Sequence[Candidate], survey: Survey) -> bool:
    """Return whether all pods still have a place, with no more claims than planned."""
    if not survey.has_pools:
        return False
    trial = survey.successful_trial(candidates)
    if trial is None or trial.problems:
        return False
    if len(trial.claims) != len(command.replacements):
        return False
    if not trial.claims:
        return True
    planned = {each.name for each in command.replacements[0].instance_types}
    return planned <= {each.name for each in trial.claims[0].instance_types}
