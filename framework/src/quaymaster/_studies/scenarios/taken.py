"""Finds the pods that lost their node: preempted, evicted or lost with it."""

from collections.abc import Iterable, Sequence

from quaymaster._studies.changes.change import Effect
from quaymaster._studies.scenarios.verdicts import Cause, Eviction
from quaymaster._studies.simulation.disruptions import Disruption
from quaymaster._studies.simulation.history import History, PodLife
from quaymaster._studies.simulation.results import Preemption

__all__ = ["evictions_of"]


def evictions_of(
    history: History,
    effects: Iterable[Effect],
    preempted: Iterable[Preemption],
    disruptions: Iterable[Disruption] = (),
) -> Sequence[Eviction]:
    """Return the evictions, in the order of time.

    Pods of a DaemonSet on a lost node do not count: they are gone for good.

    Args:
        history: The history of the pods.
        effects: What changes have done.
        preempted: The pods that were preempted.
        disruptions: The pods that were evicted, by drains or by an autoscaler.
    """
    losses: list[tuple[str, float, Cause]] = []
    losses += [(victim.pod, victim.at, "Preempted") for victim in preempted]
    for effect in effects:
        losses += [(victim.pod, victim.at, "Drained") for victim in effect.evicted]
        losses += [(key, effect.at, "Lost") for key in effect.lost]
        losses += [(victim.pod, victim.at, "Lost") for victim in effect.timed_out]
    # A drain evicts by the API as well, and must not count twice.
    drained = {(key, round(at, 6)) for key, at, cause in losses if cause == "Drained"}
    losses += [
        (each.pod, each.at, "Scaled")
        for each in disruptions
        if each.is_by_api and (each.pod, each.at) not in drained
    ]
    if not losses:
        return ()
    lives: dict[str, list[PodLife]] = {}
    for life in history.pods:
        lives.setdefault(life.pod.key, []).append(life)
    evictions: list[Eviction] = []
    for key, at, cause in sorted(losses, key=lambda loss: loss[1]):
        evictions += [
            Eviction(life=life, at=at, cause=cause)
            for life in lives.get(key, ())
            if _was_on_node(life, at) and not (cause == "Lost" and _is_daemon(life))
        ]
    return evictions


def _was_on_node(life: PodLife, at: float) -> bool:
    if life.bound is None or life.bound > at:
        return False
    return life.ran_until is None or life.ran_until >= at


def _is_daemon(life: PodLife) -> bool:
    return any(owner.kind == "DaemonSet" for owner in life.owners)
