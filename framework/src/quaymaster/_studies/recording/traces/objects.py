"""The machines and tasks of traces, as nodes and pods."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.recording.line_writer import LineWriter
from quaymaster._studies.recording.lines import Tree

__all__ = [
    "NAMESPACE",
    "TraceEvent",
    "TraceNode",
    "TracePod",
    "trace_name",
    "write_event",
]

NAMESPACE: Final = "trace"
_PODS_PER_NODE: Final = "1000"
_RUN_SECONDS: Final = "simulation.quaymaster.io/run-seconds"
_IMAGE: Final = "trace:latest"
_HOST: Final = "kubernetes.io/hostname"


@attrs.frozen(kw_only=True)
class TraceNode:
    """A machine.

    Attributes:
        name: Its name.
        capacity: Its resources, as quantities.
        labels: Its labels.
    """

    name: str
    capacity: Mapping[str, str]
    labels: Mapping[str, str] = attrs.field(factory=dict)

    def tree(self) -> Tree:
        """The node."""
        capacity = {"pods": _PODS_PER_NODE, **self.capacity}
        return {
            "metadata": {
                "name": self.name,
                "uid": self.name,
                "labels": {_HOST: self.name, **self.labels},
            },
            "status": {"capacity": capacity, "allocatable": capacity},
        }


@attrs.frozen(kw_only=True)
class TracePod:
    """A task, or one instance of it.

    Attributes:
        name: Its name.
        requests: Its requests, as quantities.
        labels: Its labels.
        annotations: Its annotations.
        priority: Its priority.
        node_labels: Label of nodes -> the allowed values.
        run_seconds: How long it runs; None if it is unknown.
    """

    name: str
    requests: Mapping[str, str]
    labels: Mapping[str, str] = attrs.field(factory=dict)
    annotations: Mapping[str, str] = attrs.field(factory=dict)
    priority: int = 0
    node_labels: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    run_seconds: float | None = None

    def tree(self, node: str = "", phase: str = "Pending") -> Tree:
        """Return the pod, on a node if it has one."""
        annotations = dict(self.annotations)
        if self.run_seconds is not None:
            annotations[_RUN_SECONDS] = f"{self.run_seconds:.3f}".rstrip("0").rstrip(
                "."
            )
        resources = {"requests": dict(self.requests)}
        # The limit of an extended resource must equal its request.
        limits = {key: text for key, text in self.requests.items() if "/" in key}
        if limits:
            resources["limits"] = limits
        container = {"name": "main", "image": _IMAGE, "resources": resources}
        spec: Tree = {"schedulerName": "default-scheduler", "containers": [container]}
        if self.priority:
            spec["priority"] = self.priority
        if self.node_labels:
            spec["affinity"] = {"nodeAffinity": _required(self.node_labels)}
        if node:
            spec["nodeName"] = node
        metadata: Tree = {
            "name": self.name,
            "namespace": NAMESPACE,
            "uid": self.name,
            "labels": dict(self.labels),
            "annotations": annotations,
        }
        return {
            "metadata": {key: value for key, value in metadata.items() if value},
            "spec": spec,
            "status": {"phase": phase},
        }


@attrs.frozen(kw_only=True)
class TraceEvent:
    """An event of a trace.

    Attributes:
        at: When, in seconds since its beginning.
        node: A new or changed machine; None for events of tasks.
        pod: A task that is created, placed or ended.
        gone: The name of a removed machine.
        on: The machine of the task.
        phase: The task's phase.
        is_over: Whether the task is gone.
        left_out: The kind of events that the reader leaves out, in the plural.
    """

    at: float
    node: TraceNode | None = None
    pod: TracePod | None = None
    gone: str = ""
    on: str = ""
    phase: str = "Pending"
    is_over: bool = False
    left_out: str = ""


def trace_name(text: str) -> str:
    """Return a text of a trace as a name that is valid in Kubernetes."""
    return text.lower().replace("_", "-")


def write_event(writer: LineWriter, event: TraceEvent, *, listed: bool = False) -> None:
    """Write an event."""
    if event.gone:
        writer.drop(event.at, Node, event.gone)
    if event.node is not None:
        writer.put(event.at, Node, event.node.name, event.node.tree(), listed=listed)
    if event.pod is not None:
        key = f"{NAMESPACE}/{event.pod.name}"
        if event.is_over:
            writer.drop(event.at, Pod, key)
        else:
            tree = event.pod.tree(event.on, event.phase)
            writer.put(event.at, Pod, key, tree, listed=listed)


def _required(labels: Mapping[str, Sequence[str]]) -> Tree:
    terms = [
        {
            "matchExpressions": [
                {"key": key, "operator": "In", "values": list(values)}
                for key, values in labels.items()
            ]
        }
    ]
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    return {key: {"nodeSelectorTerms": terms}}
