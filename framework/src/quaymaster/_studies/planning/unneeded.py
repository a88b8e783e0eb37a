"""Finds the nodes of the input that a plan does not need."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from quaymaster._api.objects import Node
from quaymaster._base.natural_order import natural_key
from quaymaster._studies.planning.pace import LateError
from quaymaster._studies.planning.question import Question, is_tied
from quaymaster._studies.planning.trials import Trial, Trials

__all__ = ["unneeded_nodes"]

_MOST_TRIALS: Final = 5
_CONTROL_PLANE: Final = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)


def unneeded_nodes(question: Question, trials: Trials, trial: Trial) -> tuple[str, ...]:
    """Return nodes of the input without which the plan works as well.

    Nodes without pods of their own come first. Then those with the fewest pods are
    removed one after the other: their pods must fit on the remaining nodes, while the
    others stay. Not considered are nodes of the control plane, and nodes with pods that
    no controller creates again. A few simulations are made, so there may be more.

    Args:
        question: The question.
        trials: Tries plans.
        trial: The plan.
    """
    candidates = _candidates(question, trials, trial)
    empty = [name for name, pods in candidates if not pods]
    lost: list[str] = []
    with suppress(LateError):
        if empty and trials.holds_without(trial, frozenset(empty)):
            lost += empty
        for name in _others(candidates):
            if trials.holds_without(trial, frozenset([*lost, name])):
                lost.append(name)
            else:
                break
    return tuple(sorted(lost, key=natural_key))


def _others(candidates: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Yield a few nodes with pods, the fewest pods first."""
    with_pods = sorted(
        ((pods, natural_key(name), name) for name, pods in candidates if pods),
    )
    for _, _, name in with_pods[:_MOST_TRIALS]:
        yield name


def _candidates(
    question: Question, trials: Trials, trial: Trial
) -> list[tuple[str, int]]:
    """Return the nodes of the input that may go, with the number of their pods."""
    given = {obj.name for obj in question.objects if isinstance(obj, Node)}
    candidates = []
    for node in trial.nodes:
        pods = [pod for pod in trial.pods_of.get(node.name, ()) if not is_tied(pod)]
        is_kept = any(key in node.labels for key in _CONTROL_PLANE) or any(
            trials.is_irreplaceable(pod) for pod in pods
        )
        if node.name in given and not is_kept:
            candidates.append((node.name, len(pods)))
    return candidates
