"""Measure a plugin with only scalar hooks and no declarations.

Usage: python team_nodes.py [NODES] [PODS]
"""

import sys
import time

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod


class TeamNodes:
    """Rejects nodes of another team, and prefers nodes with an SSD."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        if node.labels.get("team") == "other":
            return Status.unschedulable("node belongs to another team")
        return None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 if node.labels.get("disk") == "ssd" else 0


def seconds_per_pod(nodes: int, pods: int, *plugins: type) -> float:
    """Schedule pods of one template with the whole scheduler."""
    enabled = [{"name": plugin.__name__} for plugin in plugins]
    harness = SchedulerHarness(
        [make_node(name=f"node-{i}") for i in range(nodes)],
        plugins={plugin.__name__: plugin for plugin in plugins},
        config={
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "percentageOfNodesToScore": 100,
            "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}],
        },
    )
    for i in range(pods):
        harness.cluster.create(make_pod(name=f"pod-{i}", requests={"cpu": "10m"}))
    begun = time.process_time()
    harness.settle()
    return (time.process_time() - begun) / pods


def main() -> None:
    nodes, pods = (int(given) for given in (*sys.argv[1:], 5000, 100)[:2])
    without = seconds_per_pod(nodes, 10 * pods)
    joined = seconds_per_pod(nodes, pods, TeamNodes)
    calls = 2 * nodes
    print(f"{nodes} nodes")
    print(
        f"default profile:  {1 / without:8.0f} pods/s {without * 1e6:10.0f} us per pod"
    )
    print(f"with TeamNodes:   {1 / joined:8.0f} pods/s {joined * 1e6:10.0f} us per pod")
    print(f"TeamNodes:        {(joined - without) / calls * 1e6:.2f} us per hook call")


if __name__ == "__main__":
    main()
