"""Histories of pods that claim devices: their steps, and how they are drawn."""

import random
from collections.abc import Mapping, Sequence

from tests.chaos.devices.device_steps import ALL_TRAITS
from tests.chaos.devices.objects import DEVICE_TRAITS, KINDS, SHARED, TEMPLATES
from tests.chaos.objects import CROWD, MANY_NODES, NODES, PODS, TRAITS
from tests.chaos.steps import (
    CPU,
    STEPS,
    Kind,
    Step,
    draw_arguments,
    draw_names,
    is_large,
)

__all__ = ["DEVICE_STEPS", "draw_device_steps"]

_SELDOM = (
    "add_claim",
    "remove_claim",
    "add_volume",
    "label_namespace",
    "relabel_pod",
    "add_crowd",
)
_PAIR = range(2)
_KINDS = range(len(KINDS))
_VARIANTS = range(3)
_CLAIMS = range(12)

DEVICE_STEPS: Mapping[str, Kind] = {
    **{
        name: (1 if name in _SELDOM else weight, choices)
        for name, (weight, choices) in STEPS.items()
    },
    "restart": (2, ()),
    "add_takers": (
        8,
        (PODS, CPU, (0, 0, 10), range(2, CROWD), range(len(DEVICE_TRAITS))),
    ),
    "add_slices": (8, (NODES, _KINDS, _VARIANTS)),
    "remove_slice": (2, (NODES, _KINDS, _PAIR)),
    "renew_slices": (4, (NODES, _KINDS, _VARIANTS, (1, 2, 2))),
    "taint_devices": (3, (NODES, (0, 2, 3), (0, 1, 1))),
    "add_class": (3, (_KINDS,)),
    "remove_class": (1, (_KINDS,)),
    "add_template": (3, (range(len(TEMPLATES)),)),
    "remove_template": (1, (range(len(TEMPLATES)),)),
    "share_claim": (5, (range(len(SHARED)),)),
    "delete_claim": (3, (_CLAIMS,)),
    "free_claim": (3, (_CLAIMS,)),
    "set_drivers": (3, ((0, 0, 1),)),
    "answer": (8, (_CLAIMS, (0, 1, 1))),
}
"""The kinds of steps by name."""

_BEGINNING: Sequence[Step] = (
    *(("add_class", kind) for kind in _KINDS),
    *(("add_template", number) for number in range(len(TEMPLATES))),
    *(("share_claim", number) for number in range(len(SHARED))),
    ("add_node", 0),
    ("add_node", 1),
    ("add_slices", 0, KINDS.index("net"), 0),
)
_CROWDED = {"add_takers": 3, "delete_crowd": 2}


def draw_device_steps(seed: int) -> Sequence[Step]:
    """Draw the history of a seed; it begins with two nodes that have some devices.

    Large histories begin with many nodes.
    """
    rng = random.Random(seed)
    crowded = _CROWDED if is_large(seed) else {}
    nodes = MANY_NODES[-1] if crowded else 1
    found = [
        ("add_slices", node, kind, rng.choice(_VARIANTS))
        for node in range(nodes + 1)
        for kind in _KINDS
        if rng.random() < 0.5
    ]
    names = draw_names(rng, DEVICE_STEPS, crowded)
    drawn = [_draw(rng, name) for name in names]
    return [*_BEGINNING, ("add_nodes", nodes), *found, *drawn]


def _draw(rng: random.Random, name: str) -> Step:
    arguments = draw_arguments(rng, DEVICE_STEPS[name])
    if name == "add_pod":
        arguments += rng.sample(range(len(TRAITS), len(ALL_TRAITS)), k=_few(rng))
        arguments += rng.sample(range(len(TRAITS)), k=rng.choice((0, 0, 1)))
    return (name, *arguments)


def _few(rng: random.Random) -> int:
    return rng.choice((0, 1, 1, 1, 2))
