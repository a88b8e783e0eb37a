"""The families of recorded cases, and who plays each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from tests.kit.internals.testing import CallNotPlayedError, Json, RecordedCase
from tests.upstream import (
    caches,
    config,
    dra,
    framework,
    group_queues,
    helpers,
    plugins,
    runtime,
)

__all__ = ["DATA", "PLAYED", "family_of", "play"]

DATA: Final = Path(__file__).parent / "data"

Player: TypeAlias = Callable[[RecordedCase], Sequence[Json | str]]
"""Returns for each call of a case the answer, or why it is not played."""

_PLAYERS: Final[Mapping[str, Player]] = {
    "cache": caches.play,
    "config": config.play,
    "dra": dra.play,
    "framework": framework.play,
    "helpers": helpers.play,
    "plugins": plugins.play,
    "queue": group_queues.play,
    "runtime": runtime.play,
}
"""Name of a file -> its player."""

_INCOMPLETE: Final = {
    "not_recorded": "the record lacks something that the answer depends on",
    "own_features": "the test has a library of node features of its own",
}
"""Mark of a case -> why it is not played."""

PLAYED: Final = tuple(_PLAYERS)
"""The names of the files that are played."""


def family_of(case: RecordedCase) -> str:
    """Return the file of a case and upstream's package: ``file/package``."""
    return str(case.tree["family"])


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Return for each call of a case our answer, or why it is not played."""
    for mark, reason in _INCOMPLETE.items():
        if case.tree.get(mark):
            return [reason] * len(case.calls)
    file = family_of(case).partition("/")[0]
    player = _PLAYERS.get(file)
    if player is None:
        return [f"{file}: not played yet"] * len(case.calls)
    try:
        return player(case)
    except CallNotPlayedError as error:
        return [str(error)] * len(case.calls)
