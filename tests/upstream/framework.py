"""Plays the sums of nodes and pods, and the events of changes."""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster import Node, NodeInfo, Pod, Snapshot
from quaymaster.objects import ObjectMeta, Resources, host_ports, pod_usage
from tests.kit.internals.cycle import Diagnosis
from tests.kit.internals.engine import PodChanges, node_changes
from tests.kit.internals.preemption import importance
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    difference,
    object_from,
)
from tests.upstream.calls import Calls, Play, play_calls
from tests.upstream.events import action_labels, event_from, event_tree

__all__ = ["play", "resources_tree"]


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the packages framework and util."""
    return play_calls(case, _PLAYS, _NOT_PLAYED)


def _fit_error(_calls: Calls, call: Json) -> Json:
    fields = call["before"]["fields"]
    recorded = fields["Diagnosis"]
    if not recorded["PreFilterMsg"]:
        raise CallNotPlayedError("the record lacks why each node was rejected")
    snapshot = Snapshot()
    for number in range(fields["NumAllNodes"]):
        snapshot.add_node(Node(metadata=ObjectMeta(name=f"node-{number}")))
    diagnosis = Diagnosis(
        snapshot.nodes,
        pre_filter_message=recorded["PreFilterMsg"],
        post_filter_message=recorded["PostFilterMsg"],
    )
    return {"results": [diagnosis.message()]}


def _node_changes(calls: Calls, call: Json) -> Json:
    new, old = map(calls.node, call["in"])
    return {"results": [[event_tree(event) for event in node_changes(old, new)]]}


def _node_change(calls: Calls, call: Json) -> Json:
    """Play a function for one property: only that one differs in upstream's tests."""
    new, old = map(calls.node, call["in"])
    actions = [action_labels(event.action) for event in node_changes(old, new)]
    return {"results": [actions[0] if actions else []]}


def _pod_changes(calls: Calls, call: Json) -> Json:
    new, old = map(calls.pod, call["in"][:2])
    if not call["in"][2] and not new.node_name:
        raise CallNotPlayedError("the name of a duration that upstream measures")
    changes = PodChanges(calls.kubernetes).of(old, new)
    return {"results": [[event_tree(event) for event in changes]]}


def _matches(_calls: Calls, call: Json) -> Json:
    registered, incoming = map(event_from, call["in"])
    return {"results": [registered.matches(incoming)]}


def resources_tree(resources: Resources) -> Json:
    """Write sums of resources."""
    tree: Json = {
        "AllowedPodNumber": resources.allowed_pods,
        "EphemeralStorage": resources.ephemeral_storage,
        "Memory": resources.memory,
        "MilliCPU": resources.milli_cpu,
    }
    if resources.scalars:
        tree["ScalarResources"] = resources.scalars
    return tree


def _usage(calls: Calls, call: Json) -> Json:
    usage = pod_usage(object_from(call["before"]["@Pod"], Pod), calls.kubernetes)
    resources = resources_tree(usage.requests)
    non_zero = {"Non0CPU": usage.non_zero_milli_cpu, "Non0Mem": usage.non_zero_memory}
    return {"results": [{**non_zero, "Resource": resources}]}


def _ports(calls: Calls, call: Json) -> Json:
    ports = [
        {
            "hostPort": port.host_port,
            "containerPort": port.container_port,
            "protocol": port.protocol,
        }
        for port in host_ports(calls.pod(call["in"][0]))
    ]
    return {"results": [ports]}


def _more_important(calls: Calls, call: Json) -> Json:
    first, second = (importance(calls.pod(pod)) for pod in call["in"])
    return {"results": [first < second]}


def _new_info(calls: Calls, call: Json) -> Json:
    number = len(calls.made)
    pods = [calls.pod(pod) for pod in call["in"][0] or ()]
    calls.made[number] = NodeInfo(Node(), pods=pods)
    return {"results": [{"on": number}]}


def _info(calls: Calls, call: Json) -> NodeInfo:
    """Return the node info of a call; a test may make it without the constructor."""
    if call["on"] not in calls.made:
        before = call["before"]
        pods = [object_from(pod, Pod) for pod in before["pods"]]
        info = NodeInfo(object_from(before.get("node") or {}, Node), pods=pods)
        if difference(before, _sums(info)):
            raise CallNotPlayedError("sums that do not follow from node and pods")
        calls.made[call["on"]] = info
    made = calls.made[call["on"]]
    assert isinstance(made, NodeInfo)
    return made


def _set_node(calls: Calls, call: Json) -> Json:
    info = _info(calls, call)
    info.set_node(calls.node(call["in"][0]))
    return {"results": [], "after": _sums(info)}


def _add_pod(calls: Calls, call: Json) -> Json:
    info = _info(calls, call)
    info.add_pod(calls.pod(call["in"][0]))
    return {"results": [], "after": _sums(info)}


def _remove_pod(calls: Calls, call: Json) -> Json:
    info = _info(calls, call)
    pod = calls.pod(call["in"][1])
    if pod.uid not in info.pods:
        raise CallNotPlayedError("a pod that is not on the node")
    info.remove_pod(pod)
    return {"results": [None], "after": _sums(info)}


def _sums(info: NodeInfo) -> Json:
    non_zero = Resources(milli_cpu=info.non_zero_milli_cpu, memory=info.non_zero_memory)
    return {
        "allocatable": resources_tree(info.allocatable),
        "requested": resources_tree(info.requested),
        "nonZeroRequested": resources_tree(non_zero),
    }


_POD_INFO: Final = "Go's PodInfo keeps parsed terms beside a pod; pods have none here"
_COPY: Final = "Go copies a node info for a cycle; here the snapshot changes in place"
_AMOUNTS: Final = "a method of Go's type for amounts, which its callers are played with"
_NOT_PLAYED: Final[Mapping[str, str]] = {
    "framework.NewPodInfo": _POD_INFO,
    "framework.NewResource": _AMOUNTS,
    "framework.UnrollPodEvent": "registrations for all pods match as they are here",
    "NodeInfo.Snapshot": _COPY,
    "NodeInfo.SnapshotConcrete": _COPY,
    "PodInfo.Update": _POD_INFO,
    "Resource.AddScalar": _AMOUNTS,
    "Resource.Clone": _AMOUNTS,
    "Resource.SetMaxResource": _AMOUNTS,
    "util.GetEarliestPodStartTime": "a part of the choice between candidates",
    "util.GetPodFullName": "not used by the scheduler",
    "CycleState.Clone": "the record lacks what the test writes into the state",
}
"""Call -> why it is not played."""

_PLAYS: Final[Mapping[str, Play]] = {
    "FitError.Error": _fit_error,
    "framework.NodeSchedulingPropertiesChange": _node_changes,
    "framework.extractNodeAllocatableChange": _node_change,
    "framework.extractNodeConditionsChange": _node_change,
    "framework.extractNodeFeaturesChange": _node_change,
    "framework.extractNodeLabelsChange": _node_change,
    "framework.extractNodeTaintsChange": _node_change,
    "framework.PodSchedulingPropertiesChange": _pod_changes,
    "framework.MatchClusterEvents": _matches,
    "framework.NewNodeInfo": _new_info,
    "NodeInfo.SetNode": _set_node,
    "NodeInfo.AddPod": _add_pod,
    "NodeInfo.RemovePod": _remove_pod,
    "PodInfo.CalculateResource": _usage,
    "util.GetHostPorts": _ports,
    "util.MoreImportantPod": _more_important,
}
