"""Mutants that stay valid: one change, so that the command goes on to decide."""

import copy
import functools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import yaml

from tests.fuzz.mutants import DATA, Mutant
from tests.fuzz.texts import write
from tests.fuzz.valid_values import Place, Tree, valid_value
from tests.kit.sources import ROOT

__all__ = ["make_gentle_mutant"]

_GENTLE: Final = DATA / "gentle"
_NODES: Final = ("--nodes", "3:cpu=4,memory=16Gi,zones=2")
_VERIFIED: Final = ("simulate", "FILE", *_NODES, "-o", "json", "--verify", "1")
_OF_MANIFESTS: Final[tuple[tuple[str, ...], ...]] = (
    *[_VERIFIED] * 6,
    ("simulate", "FILE", *_NODES, "--validate", "warn", "--capacity"),
    ("simulate", "FILE", *_NODES, "--kubernetes", "1.36", "-o", "json"),
    ("simulate", "FILE", *_NODES, "--run-cronjobs", "--hpa", "max", "-o", "json"),
    ("explain", "--all-pending", "FILE", *_NODES),
    ("capacity", "FILE", *_NODES, "--pod", "cpu=1,memory=1Gi"),
    ("what-if", "FILE", *_NODES, "--drain", "node-001"),
)
_OF_CONFIGS: Final[tuple[tuple[str, ...], ...]] = (
    ("config", "validate", "FILE"),
    ("config", "show", "FILE"),
    ("simulate", str(DATA / "cluster.yaml"), *_NODES, "--config", "FILE",
     "--verify", "1", "-o", "json"),
)  # fmt: skip
_OF_SCENARIOS: Final[tuple[tuple[str, ...], ...]] = (
    ("scenario", "run", "FILE"),
    ("scenario", "run", "FILE", "-o", "json"),
    ("scenario", "validate", "FILE"),
)
_OF_EXPERIMENTS: Final[tuple[tuple[str, ...], ...]] = (("sweep", "FILE", "--list"),)

Trees: TypeAlias = list[Tree]


class _Entry(NamedTuple):
    """A value in a tree.

    Attributes:
        place: The keys that lead to it.
        container: The list or the object that has it.
        key: Its key or its position there.
    """

    place: Place
    container: Tree
    key: Tree

    @property
    def value(self) -> Tree:
        return self.container[self.key]


def make_gentle_mutant(rng: random.Random) -> Mutant:
    """Make one, by the generator alone."""
    share = rng.random()
    if share < 0.7:
        trees, commands = _manifests(rng), _OF_MANIFESTS
    elif share < 0.82:
        trees, commands = _copy(rng.choice(_configs())), _OF_CONFIGS
    elif share < 0.95:
        trees, commands = _copy(rng.choice(_scenarios())), _OF_SCENARIOS
    else:
        trees, commands = _copy((_GENTLE / "experiment.yaml",)), _OF_EXPERIMENTS
    donors = trees if commands is not _OF_MANIFESTS else _all_manifests()
    _change(trees, donors, rng)
    text, ending = write(trees, rng, may_be_list=commands is _OF_MANIFESTS)
    text = text.replace(b"whole.yaml", str(_GENTLE / "whole.yaml").encode())
    is_config = commands is _OF_CONFIGS
    in_pieces = rng.random() < 0.5
    return Mutant(text, ending, is_config, rng.choice(commands), in_pieces)


def _change(trees: Trees, donors: Trees, rng: random.Random) -> None:
    for _ in range(50):
        if rng.choice(_CHANGES)(trees, donors, rng):
            return


def _entries(trees: Trees) -> Iterator[_Entry]:
    todo: list[tuple[Place, Tree]] = [((), tree) for tree in trees]
    while todo:
        place, container = todo.pop()
        is_list = isinstance(container, list)
        for key in range(len(container)) if is_list else list(container):
            path = place if is_list else (*place, str(key))
            yield _Entry(path, container, key)
            if isinstance(container[key], dict | list):
                todo.append((path, container[key]))


def _value(trees: Trees, _: Trees, rng: random.Random) -> bool:
    """Change a value."""
    for entry in rng.sample(entries := list(_entries(trees)), len(entries)):
        if entry.place and not isinstance(entry.value, dict | list):
            value = valid_value(entry.place, entry.value, rng)
            if value != entry.value:
                entry.container[entry.key] = value
                return True
    return False


def _optional(trees: Trees, _: Trees, rng: random.Random) -> bool:
    """Remove a field, which often is optional."""
    fields = [
        entry
        for entry in _entries(trees)
        if isinstance(entry.container, dict)
        and entry.place[-1] not in ("apiVersion", "kind", "metadata", "name", "spec")
    ]
    if not fields:
        return False
    entry = rng.choice(fields)
    del entry.container[entry.key]
    return True


def _grafted(trees: Trees, donors: Trees, rng: random.Random) -> bool:
    """Replace a field by that of the same name and parent elsewhere."""
    entries = [entry for entry in _entries(trees) if len(entry.place) > 1]
    entry = rng.choice(entries)
    values = [
        donor.value
        for donor in _entries(donors)
        if donor.place[-2:] == entry.place[-2:]
        and isinstance(donor.key, str) is isinstance(entry.key, str)
        and donor.value != entry.value
    ]
    if values:
        entry.container[entry.key] = copy.deepcopy(rng.choice(values))
    return bool(values)


def _added(trees: Trees, donors: Trees, rng: random.Random) -> bool:
    """Add a field that the same object has elsewhere."""
    objects = [
        entry for entry in _entries(trees) if entry.place and _is_object(entry.value)
    ]
    if not objects:
        return False
    entry = rng.choice(objects)
    fields = [
        (key, value)
        for donor in _entries(donors)
        if donor.place[-2:] == entry.place[-2:] and isinstance(donor.value, dict)
        for key, value in donor.value.items()
        if key not in entry.value
    ]
    if fields:
        key, value = rng.choice(fields)
        entry.value[key] = copy.deepcopy(value)
    return bool(fields)


def _repeated(trees: Trees, _: Trees, rng: random.Random) -> bool:
    """Repeat a document, or an item of a list, under another name."""
    items = [entry for entry in _entries(trees) if isinstance(entry.container, list)]
    if (rng.random() < 0.5 and len(trees) > 1) or not items:
        items = [_Entry((), trees, index) for index in range(len(trees))]
    entry = rng.choice(items)
    twin = copy.deepcopy(entry.value)
    if isinstance(twin, dict):
        named = twin.get("metadata", twin)
        if isinstance(named, dict) and "name" in named:
            named["name"] = f"{named['name']}-{rng.randrange(9)}"
    entry.container.append(twin)
    return True


def _reordered(trees: Trees, _: Trees, rng: random.Random) -> bool:
    """Change the order of the documents or of a list."""
    lists = [entry.value for entry in _entries(trees) if isinstance(entry.value, list)]
    items = rng.choice(lists or [trees])
    rng.shuffle(items)
    return len(items) > 1


def _is_object(value: Tree) -> bool:
    return isinstance(value, dict) and bool(value)


_CHANGES: Final[tuple[Callable[[Trees, Trees, random.Random], bool], ...]] = (
    _value, _value, _value, _value, _optional, _grafted, _grafted, _added, _added,
    _repeated, _reordered,
)  # fmt: skip


def _manifests(rng: random.Random) -> Trees:
    trees = _copy(rng.choice(_manifest_files()))
    if rng.random() < 0.4:
        kept = rng.sample(range(len(trees)), min(len(trees), rng.choice((1, 4, 9))))
        trees = [trees[index] for index in sorted(kept)]
    return trees


def _copy(paths: tuple[Path, ...]) -> Trees:
    return copy.deepcopy([tree for path in paths for tree in _documents(path)])


@functools.cache
def _documents(path: Path) -> Trees:
    text = path.read_bytes()
    return [tree for tree in yaml.load_all(text, yaml.CSafeLoader) if tree is not None]


@functools.cache
def _manifest_files() -> tuple[tuple[Path, ...], ...]:
    boutique = tuple(sorted(ROOT.glob("docs/examples/online-boutique/*.yaml")))
    own = [path for path in DATA.glob("*.yaml") if path.name != "config.yaml"]
    whole = ((_GENTLE / "whole.yaml",), (DATA / "cluster.yaml",))
    return (*whole * 4, *((path,) for path in sorted(own)), boutique)


@functools.cache
def _all_manifests() -> Trees:
    paths = {path for paths in _manifest_files() for path in paths}
    return [tree for path in sorted(paths) for tree in _documents(path)]


@functools.cache
def _configs() -> tuple[tuple[Path, ...], ...]:
    shipped = sorted(ROOT.glob("profiles/*.yaml"))
    own = (DATA / "config.yaml", _GENTLE / "config.yaml")
    return tuple((path,) for path in (*own, *own, *own, *shipped))


@functools.cache
def _scenarios() -> tuple[tuple[Path, ...], ...]:
    shipped = sorted(ROOT.glob("docs/examples/scenarios/*.yaml"))
    own = [_GENTLE / "scenario.yaml"] * 5
    return tuple((path,) for path in (*own, *shipped))
