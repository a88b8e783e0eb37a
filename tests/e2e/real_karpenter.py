"""The real Karpenter with its simulated cloud, on a control plane."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
import yaml

from tests.autoscale.cases import Tree
from tests.e2e.binaries import karpenter_folder
from tests.e2e.client import ApiClient, RefusedError
from tests.e2e.control_plane import ControlPlane
from tests.e2e.ports import answers, free_ports
from tests.e2e.processes import Program, eventually

__all__ = ["CONTROLLERS", "RealKarpenter"]

CONTROLLERS: Final = ("statefulset", "taint-eviction-controller")
"""The controllers of Kubernetes that a case of the recordings needs."""

_CLASSES: Final = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
_CLAIMS: Final = "/apis/karpenter.sh/v1/nodeclaims"
_PLURALS: Final = (_CLASSES, _CLAIMS, "/apis/karpenter.sh/v1/nodepools")


class RealKarpenter:
    """Karpenter, kube-scheduler, kubelets and StatefulSets for one case.

    The case has the form of the recordings: types, pools, and phases of changes.

    Args:
        plane: A control plane without objects.
        case: The case.
    """

    def __init__(self, plane: ControlPlane, case: Tree) -> None:
        self._client: ApiClient = plane.client()
        self._plane = plane
        self._case = case

    def start(self) -> None:
        """Create the kinds and the pools, and start all programs."""
        for file in sorted((karpenter_folder() / "crds").glob("*.yaml")):
            self._client.create(yaml.safe_load(file.read_text()))
        eventually(self._has_kinds, what="the kinds of Karpenter")
        for reference in _classes(self._case["pools"]):
            self._client.create(
                {
                    "apiVersion": f"{reference['group']}/v1alpha1",
                    "kind": reference["kind"],
                    "metadata": {"name": reference["name"]},
                }
            )
        for pool in self._case["pools"]:
            self._client.create(pool)
        for program in (
            self._plane.controller_manager(controllers=CONTROLLERS),
            self._plane.scheduler(),
            self._plane.kubelets(),
            self._karpenter(),
        ):
            program.start()

    def begin(self, changes: Iterable[Tree | list[object]]) -> None:
        """Apply the changes of a phase: new objects, or other numbers of replicas."""
        for change in changes:
            if isinstance(change, dict):
                self._client.create(change)
                continue
            name, replicas = change
            self._client.patch(
                f"/apis/apps/v1/namespaces/default/statefulsets/{name}",
                {"spec": {"replicas": replicas}},
            )

    def nodes(self) -> list[Tree]:
        """Return the nodes that are there."""
        return self._client.items("/api/v1/nodes")

    def claims(self) -> list[Tree]:
        """Return the pool and the requirements of each claim."""
        return [
            {
                "pool": claim["metadata"]["labels"]["karpenter.sh/nodepool"],
                "requirements": claim["spec"]["requirements"],
            }
            for claim in self._client.items(_CLAIMS)
        ]

    def is_placed(self) -> bool:
        """Whether each pod has a node, and none ends."""
        pods = self._client.items("/api/v1/namespaces/default/pods")
        return all(
            pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]
            for pod in pods
        )

    def _has_kinds(self) -> bool:
        try:
            return all(not self._client.items(path) for path in _PLURALS)
        except RefusedError:
            return False

    def _karpenter(self) -> Program:
        types = self._plane.folder / "types.json"
        types.write_bytes(msgspec.json.encode([*_types(self._case["types"])]))
        metrics, health = free_ports(2)
        return self._plane.run(
            [
                karpenter_folder() / "karpenter",
                f"--instance-types-file-path={types}",
                f"--metrics-port={metrics}",
                f"--health-probe-port={health}",
                "--disable-leader-election",
            ],
            is_ready=lambda: answers(f"http://127.0.0.1:{health}/readyz"),
            environment={
                "KUBECONFIG": str(self._plane.kubeconfig()),
                "KUBERNETES_MIN_VERSION": "1.19.0-0",
                "SYSTEM_NAMESPACE": "kube-system",
            },
        )


def _classes(pools: Iterable[Tree]) -> list[Tree]:
    """Return the classes of nodes that pools name, each once."""
    references = [pool["spec"]["template"]["spec"]["nodeClassRef"] for pool in pools]
    return list({each["name"]: each for each in references}.values())


def _types(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield instance types in the form of the simulated cloud's file."""
    for tree in trees:
        yield {
            "name": tree["name"],
            "architecture": tree["arch"],
            "operatingSystems": tree["os"],
            "resources": tree["capacity"],
            "offerings": [
                {
                    "Price": price,
                    "Available": True,
                    "Requirements": [
                        _is("karpenter.sh/capacity-type", kind),
                        _is("topology.kubernetes.io/zone", zone),
                    ],
                }
                for zone, kind, price in tree["offerings"]
            ],
        }


def _is(key: str, value: str) -> Tree:
    return {"key": key, "operator": "In", "values": [value]}
