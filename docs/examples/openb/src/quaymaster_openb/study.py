"""A run of the study as the input of an experiment."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
from quaymaster import Node, Pod
from quaymaster.experiments import Arrival, ExperimentInput, InputContext, Workload
from quaymaster.objects import ObjectMeta
from quaymaster.testing import make_node, make_pod

from quaymaster_openb.data import (
    NodeRow,
    PodRow,
    arrivals_of,
    nodes_of,
    paths_of,
    pods_of,
)
from quaymaster_openb.gpus import COUNT, MILLI, MODEL
from quaymaster_openb.typical_pods import TypicalPods, typical_pods

__all__ = ["OpenB"]

_MOST_PODS = 1001


@attrs.frozen(kw_only=True)
class OpenB(ExperimentInput):
    """The nodes and pods of the study; pods come one by one, and never leave.

    A pod that finds no node is turned away. The typical pods are those of the list. The
    name of a node begins with its rank, so the smallest name is that of lowest rank.

    Attributes:
        data: The folder of the lists, relative to the experiment.
        workload: The list of pods, such as ``default``.
    """

    data: str
    workload: str = "default"

    def make(self, context: InputContext) -> Workload:
        """Make the run of a seed; see `ExperimentInput.make`."""
        folder = context.folder / self.data
        pods = pods_of(folder, self.workload)
        arrivals = arrivals_of(folder, self.workload, context.seed)
        nodes = map(_node, nodes_of(folder), arrivals.ranks)
        typical = typical_pods(
            (row.cpu, row.milli, row.gpus, row.models) for row in pods
        )
        target = TypicalPods(
            metadata=ObjectMeta(name=self.workload.lower()), pods=tuple(typical)
        )
        coming = [pods[row] for row in arrivals.pods]
        return Workload(
            objects=[*nodes, target],
            arrivals=map(_arrival, _made(coming)),
            turn_away=True,
        )

    def reads(self, folder: Path) -> Iterable[Path]:
        """The lists; see `ExperimentInput.reads`."""
        return paths_of(folder / self.data, self.workload)


def _node(row: NodeRow, rank: int) -> Node:
    labels = {COUNT: str(row.gpus), MODEL: row.model}
    capacity = {
        "cpu": f"{row.cpu}m",
        "memory": f"{row.memory}Mi",
        "pods": str(_MOST_PODS),
    }
    return make_node(name=f"{rank:04}-{row.name}", labels=labels, capacity=capacity)


def _made(rows: Sequence[PodRow]) -> Iterator[Pod]:
    """The pods of some rows: one that comes again has a number behind its name."""
    templates: dict[tuple[int, int], Pod] = {}
    seen: Counter[str] = Counter()
    for row in rows:
        size = row.cpu, row.memory
        template = templates.get(size)
        if template is None:
            amounts = {"cpu": f"{row.cpu}m", "memory": f"{row.memory}Mi"}
            template = make_pod(requests=amounts, limits=amounts)
            templates[size] = template
        seen[row.name] += 1
        number = seen[row.name]
        metadata = ObjectMeta(
            name=row.name if number == 1 else f"{row.name}-{number}",
            namespace="default",
            annotations=dict(_annotations(row)),
        )
        # Pods of one size share a spec, and with it all cached values of the spec.
        yield Pod(metadata=metadata, spec=template.spec)


def _annotations(row: PodRow) -> Mapping[str, str]:
    if not row.gpus:
        return {}
    wanted = {COUNT: str(row.gpus), MILLI: str(row.milli)}
    return {**wanted, MODEL: row.models} if row.models else wanted


def _arrival(pod: Pod) -> Arrival:
    return Arrival(obj=pod)
