"""Finds where we store or refuse other objects than the recorded API server."""

import json
from collections.abc import Iterator
from typing import Final

from quaymaster.errors import QuaymasterError
from quaymaster.objects import Quantity
from tests.world.cases import Tree

__all__ = ["object_differences"]

_POD_FIELDS: Final = (
    "nodeName",
    "schedulerName",
    "priority",
    "preemptionPolicy",
    "priorityClassName",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "containers",
    "initContainers",
    "resources",
    "overhead",
    "hostNetwork",
    "schedulingGates",
    "restartPolicy",
    "runtimeClassName",
    "terminationGracePeriodSeconds",
    "resourceClaims",
)
_CONTAINER_FIELDS: Final = ("name", "resources", "ports", "restartPolicy", "image")
_IGNORED: Final = {
    "revisionHistoryLimit",
    "seLinuxMount",
    "requiresRepublish",
    "fsGroupPolicy",
    "manualSelector",
    "timeAdded",
    "podCIDR",
    "podCIDRs",
    "finalizers",
    "tokenRequests",
    "serviceAccountTokenInSecrets",
    "nodeAllocatableUpdatePeriodSeconds",
    "generation",
}
"""What neither scheduling nor workloads read, or defaults that mean nothing."""
_AMOUNTS: Final = ("requests", "limits", "overhead", "capacity", "allocatable", "hard")
"""The fields whose values are quantities by resource."""


def object_differences(case: Tree, answer: Tree) -> Iterator[str]:
    """The differences between the record of an object and our answer."""
    if "unknown" in answer:
        yield f"unknown kind {answer['unknown']}"
    elif "stored" not in case:
        if "refused" not in answer:
            yield f"stored, should be refused: {case['refused']}"
    elif "refused" in answer:
        yield f"refused, should be stored: {answer['refused']}"
    else:
        yield from _unlike(_view(case["stored"]), _view(answer["stored"]))


def _view(tree: Tree) -> object:
    """The part of an object that scheduling and workloads read."""
    spec = tree.get("spec", {})
    if tree["kind"] == "Pod":
        spec = _pod_spec(spec)
    elif tree["kind"] == "CronJob":
        spec = spec | {"jobTemplate": _job_template(spec["jobTemplate"])}
    elif isinstance(spec, dict) and "template" in spec:
        claims = spec.get("volumeClaimTemplates") or []
        spec = {name: value for name, value in spec.items() if name != "selector"} | {
            "template": _pod_spec((spec["template"] or {}).get("spec", {})),
            "volumeClaimTemplates": [
                _selected(claim, claim.keys() - {"apiVersion", "kind", "status"})
                for claim in claims
            ],
        }
    return _plain(spec)


def _job_template(template: Tree) -> Tree:
    spec = template["spec"]
    pod = _pod_spec(spec["template"].get("spec", {}))
    return template | {"spec": spec | {"template": pod}}


def _pod_spec(spec: Tree) -> Tree:
    selected = _selected(spec, _POD_FIELDS)
    for name in ("containers", "initContainers"):
        containers = selected.get(name) or []
        selected[name] = [_selected(each, _CONTAINER_FIELDS) for each in containers]
    return selected


def _selected(tree: Tree, names: "tuple[str, ...] | set[str]") -> Tree:
    return {name: value for name, value in tree.items() if name in names}


def _plain(value: object, key: str = "") -> object:
    """A value without what is empty, and with quantities as numbers."""
    if isinstance(value, dict):
        is_amounts = key in _AMOUNTS
        plain = {
            name: _plain(each, key if is_amounts else name)
            for name, each in value.items()
            if name not in _IGNORED
        }
        return {name: each for name, each in plain.items() if not _is_empty(each)}
    if isinstance(value, list):
        return [_plain(each, key) for each in value]
    return _amount(value) if key in _AMOUNTS else value


def _is_empty(value: object) -> bool:
    return value is None or value in ({}, [], "")


def _amount(value: object) -> object:
    """The amount of a quantity in 10**-9; other values as they are."""
    try:
        return Quantity(value).nanos if isinstance(value, str | int) else value
    except QuaymasterError:
        return value


def _unlike(expected: object, actual: object, path: str = "spec") -> Iterator[str]:
    """The leaves in which two trees differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            yield from _unlike(expected.get(key), actual.get(key), f"{path}.{key}")
    elif (
        isinstance(expected, list)
        and isinstance(actual, list)
        and len(expected) == len(actual)
    ):
        for index, pair in enumerate(zip(expected, actual, strict=True)):
            yield from _unlike(*pair, f"{path}[{index}]")
    elif expected != actual:
        yield f"{path}: expected {json.dumps(expected)} got {json.dumps(actual)}"
