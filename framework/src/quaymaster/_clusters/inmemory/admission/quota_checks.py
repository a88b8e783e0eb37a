"""Checks quotas.

Mirrors ``ValidateResourceQuotaSpec`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``), with its paths, which have no indices.
"""

from collections.abc import Collection, Sequence
from typing import Final

from quaymaster._api.objects import ResourceQuotaSpec
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import LABEL_KEY
from quaymaster._base.suggestions import did_you_mean
from quaymaster._clusters.inmemory.admission.resource_checks import check_amounts

__all__ = ["check_quota", "is_resource"]

_POD_AMOUNTS: Final = frozenset(
    (
        "cpu",
        "memory",
        "limits.cpu",
        "limits.memory",
        "requests.cpu",
        "requests.memory",
    )
)
_PODS: Final = frozenset(("pods",))
_CLAIMS: Final = frozenset(("persistentvolumeclaims", "requests.storage"))
_COUNTED: Final = (
    _POD_AMOUNTS
    | _PODS
    | _CLAIMS
    | {
        "ephemeral-storage",
        "limits.ephemeral-storage",
        "requests.ephemeral-storage",
        "configmaps",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
"""What a quota can count, beside huge pages and names with a slash."""

_PAGES: Final = ("hugepages-", "requests.hugepages-")
_OPPOSITES: Final = (
    frozenset(("BestEffort", "NotBestEffort")),
    frozenset(("Terminating", "NotTerminating")),
)
_PLAIN_SCOPES: Final = frozenset(
    (
        "BestEffort",
        "NotBestEffort",
        "Terminating",
        "NotTerminating",
        "CrossNamespacePodAffinity",
    )
)
_SCOPES: Final = tuple(
    sorted((*_PLAIN_SCOPES, "PriorityClass", "VolumeAttributesClass"))
)
_COUNTED_IN: Final = dict.fromkeys(_SCOPES, _PODS | _POD_AMOUNTS) | {
    "BestEffort": _PODS,
    "VolumeAttributesClass": _CLAIMS,
}
"""What a quota with a scope can count."""

_WITH_VALUES: Final = ("In", "NotIn")
_WITHOUT_VALUES: Final = ("Exists", "DoesNotExist")


def is_resource(name: str) -> bool:
    """Return whether a name can be a resource at all, of a claim for example."""
    return name == "storage" or _is_counted(name)


def check_quota(spec: ResourceQuotaSpec, report: Report) -> None:
    """Check the resources that a quota counts, and its scopes."""
    for name in spec.hard:
        if not _is_counted(name):
            hint = did_you_mean(name, _COUNTED)
            expected = "expected a resource such as requests.cpu, pods or"
            examples = "requests.nvidia.com/gpu, or count/RESOURCE.GROUP"
            message = f"{expected} {examples}, got {name!r}{hint}"
            report.add(f"spec.hard[{name}]", message)
    check_amounts(spec.hard, "spec.hard", report)
    path = "spec.scopes"
    for scope in spec.scopes:
        report.one_of(scope, _SCOPES, path)
    _check_scopes(spec.scopes, spec.hard, path, report)
    if spec.scope_selector is not None:
        _check_selector(spec, report)


def _check_selector(spec: ResourceQuotaSpec, report: Report) -> None:
    path = "spec.scopeSelector.matchExpressions"
    selector = spec.scope_selector
    conditions = () if selector is None else selector.match_expressions
    for condition in conditions:
        scope, operator = condition.scope_name, condition.operator
        report.one_of(scope, _SCOPES, f"{path}.scopeName")
        if scope in _PLAIN_SCOPES:
            report.one_of(operator, ("Exists",), f"{path}.operator")
        report.one_of(operator, (*_WITH_VALUES, *_WITHOUT_VALUES), f"{path}.operator")
        if operator in _WITH_VALUES and not condition.values:
            report.add(f"{path}.values", f"expected at least one value for {operator}")
        elif operator in _WITHOUT_VALUES and condition.values:
            report.add(f"{path}.values", f"expected no values for {operator}")
    scopes = [condition.scope_name for condition in conditions]
    _check_scopes(scopes, spec.hard, path, report)


def _check_scopes(
    scopes: Sequence[str], counted: Collection[str], path: str, report: Report
) -> None:
    """Check that scopes fit together, and fit the counted resources."""
    for scope in scopes:
        fitting = _COUNTED_IN.get(scope, _COUNTED)
        for name in sorted(counted):
            # As upstream, names with a slash fit every scope.
            if name.startswith(_PAGES) or (name in _COUNTED and name not in fitting):
                report.add(path, f"expected no {name} with the scope {scope}")
    for pair in _OPPOSITES:
        if pair <= set(scopes):
            report.add(path, f"expected one of {' and '.join(sorted(pair))}")


def _is_counted(name: str) -> bool:
    if not LABEL_KEY.fits(name):
        return False
    return "/" in name or name in _COUNTED or name.startswith(_PAGES)
