"""What traces are made of: machines and jobs, as nodes and pods."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.recording.lines import Tree
from quaymaster._studies.recording.telling import Teller

__all__ = ["NAMESPACE", "Happening", "TraceNode", "TracePod", "tell"]

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
        capacity: What it has, as quantities.
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
        requests: What it asks for, as quantities.
        labels: Its labels.
        annotations: Its annotations.
        priority: Its priority.
        node_labels: Label of nodes -> the values of which the node must have one.
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
        """The pod, on a node if there is one."""
        annotations = dict(self.annotations)
        if self.run_seconds is not None:
            annotations[_RUN_SECONDS] = f"{self.run_seconds:.3f}".rstrip("0").rstrip(
                "."
            )
        resources = {"requests": dict(self.requests)}
        # No pod gets more of an extended resource than there is.
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
class Happening:
    """An event of a trace.

    Attributes:
        at: When, in seconds since its beginning.
        node: A machine that is new or other than it was; None if it is about a task.
        pod: A task that is new, or goes to a machine, or ends.
        gone: The name of a machine that is gone.
        on: Where the task runs.
        phase: The task's phase.
        is_over: Whether the task is gone.
    """

    at: float
    node: TraceNode | None = None
    pod: TracePod | None = None
    gone: str = ""
    on: str = ""
    phase: str = "Pending"
    is_over: bool = False


def tell(teller: Teller, what: Happening, *, listed: bool = False) -> None:
    """Write what happens."""
    if what.gone:
        teller.drop(what.at, Node, what.gone)
    if what.node is not None:
        teller.put(what.at, Node, what.node.name, what.node.tree(), listed=listed)
    if what.pod is not None:
        key = f"{NAMESPACE}/{what.pod.name}"
        if what.is_over:
            teller.drop(what.at, Pod, key)
        else:
            tree = what.pod.tree(what.on, what.phase)
            teller.put(what.at, Pod, key, tree, listed=listed)


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
