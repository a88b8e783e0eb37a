"""Compares answers with recorded ones; what an answer leaves out is not compared."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from quaymaster._authors.testing.recorded.case import Json
from quaymaster._authors.testing.recorded.hints import actions_of
from quaymaster._core.contract.cluster_events import ActionType

__all__ = ["difference"]

_RANDOM: Final = frozenset({"shareID"})
_EMPTY: Final[Sequence[object]] = (None, [], {}, "", 0, False)
_PRECISION: Final = 1e-6


def difference(recorded: Json, answer: Json) -> str:
    """Return what differs from a recorded answer, or an empty text.

    Statuses differ by their code or their reasons, in any order. Registrations of
    events may be split otherwise: they differ by the changes that they cover.

    Args:
        recorded: The recorded answer.
        answer: Our answer.
    """
    for key, value in answer.items():
        expected = recorded.get(key)
        if key == "status":
            is_equal = _is_same_status(expected, value)
        elif key == "events":
            is_equal = _covered(expected) == _covered(value)
        elif key == "score" and _code(recorded.get("status")) != "success":
            continue
        else:
            is_equal = _covers(expected, value)
        if not is_equal:
            return f"{key}: expected {expected}, got {value}"
    return ""


def _code(status: Mapping[str, Any] | None) -> str:
    return str((status or {}).get("code", "Success")).replace("_", "").lower()


def _is_same_status(
    recorded: Mapping[str, Any] | None, status: Mapping[str, Any]
) -> bool:
    reasons = [sorted((tree or {}).get("reasons", ())) for tree in (recorded, status)]
    return _code(recorded) == _code(status) and reasons[0] == reasons[1]


def _covered(events: Sequence[Json] | None) -> Mapping[str, ActionType]:
    covered: dict[str, ActionType] = {}
    for event in events or ():
        resource = event["resource"]
        covered[resource] = covered.get(resource, ActionType(0)) | actions_of(event)
    return covered


def _covers(recorded: Any, answer: Any) -> bool:  # noqa: ANN401 - parts of JSON trees
    """Whether an answer equals the recorded one, as far as it goes."""
    if _is_success(recorded) and _is_success(answer):
        return True
    if isinstance(recorded, dict) and isinstance(answer, dict):
        if "code" in recorded and "code" in answer:
            return _is_same_status(recorded, answer)
        return all(
            _covers(recorded.get(key), value)
            for key, value in answer.items()
            if key not in _RANDOM
        )
    if isinstance(recorded, list) and isinstance(answer, list):
        return len(recorded) == len(answer) and all(map(_covers, recorded, answer))
    return _is_close(recorded, answer)


def _is_success(tree: Any) -> bool:  # noqa: ANN401 - parts of JSON trees
    """Whether a part is a success without reasons; in Go it may be nil."""
    return tree is None or (
        isinstance(tree, dict)
        and "code" in tree
        and _code(tree) == "success"
        and not tree.get("reasons")
    )


def _is_close(recorded: Any, answer: Any) -> bool:  # noqa: ANN401 - parts of JSON trees
    if _is_number(recorded) and _is_number(answer):
        return math.isclose(recorded, answer, rel_tol=_PRECISION, abs_tol=_PRECISION)
    # JSON of Go has null where ours is empty, or the other way round.
    is_empty = recorded in _EMPTY and answer in _EMPTY
    return is_empty or bool(recorded == answer)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
