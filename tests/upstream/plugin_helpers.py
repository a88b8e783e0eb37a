"""Plays calls of tests to functions beside the plugins."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from quaymaster import Node, Pod
from quaymaster.objects import Resources
from quaymaster.testing import PluginHarness
from quaymaster_node_ports import NodePorts
from quaymaster_node_resources_fit import NodeResourcesFit
from tests.kit.internals.objects import pod_request_list
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    RecordedPlayer,
    object_from,
)
from tests.upstream.calls import Calls, Play, play_calls
from tests.upstream.framework import resources_tree
from tests.upstream.resources import NODE_RESOURCES

__all__ = ["play"]

_GROUPS: Final = "pods are compared by their property `group_key`"


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case that names no plugin."""
    plays: Mapping[str, Play] = {
        **_PLAYS,
        "nodeports.Fits": partial(_ports_fit, case),
    }
    return play_calls(case, plays, _NOT_PLAYED)


def _ports_fit(case: RecordedCase, calls: Calls, call: Json) -> Json:
    argument, node = call["in"]
    if len(case.tree["nodes"]) > 1:
        raise CallNotPlayedError(f"node {node['node']} beside others")
    with RecordedPlayer(NodePorts, case) as player:
        return {"results": [not player.filter(calls.pod(argument))]}


def _is_fit(calls: Calls, call: Json) -> Json:
    argument, node, claims, options = call["in"]
    pod = calls.pod(argument)
    if claims is not None or _is_changed(pod, options):
        raise CallNotPlayedError("gates that are on by default, switched off")
    named = {"metadata": {"name": "node"}, **node["Node"]}
    harness = PluginHarness(
        NodeResourcesFit,
        nodes=[object_from(named, Node)],
        kubernetes=calls.kubernetes,
    )
    return {"results": [not harness.filter(pod)]}


def _is_changed(pod: Pod, options: Json) -> bool:
    return pod.spec.resources is not None and not options["EnablePodLevelResources"]


def _request(calls: Calls, call: Json) -> Json:
    argument, options = call["in"]
    pod = calls.pod(argument)
    tree = calls.pod_tree(argument).get("status", {})
    is_on = options["EnableDRANodeAllocatableResources"]
    if is_on and tree.get("nodeAllocatableResourceClaimStatuses"):
        raise CallNotPlayedError(NODE_RESOURCES)
    amounts = pod_request_list(pod, pod_level=options["EnablePodLevelResources"])
    # Upstream takes the sums as maxima, so the number of pods does not count.
    resources = Resources.from_list({k: v for k, v in amounts.items() if k != "pods"})
    return {"results": [{"Resource": resources_tree(resources)}]}


_GO_LISTERS: Final = "takes listers of client-go; informers are read here"
_NOT_PLAYED: Final[Mapping[str, str]] = {
    "helper.DefaultNormalizeScore": "the record lacks the scores afterwards",
    "helper.DefaultSelector": _GO_LISTERS,
    "helper.GetPodServices": _GO_LISTERS,
    "helper.MatchingSchedulingGroup": _GROUPS,
    "noderesources.NewFit": "a Go constructor that validates again, which is played",
}
"""Call -> why it is not played."""

_PLAYS: Final[Mapping[str, Play]] = {
    "noderesources.computePodResourceRequest": _request,
    "noderesources.isFit": _is_fit,
}
