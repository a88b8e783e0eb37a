"""Mutants of manifests and of configurations."""

import functools
import random
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tests.fuzz.texts import mutate_text, write
from tests.fuzz.trees import mutate_trees

__all__ = ["Mutant", "make_mutant"]

DATA: Final = Path(__file__).parent / "data"
_CONFIG: Final = "config.yaml"


class Mutant(NamedTuple):
    """A mutated file, and the command line to run on it.

    Attributes:
        text: Its content.
        ending: The extension of its name.
        is_config: Whether it is a configuration rather than manifests.
        arguments: The command line, with ``FILE`` for the file.
        in_pieces: Whether it is read object by object, as a large file is.
    """

    text: bytes
    ending: str
    is_config: bool
    arguments: tuple[str, ...]
    in_pieces: bool

    def read_otherwise(self) -> "Mutant":
        """Return the same, in pieces if this is read as a whole, and vice versa."""
        in_pieces = not self.in_pieces
        return Mutant(self.text, self.ending, self.is_config, self.arguments, in_pieces)


def make_mutant(rng: random.Random) -> Mutant:
    """Make a mutant that depends on the generator only."""
    is_config = rng.random() < 0.2
    if is_config:
        trees = _documents(_CONFIG)
    else:
        trees = _documents(rng.choice(_manifests()))
        trees = rng.sample(trees, min(len(trees), rng.choice((1, 3, 8, 100))))
    if rng.random() < 0.75:
        trees = mutate_trees(trees, rng)
    text, ending = write(trees, rng)
    if rng.random() < 0.4:
        text = mutate_text(text, rng)
    arguments = _arguments(is_config, rng)
    return Mutant(text, ending, is_config, arguments, in_pieces=rng.random() < 0.5)


def _arguments(is_config: bool, rng: random.Random) -> tuple[str, ...]:
    limits = ("--max-pods", "200", "--nodes", "3:cpu=4,memory=8Gi,zones=2")
    if is_config:
        pods = str(DATA / "prometheusAdapter-deployment.yaml")
        use = ("simulate", pods, "--config", "FILE", *limits)
        return rng.choice((("config", "validate", "FILE"), use))
    options = rng.choice(
        (
            (),
            (),
            ("--validate=warn",),
            ("--validate=ignore",),
            ("--validate=ignore",),
            ("--run-cronjobs", "--custom-kinds", "jobset"),
            ("-o", "json"),
        )
    )
    if rng.random() < 0.15:
        return ("explain", rng.choice(("rich", "deploy/web", "db-0")), "FILE", *limits)
    return ("simulate", "FILE", *limits, *options)


@functools.cache
def _manifests() -> tuple[str, ...]:
    names = sorted(path.name for path in DATA.glob("*.yaml") if path.name != _CONFIG)
    return (*names, *["cluster.yaml"] * len(names))


@functools.cache
def _documents(name: str) -> list[Any]:
    text = (DATA / name).read_bytes()
    return [tree for tree in yaml.load_all(text, yaml.CSafeLoader) if tree is not None]
