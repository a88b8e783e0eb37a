"""Plays helpers of several programs: node selectors and the requests of pods."""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster import Pod
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    NodeAffinity,
    NodeMatcher,
    NodeSelector,
    PreferredTerms,
    RequiredNodeAffinity,
    compile_node_selector,
    compile_preferred_terms,
    required_node_affinity,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
)
from tests.upstream.calls import Calls, Play, play_calls
from tests.upstream.resources import NODE_RESOURCES, PLAYS_OF_RESOURCES

__all__ = ["play"]


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of component-helpers."""
    return play_calls(case, _PLAYS, _NOT_PLAYED)


def _affinity_of(**node_affinity: object) -> NodeAffinity:
    """Return the node affinity of a pod."""
    spec = {"affinity": {"nodeAffinity": node_affinity}}
    affinity = object_from({"spec": spec}, Pod).spec.affinity
    assert affinity is not None
    assert affinity.node_affinity is not None
    return affinity.node_affinity


def _selector_of(tree: Json) -> NodeSelector:
    affinity = _affinity_of(requiredDuringSchedulingIgnoredDuringExecution=tree)
    required = affinity.required_during_scheduling_ignored_during_execution
    assert required is not None
    return required


def _match_terms(calls: Calls, call: Json) -> Json:
    node, selector = call["in"]
    if selector is None or node is None:
        raise CallNotPlayedError("a call without a node or a selector")
    matcher = compile_node_selector(_selector_of(selector))
    matches = matcher.matches(calls.node(node))
    try:
        matcher.check()
    except SelectorError as error:
        # A term that matches counts before the errors of others.
        return {"results": [matches, None if matches else {"error": str(error)}]}
    return {"results": [matches, None]}


def _new_selector(calls: Calls, call: Json) -> Json:
    matcher = compile_node_selector(_selector_of(call["in"][0]))
    try:
        matcher.check()
    except SelectorError as error:
        return {"results": [None, {"error": str(error)}]}
    number = len(calls.made)
    calls.made[number] = matcher
    return {"results": [{"on": number}, None]}


def _selector_match(calls: Calls, call: Json) -> Json:
    matcher = calls.made[call["on"]]
    assert isinstance(matcher, NodeMatcher)
    return {"results": [matcher.matches(calls.node(call["in"][0]))]}


def _required(calls: Calls, call: Json) -> Json:
    number = len(calls.made)
    calls.made[number] = required_node_affinity(calls.pod(call["in"][0]))
    return {"results": [{}]}


def _required_match(calls: Calls, call: Json) -> Json:
    affinity = calls.made[call["on"]]
    assert isinstance(affinity, RequiredNodeAffinity)
    return {"results": [affinity.matches(calls.node(call["in"][0])), None]}


def _preferred(calls: Calls, call: Json) -> Json:
    terms = call["in"][0]
    affinity = _affinity_of(preferredDuringSchedulingIgnoredDuringExecution=terms)
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    try:
        calls.made[len(calls.made)] = compile_preferred_terms(preferred)
    except SelectorError as error:
        return {"results": [None, {"error": str(error)}]}
    return {"results": [{"on": len(calls.made) - 1}, None]}


def _score(calls: Calls, call: Json) -> Json:
    terms = calls.made[call["on"]]
    assert isinstance(terms, PreferredTerms)
    return {"results": [terms.score(calls.node(call["in"][0]))]}


_NOT_PLAYED: Final[Mapping[str, str]] = {
    "nodeaffinity.nodeSelectorRequirementsAsSelector": (
        "returns the text of Go's labels.Selector; terms are compiled as a whole here"
    ),
    "resource.GetContainerDRAAllocations": NODE_RESOURCES,
}
"""Call -> why it is not played."""

_PLAYS: Final[Mapping[str, Play]] = {
    "corev1.MatchNodeSelectorTerms": _match_terms,
    "nodeaffinity.GetRequiredNodeAffinity": _required,
    "nodeaffinity.NewNodeSelector": _new_selector,
    "nodeaffinity.NewPreferredSchedulingTerms": _preferred,
    "NodeSelector.Match": _selector_match,
    "PreferredSchedulingTerms.Score": _score,
    "RequiredNodeAffinity.Match": _required_match,
    **PLAYS_OF_RESOURCES,
}
