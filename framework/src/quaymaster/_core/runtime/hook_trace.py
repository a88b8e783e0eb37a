"""Writes a line for each call of a hook."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from quaymaster._core.contract.hook_calls import HookCall
from quaymaster._core.contract.results import NodeVerdicts, PostFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.contract.trace import TraceCallback

__all__ = ["HookTrace"]

_MOST_REASONS: Final = 5
_LONGEST: Final = 80  # letters of an answer that may be anything


class HookTrace:
    """Writes a line for each call of a hook; implements `HookObserver`.

    Args:
        write: Writes the lines.
    """

    def __init__(self, write: TraceCallback) -> None:
        self._write = write

    def called(self, call: HookCall, /) -> None:
        """Write a line."""
        rows = None
        if call.nodes is not None and call.rows is not None:
            rows = call.nodes.count(call.rows)
        self._write(
            "called",
            call.pod,
            plugin=call.plugin,
            hook=call.hook,
            node=call.node,
            rows=rows,
            seconds=call.seconds,
            **(_chosen(call) or _answer(call.answer)),
        )


def _chosen(call: HookCall) -> Mapping[str, object]:
    """Return the node that ``break_tie`` chose; empty for failures and other hooks."""
    nodes, row = call.nodes, call.answer
    if call.hook != "break_tie" or nodes is None or not isinstance(row, int):
        return {}
    return {"answer": nodes.names_at(np.array([row], dtype=np.intp))[0]}


def _answer(answer: object) -> Mapping[str, object]:
    """Return the answer of a hook as a few fields."""
    if isinstance(answer, Status):
        return {"answer": answer.code.label, "message": answer.message}
    if isinstance(answer, NodeVerdicts):
        return {
            "answer": "NodeVerdicts",
            "rejected": int(np.count_nonzero(answer.codes)),
            "message": _reasons(answer),
        }
    # A line has one value per array: 5,000 scores would hide all other lines.
    if isinstance(answer, np.ndarray):
        return {"answer": "scores", "lowest": answer.min(), "highest": answer.max()}
    if isinstance(answer, PostFilterResult):
        nominating = answer.nominating
        fields = (
            {"answer": "Success"} if answer.status is None else _answer(answer.status)
        )
        return {**fields, "nominated": nominating.node_name if nominating else None}
    return {"answer": repr(answer)[:_LONGEST]}


def _reasons(verdicts: NodeVerdicts) -> str:
    codes = [int(code) for code in np.unique(verdicts.codes) if code]
    texts = [verdicts.status_of(code).message for code in codes[:_MOST_REASONS]]
    return "; ".join(dict.fromkeys(texts))
