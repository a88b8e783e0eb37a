"""Finds objects that we store or reject differently from the real API server."""

import json
import re
from collections.abc import Iterator
from typing import Final

from quaymaster.objects import Volume, encode
from tests.admission.cases import Case, Tree
from tests.admission.ours import Outcome, object_of
from tests.kit.internals.objects import UNREAD_SOURCES

__all__ = ["differences", "is_about_others", "unlike_paths"]

_WIRE_NAMES: Final = dict(
    zip(Volume.__struct_fields__, Volume.__struct_encode_fields__, strict=True)
)
_UNREAD: Final = {_WIRE_NAMES[name] for name in UNREAD_SOURCES}

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
    "volumes",
    "hostNetwork",
    "schedulingGates",
    "restartPolicy",
    "runtimeClassName",
    "terminationGracePeriodSeconds",
    "resourceClaims",
)
_JOB_LABELS: Final = (
    "controller-uid",
    "batch.kubernetes.io/controller-uid",
    "job-name",
    "batch.kubernetes.io/job-name",
)
_NOT_READY: Final = {"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready"}
_ALREADY: Final = re.compile(r"already (exists|allocated)")
_PATH: Final = re.compile(
    r"(?:^|, |\[|: )((?:spec|metadata|status)[\w.\[\]/{}, -]*?|[a-z]\w+): "
    r"(?:Required|Invalid|Unsupported|Duplicate|Forbidden|Not found|Too )"
)


def is_about_others(case: Case) -> bool:
    """Whether the server rejected a case because of objects of other cases."""
    return case.refused is not None and bool(_ALREADY.search(case.refused))


def differences(case: Case, outcome: Outcome) -> list[str]:
    """Return the differences between the record and our outcome."""
    if case.stored is None:
        return [] if outcome.stored is None else [f"we store it: {case.refused}"]
    if outcome.stored is None:
        return [f"we refuse it: {problem}" for problem in outcome.problems]
    theirs = json.loads(encode(object_of(case.stored)))
    return list(
        _unlike(_read_by_scheduling(theirs), _read_by_scheduling(outcome.stored))
    )


def unlike_paths(case: Case, outcome: Outcome) -> list[str]:
    """Return the fields that only one of two rejections of an invalid object names."""
    _, found, causes = (case.refused or "").partition(" is invalid: ")
    if not found or outcome.stored is not None:
        return []
    theirs = {match[1] for match in _PATH.finditer(causes)}
    ours = {problem.path for problem in outcome.problems}
    return [
        *(f"only the server names {path}" for path in sorted(theirs - ours)),
        *(f"only we name {path}" for path in sorted(ours - theirs)),
    ]


def _read_by_scheduling(tree: Tree) -> Tree:
    """Return the fields of a stored object that affect scheduling."""
    kind, spec, metadata = tree["kind"], tree.get("spec", {}), tree["metadata"]
    kept: Tree = {key: metadata.get(key) for key in ("name", "namespace")}
    kept["labels"] = _own_labels(metadata)
    if kind == "Pod":
        return {**kept, "spec": _pod_spec(spec)}
    if kind == "Node":
        return {**kept, **_node(tree)}
    if kind == "Service":
        return {**kept, "selector": spec.get("selector")}
    if "template" in spec:
        return {**kept, **_workload(spec, kind)}
    return {k: v for k, v in tree.items() if k not in ("metadata", "status")} | kept


def _workload(spec: Tree, kind: str) -> Tree:
    template = spec["template"]
    # The selector of a Job contains its uid.
    left_out = {"template", "selector"} if kind == "Job" else {"template"}
    return {
        "spec": {k: v for k, v in spec.items() if k not in left_out},
        "labels of pods": _own_labels(template.get("metadata", {})),
        "template": _pod_spec(template.get("spec", {})),
    }


def _own_labels(metadata: Tree) -> Tree:
    """Return the labels, except those with a Job's uid or name."""
    labels = metadata.get("labels", {})
    return {key: value for key, value in labels.items() if key not in _JOB_LABELS}


def _node(tree: Tree) -> Tree:
    spec, status = tree.get("spec", {}), tree.get("status", {})
    # Our nodes are ready at once.
    taints = [taint for taint in spec.get("taints", ()) if taint != _NOT_READY]
    amounts = {key: status.get(key) for key in ("capacity", "allocatable")}
    return {"spec": {**spec, "taints": taints}, **amounts}


def _pod_spec(spec: Tree) -> Tree:
    kept = {k: v for k, v in spec.items() if k in _POD_FIELDS}
    kept["volumes"] = [v for v in spec.get("volumes", ()) if _is_read(v)]
    return kept


def _is_read(volume: Tree) -> bool:
    """Whether scheduling reads the source of a volume."""
    return not _UNREAD & volume.keys()


def _unlike(theirs: object, ours: object, path: str = "") -> Iterator[str]:
    """Yield the leaves in which two trees differ; absent and empty are equal."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            yield from _unlike(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            yield f"{path}: {len(theirs)} items there, {len(ours)} here"
        for index, pair in enumerate(zip(theirs, ours, strict=False)):
            yield from _unlike(*pair, f"{path}[{index}]")
    elif (theirs or None) != (ours or None):
        yield f"{path}: {theirs!r} there, {ours!r} here"
