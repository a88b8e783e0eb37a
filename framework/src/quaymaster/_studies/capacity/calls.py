"""The function `capacity`, which measures the room in a cluster."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.groups import PodGroup
from quaymaster._base.displayed import Tabular
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.figures import Headroom, Room
from quaymaster._studies.capacity.gang_headroom import find_gang_headroom, gang_of
from quaymaster._studies.capacity.headroom import MORE_PODS, find_headroom
from quaymaster._studies.capacity.measuring import measure_room
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.group_names import group_name
from quaymaster._studies.simulation.kinds import POD_KINDS
from quaymaster._studies.simulation.names import RequestedPod
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.observers import AnyObserver
from quaymaster._studies.simulation.results import ProgressFn, SimulationResult
from quaymaster._studies.simulation.run import Simulation

__all__ = ["CapacityResult", "capacity"]

Gang: TypeAlias = tuple[PodGroup, Sequence[Pod]]
"""A PodGroup, and the pods that each copy of it has."""


@attrs.frozen(kw_only=True)
class CapacityResult(Tabular):
    """The room in a cluster.

    Attributes:
        room: The room once the pods of the input have been scheduled.
        result: The result for these pods.
        headroom: How many more of each requested pod fit, in the order of the request.
            Each is counted alone, without the others.
        observed: The record of the run for a report; None unless requested.
    """

    room: Room
    result: SimulationResult
    headroom: tuple[Headroom, ...] = ()
    observed: ObservedRun | None = None


def capacity(
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    by: Sequence[str] | None = None,
    prices: Prices | None = None,
    fit: Sequence[str] = (),
    pods: Sequence[tuple[str, Pod]] = (),
    namespace: str = "",
    as_it_stands: bool = False,
    limit: int = MORE_PODS,
    on_progress: ProgressFn | None = None,
    options: SchedulerOptions | None = None,
    max_pods: int = MAX_PODS,
    observers: Iterable[AnyObserver] = (),
    observe: bool = False,
) -> CapacityResult:
    """Schedule the pods of some objects, and measure the room that is left.

    Args:
        objects: Nodes, pods, workloads and all else, as for `quaymaster.simulation`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes, and generated names.
        by: The labels to group nodes by; by default zone and instance type, if nodes
            have them.
        prices: Prices of nodes without an annotation.
        fit: Pods and workloads of the input, such as ``deploy/web``, of which to find
            how many more fit. A PodGroup, such as ``podgroup/train``, is copied with
            its pods, and only whole copies count.
        pods: Other pods of which to find that, each with its name in the result.
        namespace: The only namespace to search for those of ``fit``; empty for all.
        as_it_stands: Whether only pods count that have a node already, and no pod is
            scheduled.
        limit: How many copies of each pod to try at most.
        on_progress: Called with how many pods have a node, and how many there are;
            then for each pod of ``fit`` and ``pods`` with how many more fit so far,
            and how many are tried at most.
        options: Other settings of the scheduler.
        max_pods: How many pods the workloads may ask for in all.
        observers: What follows the simulation, as for
            `quaymaster.simulation.Simulation`.
        observe: Whether to return the record of the run, with samples and attempts.

    Raises:
        AdmissionError: Some objects break rules, or the annotation of a node is not a
            price.
        PodNotFoundError: No object or several objects have a name of ``fit``.
        ProfileError: A profile's plugins cannot be built.
        VerificationError: As for `quaymaster.simulation.simulate`.
    """
    inputs = list(objects)
    loaded = _placed(inputs) if as_it_stands else inputs
    with Simulation(
        loaded,
        config=config,
        registry=registry,
        seed=seed,
        options=options,
        observers=observers,
        observe=observe,
        max_pods=max_pods,
    ) as run:
        if as_it_stands:
            run.run_until(0)
        else:
            run.settle(on_progress)
        # Without workloads, a name such as ``deploy/web`` would find no pod.
        named = (
            filled_cluster(inputs, seed, max_pods, kubernetes=run.config.kubernetes)
            if as_it_stands and fit
            else run.cluster
        )
        search = partial(
            _headroom,
            run,
            limit=limit,
            settle=not as_it_stands,
            on_progress=on_progress,
        )
        subjects: list[tuple[str, Pod | Gang]] = [
            (name, _subject(name, namespace, named)) for name in fit
        ]
        # The room and the result are those without the copies that are made below.
        room = measure_room(run, by=by, prices=prices, fragmentation=True)
        result = run.result()
        observed = run.observed() if observe else None
        return CapacityResult(
            room=room,
            result=result,
            observed=observed,
            headroom=tuple(
                search(name, subject) for name, subject in [*subjects, *pods]
            ),
        )


def _subject(name: str, namespace: str, cluster: InMemoryCluster) -> Pod | Gang:
    """Return the pod or the PodGroup that a user names.

    Raises:
        PodNotFoundError: No object or several objects have the name.
        GroupNotFoundError: The same, for a PodGroup.
    """
    group = group_name(name, namespace)
    if group is not None:
        return gang_of(group, cluster)
    return RequestedPod(name, namespace, cluster).find()


def _headroom(
    run: Simulation,
    name: str,
    subject: Pod | Gang,
    *,
    limit: int,
    settle: bool,
    on_progress: ProgressFn | None,
) -> Headroom:
    if isinstance(subject, Pod):
        return find_headroom(
            run,
            subject,
            asked=name,
            limit=limit,
            settle=settle,
            on_progress=on_progress,
        )
    group, members = subject
    return find_gang_headroom(
        run,
        group,
        members,
        name=name,
        limit=limit,
        settle=settle,
        on_progress=on_progress,
    )


def _placed(objects: Sequence[ApiObject]) -> list[ApiObject]:
    """Return the objects without pending pods and without workloads."""
    return [
        obj
        for obj in objects
        if (bool(obj.node_name) if isinstance(obj, Pod) else obj.kind not in POD_KINDS)
    ]
