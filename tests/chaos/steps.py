"""What can happen in a history, and how histories are drawn from a seed."""

import random
from collections.abc import Sequence
from typing import TypeAlias

__all__ = ["Step", "draw_steps"]

Step: TypeAlias = tuple[str, *tuple[int, ...]]
"""The name of a method of `tests.chaos.machine.Machine`, and its arguments."""

_POD_NAMES = 14
_NODE_NAMES = 4
_WEIGHTS = {
    "add_pod": 10,
    "delete_pod": 4,
    "add_node": 3,
    "remove_node": 1,
    "cordon": 1,
    "uncordon": 2,
    "turn": 10,
    "pass_time": 5,
}


def draw_steps(seed: int) -> Sequence[Step]:
    """The history of a seed; it begins with two nodes."""
    rng = random.Random(seed)
    names = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=rng.randint(10, 50))
    return [("add_node", 0), ("add_node", 1), *(_draw(rng, name) for name in names)]


def _draw(rng: random.Random, name: str) -> Step:
    if name == "add_pod":
        cpu, priority = rng.choice((500, 1000, 2000, 3000)), rng.choice((0, 0, 10))
        return (name, rng.randrange(_POD_NAMES), cpu, priority)
    if name == "delete_pod":
        return (name, rng.randrange(_POD_NAMES), rng.choice((0, 30)))
    if name == "turn":
        return (name, rng.randint(1, 6))
    if name == "pass_time":
        return (name, rng.choice((1, 3, 10, 40)))
    return (name, rng.randrange(_NODE_NAMES))
