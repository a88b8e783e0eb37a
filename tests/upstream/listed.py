"""Calls whose answers differ for a reason, by the start of the case's name."""

import json
import re
from collections.abc import Mapping
from typing import Final

from tests.kit.internals.testing import Json, RecordedCase

__all__ = ["as_on_a_cluster", "is_random", "reason_of"]

_FAILING_API: Final = "the test makes a request to the API server fail"
_NO_NODES: Final = "the record lacks the nodes of scheduled pods"

_LISTED: Final[Mapping[tuple[str, str], str]] = {
    (
        "plugins/defaultbinder/TestDefaultBinder/binding_error",
        "Bind",
    ): _FAILING_API,
    (
        "plugins/defaultpreemption/TestPostFilter/only_one_node_but_failed_with_TestPlugin",
        "PostFilter",
    ): "a plugin of the test's own takes part",
    (
        "plugins/dynamicresources/TestPlugin/extended-resource-name-with-resources-fail-patch",
        "PreBind",
    ): _FAILING_API,
    (
        "plugins/dynamicresources/TestPlugin/extended-resource-name-claim-creation-failure",
        "PreBind",
    ): _FAILING_API,
    (
        "plugins/dynamicresources/TestPlugin/bind-failure-preserves-inflight-until-unreserve",
        "PreBind",
    ): _FAILING_API,
    (
        "plugins/dynamicresources/TestPlugin/prebind-fail-with-binding-timeout",
        "PreBind",
    ): "the record does not say how late it is",
    (
        "plugins/dynamicresources/TestPlugin/canceled",
        "Filter",
    ): "the test cancels Go's context; no call is cancelled here",
    (
        "plugins/dynamicresources/TestPlugin/request-admin-access-without-DRAAdminAccess-featuregate",
        "Filter",
    ): "Kubernetes 1.37 locks the gate DRAAdminAccess to true",
    (
        "dra/experimental/TestAllocator/list-attributes-distinct-constaint-with-empty",
        "Allocator.Allocate",
    ): "attributes without a value, which an API server rejects",
    (
        "plugins/noderesources/TestEventsToRegister",
        "EventsToRegister",
    ): "the test switches gates off that cannot be switched off here",
    (
        "queue/queue/tryPop",
        "PriorityQueue.Pop",
    ): "the record joins tests with and without the gate SchedulerPopFromBackoffQ",
    (
        "runtime/runtime/TestPostFilterPlugins/skips_all_post_filters_if_state_has",
        "frameworkImpl.RunPostFilterPlugins",
    ): "only the scheduling of pod groups skips all of PostFilter: GenericWorkload",
    (
        "config/v1/TestApplyFeatureGates/Feature_gate_TopologyAwareWorkloadScheduling",
        "v1.getDefaultPlugins",
    ): "a weight of 1, the default, is not written for plugins of gates",
    (
        "plugins/defaultpreemption/TestPreEnqueue/GenericWorkload_enabled",
        "PreEnqueue",
    ): "the group's preemption before it is not played",
    (
        "plugins/podgrouppodscount/TestScorePlacement/existing_assigned_and_assumed_pods",
        "ScorePlacement",
    ): _NO_NODES,
    (
        "plugins/podgrouppodscount/TestScorePlacement/no_assumed_pods",
        "ScorePlacement",
    ): _NO_NODES,
    (
        "plugins/topologyaware/TestGeneratePlacements/with_already_scheduled_pod_on_node",
        "GeneratePlacements",
    ): _NO_NODES,
}
"""Start of a case's name, call -> why our answer may differ."""


_FAKE_LISTER: Final = re.compile(
    r'(?<=persistentvolumeclaim)s(?= \\"[^/"]+\\" not found)'
    r"|(?<=storageclass)es(?=\.storage\.k8s\.io )"
)
"""The plural that the fake listers of tests report, and a real cluster's do not."""


def reason_of(case: RecordedCase, call: Json) -> str:
    """Return why our answer to a call may differ, or an empty text."""
    for (start, name), reason in _LISTED.items():
        if case.name.startswith(start) and call["call"] == name:
            return reason
    return ""


def is_random(call: Json) -> bool:
    """Return whether a part of the answer to a call is random."""
    return bool(call["call"] == "GetOffsetAndNumCandidates")


def as_on_a_cluster(answer: Json, call: Json) -> Json:
    """Return a recorded answer with the words of a real cluster's listers.

    What is random is removed.
    """
    if is_random(call):
        answer = {"results": [None, answer["results"][1]]}
    text = _FAKE_LISTER.sub("", json.dumps(answer))
    is_profile = call["call"].startswith("frameworkImpl.")
    tree: Json = json.loads(text, object_hook=_without_words if is_profile else None)
    return tree


def _without_words(tree: Json) -> Json:
    """Remove the reasons of pods that wait or succeed; here they have none."""
    if tree.get("code") not in ("Success", "Wait"):
        return tree
    return {"code": tree["code"]}
