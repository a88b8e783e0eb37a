"""Finds what a newer Kubernetes decides differently for one input, and why.

The simulation of the older version is recorded, and the newer version makes each
decision again on the same state. Each different decision is then made without each of
the changes between the versions. If the old decision returns without a change, that
change is the cause.
"""

import tempfile
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import CHANGES, Kubernetes
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.recording.agreeing import AGREED
from quaymaster._studies.recording.compared import Agreement, ComparedDecision, Decided
from quaymaster._studies.recording.deciding import decide_again
from quaymaster._studies.recording.simulating import record_simulation

__all__ = ["ChangedDecision", "VersionChanges", "version_changes"]

_Decisions: TypeAlias = Sequence[Mapping[int, ComparedDecision]]
"""For each of several versions: the number of a decision -> its comparison."""


@attrs.frozen(kw_only=True)
class ChangedDecision:
    """A decision that a newer Kubernetes makes or words differently.

    Attributes:
        pod: The pod's key, ``namespace/name``.
        at: When the older one decided, in seconds since the beginning.
        older: The decision of the older version.
        newer: The decision of the newer version on the same state.
        is_message: Whether only the messages differ.
        causes: The names of the changes. With one name, the old decision returns
            without that change. With several, each alone changes the decision. Without
            a name, the cause is another one, or several changes together.
    """

    pod: str
    at: float
    older: Decided
    newer: Decided
    is_message: bool
    causes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class VersionChanges:
    """The decisions of a newer Kubernetes that differ, for one input.

    Attributes:
        configuration: The name of the configuration; empty for the only one.
        older: The older Kubernetes.
        newer: The newer one.
        decisions: How many decisions were compared.
        changed: The decisions that are made or worded differently, in order.
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
    registry: PluginRegistry | None = None,
    seed: int = 0,
    max_pods: int = MAX_PODS,
    configuration: str = "",
    on_progress: Callable[[], None] = lambda: None,
) -> VersionChanges:
    """Find what a newer Kubernetes decides differently, and the changes that cause it.

    Among nodes that are equally good to the newer version, it chooses that of the older
    version.

    Args:
        objects: Nodes, pods, workloads and all else, as for `simulate`.
        completed: Returns the configuration with the defaults of a version.
        older: The version that is simulated and recorded.
        newer: The version that decides again.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides ties and generated names of the older version.
        max_pods: How many pods the workloads may ask for in all.
        configuration: The name of the configuration.
        on_progress: Called after each pass through the record.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
    """
    registry = installed_plugins() if registry is None else registry
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

        def decide(
            versions: Sequence[Kubernetes], only: Container[int] | None = None
        ) -> _Decisions:
            decision = decide_again(
                file,
                configs=[completed(version) for version in versions],
                registry=registry,
                seed=seed,
                only=only,
            )
            on_progress()
            return decision

        [after] = decide([newer])
        differing = {
            number: compared.agreement
            for number, compared in after.items()
            if compared.agreement not in AGREED
        }
        causes = _causes(differing, older, newer, decide)
    return VersionChanges(
        configuration=configuration,
        older=older,
        newer=newer,
        decisions=len(after),
        changed=tuple(
            _changed(after[number], decision) for number, decision in causes.items()
        ),
    )


def _causes(
    differing: Mapping[int, Agreement],
    older: Kubernetes,
    newer: Kubernetes,
    decide: Callable[[Sequence[Kubernetes], Container[int]], _Decisions],
) -> dict[int, tuple[str, ...]]:
    """Find the changes that cause different decisions, by the decisions' numbers.

    Decisions that the older version does not repeat on the recorded state are left out.

    Args:
        differing: The numbers of the decisions that differ -> the agreement.
        older: The older Kubernetes.
        newer: The newer one.
        decide: Makes decisions again with each of several versions, where the first
            version makes them as recorded.
    """
    if not differing:
        return {}
    between = [
        name
        for name, change in CHANGES.items()
        if newer.has(name) and not older.has(name) and not change.is_of_cluster
    ]
    without = [newer.without(name) for name in between]
    before, *trials = decide([older, *without], differing)
    by_number = {
        number: tuple(
            name
            for name, trial in zip(between, trials, strict=True)
            if _is_as_before(trial[number], kind)
        )
        for number, kind in differing.items()
        if before[number].agreement in AGREED
    }
    left = frozenset(number for number, causes in by_number.items() if not causes)
    if left and between:
        alone = [_with_alone(newer, name, between) for name in between]
        _, *trials = decide([older, *alone], left)
        for number in left:
            by_number[number] = tuple(
                name
                for name, trial in zip(between, trials, strict=True)
                if not _is_as_before(trial[number], differing[number])
            )
    return by_number


def _with_alone(newer: Kubernetes, change: str, between: Sequence[str]) -> Kubernetes:
    """Return the newer version with one of these changes and without all others."""
    for other in between:
        newer = newer if other == change else newer.without(other)
    return newer


def _is_as_before(decision: ComparedDecision, before: Agreement) -> bool:
    """Whether a trial removes the difference: of a message, or else of the decision."""
    if before is Agreement.REASONS:
        return decision.agreement in AGREED
    return decision.agreement in {*AGREED, Agreement.REASONS}


def _changed(decision: ComparedDecision, causes: tuple[str, ...]) -> ChangedDecision:
    return ChangedDecision(
        pod=decision.pod,
        at=decision.at,
        older=decision.theirs,
        newer=decision.ours,
        is_message=decision.agreement is Agreement.REASONS,
        causes=causes,
    )
