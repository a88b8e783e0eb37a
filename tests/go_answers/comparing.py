"""Our answers, in the form of the recorder's."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    Selector,
    compile_selector,
    device_value,
)
from quaymaster.errors import QuaymasterError
from quaymaster.objects import Quantity
from tests.go_answers.texts import Question
from tests.kit.internals.changes import read_selector
from tests.kit.internals.config import parse_duration

__all__ = ["Answer", "is_same", "our_answer"]

Answer: TypeAlias = Any
"""JSON: None if the text is rejected."""

_LIMIT: Final = 2**63
_NO_DIGIT: Final = re.compile(r"\s*[+-]?\.*([eEinumkKMGTP].*)?\s*", re.DOTALL)


def _quantity(question: Question) -> Answer:
    try:
        quantity = Quantity(question["text"])
    except QuaymasterError:
        return None
    return [quantity.value, quantity.milli_value]


def _duration(question: Question) -> Answer:
    duration = parse_duration(question["text"])
    return None if duration is None else duration // timedelta(microseconds=1) * 1000


def _selector(question: Question) -> Answer:
    try:
        selector = read_selector(question["text"])
    except QuaymasterError:
        return None
    return [bool(selector.matches(labels)) for labels in question["sets"]]


def _expression(question: Question) -> Answer:
    try:
        selector = compile_selector(question["text"])
    except CelCompilationError:
        return None
    return [selector.max_cost, *(_verdict(selector, d) for d in question["devices"])]


def _verdict(selector: Selector, device: Mapping[str, Any]) -> bool | str:
    try:
        return selector.matches(device_value(device["driver"], device))
    except CelEvaluationError:
        return "error"


_ANSWERS: Final[Mapping[str, Callable[[Question], Answer]]] = {
    "quantity": _quantity,
    "duration": _duration,
    "selector": _selector,
    "expression": _expression,
}


def our_answer(question: Question) -> Answer:
    """Return our answer to a question."""
    return _ANSWERS[question["kind"]](question)


def is_same(question: Question, go: Answer, ours: Answer) -> bool:
    """Return whether two answers are the same, as far as they are comparable.

    README.md lists what is left out.
    """
    text = question["text"]
    if question["kind"] == "quantity":
        return _is_same_quantity(text, go, ours)
    if question["kind"] == "duration" and go is not None and ours is not None:
        # A part of a microsecond is rounded.
        return abs(int(go) - int(ours)) < 1500
    return bool(go == ours) or (not text.strip() and question["kind"] == "selector")


def _is_same_quantity(text: str, go: Answer, ours: Answer) -> bool:
    if go is None or ours is None:
        return go is ours or bool(_NO_DIGIT.fullmatch(text))
    value, milli_value = ours
    if go[0] != value and value < _LIMIT - 1:
        return False
    return bool(go[1] == milli_value) or milli_value >= _LIMIT - 1
