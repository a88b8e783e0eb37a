"""Mutates the trees of YAML and JSON documents."""

import contextlib
import copy
import random
from collections.abc import Callable
from typing import Any, Final, TypeAlias

__all__ = ["mutate_trees"]

Tree: TypeAlias = Any
Place: TypeAlias = tuple[Any, Any]
"""A container, and a key or an index in it."""

_DEEP: Final = 600
_NASTY: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 2**31 - 1, 2**31, 2**63, -(2**63) - 1, 10**40, 1.5,
    -0.0, 1e308, "", " ", "0", "-1", "true", "null", "1e400", "9" * 400, "x" * 5000,
    "\u0000", "\ud83d\ude00", "\u202e", "a/b/c", "../../etc", "*", "%",
    "{{ .Values.x }}", "$(X)", "1Gi", "-5m", "1e9999", "0.0000000001", "1.5.5",
    "9" * 20 + "h", "-1s", "1e3s",
    "100%", "-5%", "2026-13-45T99:99:99Z", "2026-01-01T00:00:00Z", "NoSchedule",
    "Exists", "DoesNotExist", "Gt", "kube-system", [], {}, [[]], {"": ""},
    {"a": None}, [None], ["a", 1, {}], {"matchLabels": None},
)  # fmt: skip
_KINDS: Final = (
    ("v1", "Pod"), ("v1", "Node"), ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"), ("apps/v1", "DaemonSet"), ("apps/v1", "ReplicaSet"),
    ("batch/v1", "Job"), ("v1", "List"), ("v1", "PodList"),
    ("extensions/v1beta1", "Deployment"), ("v1", "ReplicationController"),
    ("v1", "PersistentVolume"), ("v1", "PersistentVolumeClaim"),
    ("policy/v1", "PodDisruptionBudget"), ("resource.k8s.io/v1", "ResourceClaim"),
    ("storage.k8s.io/v1", "CSINode"), ("", ""), ("v1", "Nod"),
)  # fmt: skip


def mutate_trees(trees: list[Tree], rng: random.Random) -> list[Tree]:
    """Return the documents of a file, with a few changes."""
    trees = copy.deepcopy(trees)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        mutation = rng.choice(_MUTATIONS)
        # Nothing may be left, or be nested too deeply to be copied.
        with contextlib.suppress(IndexError, RecursionError):
            mutation(trees, rng)
    return trees


def _places(tree: Tree) -> list[Place]:
    found: list[Place] = []
    todo = [tree]
    while todo and len(found) < 5000:
        container = todo.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                todo.append(container[key])
    return found


def _any_place(trees: list[Tree], rng: random.Random) -> Place:
    places = _places(trees)
    if not places:  # hypothesis' generators would raise a ValueError
        raise IndexError("nothing is left")
    return rng.choice(places)


def _replace(trees: list[Tree], rng: random.Random) -> None:
    container, key = _any_place(trees, rng)
    container[key] = copy.deepcopy(rng.choice(_NASTY))


def _delete(trees: list[Tree], rng: random.Random) -> None:
    container, key = _any_place(trees, rng)
    del container[key]


def _repeat(trees: list[Tree], rng: random.Random) -> None:
    """Repeat an item of a list, perhaps often, or a document of the file."""
    lists = [place for place in _places(trees) if isinstance(place[0], list)]
    if lists:
        container, index = rng.choice(lists)
        again = [
            copy.deepcopy(container[index]) for _ in range(rng.choice((1, 1, 2, 60)))
        ]
        container[index:index] = again


def _rename(trees: list[Tree], rng: random.Random) -> None:
    keyed = [place for place in _places(trees) if isinstance(place[0], dict)]
    if keyed:
        container, key = rng.choice(keyed)
        name = str(key)
        new = rng.choice(
            (name.lower(), name.upper(), name[:-1], f"{name}s", "", f" {name}")
        )
        container[new] = container.pop(key)


def _move(trees: list[Tree], rng: random.Random) -> None:
    """Copy the value of one place to another one."""
    (source, key), (target, other) = _any_place(trees, rng), _any_place(trees, rng)
    target[other] = copy.deepcopy(source[key])


def _wrap(trees: list[Tree], rng: random.Random) -> None:
    container, key = _any_place(trees, rng)
    value = container[key]
    wraps = ([value], {"a": value}, {str(key): value}, [value, value])
    container[key] = rng.choice(wraps)


def _unwrap(trees: list[Tree], rng: random.Random) -> None:
    container, key = _any_place(trees, rng)
    value = container[key]
    if isinstance(value, dict) and value:
        container[key] = next(iter(value.values()))
    elif isinstance(value, list) and value:
        container[key] = value[0]


def _nest(trees: list[Tree], rng: random.Random) -> None:
    container, key = _any_place(trees, rng)
    value: Tree = rng.choice(_NASTY)
    for _ in range(rng.choice((5, 50, _DEEP))):
        value = [value] if rng.random() < 0.5 else {"a": value}
    container[key] = value


def _number(trees: list[Tree], rng: random.Random) -> None:
    numbers = [
        (container, key)
        for container, key in _places(trees)
        if isinstance(container[key], int) and not isinstance(container[key], bool)
    ]
    if numbers:
        container, key = rng.choice(numbers)
        value = container[key]
        container[key] = rng.choice(
            (
                -value,
                value * 1000,
                value + 0.5,
                str(value),
                value - 1,
                3_000_000,
                2 * 10**9,
                None,
            )
        )


def _retype(trees: list[Tree], rng: random.Random) -> None:
    objects = [tree for tree in trees if isinstance(tree, dict)]
    if objects:
        tree = rng.choice(objects)
        tree["apiVersion"], tree["kind"] = rng.choice(_KINDS)


def _text(trees: list[Tree], rng: random.Random) -> None:
    """Change a text, which is often a name that another field refers to."""
    texts = [
        (container, key)
        for container, key in _places(trees)
        if isinstance(container[key], str) and container[key]
    ]
    if texts:
        container, key = rng.choice(texts)
        value = container[key]
        at = rng.randrange(len(value))
        container[key] = rng.choice(
            (value[:at], value.upper(), value * 50, value[:at] + "\u00e9" + value[at:],
             f" {value}", f"{value}-", value.replace("-", "_"), [value], {value: value})
        )  # fmt: skip


_MUTATIONS: Final[tuple[Callable[[list[Tree], random.Random], None], ...]] = (
    _replace, _replace, _replace, _delete, _delete, _repeat, _rename, _move, _move,
    _wrap, _unwrap, _nest, _number, _number, _retype, _text, _text,
)  # fmt: skip
