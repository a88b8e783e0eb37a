"""The answers that hooks may give, and the checks of them before anything uses them.

All parts of an answer are checked at once. They are used much later, when an error
would no longer show which plugin caused it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeGuard

import attrs
import msgspec
import numpy as np

from quaymaster._base.errors import PluginError
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.pod_groups import (
    PodGroupPlacement,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.results import (
    NodeVerdicts,
    NominatingInfo,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
    Suggestion,
)
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.runtime.callbacks import guarded_function
from quaymaster._core.runtime.failures import unexpected, wrong_answer
from quaymaster._core.runtime.parts import PROBLEMS, part_problem

__all__ = ["EXPECTED", "NAMES_IN_GOOD", "ExpectedAnswer", "checked_answer"]

Accept: TypeAlias = Callable[[str, str, Any, int], object]
"""Takes plugin, hook, an answer with valid parts, and the number of nodes that it is
about; returns the answer for the caller of the hook."""


def _has_hash(answer: object) -> bool:
    try:
        hash(answer)
    except Exception:
        return False
    return True


NAMES_IN_GOOD: Final[Mapping[str, object]] = {
    "SKIP": Status.skip(),
    # Scores are added in int64 arrays, where larger numbers raise far away from here.
    "LOWEST": -(2**63),
    "HIGHEST": 2**63 - 1,
    "INT64": np.dtype(np.int64),
    "PodUse": PodUse,
    "ndarray": np.ndarray,
    "has_hash": _has_hash,
}
"""The names that `ExpectedAnswer.good` can use beside ``answer`` and the arguments."""


class ExpectedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answers that one hook may give.

    Attributes:
        what: The answer in words, for errors.
        kinds: The types that are allowed besides None and Status; None if ``accept``
            checks the type.
        accept: Checks more than types and parts, or None.
        good: An expression on ``answer``: whether to return it without more checks.
            It is part of the generated code, and saves a call for nearly all answers.
        size: An expression on the hook's arguments: the number of nodes.
        says_nothing: Whether the answer is not used.
    """

    what: str = "Status or None"
    kinds: frozenset[type] | None = frozenset()
    accept: Accept | None = None
    good: str = "answer is None or answer is SKIP"
    size: str = ""
    says_nothing: bool = False


def checked_answer(plugin: str, hook: str, answer: object, size: int = 0) -> object:
    """Check an answer.

    Args:
        plugin: The plugin's name.
        hook: The hook.
        answer: The value that it returned.
        size: The number of nodes, if the hook answers for many.

    Returns:
        The answer, or an Error status if the hook does not allow it.

    Raises:
        PluginError: The answer has an allowed type, but a part of it is wrong.
    """
    expected, kind = EXPECTED[hook], type(answer)
    problem_of = PROBLEMS.get(kind, part_problem)  # saves a call in most cases
    problem = problem_of(answer)
    if problem:
        raise PluginError(plugin, hook, problem)
    if kind is not Status and expected.kinds is not None and kind not in expected.kinds:
        answer = unexpected(plugin, hook, answer, expected.what)
    accept = expected.accept
    return answer if accept is None else accept(plugin, hook, answer, size)


def _with_one_skip(_plugin: str, _hook: str, answer: object, _size: int) -> object:
    """Return the answer; any Skip becomes the shared status of `Status.skip`."""
    if isinstance(answer, Status) and answer.is_skip:
        # Stations compare with this object by identity, since that takes no call.
        return Status.skip()
    return answer


def _pre_filter(plugin: str, hook: str, answer: object, size: int) -> object:
    if not isinstance(answer, PreFilterResult):
        return _with_one_skip(plugin, hook, answer, size)
    names: object = answer.node_names
    if isinstance(names, frozenset):
        return answer
    expected = "a PreFilterResult with a frozenset of node names"
    return unexpected(plugin, hook, names, expected)


def _filter_nodes(plugin: str, hook: str, answer: object, size: int) -> object:
    if not isinstance(answer, NodeVerdicts):
        return answer
    codes = answer.codes
    if (
        type(codes) is not np.ndarray
        or codes.shape != (size,)
        or codes.dtype.kind not in "biu"
    ):
        return wrong_answer(plugin, hook, _codes_problem(codes, size))
    status_of = guarded_function(
        plugin, "status_of", answer.status_of, _STATUS_ALONE, "Status"
    )
    return NodeVerdicts(codes, status_of)


def _codes_problem(codes: object, size: int) -> str:
    """Describe the error in the codes of a batch twin."""
    if not isinstance(codes, np.ndarray):
        return f"returned codes as {type(codes).__name__}, expected an array"
    if codes.shape != (size,):
        return f"returned shape {codes.shape}, expected ({size},)"
    return f"returned dtype {codes.dtype}, expected integers or bool"


def _post_filter(plugin: str, hook: str, answer: object, _size: int) -> object:
    """Return the answer as a result, so that only a failed hook returns a `Status`."""
    if not isinstance(answer, PostFilterResult):
        return PostFilterResult(answer) if isinstance(answer, Status) else answer
    wrong = _wrong_part(answer)
    if wrong is None:
        repeats = answer.repeats
        if repeats is None:
            return answer
        guarded = guarded_function(plugin, "repeats", repeats, _YES_OR_NO, "a bool")
        # Not by `attrs.evolve`, which looks up the fields.
        return PostFilterResult(
            answer.status, answer.nominating, answer.message, repeats=guarded
        )
    expected = "a PostFilterResult with valid parts"
    return PostFilterResult(unexpected(plugin, hook, wrong, expected))


def _wrong_part(result: PostFilterResult) -> object:
    """Return the first part of a result that has a wrong type, or None."""
    status: object = result.status
    if status is not None and not isinstance(status, Status):
        return status
    nominating: object = result.nominating
    if nominating is not None and not isinstance(nominating, NominatingInfo):
        return nominating
    repeats: object = result.repeats
    if repeats is not None and not callable(repeats):
        return repeats
    return None


def _group_post_filter(plugin: str, hook: str, answer: object, _size: int) -> object:
    """Return the answer as a result, so that only a failed hook returns a `Status`."""
    if isinstance(answer, Status):
        return PodGroupPostFilterResult(status=answer)
    if not isinstance(answer, PodGroupPostFilterResult):
        return answer
    status: object = answer.status
    if status is None or isinstance(status, Status):
        return answer
    expected = "a PodGroupPostFilterResult with a Status or None"
    wrong = unexpected(plugin, hook, status, expected)
    return PodGroupPostFilterResult(status=wrong)


def _placements(plugin: str, hook: str, answer: object, _size: int) -> object:
    if isinstance(answer, Status):
        return answer
    if not _is_list_of(answer, PodGroupPlacement):
        return unexpected(plugin, hook, answer, "a list of Placements or Status")
    for placement in answer:
        problem = _placement_problem(placement)
        if problem:
            return wrong_answer(plugin, hook, problem)
    return tuple(answer)


def _placement_problem(placement: object) -> str:
    """Describe the error in a placement; empty if its rows are rows."""
    assert isinstance(placement, PodGroupPlacement)
    rows: object = placement.rows
    if not isinstance(placement.name, str):
        return "returned a PodGroupPlacement whose name is not a string"
    if isinstance(rows, slice):
        return ""
    if type(rows) is np.ndarray and rows.ndim == 1 and rows.dtype.kind in "iu":
        return ""
    expected = "a slice or an array of integers"
    return f"returned a PodGroupPlacement with other rows than {expected}"


def _score(plugin: str, hook: str, answer: object, _size: int) -> object:
    """Return the score as a plain integer.

    NumPy's integers are allowed, too, as in the array of a batch twin.
    """
    if isinstance(answer, Status):
        return answer
    if not isinstance(answer, (int, np.integer)) or isinstance(answer, bool):
        return unexpected(plugin, hook, answer, "int or Status")
    number = int(answer)
    if not -(2**63) <= number < 2**63:
        problem = f"returned {number}, which is not a 64-bit integer"
        return wrong_answer(plugin, hook, problem)
    return number


def _row(plugin: str, hook: str, answer: object, _size: int) -> object:
    """Return the row as a plain integer; columns contain NumPy's integers."""
    if isinstance(answer, Status):
        return answer
    if not isinstance(answer, (int, np.integer)) or isinstance(answer, bool):
        return unexpected(plugin, hook, answer, "one of the rows or Status")
    return int(answer)


def _scores(plugin: str, hook: str, answer: object, size: int) -> object:
    if not isinstance(answer, np.ndarray):
        return answer
    if answer.shape == (size,) and answer.dtype == np.int64:
        return answer
    actual = f"shape {answer.shape}, dtype {answer.dtype}"
    problem = f"returned {actual}, expected shape ({size},), dtype int64"
    return wrong_answer(plugin, hook, problem)


def _permit(plugin: str, hook: str, answer: object, _size: int) -> object:
    """Return the answer, or an Error for a wait without a timeout.

    Upstream's plugins return the timeout besides the status. A timeout of zero rejects
    the pod at once, which no plugin can intend.
    """
    if not isinstance(answer, Status) or answer.code is not Code.WAIT:
        return answer
    problem = "returned a Status with code Wait, expected PermitWait(timeout_seconds)"
    return wrong_answer(plugin, hook, problem)


def _pre_bind(plugin: str, hook: str, answer: object, _size: int) -> object:
    if not isinstance(answer, PreBindWait):
        return answer
    expected = "a check that returns bool or Status"
    check = guarded_function(plugin, hook, answer.check, _BOOL_OR_STATUS, expected)
    return attrs.evolve(answer, check=check)


def _fragment(plugin: str, hook: str, answer: object, _size: int) -> object:
    try:
        hash(answer)
    except Exception as error:
        problem = f"returned {type(answer).__name__}, which has no hash"
        raise PluginError(plugin, hook, problem) from error
    return answer


def _sentences(plugin: str, hook: str, answer: object, _size: int) -> object:
    if _is_list_of(answer, str):
        return tuple(answer)
    return unexpected(plugin, hook, answer, "a list of strings")


def _suggestions(plugin: str, hook: str, answer: object, _size: int) -> object:
    if _is_list_of(answer, Suggestion):
        return tuple(answer)
    return unexpected(plugin, hook, answer, "a list of Suggestions")


def _is_list_of(answer: object, kind: type) -> TypeGuard[Sequence[object]]:
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        return False
    return all(isinstance(item, kind) for item in answer)


def _pod_use(plugin: str, hook: str, answer: object, _size: int) -> object:
    if isinstance(answer, PodUse):
        return answer
    return unexpected(plugin, hook, answer, "a PodUse")


def _revised(plugin: str, hook: str, answer: object, _size: int) -> object:
    if answer is None:
        return None
    if isinstance(answer, Sequence) and all(
        isinstance(getattr(source, "revision", None), int) for source in answer
    ):
        return tuple(answer)
    expected = "a list of objects with a revision, or None"
    return unexpected(plugin, hook, answer, expected)


def _events(
    _plugin: str, _hook: str, answer: Iterable[object], _size: int
) -> Sequence[object]:
    return tuple(answer)


def _nothing(_plugin: str, _hook: str, _answer: object, _size: int) -> object:
    return None


_SCORES: Final = "an int64 array or Status"
_ARRAY: Final = "type(answer) is ndarray and answer.dtype is INT64 and answer.shape == "

_STATUS_ALONE: Final = (Status,)
_YES_OR_NO: Final = (bool, Status)
_BOOL_OR_STATUS: Final = (bool, Status)

_STATUS: Final = ExpectedAnswer()
_SCORE: Final = ExpectedAnswer(
    kinds=None,
    accept=_score,
    good="type(answer) is int and LOWEST <= answer <= HIGHEST",
)
_NORMALIZED: Final = ExpectedAnswer(
    what=_SCORES,
    kinds=frozenset({np.ndarray}),
    accept=_scores,
    good=f"answer is None or {_ARRAY}scores.shape",
    size="len(scores)",
)


def _nothing_at_all(plugin: str, hook: str, answer: object, _size: int) -> object:
    """Return the answer; a status that the plugin itself returned is an error."""
    if isinstance(answer, Status) and answer.error is None:
        return unexpected(plugin, hook, answer, "None")
    return answer


_NOTHING: Final = ExpectedAnswer(
    kinds=None, accept=_nothing, good="answer is None", says_nothing=True
)

EXPECTED: Final[Mapping[str, ExpectedAnswer]] = {
    "start": _NOTHING,
    "close": _NOTHING,
    # A callback of `Informers.on_change`, which is guarded like a hook.
    "on_change": ExpectedAnswer(
        what="None", accept=_nothing_at_all, good="answer is None", says_nothing=True
    ),
    "pre_enqueue": _STATUS,
    # Any comparable value is a key; `SortKeys` checks that.
    "queue_sort": ExpectedAnswer(kinds=None, good="True"),
    "events_to_register": ExpectedAnswer(kinds=None, accept=_events, good="False"),
    "sign_pod": ExpectedAnswer(
        kinds=None, accept=_fragment, good="answer is None or has_hash(answer)"
    ),
    "skips_depend_on": ExpectedAnswer(kinds=None, accept=_revised, good="False"),
    "pre_filter": ExpectedAnswer(
        what="PreFilterResult, Status or None",
        kinds=frozenset({PreFilterResult}),
        accept=_pre_filter,
    ),
    "explain_pre_filter": ExpectedAnswer(kinds=None, accept=_sentences, good="False"),
    "add_pod": _STATUS,
    "remove_pod": _STATUS,
    "filter": _STATUS,
    "filter_nodes": ExpectedAnswer(
        what="NodeVerdicts, Status or None",
        kinds=frozenset({NodeVerdicts}),
        accept=_filter_nodes,
        size="nodes.count(rows)",
    ),
    "filter_pod_use": ExpectedAnswer(
        kinds=None, accept=_pod_use, good="type(answer) is PodUse"
    ),
    "explain_filter": ExpectedAnswer(kinds=None, accept=_sentences, good="False"),
    "suggest_changes": ExpectedAnswer(kinds=None, accept=_suggestions, good="False"),
    "post_filter": ExpectedAnswer(
        what="PostFilterResult, Status or None",
        kinds=frozenset({PostFilterResult}),
        accept=_post_filter,
        good="answer is None",
    ),
    "explain_post_filter": ExpectedAnswer(kinds=None, accept=_sentences, good="False"),
    "placement_generate": ExpectedAnswer(kinds=None, accept=_placements, good="False"),
    "placement_feasible": _STATUS,
    "placement_score": _SCORE,
    "placement_scores": ExpectedAnswer(
        what=_SCORES,
        kinds=frozenset({np.ndarray}),
        accept=_scores,
        good=f"{_ARRAY}(len(candidates),)",
        size="len(candidates)",
    ),
    "normalize_placement_score": _NORMALIZED,
    "pod_group_post_filter": ExpectedAnswer(
        what="PodGroupPostFilterResult, Status or None",
        kinds=frozenset({PodGroupPostFilterResult}),
        accept=_group_post_filter,
        good="answer is None",
    ),
    "pre_score": ExpectedAnswer(accept=_with_one_skip),
    "score": _SCORE,
    "score_nodes": ExpectedAnswer(
        what=_SCORES,
        kinds=frozenset({np.ndarray}),
        accept=_scores,
        good=f"{_ARRAY}(nodes.count(rows),)",
        size="nodes.count(rows)",
    ),
    "normalize_score": _NORMALIZED,
    "break_tie": ExpectedAnswer(kinds=None, accept=_row, good="type(answer) is int"),
    "reserve": _STATUS,
    "unreserve": _NOTHING,
    "verify_reserve": ExpectedAnswer(kinds=None, accept=_sentences, good="False"),
    "permit": ExpectedAnswer(
        what="PermitWait, Status or None",
        kinds=frozenset({PermitWait}),
        accept=_permit,
    ),
    "pre_bind": ExpectedAnswer(
        what="PreBindWait, Status or None",
        kinds=frozenset({PreBindWait}),
        accept=_pre_bind,
    ),
    "pre_bind_pre_flight": ExpectedAnswer(
        what="PreBindPreFlightResult, Status or None",
        kinds=frozenset({PreBindPreFlightResult}),
        accept=_with_one_skip,
    ),
    "bind": _STATUS,
    "post_bind": _NOTHING,
}
"""Hook -> the answers that it may give."""
