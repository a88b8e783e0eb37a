"""Plays helpers of several programs: node selectors and the requests of pods."""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster import Pod
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    NodeAffinity,
    PreferredTerms,
    Quantity,
    QuantityFormat,
    RequiredNodeAffinity,
    compile_node_selector,
    compile_preferred_terms,
    pod_usage,
    required_node_affinity,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
)
from tests.upstream.calls import Calls, Play, play_calls

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


def _match_terms(calls: Calls, call: Json) -> Json:
    node, selector = call["in"]
    if selector is None or node is None:
        raise CallNotPlayedError("a call without a node or a selector")
    affinity = _affinity_of(requiredDuringSchedulingIgnoredDuringExecution=selector)
    required = affinity.required_during_scheduling_ignored_during_execution
    assert required is not None
    matcher = compile_node_selector(required)
    matches = matcher.matches(calls.node(node))
    try:
        matcher.check()
    except SelectorError as error:
        # A term that matches counts before the errors of others.
        return {"results": [matches, None if matches else {"error": str(error)}]}
    return {"results": [matches, None]}


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


_SCHEDULER_OPTIONS: Final = {
    "UseStatusResources",
    "InPlacePodLevelResourcesVerticalScalingEnabled",
}
"""The options with which a scheduler counts the requests of pods."""


def _requests(calls: Calls, call: Json) -> Json:
    pod, options = call["in"]
    chosen = {name for name, value in options.items() if value}
    pod = calls.pod(pod)
    has_status = pod.status.container_statuses or pod.status.resources is not None
    if not chosen <= _SCHEDULER_OPTIONS or (
        has_status and chosen != _SCHEDULER_OPTIONS
    ):
        raise CallNotPlayedError("options with which a scheduler never calls it")
    resources = pod_usage(pod, calls.kubernetes).requests
    amounts = {
        "cpu": resources.milli_cpu,
        "memory": resources.memory,
        "ephemeral-storage": resources.ephemeral_storage,
        **resources.scalars,
    }
    style = _style(pod)
    return {
        "results": [
            {
                name: str(Quantity.from_value(amount, style))
                if name != "cpu"
                else str(Quantity.from_milli(amount))
                for name, amount in amounts.items()
                if amount
            }
        ]
    }


def _style(pod: Pod) -> QuantityFormat:
    """Return the notation of the pod's amounts: sums have that of the first."""
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        for name, amount in container.resources.requests.items():
            if name != "cpu":
                return amount.format
    return QuantityFormat.BINARY_SI


_NODE_RESOURCES: Final = "only used with the gate DRANodeAllocatableResources"
_NOT_PLAYED: Final[Mapping[str, str]] = {
    "resource.AggregateContainerLimits": _NODE_RESOURCES,
    "resource.AggregateContainerRequests": "a part of PodRequests, which is played",
    "resource.GetContainerDRAAllocations": _NODE_RESOURCES,
    "resource.PodLimits": "only used for metrics of pods (metrics/resources)",
}
"""Call -> why it is not played."""

_PLAYS: Final[Mapping[str, Play]] = {
    "corev1.MatchNodeSelectorTerms": _match_terms,
    "nodeaffinity.GetRequiredNodeAffinity": _required,
    "RequiredNodeAffinity.Match": _required_match,
    "nodeaffinity.NewPreferredSchedulingTerms": _preferred,
    "PreferredSchedulingTerms.Score": _score,
    "resource.PodRequests": _requests,
}
