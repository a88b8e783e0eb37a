"""Plugins with texts as arguments, and mistakes in their validation."""

from collections.abc import Sequence
from typing import ClassVar

import attrs

from quaymaster import Handle, NodeInfo, PodUse, Scope, hookimpl
from quaymaster.config import one_of
from quaymaster.testing import clusters, nodes
from tests.kit.planted.mistake import Mistake

__all__ = ["MODE_MISTAKES", "OWN", "PrefersAName", "PrefersModes", "PrefersTeams"]

RANK = "example.com/rank"


@attrs.frozen(kw_only=True)
class ModeArgs:
    """Arguments that are validated, but for the label, which may be any."""

    order_of_ranks: str = attrs.field(default="high", validator=one_of("high", "low"))
    label: str = RANK


class PrefersModes:
    """Correct: prefers high or low ranks."""

    Args: ClassVar[type] = ModeArgs
    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: ModeArgs, handle: Handle) -> None:
        self.args = args
        self.sign = self.read(args.order_of_ranks)

    def read(self, mode: str) -> int:
        """Read the mode."""
        return -1 if mode == "low" else 1

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        rank = 1 if node.labels.get(self.args.label) == "1" else 0
        return 50 + self.sign * rank


class PrefersTeams(PrefersModes):
    """Correct: one text is special, and others are labels."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        is_team = self.args.label != "none" and self.args.label in node.labels
        return 50 + self.sign * is_team


@attrs.frozen(kw_only=True)
class NameArgs(ModeArgs):
    """Arguments with the name of a node."""

    label: str = "n0"


class PrefersAName(PrefersModes):
    """Correct: the argument is the name of a node."""

    Args: ClassVar[type] = NameArgs

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 50 + self.sign * (node.name == self.args.label)


@attrs.frozen(kw_only=True)
class AnyArgs:
    """Arguments that nothing validates."""

    order_of_ranks: str = "high"
    label: str = RANK


class ComparesInTheConstructor(PrefersModes):
    Args: ClassVar[type] = AnyArgs


class LooksUpInTheConstructor(PrefersModes):
    Args: ClassVar[type] = AnyArgs

    def read(self, mode: str) -> int:
        return {"low": -1, "high": 1}.get(mode, 1)


@attrs.frozen(kw_only=True)
class AnyArgsOfHooks:
    """Arguments that nothing validates, and that hooks read."""

    wanted_ranks: str = "high"


class MatchesInAHook(PrefersModes):
    Args: ClassVar[type] = AnyArgsOfHooks

    def __init__(self, args: AnyArgsOfHooks, handle: Handle) -> None:
        self.wanted = args

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        match self.wanted.wanted_ranks:
            case "low":
                return 100 if RANK in node.labels else 0
            case "high":
                return 0 if RANK in node.labels else 100
        return 50


OWN = clusters(nodes=nodes(*({"labels": {RANK: text}} for text in ("1", "2"))))
MODE_MISTAKES: Sequence[Mistake] = (
    Mistake(ComparesInTheConstructor, ["arguments"], OWN),
    Mistake(LooksUpInTheConstructor, ["arguments"], OWN),
    Mistake(MatchesInAHook, ["arguments"], OWN),
)
