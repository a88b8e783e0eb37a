"""The last attempts of a scheduler, as a document: told, not simulated anew."""

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

__all__ = ["AttemptsDocument", "attempts_in_lines", "attempts_page", "told_attempts"]

T = TypeVar("T")

_LAST: Final = 100
"""How many attempts of any pods are told if no pod is named."""
_NAMED: Final = 3
"""How many of the nodes with the same reasons are named."""

AttemptsDocument: TypeAlias = dict[str, Any]
"""A document, as JSON has it."""


class _Asks(Protocol):
    """Has calls made on the scheduler's thread."""

    def ask(self, question: Callable[[], T], /) -> T: ...


def told_attempts(
    history: AttemptHistory, pod: str = "", node: str = ""
) -> AttemptsDocument:
    """Return the last attempts; on the scheduler's thread.

    Args:
        history: The attempts.
        pod: The key of the pod whose attempts are told, with the verdicts on nodes;
            empty: the last ones of all pods, without.
        node: The only node that is told of; empty: all.
    """
    if not pod:
        return {"pod": "", "attempts": [_attempt(one) for one in history.last(_LAST)]}
    attempts = [_of_node(_attempt(one), one, node) for one in history.of(pod)]
    return {"pod": pod, "attempts": attempts}


def _of_node(document: AttemptsDocument, one: Attempt, node: str) -> object:
    if node:
        document["rejections"] = [
            found for found in document["rejections"] or () if found["node"] == node
        ]
        document["feasible"] = [name for name in one.feasible if name == node]
        document["saidOfNode"] = {"node": node, "said": one.said_of(node)}
    return document


def _attempt(one: Attempt) -> AttemptsDocument:
    rejections = one.rejections
    return {
        "pod": one.pod,
        "uid": one.uid,
        "attempt": one.number,
        "at": str(Time(one.at)),
        "outcome": one.outcome.value,
        "node": one.node,
        "nominatedNode": one.nominated_node,
        "message": one.message,
        "reasons": list(one.reasons),
        "plugins": list(one.plugins),
        "nodes": one.nodes,
        "feasibleNodes": one.feasible_nodes,
        "evaluatedNodes": one.evaluated_nodes,
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
        "feasible": list(one.feasible),
    }


def attempts_page(probe: _Asks, history: AttemptHistory) -> Page:
    """Return the page of the last attempts: ``?pod=NAMESPACE/NAME&node=NAME``."""

    def page(query: Query) -> Reply:
        pod, node = _one(query, "pod"), _one(query, "node")
        unknown = sorted(query.keys() - {"pod", "node"})
        if unknown:
            text = f"unknown parameter: {unknown[0]} (there are: pod, node)\n"
            return text_reply(text, HTTPStatus.BAD_REQUEST)
        try:
            told = probe.ask(lambda: told_attempts(history, pod, node))
        except QuaymasterError as error:
            return text_reply(f"{error}\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return json_reply(told)

    return page


def _one(query: Query, name: str) -> str:
    return query.get(name, [""])[-1]


def attempts_in_lines(document: AttemptsDocument) -> Iterator[str]:
    """Tell the document in lines, for people."""
    attempts = document["attempts"]
    if not attempts:
        whose = f" of {document['pod']}" if document["pod"] else ""
        yield f"no attempt{whose} is remembered"
    for one in attempts:
        yield f"{one['pod']}: attempt {one['attempt']} at {one['at']}: {_outcome(one)}"
        if one["message"]:
            yield f"  {one['message']}"
        if "saidOfNode" in one:
            yield f"  {one['saidOfNode']['node']}: {one['saidOfNode']['said']}"
        elif document["pod"]:
            yield from _nodes_in_lines(one)


def _nodes_in_lines(one: AttemptsDocument) -> Iterator[str]:
    rejections = one["rejections"]
    if rejections is None:
        yield "  what was said of each node is not remembered"
        return
    for found, names in _grouped(rejections):
        such_as = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        yield f"  {counted(len(names), 'node')} {found}: {such_as}"
    if one["feasible"]:
        yield f"  {counted(len(one['feasible']), 'node')} would have done"


def _grouped(
    rejections: Iterable[AttemptsDocument],
) -> Sequence[tuple[str, Sequence[str]]]:
    """What was said, and of which nodes; the most frequent first."""
    groups: dict[str, list[str]] = {}
    for one in rejections:
        reasons = ", ".join(one["reasons"])
        found = (
            f"rejected by {one['plugin']}: {reasons}" if reasons else "not looked at"
        )
        groups.setdefault(found, []).append(one["node"])
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _outcome(one: AttemptsDocument) -> str:
    chosen = f" on {one['node']}" if one["node"] else ""
    nominated = one["nominatedNode"]
    after = f", nominated to {nominated}" if nominated and not chosen else ""
    if not one["evaluatedNodes"]:
        return f"{one['outcome']}{chosen}{after}"
    of = f" ({one['feasibleNodes']} of {one['evaluatedNodes']} nodes looked at fit)"
    return f"{one['outcome']}{chosen}{after}{of}"
