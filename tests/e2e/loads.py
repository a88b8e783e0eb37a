"""Thousands of nodes and pods, and ``quaymaster run`` for them."""

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.e2e.binaries import SERVED
from tests.e2e.client import Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.ports import answers, free_ports
from tests.e2e.processes import Program

__all__ = [
    "GROUP_FLAGS",
    "GROUP_GATES",
    "ROLES",
    "cpu_seconds",
    "gangs",
    "nodes",
    "pods",
    "processes",
    "quaymaster",
    "resident_bytes",
]

ROLES: Final = ("engine", "io")
"""The two processes of ``quaymaster run``."""

GROUP_GATES: Final = (
    "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
)
"""The flag of all programs of a cluster with groups of pods."""

GROUP_FLAGS: Final = (GROUP_GATES, "--runtime-config=scheduling.k8s.io/v1beta1=true")
"""The flags of an API server that serves PodGroups."""

_numbers = itertools.count(1)


def nodes(
    count: int, *, cpu: str = "4", memory: str = "32Gi", prefix: str = "node"
) -> Iterator[Tree]:
    """Return ready nodes in three zones."""
    size = {"cpu": cpu, "memory": memory, "pods": "110"}
    for number in range(count):
        name = f"{prefix}-{number:04}"
        labels = {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": f"zone-{number % 3}",
        }
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": {"capacity": size, "allocatable": size, "conditions": [ready]},
        }


def pods(
    count: int,
    namespace: str,
    *,
    cpu: str = "100m",
    memory: str = "500Mi",
    prefix: str = "pod",
    scheduler: str = "default-scheduler",
    gang_size: int = 0,
) -> Iterator[Tree]:
    """Return pods of one template, like those of upstream's measurements.

    With a size of gangs, they belong to the groups of `gangs`.
    """
    container = {
        "name": "pause",
        "image": "registry.k8s.io/pause:3.10.1",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
    }
    spec: Tree = {"schedulerName": scheduler, "containers": [container]}
    for number in range(count):
        if gang_size:
            name = f"{prefix}-{number // gang_size:05}"
            spec = {**spec, "schedulingGroup": {"podGroupName": name}}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{prefix}-{number:05}", "namespace": namespace},
            "spec": spec,
        }


def gangs(count: int, namespace: str, size: int, prefix: str = "pod") -> Iterator[Tree]:
    """Return the groups of `pods`, each of which is bound as a whole."""
    for number in range(-(-count // size)):
        yield {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": f"{prefix}-{number:05}", "namespace": namespace},
            "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
        }


def quaymaster(
    plane: ControlPlane,
    *flags: str,
    config: Tree | None = None,
    kubeconfig: Path | None = None,
) -> Program:
    """Return ``quaymaster run``, not started, without leader election.

    Args:
        plane: The cluster.
        *flags: Further flags.
        config: Further fields of its KubeSchedulerConfiguration.
        kubeconfig: The file for its access; by default the administrator's.
    """
    tree: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        **(config or {}),
    }
    file = plane.folder / f"quaymaster-{next(_numbers)}.json"
    file.write_bytes(msgspec.json.encode(tree))
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "quaymaster", "run", f"--config={file}"]
    command += [f"--kubeconfig={kubeconfig or plane.kubeconfig()}"]
    command += [f"--secure-port={port}", f"--kubernetes={SERVED}", *flags]
    lives = f"https://127.0.0.1:{port}/livez"
    return plane.run(command, is_ready=lambda: answers(lives))


def processes(program: Program) -> dict[str, int]:
    """Return the processes of ``quaymaster run`` by `ROLES`, as far as they run."""
    found = {"engine": program.pid}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(_fields(path)[1])
            command = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == program.pid and b"io_process" in command:
            found["io"] = int(path.name)
    return found


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process."""
    ticks = sum(map(int, _fields(Path(f"/proc/{pid}"))[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _fields(path: Path) -> list[str]:
    return (path / "stat").read_text().rpartition(")")[2].split()
