"""Plays the sums of the requests and limits of pods."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import Quantity, ResourceList
from tests.kit.internals.objects import (
    is_pod_level_resource,
    pod_limit_list,
    pod_request_list,
)
from tests.kit.internals.testing import CallNotPlayedError, Json
from tests.upstream.calls import Calls, Play

__all__ = ["NODE_RESOURCES", "PLAYS_OF_RESOURCES"]

NODE_RESOURCES: Final = "the gate DRANodeAllocatableResources (alpha), not built"


_OPTIONS: Final = frozenset(
    (
        "ExcludeOverhead",
        "InPlacePodLevelResourcesVerticalScalingEnabled",
        "NonMissingContainerRequests",
        "Reuse",
        "SkipPodLevelResources",
        "UseDRANodeAllocatableResourceClaimStatus",
        "UseStatusResources",
    )
)
"""The options of PodRequests and PodLimits that have a counterpart."""


def _pod_of(calls: Calls, call: Json) -> Pod:
    """Return the pod of a call, with the parts of the status that its options use.

    Raises:
        CallNotPlayedError: Devices that count as resources of nodes take part.
    """
    argument, options = call["in"]
    pod = calls.pod(argument)
    others = {name for name, value in options.items() if value} - _OPTIONS
    if others:
        raise CallNotPlayedError(f"the option {min(others)} of PodRequests")
    if options.get("UseDRANodeAllocatableResourceClaimStatus"):
        tree = calls.pod_tree(argument)
        if tree.get("status", {}).get("nodeAllocatableResourceClaimStatuses"):
            raise CallNotPlayedError(NODE_RESOURCES)
    if options.get("InPlacePodLevelResourcesVerticalScalingEnabled"):
        return pod
    status = replace(pod.status, resources=None, allocated_resources={})
    return replace(pod, status=status)


def _options(calls: Calls, options: Json) -> dict[str, Any]:
    return {
        "use_status": bool(options.get("UseStatusResources")),
        "by_totals": calls.kubernetes.has("resize-totals"),
        "pod_level": not options.get("SkipPodLevelResources"),
        "overhead": not options.get("ExcludeOverhead"),
    }


def _tree(amounts: ResourceList) -> Json:
    return {name: str(amount) for name, amount in amounts.items()}


def _requests(calls: Calls, call: Json) -> Json:
    options = call["in"][1]
    missing = {
        name: Quantity(amount)
        for name, amount in (options.get("NonMissingContainerRequests") or {}).items()
    }
    chosen = _options(calls, options)
    amounts = pod_request_list(_pod_of(calls, call), **chosen, missing=missing)
    return {"results": [_tree(amounts)]}


def _limits(calls: Calls, call: Json) -> Json:
    chosen = _options(calls, call["in"][1])
    return {"results": [_tree(pod_limit_list(_pod_of(calls, call), **chosen))]}


def _of_containers(play: Play) -> Play:
    """Play the function for the containers alone: no pod-level amounts or overhead."""

    def play_containers(calls: Calls, call: Json) -> Json:
        argument, options = call["in"]
        alone = {**options, "SkipPodLevelResources": True, "ExcludeOverhead": True}
        return play(calls, {**call, "in": [argument, alone]})

    return play_containers


def _is_supported(_calls: Calls, call: Json) -> Json:
    return {"results": [is_pod_level_resource(call["in"][0])]}


def _are_set(*kinds: str) -> Play:
    def play(calls: Calls, call: Json) -> Json:
        resources = calls.pod(call["in"][0]).spec.resources
        names = (name for kind in kinds for name in getattr(resources, kind, ()))
        return {"results": [any(map(is_pod_level_resource, names))]}

    return play


PLAYS_OF_RESOURCES: Final[Mapping[str, Play]] = {
    "resource.AggregateContainerLimits": _of_containers(_limits),
    "resource.AggregateContainerRequests": _of_containers(_requests),
    "resource.IsPodLevelLimitsSet": _are_set("limits"),
    "resource.IsPodLevelRequestsSet": _are_set("requests"),
    "resource.IsPodLevelResourcesSet": _are_set("requests", "limits"),
    "resource.IsSupportedPodLevelResource": _is_supported,
    "resource.PodLimits": _limits,
    "resource.PodRequests": _requests,
}
"""Call -> what plays it."""
