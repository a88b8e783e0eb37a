"""The last attempts of a scheduler as a document: recorded, not simulated again.

Only facts are computed on request, and from the current state: an attempt keeps
verdicts, but not the state that they were made in.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from quaymaster._api.objects import Time
from quaymaster._base.errors import QuaymasterError, counted
from quaymaster._core.engine.attempts import Attempt
from quaymaster._core.engine.history import AttemptHistory
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._studies.simulation.pending_facts import pending_facts
from quaymaster._surfaces.operation.pages import (
    Page,
    Query,
    Reply,
    json_reply,
    text_reply,
)

__all__ = [
    "AttemptsDocument",
    "FactsFn",
    "attempts_document",
    "attempts_in_lines",
    "attempts_page",
    "facts_now",
]

T = TypeVar("T")

_LAST: Final = 100
"""How many attempts are returned if no pod is named."""
_NAMED: Final = 3
"""How many of the nodes with the same reasons are named."""

AttemptsDocument: TypeAlias = dict[str, Any]
"""A JSON document."""


_PARAMETERS: Final = ("pod", "node", "facts")

FactsFn: TypeAlias = Callable[[str], Sequence[str]]
"""Returns the facts behind the rejection of a pod, given by its key, as of now."""


class _Asks(Protocol):
    """Runs calls on the scheduler's thread."""

    def ask(self, question: Callable[[], T], /) -> T: ...


def attempts_document(
    history: AttemptHistory, pod: str = "", node: str = "", facts: FactsFn | None = None
) -> AttemptsDocument:
    """Return the last attempts; called on the scheduler's thread.

    Args:
        history: The attempts.
        pod: The key of the pod whose attempts are returned, with the verdicts on nodes;
            empty: the last attempts of all pods, without verdicts.
        node: The only node to include; empty: all.
        facts: Returns the facts about the pod; None if they are not requested.
    """
    if not pod:
        return {
            "pod": "",
            "attempts": [_attempt(attempt) for attempt in history.last(_LAST)],
        }
    attempts = [
        _of_node(_attempt(attempt), attempt, node) for attempt in history.of(pod)
    ]
    document: AttemptsDocument = {"pod": pod, "attempts": attempts}
    return document if facts is None else {**document, "facts": list(facts(pod))}


def facts_now(scheduler: Scheduler) -> FactsFn:
    """Return a function that finds the facts about a pod that a scheduler has queued.

    It must be called on the scheduler's thread.
    """

    def facts(pod: str) -> Sequence[str]:
        queued = scheduler.queue.get(pod)
        return () if queued is None else pending_facts(scheduler, queued.pod)

    return facts


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


def attempts_page(probe: _Asks, history: AttemptHistory, facts: FactsFn) -> Page:
    """Return the page of the last attempts: ``?pod=NAMESPACE/NAME&node=NAME&facts``.

    Args:
        probe: Runs calls on the scheduler's thread.
        history: The attempts.
        facts: Returns the facts about a pod; only called if they are requested.
    """

    def page(query: Query) -> Reply:
        pod, node = _parameter(query, "pod"), _parameter(query, "node")
        unknown = sorted(query.keys() - set(_PARAMETERS))
        if unknown:
            names = ", ".join(_PARAMETERS)
            text = f"unknown parameter: {unknown[0]} (there are: {names})\n"
            return text_reply(text, HTTPStatus.BAD_REQUEST)
        is_requested = "facts" in query and _parameter(query, "facts") != "false"
        requested = facts if is_requested else None
        try:
            document = probe.ask(
                lambda: attempts_document(history, pod, node, requested)
            )
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
    if document.get("facts"):
        yield "facts of now, from the first node with each reason:"
        yield from (f"  {fact}" for fact in document["facts"])
    elif "facts" in document:
        yield "no facts: the pod is not pending, or nothing rejects it now"


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
