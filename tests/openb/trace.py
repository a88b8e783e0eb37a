"""The published experiment: machines, arrivals, and the nodes of the pods."""

import csv
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from tests.openb.fragmentation import TypicalPod

__all__ = [
    "DATA",
    "FILES",
    "Arrival",
    "Decision",
    "Experiment",
    "Machine",
    "read_experiment",
]

DATA: Final = Path(__file__).parent / "data"
"""The first 3,000 arrivals."""

FILES: Final = ("nodes.csv.gz", "typical_pods.csv.gz", "arrivals.csv.gz")
"""The files of the experiment's folder."""

Row: TypeAlias = Mapping[str, str]


@attrs.frozen(kw_only=True)
class Machine:
    """A node.

    Attributes:
        name: Its name.
        cpu_milli: Its CPU, in millicores.
        memory_mib: Its memory, in MiB.
        gpus: The number of its GPU devices.
        rank: Its rank from 0; of nodes with equal scores, the lowest rank wins.
    """

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    rank: int


@attrs.frozen(kw_only=True)
class Decision:
    """The node of a pod.

    Attributes:
        node: The node's name.
        devices: The numbers of its GPU devices, ascending.
        score: The policy's score for this node.
    """

    node: str
    devices: tuple[int, ...]
    score: int


@attrs.frozen(kw_only=True)
class Arrival:
    """A pod that arrives.

    Attributes:
        name: Its name; in a longer list, some pods come more than once.
        cpu_milli: Its CPU request, in millicores.
        memory_mib: Its memory request, in MiB.
        num_gpu: The number of its GPU devices.
        gpu_milli: The part of each device, in thousandths.
        decisions: Policy -> the decision, or None if it fits nowhere.
    """

    name: str
    cpu_milli: int
    memory_mib: int
    num_gpu: int
    gpu_milli: int
    decisions: Mapping[str, Decision | None]


@attrs.frozen(kw_only=True)
class Experiment:
    """The input of a run, with the expected decisions.

    Attributes:
        machines: The nodes.
        typical_pods: The pods by which fragmentation is measured.
        arrivals: The pods, in the order of their arrival.
    """

    machines: tuple[Machine, ...]
    typical_pods: tuple[TypicalPod, ...]
    arrivals: tuple[Arrival, ...]


def read_experiment(folder: Path = DATA) -> Experiment:
    """Read the `FILES` of a folder."""
    nodes, typical_pods, arrivals = (_rows(folder / file) for file in FILES)
    return Experiment(
        machines=tuple(map(_machine, nodes)),
        typical_pods=tuple(map(_typical_pod, typical_pods)),
        arrivals=tuple(map(_arrival, arrivals)),
    )


def _rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _machine(row: Row) -> Machine:
    return Machine(
        name=_node_name(row["name"]),
        cpu_milli=int(row["cpu_milli"]),
        memory_mib=int(row["memory_mib"]),
        gpus=int(row["gpus"]),
        rank=int(row["rank"]),
    )


def _typical_pod(row: Row) -> TypicalPod:
    return TypicalPod(
        cpu_milli=int(row["cpu_milli"]),
        num_gpu=int(row["num_gpu"]),
        gpu_milli=int(row["gpu_milli"]),
        weight=float(row["weight"]),
    )


def _arrival(row: Row) -> Arrival:
    return Arrival(
        name=f"openb-pod-{row['pod']}",
        cpu_milli=int(row["cpu_milli"]),
        memory_mib=int(row["memory_mib"]),
        num_gpu=int(row["num_gpu"]),
        gpu_milli=int(row["gpu_milli"]),
        decisions={
            policy: _decision(cell) for policy, cell in row.items() if policy[0] == "0"
        },
    )


def _decision(cell: str) -> Decision | None:
    """Read ``node:devices:score``, such as ``0431:0-1:53``; empty is nowhere."""
    if not cell:
        return None
    node, devices, score = cell.split(":")
    return Decision(
        node=_node_name(node),
        devices=tuple(int(device) for device in devices.split("-") if device),
        score=int(score),
    )


def _node_name(number: str) -> str:
    return f"openb-node-{number}"
