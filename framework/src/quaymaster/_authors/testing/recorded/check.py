"""Checks a plugin against calls that were recorded from its original in Go."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from quaymaster._authors.testing.contract_error import ContractError
from quaymaster._authors.testing.recorded.case import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    read_cases,
)
from quaymaster._authors.testing.recorded.differences import difference
from quaymaster._authors.testing.recorded.player import RecordedPlayer
from quaymaster._core.config.errors import ConfigErrors

__all__ = ["RecordedCalls", "check_recorded", "play_calls_with", "play_case"]


@attrs.frozen
class RecordedCalls:
    """How many recorded calls a plugin answers as its original does.

    Attributes:
        equal: The number of calls with an equal answer.
        not_played: Reason -> the number of calls that were not made for it.
    """

    equal: int
    not_played: Mapping[str, int]

    def __str__(self) -> str:
        lines = [f"{self.equal} calls are equal"]
        lines += [
            f"{count} not played: {reason}" for reason, count in self.not_played.items()
        ]
        return "\n".join(lines)


def check_recorded(
    plugin: type,
    cases: Path | str | Iterable[Mapping[str, Any]],
    *,
    name: str | None = None,
    beside: Sequence[type] = (),
) -> RecordedCalls:
    """Make recorded calls to a plugin, and compare its answers.

    The calls come from tests of a plugin in Go: see the how-to "Port a Go plugin".

    Args:
        plugin: The plugin's class.
        cases: A file with a case in each line, which may be compressed by gzip; or the
            parsed lines.
        name: The plugin's name in the record; by default the name of the class. Cases
            of other plugins are left out.
        beside: More plugins of the profile, which come before this one.

    Returns:
        The numbers of calls.

    Raises:
        ContractError: An answer differs, or no call could be made; it lists each
            difference with its case and call.
        RecordedCaseError: A line is not a recorded case.
    """
    equal = 0
    not_played: Counter[str] = Counter()
    problems: list[str] = []
    for case in read_cases(cases):
        if case.tree.get("on") != (name or plugin.__name__):
            continue
        for number, (call, played) in enumerate(
            zip(case.calls, play_case(plugin, case, beside=beside), strict=True)
        ):
            if isinstance(played, str):
                not_played[played] += 1
            elif text := difference(case.answers[number], played):
                problems.append(f"{case.name}: call {number}, {call['call']}: {text}")
            else:
                equal += 1
    if problems:
        raise ContractError("\n".join(problems))
    if not equal:
        calls = RecordedCalls(0, not_played)
        raise ContractError(f"{name or plugin.__name__}: {calls}")
    return RecordedCalls(equal, not_played)


def play_case(
    plugin: type, case: RecordedCase, *, beside: Sequence[type] = ()
) -> Sequence[Json | str]:
    """Make the calls of a case to a new instance of a plugin.

    Returns:
        For each call the answer, or the reason why it was not made.
    """
    return play_calls_with(lambda: RecordedPlayer(plugin, case, beside=beside), case)


def play_calls_with(
    make_player: Callable[[], RecordedPlayer], case: RecordedCase
) -> Sequence[Json | str]:
    """Make the calls of a case to the plugin of a new player.

    Returns:
        For each call the answer, or the reason why it was not made.
    """
    if reason := case.tree.get("not_recorded"):
        return [f"not in the record: {reason}"] * len(case.calls)
    try:
        player = make_player()
    except CallNotPlayedError as error:
        return [str(error)] * len(case.calls)
    except ConfigErrors:
        # Tests in Go often build a plugin without the checks of its arguments.
        text = "a configuration file cannot have these arguments"
        return [text] * len(case.calls)
    with player:
        return [_played(player, call) for call in case.calls]


def _played(player: RecordedPlayer, call: Json) -> Json | str:
    try:
        return player.play(call)
    except CallNotPlayedError as error:
        return str(error)
