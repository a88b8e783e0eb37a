"""Plays a few operations of the format, and keeps the cluster for checks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import Kubernetes, default_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.perf import (
    Measurement,
    Player,
    World,
    gated,
    load_workloads,
)

__all__ = ["Bench", "Json"]

Json: TypeAlias = Mapping[str, Any]

CONTAINERS = [{"name": "main", "image": "pause"}]


@attrs.define
class Bench:
    """A folder with templates, and a cluster in which operations are played.

    Attributes:
        folder: The folder of the templates.
    """

    folder: Path
    world: World = attrs.field(init=False)
    measurements: list[Measurement] = attrs.field(init=False)

    def template(self, kind: str, text: str = "", **fields: object) -> str:
        """Write a template, and return its path for operations.

        Args:
            kind: The kind of the object.
            text: The template; by default it is made from the fields.
            **fields: The fields of the object.
        """
        name = f"{kind.lower()}-{len(list(self.folder.iterdir()))}.yaml"
        if kind == "Pod":
            fields["spec"] = {"containers": CONTAINERS, **fields.get("spec", {})}  # type: ignore[dict-item]  # a mapping
        head = {"apiVersion": "v1", "kind": kind}
        (self.folder / name).write_text(text or json.dumps({**head, **fields}))
        return name

    def play(self, *operations: Json, **case: object) -> None:
        """Play operations in a new cluster."""
        measures = any("ollect" in str(operation) for operation in operations)
        last = () if measures else ({"opcode": "createPods", "collectMetrics": True},)
        cases = [
            {
                "name": "Case",
                "workloadTemplate": [*operations, *last],
                "workloads": [{"name": "one"}],
                **case,
            }
        ]
        file = self.folder / "performance-config.yaml"
        file.write_text(json.dumps(cases))
        (workload,) = load_workloads([str(file)])
        registry = PluginRegistry.discover()
        kubernetes = gated(Kubernetes(), workload.feature_gates)
        config = default_config(registry, kubernetes=kubernetes)
        self.world = World(config, registry, 0, None)
        player = Player(workload, self.world, seed=0)
        self.measurements = player.measurements
        player.play()

    def all(self, kind: type[ApiObject]) -> list[Any]:
        """Return all objects of a kind."""
        return list(self.world.cluster.list(kind).items)

    @property
    def pods(self) -> list[Pod]:
        """Return all pods."""
        return self.all(Pod)

    @property
    def nodes(self) -> list[Node]:
        """Return all nodes."""
        return self.all(Node)
