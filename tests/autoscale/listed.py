"""The cases that we answer differently, and why."""

from collections.abc import Mapping
from typing import Final

from tests.autoscale.call_settings import CROP_TEST
from tests.autoscale.cases import Tree

__all__ = [
    "CHANCE",
    "DRAWN",
    "EVENTS_NOT_CHECKED",
    "NOT_CHECKED",
    "why_not_played",
]

CHANCE: Final = "a second run of upstream differed, too"
"""Why cases that are marked may differ."""

_TIE: Final = "three groups waste the same; both runs of upstream drew the same one"

_LIMIT: Final = "the limit of nodes or of time of the estimate is not recorded"

_GROUPS: Final = "the record lacks the groups of the nodes and the limits"
_QUOTAS: Final = "the record lacks the quotas, which are for some groups only"
_REFUSED: Final = "the record lacks which increases the cloud refuses"
_CREATED: Final = "groups that the autoscaler creates are not simulated"
_UNHEALTHY: Final = "the record lacks since when nodes are missing"
_CLAIMS: Final = "the record lacks the claims of the pods"
_DEVICES: Final = "devices are not a measure of utilisation here"
_EQUAL: Final = "upstream draws among nodes that save as much for each disruption"

NOT_CHECKED: Final[Mapping[str, str]] = {
    "ca11-0032": _TIE,
    "k7-0032-02-consolidate": _EQUAL,
    "k7-0182-03-consolidate": _EQUAL,
    "k7-0213-03-consolidate": _EQUAL,
    "k7-0252-03-consolidate": _EQUAL,
    "k7-0342-03-consolidate": _EQUAL,
    "call-c5e5a15c047ffd1d": _LIMIT,
    "call-f145f0717d5e4d5d": _LIMIT,
}

_WHICH_PODS: Final = "upstream draws which of two workloads gets the last room"
_NODE_NAME: Final = "the recording has a wrong name of a node in its events"

EVENTS_NOT_CHECKED: Final[Mapping[str, str]] = {
    "ca11-0051": _WHICH_PODS,
    "ca11-0114": _WHICH_PODS,
    "ca11-0272": _NODE_NAME,
}
"""Cases of which all but the events is compared."""

DRAWN: Final[Mapping[str, int]] = {
    "k7-0104-01-solve": 0,
    "k7-0131-01-solve": 3,
    "k7-0135-01-solve": 4,
    "k7-0164-01-solve": 1,
    "k7-0322-01-solve": 0,
    "k7-0357-01-solve": 4,
    "k7-0413-01-solve": 71,
    "k7-0498-02-solve": 0,
}
"""Cases where Karpenter draws among equal zones, with a seed that draws the same."""


def why_not_played(case: Tree) -> str:
    """Return why a call is not played; empty if it is."""
    call = case["call"]
    if call == "budgets.CropNodes":
        return "" if case["test"] == CROP_TEST else _GROUPS
    if call == "orchestrator.ScaleUp":
        return _SCALE_UPS.get(case["test"], "")
    if call == "estimator.Estimate" and _name_claims(case["in"][0] or []):
        return _CLAIMS
    if call == "utilization.Calculate" and (case["in"][3] or case["in"][4]):
        return _DEVICES
    return ""


_SCALE_UPS: Final[Mapping[str, str]] = {
    "TestAuthErrorHandling": _REFUSED,
    "TestCloudProviderFailingToScaleUpGroups": _REFUSED,
    "TestNoCreateNodeGroupMaxCoresLimitHit": _CREATED,
    "TestScaleUpAutoprovisionedNodeGroup": _CREATED,
    "TestScaleUpBalanceAutoprovisionedNodeGroups": _CREATED,
    "TestScaleUpBalanceGroupsRespectsQuota": _QUOTAS,
    "TestScaleUpPartialSuccessPopulatesPodsRemainUnschedulableParallel": _REFUSED,
    "TestScaleUpPartialSuccessPopulatesPodsRemainUnschedulableSync": _REFUSED,
    "TestScaleUpUnhealthy": _UNHEALTHY,
    "TestScaleUpWithMultipleQuotas": _QUOTAS,
    "TestScaleupAsyncNodeGroupsEnabled": _CREATED,
    "TestStaticAutoscalerCSI": _CLAIMS,
    "TestStaticAutoscalerDynamicResources": _CLAIMS,
}
"""The scale-ups of some tests of upstream."""


def _name_claims(kinds: list[Tree]) -> bool:
    specs = [pod["spec"] for kind in kinds for pod in kind["Pods"]]
    volumes = [volume for spec in specs for volume in spec.get("volumes", ())]
    return any(spec.get("resourceClaims") for spec in specs) or any(
        "persistentVolumeClaim" in volume for volume in volumes
    )
