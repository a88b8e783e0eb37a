"""Checks the parts of answers.

An answer such as a `NodeVerdicts` contains arrays and other values that the framework
uses later, outside of the plugin's guard. Classes without such values are not checked.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from quaymaster._core.contract.pod_groups import PodGroupPostFilterResult
from quaymaster._core.contract.results import (
    NodeVerdicts,
    NominatingInfo,
    NominatingMode,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
)
from quaymaster._core.contract.status import Code, Status

__all__ = ["PROBLEMS", "part_problem"]


def part_problem(answer: object) -> str:
    """Describe the error in the parts of an answer; empty if they are valid.

    Args:
        answer: Any value that a plugin returned.
    """
    # By exact type: one look-up for nearly all answers.
    problem_of = PROBLEMS.get(type(answer))
    if problem_of is not None:
        return problem_of(answer)
    if not isinstance(answer, _CLASSES):
        return ""
    # Overridden methods of a subclass would run where nothing catches their errors.
    base = next(cls for cls in _CLASSES if isinstance(answer, cls))
    return f"returned {_type(answer)}, expected plain {base.__name__}"


def _verdicts_problem(verdicts: NodeVerdicts) -> str:
    codes: object = verdicts.codes
    if type(codes) is not np.ndarray and isinstance(codes, np.ndarray):
        return f"returned codes as {_type(codes)}, expected plain ndarray"
    return ""


def _status_problem(status: Status) -> str:
    # Exact types here and below: a subclass may override methods that run much later.
    if type(status.code) is not Code:
        return f"returned a Status with a {_type(status.code)} as its code"
    if type(status.reasons) is not tuple:
        return f"returned a Status with reasons as {_type(status.reasons)}, not a tuple"
    for reason in status.reasons:
        if type(reason) is not str:
            return f"returned a Status with a {_type(reason)} as a reason, not a string"
    if type(status.plugin) is not str:
        return f"returned a Status with a {_type(status.plugin)} as its plugin"
    return ""


def _pre_filter_problem(result: PreFilterResult) -> str:
    names: object = result.node_names
    if type(names) is not frozenset:
        return ""  # `checked_answer` reports the error
    # One set for all names: a result may list thousands of nodes.
    if set(map(type, names)) <= {str}:
        return ""
    return "returned a PreFilterResult with node names that are not strings"


def _post_filter_problem(result: PostFilterResult) -> str:
    status: object = result.status
    if type(status) is Status:
        return _status_problem(status)
    if isinstance(status, Status):
        return f"returned a PostFilterResult with {_type(status)}, not plain Status"
    nominating: object = result.nominating
    if type(nominating) is not NominatingInfo:
        return ""  # `checked_answer` reports the error
    return _nomination_problem(nominating)


def _nomination_problem(nominating: NominatingInfo) -> str:
    mode = nominating.mode
    if type(nominating.node_name) is str and type(mode) is NominatingMode:
        return ""
    return "returned a NominatingInfo without a valid node name or mode"


def _group_post_filter_problem(result: PodGroupPostFilterResult) -> str:
    status: object = result.status
    if type(status) is Status:
        return _status_problem(status)
    if isinstance(status, Status):
        kind = _type(status)
        return f"returned a PodGroupPostFilterResult with {kind}, not plain Status"
    if type(result.message) is not str:
        return f"returned a PodGroupPostFilterResult with {_type(result.message)}"
    nominating: object = result.nominating
    if not isinstance(nominating, Mapping):
        return f"returned nominations as {_type(nominating)}, not a mapping"
    for pod, info in nominating.items():
        if type(pod) is not str or type(info) is not NominatingInfo:
            return "returned nominations that are not NominatingInfo by key of pod"
        if problem := _nomination_problem(info):
            return problem
    return ""


def _wait_problem(wait: PreBindWait) -> str:
    if not callable(wait.check):
        return f"returned a PreBindWait with {_type(wait.check)} as its check"
    timed_out: object = wait.timed_out
    if type(timed_out) is not Status:
        return f"returned a PreBindWait with {_type(timed_out)} as timed_out"
    return _status_problem(timed_out)


def _no_problem(_answer: object) -> str:
    return ""


def _type(value: object) -> str:
    return type(value).__name__


PROBLEMS: Final[Mapping[type, Callable[[Any], str]]] = {
    Status: _status_problem,
    NodeVerdicts: _verdicts_problem,
    PreFilterResult: _pre_filter_problem,
    PostFilterResult: _post_filter_problem,
    PodGroupPostFilterResult: _group_post_filter_problem,
    PermitWait: _no_problem,
    PreBindWait: _wait_problem,
    PreBindPreFlightResult: _no_problem,
    np.ndarray: _no_problem,
}
"""Class -> a function that describes the error in the parts of an instance."""

_CLASSES: Final = tuple(PROBLEMS)
