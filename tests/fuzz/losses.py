"""Finds objects that an answer leaves out without a word."""

from collections.abc import Iterator
from typing import Any, Final

import yaml

from tests.fuzz.endings import CommandEnding
from tests.fuzz.mutants import Mutant

__all__ = ["lost_objects"]

_SIZED: Final = {
    "Deployment": "replicas",
    "StatefulSet": "replicas",
    "ReplicaSet": "replicas",
    "ReplicationController": "replicas",
    "Job": "parallelism",
}
_ENDED: Final = ("Succeeded", "Failed")


def lost_objects(mutant: Mutant, ending: CommandEnding) -> list[str]:
    """Return the objects with pods that a simulation's JSON and warnings leave out."""
    is_answer = ending.code in (0, None) and "json" in mutant.arguments
    if not is_answer or mutant.arguments[0] != "simulate" or mutant.is_config:
        return []
    return [
        f"{tree['kind']} {name}"
        for tree in _objects(mutant.text)
        if _has_pods(tree)
        for name in [tree["metadata"]["name"]]
        if f"/{name}-" not in ending.out
        and f'/{name}"' not in ending.out
        and name not in ending.err
    ]


def _objects(text: bytes) -> Iterator[dict[str, Any]]:
    # JSON of several documents is not YAML, and has the same mutants.
    if text.startswith(b"{"):
        return
    for tree in yaml.load_all(text, yaml.CSafeLoader):
        yield from (tree or {}).get("items", [tree] if tree else [])


def _has_pods(tree: dict[str, Any]) -> bool:
    kind, spec = tree["kind"], tree.get("spec") or {}
    if kind == "Pod":
        phase = (tree.get("status") or {}).get("phase")
        return not spec.get("nodeName") and phase not in _ENDED
    return kind in _SIZED and spec.get(_SIZED[kind], 1) > 0
