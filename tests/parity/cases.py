"""Reads recorded cases: a cluster, pods to schedule, and upstream's decisions."""

import gzip
import json
import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from quaymaster.config import Kubernetes

__all__ = ["Case", "Json", "read_cases"]

Json: TypeAlias = dict[str, Any]
"""One JSON object of a record."""


@attrs.frozen(kw_only=True, eq=False)
class Case:
    """One recorded case.

    Attributes:
        case_id: ``<family>-<seed>``.
        config: A ``KubeSchedulerConfiguration``, or None for the default.
        objects: The cluster's objects, in the order in which they were added.
        pods: Pods to schedule in this order, or other entries: ``{"retry":
            "namespace/name"}``, ``{"finish": "namespace/name"}`` for a pod that ends,
            ``{"apply": OBJECT}`` for an object that is created or replaced.
        apply_preemption: Whether the evictions of PostFilter take effect.
        node_state: Whether the sums of the nodes are recorded before each pod.
        fail_after: Number of a pod -> the station after which its binding fails.
        drivers: Driver -> the conditions that it sets for allocated devices.
        expect: Upstream's decisions, or None if the file has none.
        kubernetes: The version of Kubernetes.
    """

    case_id: str
    config: Json | None
    objects: tuple[Json, ...]
    pods: tuple[Json, ...]
    apply_preemption: bool
    node_state: bool
    fail_after: Mapping[str, str]
    drivers: Mapping[str, Json]
    expect: Json | None
    kubernetes: Kubernetes

    @property
    def has_devices(self) -> bool:
        """Whether the case is about devices, so that its pods reach PreBind."""
        return any(
            obj["apiVersion"].startswith("resource.k8s.io/") for obj in self.objects
        )

    @property
    def family(self) -> str:
        """The kind of cases to which this one belongs."""
        return self.case_id.rpartition("-")[0]


def read_cases(path: Path, version: str = "1.36") -> Iterator[Case]:
    """Read a ``.jsonl.gz`` or ``.jsonl.xz`` file of cases, one case at a time.

    Args:
        path: The file.
        version: The version of Kubernetes.
    """
    kubernetes = Kubernetes(version)
    unpack = lzma.open if path.suffix == ".xz" else gzip.open
    with unpack(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _case(json.loads(line), kubernetes)


def _case(record: Mapping[str, Any], kubernetes: Kubernetes) -> Case:
    case = record["case"]
    return Case(
        case_id=case["id"],
        config=case.get("config"),
        objects=tuple(case.get("objects") or ()),
        pods=tuple(case.get("pods") or ()),
        apply_preemption=case.get("applyPreemption", False),
        node_state=case.get("nodeState", False),
        fail_after=case.get("failAfter") or {},
        drivers=case.get("drivers") or {},
        expect=record.get("expect"),
        kubernetes=kubernetes,
    )
