"""Adds the decision about its PodGroup to the explanation of a pod."""

from collections.abc import Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.attempts import Attempt
from quaymaster._studies.simulation.ended_groups import explained_group
from quaymaster._studies.simulation.explained import ExplainedPod
from quaymaster._studies.simulation.explained_groups import GroupAttempt
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.run import Simulation

__all__ = ["with_group"]


def with_group(
    run: Simulation, pod: Pod, explained: ExplainedPod, log: GroupLog
) -> ExplainedPod:
    """Add the decision about the group of a pod, if it is in one.

    A pod of a group is tried once for each placement. Its verdicts about nodes are
    those of the placement that decided about the group.

    Args:
        run: The simulation, which has settled.
        pod: The pod.
        explained: Its explanation.
        log: The attempts of its group.
    """
    key = pod.group_key
    if not key or not run.config.kubernetes.enabled("GenericWorkload"):
        return explained
    tries = log.of(key)
    attempts = tuple(_corrected(attempt, tries) for attempt in explained.attempts)
    shown = attempts[explained.attempt - 1] if explained.attempt else None
    group = explained_group(run, key, log)
    if shown is not None and (own := _of_time(shown, tries)) is not None:
        group = attrs.evolve(group, attempt=own.number)
    return attrs.evolve(
        explained,
        group=group,
        attempts=attempts,
        explanation=shown.explanation if shown is not None else None,
    )


def _of_time(attempt: Attempt, tries: Sequence[GroupAttempt]) -> GroupAttempt | None:
    """Return the attempt of the group in which an attempt of its pod was made."""
    return next(
        (each for each in tries if each.at == attempt.at and attempt.pod in each.tried),
        None,
    )


def _corrected(attempt: Attempt, tries: Sequence[GroupAttempt]) -> Attempt:
    """Take the verdicts about nodes from the placement that decided."""
    own = _of_time(attempt, tries)
    if own is None or len(own.placements) < 2 or attempt.explanation is None:
        return attempt
    decisive = own.decisive
    unplaced = decisive.unplaced if decisive is not None else ()
    rejections = next(
        (each.rejections for each in unplaced if each.pod == attempt.pod), ()
    )
    explanation = Explanation(
        pod=attempt.pod,
        scheduler=attempt.explanation.scheduler,
        rejections=rejections,
        tie_breaker=attempt.explanation.tie_breaker,
    )
    return attrs.evolve(attempt, explanation=explanation)
