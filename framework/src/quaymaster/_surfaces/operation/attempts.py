"""The last attempts of a scheduler as a document: recorded, not simulated again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from quaymaster._api.objects import Time
from quaymaster._base.errors import QuaymasterError, counted
from quaymaster._core.engine.attempts import Attempt
from quaymaster._core.engine.history import AttemptHistory
from quaymaster._surfaces.operation.pages import (
    Page,
    Query,
    Reply,
    json_reply,
    text_reply,
)

__all__ = [
    "AttemptsDocument",
    "attempts_document",
    "attempts_in_lines",
    "attempts_page",
]

T = TypeVar("T")

_LAST: Final = 100
"""How many attempts are returned if no pod is named."""
_NAMED: Final = 3
"""How many of the nodes with the same reasons are named."""

AttemptsDocument: TypeAlias = dict[str, Any]
"""A JSON document."""


class _Asks(Protocol):
    """Runs calls on the scheduler's thread."""

    def ask(self, question: Callable[[], T], /) -> T: ...


def attempts_document(
    history: AttemptHistory, pod: str = "", node: str = ""
) -> AttemptsDocument:
    """Return the last attempts; called on the scheduler's thread.

    Args:
        history: The attempts.
        pod: The key of the pod whose attempts are returned, with the verdicts on nodes;
            empty: the last attempts of all pods, without verdicts.
        node: The only node to include; empty: all.
    """
    if not pod:
        return {
            "pod": "",
            "attempts": [_attempt(attempt) for attempt in history.last(_LAST)],
        }
    attempts = [
        _of_node(_attempt(attempt), attempt, node) for attempt in history.of(pod)
    ]
    return {"pod": pod, "attempts": attempts}


def _of_node(document: AttemptsDocument, attempt: Attempt, node: str) -> object:
    if node:
        document["rejections"] = [
            description
            for description in document["rejections"] or ()
            if description["node"] == node
        ]
        document["feasible"] = [name for name in attempt.feasible if name == node]
        document["saidOfNode"] = {"node": node, "said": attempt.said_of(node)}
    return document


def _attempt(attempt: Attempt) -> AttemptsDocument:
    rejections = attempt.rejections
    return {
        "pod": attempt.pod,
        "uid": attempt.uid,
        "attempt": attempt.number,
        "at": str(Time(attempt.at)),
        "outcome": attempt.outcome.value,
        "node": attempt.node,
        "nominatedNode": attempt.nominated_node,
        "message": attempt.message,
        "reasons": list(attempt.reasons),
        "plugins": list(attempt.plugins),
        "nodes": attempt.nodes,
        "feasibleNodes": attempt.feasible_nodes,
        "evaluatedNodes": attempt.evaluated_nodes,
        "rejections": None
        if rejections is None
        else [
            {
                "node": each.node,
                "plugin": each.plugin,
                "code": each.code.label,
                "reasons": list(each.reasons),
            }
            for each in rejections
        ],
        "feasible": list(attempt.feasible),
    }


def attempts_page(probe: _Asks, history: AttemptHistory) -> Page:
    """Return the page of the last attempts: ``?pod=NAMESPACE/NAME&node=NAME``."""

    def page(query: Query) -> Reply:
        pod, node = _parameter(query, "pod"), _parameter(query, "node")
        unknown = sorted(query.keys() - {"pod", "node"})
        if unknown:
            text = f"unknown parameter: {unknown[0]} (there are: pod, node)\n"
            return text_reply(text, HTTPStatus.BAD_REQUEST)
        try:
            document = probe.ask(lambda: attempts_document(history, pod, node))
        except QuaymasterError as error:
            return text_reply(f"{error}\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return json_reply(document)

    return page


def _parameter(query: Query, name: str) -> str:
    return query.get(name, [""])[-1]


def attempts_in_lines(document: AttemptsDocument) -> Iterator[str]:
    """Render the document as lines of text."""
    attempts = document["attempts"]
    if not attempts:
        whose = f" of {document['pod']}" if document["pod"] else ""
        yield f"no attempt{whose} is recorded"
    for attempt in attempts:
        head = f"{attempt['pod']}: attempt {attempt['attempt']} at {attempt['at']}"
        yield f"{head}: {_outcome(attempt)}"
        if attempt["message"]:
            yield f"  {attempt['message']}"
        if "saidOfNode" in attempt:
            yield f"  {attempt['saidOfNode']['node']}: {attempt['saidOfNode']['said']}"
        elif document["pod"]:
            yield from _nodes_in_lines(attempt)


def _nodes_in_lines(attempt: AttemptsDocument) -> Iterator[str]:
    rejections = attempt["rejections"]
    if rejections is None:
        yield "  the verdicts on nodes are not recorded"
        return
    for description, names in _grouped(rejections):
        such_as = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        yield f"  {counted(len(names), 'node')} {description}: {such_as}"
    if attempt["feasible"]:
        yield f"  {counted(len(attempt['feasible']), 'node')} feasible"


def _grouped(
    rejections: Iterable[AttemptsDocument],
) -> Sequence[tuple[str, Sequence[str]]]:
    """Group nodes by their verdict, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for attempt in rejections:
        reasons = ", ".join(attempt["reasons"])
        description = (
            f"rejected by {attempt['plugin']}: {reasons}"
            if reasons
            else "not evaluated"
        )
        groups.setdefault(description, []).append(attempt["node"])
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _outcome(attempt: AttemptsDocument) -> str:
    chosen = f" on {attempt['node']}" if attempt["node"] else ""
    nominated = attempt["nominatedNode"]
    after = f", nominated to {nominated}" if nominated and not chosen else ""
    if not attempt["evaluatedNodes"]:
        return f"{attempt['outcome']}{chosen}{after}"
    feasible, evaluated = attempt["feasibleNodes"], attempt["evaluatedNodes"]
    nodes = f" ({feasible} of {evaluated} evaluated nodes feasible)"
    return f"{attempt['outcome']}{chosen}{after}{nodes}"
