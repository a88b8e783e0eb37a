"""Reads kube-scheduler's decisions from its verbose log."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import msgspec

__all__ = ["VERBOSE", "Opinion", "SchedulerLog"]

VERBOSE: Final = (
    "--vmodule=schedule_one=10,default_preemption=5,preemption=5,default_binder=3"
)

_LINE: Final = re.compile(r'^\S+ [\d:.]+ +\d+ [\w.]+:\d+\] "((?:[^"\\]|\\.)*)"(.*)$')
_FIELD: Final = re.compile(r' (\w+)=("(?:[^"\\]|\\.)*"|\S+)')


class _PodName(msgspec.Struct):
    namespace: str
    name: str


@attrs.define
class Opinion:
    """The result of one attempt to schedule a pod.

    Attributes:
        totals: Node name -> its total; empty if at most one node was feasible.
        parts: Node name -> plugin name -> its weighted score.
        victims: Node name -> the pods whose eviction would make room there.
        target: The node on which room is made, if any.
        message: Why it fits nowhere, or an empty text.
        chosen: The node chosen for the binding, or empty.
    """

    totals: dict[str, int] = attrs.field(factory=dict)
    parts: dict[str, dict[str, int]] = attrs.field(factory=dict)
    victims: dict[str, set[str]] = attrs.field(factory=dict)
    target: str = ""
    message: str = ""
    chosen: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the log has the pod's node, or why it fits nowhere."""
        return bool(self.message or self.chosen)

    @property
    def best(self) -> set[str]:
        """Return the nodes from which it may have chosen."""
        most = max(self.totals.values(), default=0)
        nodes = {name for name, total in self.totals.items() if total == most}
        return nodes or {self.chosen} - {""}


class SchedulerLog:
    """Reads the log of a kube-scheduler that runs with `VERBOSE`.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._attempts: dict[str, list[Opinion]] = {}
        self._current = Opinion()

    def of(self, pod: str) -> list[Opinion]:
        """Return the attempts of a pod so far, in their order."""
        for message, fields in self._new_lines():
            self._take(message, fields)
        return self._attempts.get(pod, [])

    def _new_lines(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        with self._path.open("rb") as log:
            log.seek(self._offset)
            for line in log:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                found = _LINE.match(line.decode().rstrip("\n"))
                if found is not None:
                    fields = _FIELD.findall(found[2])
                    yield found[1], {name: _text(value) for name, value in fields}

    def _take(self, message: str, fields: Mapping[str, str]) -> None:
        now = self._current
        match message:
            case "Attempting to schedule pod":
                self._current = Opinion()
                self._attempts.setdefault(fields["pod"], []).append(self._current)
            case "Calculated node's final score for pod":
                now.totals[fields["node"]] = int(fields["score"])
            case "Plugin scored node for pod":
                parts = now.parts.setdefault(fields["node"], {})
                parts[fields["plugin"]] = int(fields["score"])
            case "Pod is a potential preemption victim on node":
                now.victims.setdefault(fields["node"], set()).add(fields["pod"])
            case "Pods are potential preemption victims on node":  # since 1.37
                pods = msgspec.json.decode(fields["pods"], type=list[_PodName])
                victims = now.victims.setdefault(fields["node"], set())
                victims.update(f"{pod.namespace}/{pod.name}" for pod in pods)
            case "the target node for the preemption is determined":
                now.target = fields["node"]
            case "Attempting to bind pod to node" | "Plugin failed":
                now.chosen = fields["node"]
            case "Unable to schedule pod; no fit; waiting":
                now.message = fields["err"]


def _text(value: str) -> str:
    """Return a value without the quotes and escapes of the log."""
    if not value.startswith('"'):
        return value
    return re.sub(r"\\(.)", lambda found: found[1], value[1:-1])
