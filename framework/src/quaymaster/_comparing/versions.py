"""Says what a newer Kubernetes decides otherwise about one input, and by which change.

The older one's simulation is recorded, and each of its decisions is made again as the
newer one does, on the same state. What differs then is made again without each of the
changes in between: a change without which all is as before is the cause.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster._config.model import SchedulerConfig
from quaymaster._inmemory.limits import MAX_PODS
from quaymaster._objects import ApiObject
from quaymaster._recording.compared import Agreement, ComparedDecision, Decided
from quaymaster._recording.replaying import replay
from quaymaster._recording.simulating import record_simulation
from quaymaster._registry.registry import PluginRegistry
from quaymaster._versions.kubernetes import CHANGES, Kubernetes

__all__ = ["ChangedDecision", "VersionChanges", "version_changes"]

_AGREED: Final = frozenset({Agreement.SAME, Agreement.TIE})


@attrs.frozen(kw_only=True)
class ChangedDecision:
    """A decision that a newer Kubernetes makes, or words, otherwise.

    Attributes:
        pod: The pod's key, ``namespace/name``.
        at: When the older one decided, in seconds since the beginning.
        older: What the older one decided.
        newer: What the newer one decides on the same state.
        is_message: Whether the messages alone differ.
        causes: The names of the changes. One that is alone: without it, all is as
            before. Several: each is enough by itself to change the decision. None:
            only something else, or several changes together, does.
    """

    pod: str
    at: float
    older: Decided
    newer: Decided
    is_message: bool
    causes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class VersionChanges:
    """What a newer Kubernetes decides otherwise about one input.

    Attributes:
        configuration: The name of the configuration; empty for the only one.
        older: The older Kubernetes.
        newer: The newer one.
        decisions: How many decisions were compared.
        changed: Those that are made or worded otherwise, in order.
    """

    configuration: str
    older: Kubernetes
    newer: Kubernetes
    decisions: int
    changed: tuple[ChangedDecision, ...]


def version_changes(
    objects: Sequence[ApiObject],
    completed: Callable[[Kubernetes], SchedulerConfig],
    *,
    older: Kubernetes,
    newer: Kubernetes,
    registry: PluginRegistry,
    seed: int = 0,
    max_pods: int = MAX_PODS,
    configuration: str = "",
    on_progress: Callable[[], None] = lambda: None,
) -> VersionChanges:
    """Say what a newer Kubernetes decides otherwise, and by which change.

    Of nodes that are equally good to the newer one, it takes that of the older one.

    Args:
        objects: Nodes, pods, workloads and all else, as for `simulate`.
        completed: Returns the configuration as it is completed for a Kubernetes.
        older: The Kubernetes whose simulation is followed.
        newer: The one that decides again.
        registry: Where plugins are found by name.
        seed: Decides ties and generated names of the older one.
        max_pods: How many pods the workloads may ask for in all.
        configuration: What to call the configuration.
        on_progress: Called after each time that all decisions were made.

    Raises:
        AdmissionError: Some objects break rules, or ask for too many pods.
        ProfileError: A profile's plugins cannot be built.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "older.jsonl"
        config = completed(older)
        record_simulation(
            objects,
            file,
            config=config,
            registry=registry,
            seed=seed,
            max_pods=max_pods,
        )

        def decide(kubernetes: Kubernetes) -> list[ComparedDecision]:
            found = replay(
                file,
                config=completed(kubernetes),
                registry=registry,
                seed=seed,
                is_brief=True,
            )
            on_progress()
            return list(found.decisions)

        before = decide(older)
        after = decide(newer)
        # What the record does not say enough about to be decided again is left out.
        differing = [
            index
            for index, (old, new) in enumerate(zip(before, after, strict=True))
            if old.agreement in _AGREED and new.agreement not in _AGREED
        ]
        by_kind = {index: after[index].agreement for index in differing}
        causes = _causes(by_kind, older, newer, decide)
    return VersionChanges(
        configuration=configuration,
        older=older,
        newer=newer,
        decisions=len(after),
        changed=tuple(
            _changed(after[index], causes.get(index, ())) for index in differing
        ),
    )


def _causes(
    differing: Mapping[int, Agreement],
    older: Kubernetes,
    newer: Kubernetes,
    decide: Callable[[Kubernetes], Sequence[ComparedDecision]],
) -> dict[int, tuple[str, ...]]:
    """Find the changes without which decisions are as before, by their numbers.

    Args:
        differing: The numbers of the decisions that differ -> how.
        older: The older Kubernetes.
        newer: The newer one.
        decide: Makes all decisions again, as a Kubernetes does.
    """
    found: dict[int, tuple[str, ...]] = {}
    if not differing:
        return found
    between = [name for name in CHANGES if newer.has(name) and not older.has(name)]
    for name in between:
        without = decide(newer.without(name))
        for index in differing:
            if _is_as_before(without[index], differing[index]):
                found[index] = (*found.get(index, ()), name)
    left = [index for index in differing if index not in found]
    for name in between if left else ():
        alone = newer
        for other in between:
            alone = alone if other == name else alone.without(other)
        only = decide(alone)
        for index in left:
            if not _is_as_before(only[index], differing[index]):
                found[index] = (*found.get(index, ()), name)
    return found


def _is_as_before(found: ComparedDecision, before: Agreement) -> bool:
    """Whether a trial undoes what differed: a message, or else the decision alone."""
    if before is Agreement.REASONS:
        return found.agreement in _AGREED
    return found.agreement in {*_AGREED, Agreement.REASONS}


def _changed(found: ComparedDecision, causes: tuple[str, ...]) -> ChangedDecision:
    return ChangedDecision(
        pod=found.pod,
        at=found.at,
        older=found.theirs,
        newer=found.ours,
        is_message=found.agreement is Agreement.REASONS,
        causes=causes,
    )
