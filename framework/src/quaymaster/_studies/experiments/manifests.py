"""The input from manifests."""

import enum
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import attrs

from quaymaster._api.objects import ApiObject, CronJob, Job, Node, Pod, SpecPool
from quaymaster._clusters.inmemory.controllers.job_conditions import is_finished
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._clusters.manifests.load import load
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import duration, integer
from quaymaster._studies.experiments.inputs import (
    Arrival,
    ExperimentInput,
    InputContext,
    Workload,
)
from quaymaster._studies.scenarios.streams import random_stream
from quaymaster._studies.scenarios.templates import Template, made
from quaymaster._studies.simulation.kinds import POD_KINDS

__all__ = ["Manifests", "Order"]


class Order(enum.Enum):
    """In which order pods and workloads arrive."""

    GIVEN = "Given"
    RANDOM = "Random"


@attrs.frozen(kw_only=True)
class Manifests(ExperimentInput):
    """Nodes, pods and workloads from manifests.

    Pods without a node, and workloads, arrive one after the other; all else exists at
    the beginning. So do workloads whose pods are in the manifests, as in a dump of a
    cluster, and all of these pods.

    Attributes:
        nodes: Nodes to generate, one line for each group: 12:cpu=4,memory=16Gi,zones=3.
        files: Manifests: files or directories, relative to the experiment.
        run_cron_jobs: Whether to create one Job for each CronJob.
        copies: How often each pod and each workload arrives; with more than one, all
            have a number behind their names.
        order: ``Given``: the order of the files; ``Random``: drawn with the seed.
        interval: The time between two arrivals.
        turn_away: Whether a pod that found no node is deleted.
    """

    nodes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    run_cron_jobs: bool = False
    copies: int = attrs.field(default=1, validator=integer(1, 1_000_000))
    order: Order = Order.GIVEN
    interval: timedelta = attrs.field(
        default=timedelta(), validator=duration(timedelta())
    )
    turn_away: bool = False

    def validate(self) -> Iterator[ArgsError]:
        """Check that nodes are given, and that they can be made."""
        if not self.files and not self.nodes:
            yield ArgsError("", "expected files, nodes, or both")
        taken: list[str] = []
        for index, spec in enumerate(self.nodes):
            try:
                taken += [node.name for node in make_nodes([spec], taken=taken)]
            except NodesSpecError as error:
                yield ArgsError(f"nodes[{index}]", str(error))

    def make(self, context: InputContext) -> Workload:
        """Read the manifests; see `ExperimentInput.make`."""
        paths = list(self.reads(context.folder))
        loaded = load(
            paths,
            kinds=context.kinds,
            run_cron_jobs=self.run_cron_jobs,
            kubernetes=context.kubernetes,
        )
        taken = [obj.name for obj in loaded.objects if isinstance(obj, Node)]
        nodes = make_nodes(self.nodes, taken=taken)
        settled = _settled(loaded.objects)
        coming = [obj for obj in loaded.objects if _arrives(obj, settled)]
        there = [obj for obj in loaded.objects if not _arrives(obj, settled)]
        return Workload(
            objects=[*nodes, *there],
            arrivals=self._arrivals(coming, context.seed),
            turn_away=self.turn_away,
            notices=loaded.notices,
        )

    def reads(self, folder: Path) -> Iterable[Path]:
        """Return the files; see `ExperimentInput.reads`."""
        return [Path(os.path.normpath(folder / name)) for name in self.files]

    def _arrivals(self, coming: Sequence[ApiObject], seed: int) -> Iterator[Arrival]:
        templates = [Template.of(obj, SpecPool()) for obj in coming]
        numbers = range(self.copies) if self.copies > 1 else (None,)
        objects = [obj for number in numbers for obj in made(templates, number, None)]
        if self.order is Order.RANDOM:
            order = random_stream(seed, "order of arrival").permutation(len(objects))
            objects = [objects[place] for place in order.tolist()]
        seconds = self.interval.total_seconds()
        for place, obj in enumerate(objects):
            yield Arrival(obj=obj, at=place * seconds)


class _Identity(NamedTuple):
    """Kind, namespace and name of an object."""

    kind: str
    namespace: str
    name: str


def _settled(objects: Sequence[ApiObject]) -> frozenset[_Identity]:
    """Return the workloads that have pods, or what makes these, among the objects."""
    present = {_Identity(obj.kind, obj.namespace, obj.name) for obj in objects}
    owners = (_owner(obj) for obj in objects)
    return frozenset(owner for owner in owners if owner in present)


def _owner(obj: ApiObject) -> _Identity | None:
    reference = obj.metadata.controller
    if reference is None:
        return None
    return _Identity(reference.kind, obj.namespace, reference.name)


def _arrives(obj: ApiObject, settled: Container[_Identity | None]) -> bool:
    """Return whether an object arrives later than at the beginning."""
    if (
        # It creates its Jobs at its own times.
        isinstance(obj, CronJob)
        or obj.kind not in POD_KINDS
        or (isinstance(obj, Pod) and obj.node_name)
    ):
        return False
    if isinstance(obj, Job) and is_finished(obj):
        return False
    identity = _Identity(obj.kind, obj.namespace, obj.name)
    return identity not in settled and _owner(obj) not in settled
