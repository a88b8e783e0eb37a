"""The steps of histories, and how histories are drawn from a seed."""

import random
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tests.chaos.objects import CROWD, MANY_NODES, NODES, PODS, TRAITS

__all__ = [
    "CPU",
    "CROWDED",
    "PHASES",
    "PHASE_ACTIONS",
    "STEPS",
    "Kind",
    "Step",
    "draw_arguments",
    "draw_names",
    "draw_steps",
    "is_large",
]

Step: TypeAlias = tuple[str, *tuple[int, ...]]
"""The name of a method of `tests.chaos.machine.Machine`, or of its `cluster_steps`, and
its arguments."""

Kind: TypeAlias = tuple[int, tuple[Sequence[int], ...]]
"""The weight of a step in the draw, and the values of its arguments."""

PHASES = ("filter", "reserve", "permit", "pre_bind", "bind", "bound")
PHASE_ACTIONS = (
    "its node goes",
    "its node is closed",
    "a node comes",
    "it goes",
    "it is recreated",
    "it is relabelled",
    "the process ends",
)

_PAIR = range(2)
_BEGINNING: Sequence[Step] = (
    ("add_node", 0),
    ("add_node", 1),
    ("add_claim", 0),
    ("add_claim", 1),
    ("add_volume", 1),
)
_MORE: Sequence[Step] = (("add_nodes", MANY_NODES[-1]),)
CROWDED = {"add_crowd": 4, "delete_crowd": 3}
CPU = (500, 1000, 2000, 3000)

STEPS: Mapping[str, Kind] = {
    "add_pod": (24, (PODS, CPU, (0, 0, 10, 20))),
    "add_crowd": (4, (PODS, CPU, (0, 10), range(2, CROWD + 1))),
    "delete_pod": (8, (PODS, (0, 5, 30))),
    "delete_crowd": (1, (PODS, (0, 30))),
    "see_off": (6, (PODS, (5, 30))),
    "recreate_pod": (2, (PODS,)),
    "lift_gates": (3, (PODS,)),
    "relabel_pod": (4, (PODS,)),
    "resize_pod": (2, (PODS, CPU)),
    "add_node": (8, (NODES,)),
    "add_nodes": (1, (MANY_NODES,)),
    "remove_node": (2, (NODES,)),
    "remove_node_in_use": (1, (PODS,)),
    "cordon": (2, (NODES,)),
    "uncordon": (4, (NODES,)),
    "taint": (2, (NODES, range(3))),
    "untaint": (3, (NODES,)),
    "label_node": (3, (NODES, range(5))),
    "resize_node": (3, (NODES, (2000, 4000, 8000), (3, 110))),
    "add_claim": (4, (range(4),)),
    "remove_claim": (1, (range(4),)),
    "add_volume": (2, (NODES,)),
    "add_budget": (1, (_PAIR, (1, 3))),
    "remove_budget": (1, (_PAIR,)),
    "label_namespace": (1, (_PAIR,)),
    "allow": (3, (PODS,)),
    "reject": (2, (PODS,)),
    "sabotage": (1, ((0, 5, 20),)),
    "ambush": (8, (range(len(PHASES)), range(len(PHASE_ACTIONS)))),
    "restart": (1, ()),
    "turn": (24, ((1, 2, 3, 4, 5, 6),)),
    "pass_time": (12, ((1, 3, 10, 40),)),
    "jump": (4, ((1, 2, 4),)),
}
"""The kinds of steps by name."""


def is_large(seed: int) -> bool:
    """Whether the history of a seed has a dozen nodes that are treated as thousands."""
    return seed % 3 == 1


def draw_steps(seed: int) -> Sequence[Step]:
    """Draw the history of a seed; it begins with two nodes, two claims and a volume.

    Large histories begin with many nodes, and have crowds of pods more often.
    """
    rng = random.Random(seed)
    crowded = CROWDED if is_large(seed) else {}
    names = draw_names(rng, STEPS, crowded)
    drawn = [_draw(rng, name) for name in names]
    more = _MORE if crowded else ()
    return [*_BEGINNING, *more, *drawn]


def draw_names(
    rng: random.Random, steps: Mapping[str, Kind], more: Mapping[str, int]
) -> Sequence[str]:
    """Draw the names of a history's steps.

    Args:
        rng: The generator.
        steps: The kinds of steps.
        more: Name -> the factor by which it is drawn more often.
    """
    weights = [weight * more.get(name, 1) for name, (weight, _) in steps.items()]
    return rng.choices(list(steps), weights, k=rng.randint(10, 50))


def draw_arguments(rng: random.Random, kind: Kind) -> list[int]:
    """Draw the arguments of a step."""
    return [rng.choice(choices) for choices in kind[1]]


def _draw(rng: random.Random, name: str) -> Step:
    arguments = draw_arguments(rng, STEPS[name])
    if name == "add_pod":
        arguments += rng.sample(range(len(TRAITS)), k=rng.choice((0, 1, 2, 2)))
    return (name, *arguments)
