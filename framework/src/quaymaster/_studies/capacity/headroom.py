"""Headroom: how many more of a pod fit, found by scheduling them."""

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaim,
    Pod,
    PodStatus,
    Volume,
)
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._core.contract.cluster import ForbiddenError, NotFoundError
from quaymaster._studies.capacity.figures import Headroom
from quaymaster._studies.simulation.pending_facts import pending_facts
from quaymaster._studies.simulation.run import Simulation

__all__ = ["MORE_PODS", "OWNER", "create_copies", "find_headroom"]

MORE_PODS: Final = 10_000
"""The default maximum of pods to try."""

FitFn: TypeAlias = Callable[[int, int], None]
"""Called repeatedly with the number that fit so far, and the limit."""

_FIRST_BATCH: Final = 16
_LARGEST_BATCH: Final = 1024
_LONGEST_STEM: Final = 200  # a name has at most 253 characters
_NEVER: Final = "Never"
OWNER: Final = OwnerReference(
    api_version="simulation.quaymaster.io/v1alpha1",
    kind="Headroom",
    name="headroom",
    uid="headroom",
    controller=True,
)
"""An owner that keeps controllers of workloads from adopting the copies."""


def find_headroom(
    simulation: Simulation,
    pod: Pod,
    *,
    asked: str = "",
    limit: int = MORE_PODS,
    settle: bool = True,
    on_progress: FitFn | None = None,
) -> Headroom:
    """Schedule copies of a pod until one does not fit.

    The copies preempt no pods, run without end, and have no scheduling gates. If claims
    were created for the pod, each copy gets claims like them. At the end the copies are
    deleted.

    Args:
        simulation: The simulation, which has been run.
        pod: The pod; it need not be in the cluster.
        asked: The name of the pod in the result; by default its key.
        limit: How many copies to try at most.
        settle: Whether time may pass, such as for pods that wait on Permit.
        on_progress: Called with the progress.

    Raises:
        AdmissionError: The pod breaks rules of the cluster.
    """
    search = _Search(simulation, pod, limit, settle)
    while search.goes_on():
        search.step()
        if on_progress is not None:
            on_progress(search.placed.total(), limit)
    search.end()
    return Headroom(
        pod=asked or pod.key,
        fits=search.placed.total(),
        limit=limit,
        nodes={
            node: search.placed[node] for node in sorted(search.placed, key=natural_key)
        },
        message=search.message,
        facts=search.facts,
    )


class _Search:
    """Creates copies in growing batches, until one finds no node."""

    def __init__(
        self, simulation: Simulation, pod: Pod, limit: int, settle: bool
    ) -> None:
        self.placed: Counter[str] = Counter()
        self.message = ""
        self.facts: tuple[str, ...] = ()
        self._simulation = simulation
        self._cluster = simulation.cluster
        self._copies = _Copies(self._cluster, pod)
        self._limit = limit
        self._settle = settle
        self._batch = _FIRST_BATCH

    def goes_on(self) -> bool:
        """Whether all copies fit so far, and more may be tried."""
        return not self.message and self.placed.total() < self._limit

    def step(self) -> None:
        """Try the next batch."""
        count = min(self._batch, self._limit - self.placed.total())
        keys, self.message = create_copies(self._copies.create, count)
        self._schedule()
        for key in keys:
            self._count(key)
        self._batch = min(2 * self._batch, _LARGEST_BATCH)

    def end(self) -> None:
        """Delete all copies."""
        self._copies.delete()
        self._schedule()

    def _schedule(self) -> None:
        if self._settle:
            self._simulation.settle()
        else:
            self._simulation.run_until(self._simulation.now)

    def _count(self, key: str) -> None:
        try:
            pod = self._cluster.get(Pod, key)
        except NotFoundError:
            self.message = self.message or "it was preempted by a pod that waited"
            return
        if pod.node_name:
            self.placed[pod.node_name] += 1
        elif not self.message:
            self.message = _verdict(self._simulation.unscheduled(pod).message)
            self.facts = pending_facts(
                self._simulation.scheduler, pod, with_preemption=False
            )


def create_copies(create: Callable[[], str], count: int) -> tuple[list[str], str]:
    """Create copies, fewer if a quota rejects one.

    Args:
        create: Creates one copy, and returns its key.
        count: How many to create.

    Returns:
        The keys of the copies, and the reason of the quota or "".
    """
    keys: list[str] = []
    try:
        while len(keys) < count:
            keys.append(create())
    except ForbiddenError as error:
        return keys, error.reason
    return keys, ""


class _Copies:
    """Creates copies of a pod in a cluster, with the claims that each needs."""

    def __init__(self, cluster: InMemoryCluster, pod: Pod) -> None:
        self._cluster = cluster
        self._pod = pod
        # Admission would set the preemption policy again from the priority class.
        self._spec = replace(
            pod.spec,
            preemption_policy=_NEVER,
            priority_class_name="",
            scheduling_gates=(),
        )
        self._claims = {
            volume.name: claim
            for volume in pod.spec.volumes
            if (claim := self._own_claim(volume)) is not None
        }
        self._number = 0
        self._made: list[ApiObject] = []

    def create(self) -> str:
        """Create one more, and return its key.

        Raises:
            ForbiddenError: A quota has no room for it.
            AdmissionError: It breaks rules.
        """
        name = self._free_name()
        spec = self._spec
        if self._claims:
            for volume, claim in self._claims.items():
                more = _claim_like(claim, f"{volume}-{name}")
                self._made.append(self._cluster.create(more))
            spec = replace(spec, volumes=self._volumes(name))
        old = self._pod.metadata
        metadata = ObjectMeta(
            name=name,
            namespace=old.namespace,
            labels=old.labels,
            annotations=_without_end(old.annotations),
            owner_references=(OWNER,),
        )
        pod = Pod(metadata=metadata, spec=spec, status=PodStatus())
        self._made.append(self._cluster.create(pod))
        return pod.key

    def delete(self) -> None:
        """Delete all that was created and still exists."""
        # The last first: claims are protected as long as their pods exist.
        while self._made:
            obj = self._made.pop()
            with contextlib.suppress(NotFoundError):
                self._cluster.delete(type(obj), obj.key, grace_period_seconds=0)

    def _free_name(self) -> str:
        stem = self._pod.name[:_LONGEST_STEM]
        while True:
            self._number += 1
            name = f"{stem}-more-{self._number}"
            if not self._is_taken(name):
                return name

    def _is_taken(self, name: str) -> bool:
        try:
            self._cluster.get(Pod, f"{self._pod.namespace}/{name}")
        except NotFoundError:
            return False
        return True

    def _own_claim(self, volume: Volume) -> PersistentVolumeClaim | None:
        """Return the claim of a volume that was created for the pod alone, or None."""
        source = volume.persistent_volume_claim
        if source is None or source.claim_name != f"{volume.name}-{self._pod.name}":
            return None
        try:
            key = f"{self._pod.namespace}/{source.claim_name}"
            return self._cluster.get(PersistentVolumeClaim, key)
        except NotFoundError:
            return None

    def _volumes(self, name: str) -> tuple[Volume, ...]:
        return tuple(
            replace(
                volume,
                persistent_volume_claim=replace(
                    volume.persistent_volume_claim, claim_name=f"{volume.name}-{name}"
                ),
            )
            if volume.name in self._claims and volume.persistent_volume_claim
            else volume
            for volume in self._spec.volumes
        )


def _verdict(message: str) -> str:
    """Return the part of a message about nodes, without the part about preemption."""
    verdict, stop, _ = message.partition(". ")
    return verdict + stop.strip()


def _claim_like(claim: PersistentVolumeClaim, name: str) -> PersistentVolumeClaim:
    """Return a new claim with the requests of another one."""
    # Annotations may name the node that was chosen for the other claim.
    metadata = ObjectMeta(
        name=name, namespace=claim.namespace, labels=claim.metadata.labels
    )
    spec = replace(claim.spec, volume_name="")
    return PersistentVolumeClaim(metadata=metadata, spec=spec)


def _without_end(annotations: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in annotations.items()
        if key != RUN_SECONDS_ANNOTATION
    }
