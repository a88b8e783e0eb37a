"""Reads recorded cases: a cluster, pods to schedule, and upstream's decisions."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

__all__ = ["Case", "Json", "read_cases"]

Json: TypeAlias = dict[str, Any]
"""One JSON object of a record."""


@attrs.frozen(kw_only=True, eq=False)
class Case:
    """One recorded case.

    Attributes:
        case_id: ``<family>-<seed>``.
        config: A ``KubeSchedulerConfiguration``; None stands for the default.
        objects: The cluster's objects, in the order in which they were added.
        pods: Pods to schedule in this order, or ``{"retry": "namespace/name"}``.
        apply_preemption: Whether what PostFilter did takes effect.
        node_state: Whether the nodes' sums are recorded before each pod.
        expect: What upstream decided; None if the file does not say.
    """

    case_id: str
    config: Json | None
    objects: tuple[Json, ...]
    pods: tuple[Json, ...]
    apply_preemption: bool
    node_state: bool
    expect: Json | None

    @property
    def family(self) -> str:
        """The kind of cases that this one was generated with."""
        return self.case_id.rpartition("-")[0]


def read_cases(path: Path) -> Iterator[Case]:
    """Read a ``.jsonl.gz`` file of cases, one by one."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _case(json.loads(line))


def _case(record: Mapping[str, Any]) -> Case:
    case = record["case"]
    return Case(
        case_id=case["id"],
        config=case.get("config"),
        objects=tuple(case.get("objects") or ()),
        pods=tuple(case.get("pods") or ()),
        apply_preemption=case.get("applyPreemption", False),
        node_state=case.get("nodeState", False),
        expect=record.get("expect"),
    )
