"""Counts for which other values of an argument a plugin does something else."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, cast

import attrs
import numpy as np

from quaymaster._authors.testing.contract.answers import shown, verdicts_of
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.derived import base_of_package
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._base.errors import EndlessLoopError, QuaymasterError
from quaymaster._core.config.dump import plain
from quaymaster._core.config.records import RecordField, record_fields
from quaymaster._core.contract.results import (
    NodeVerdicts,
    PermitWait,
    PreBindWait,
    PreFilterResult,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["count_effects", "effects_of_arguments", "without_effect"]

_ENOUGH: Final = 20
"""The clusters on which an argument without any effect is reported."""
_SECONDS: Final = 61
"""Enough for timers that run each minute."""
_NOT_WALKED: Final = (
    "post_filter",
    "explain_pre_filter",
    "explain_filter",
    "suggest_changes",
    "placement_generate",
    "placement_feasible",
    "placement_score",
    "pod_group_post_filter",
)
"""Hooks that are not tried here, and may be all that uses an argument."""


def count_effects(subject: Subject, cluster: SmallCluster) -> None:
    """Try other values of the arguments that have had no effect yet.

    Args:
        subject: The plugin, which gets the counts.
        cluster: The cluster.
    """
    args = subject.config.plugin_args.get(subject.name)
    if args is None or any(map(subject.has, _NOT_WALKED)):
        return
    if base_of_package(subject.plugin) is not None:
        return  # the code that a test has replaced may be all that uses an argument
    counts = subject.effects
    usual: Sequence[object] | None = None
    for field, values in _other_values(args):
        name = field.name
        if counts[_effect(name)] or counts[_trials(name)] > _ENOUGH:
            continue
        others = [_with(subject, field, value, cluster) for value in values]
        tried = [acts for acts in others if acts]
        if not tried:
            continue
        if usual is None:
            usual = _acts(subject, cluster)
        counts[_trials(name)] += 1
        counts[_effect(name)] += any(acts != usual for acts in tried)


def without_effect(subject: Subject) -> Iterator[str]:
    """Yield a text for each argument without an effect on any cluster.

    It may have one on other clusters, such as a limit that no pod reaches.
    """
    for name, trials in effects_of_arguments(subject):
        if trials >= _ENOUGH and not subject.effects[_effect(name)]:
            yield f"argument '{name}' had no effect on any of {trials} clusters"


def effects_of_arguments(subject: Subject) -> Iterator[tuple[str, int]]:
    """Yield the arguments that were tried, and on how many clusters."""
    for name, count in list(subject.effects.items()):
        _, found, argument = name.partition(_trials(""))
        if found and count:
            yield argument, count


def _trials(name: str) -> str:
    return f"trials of argument {name}"


def _effect(name: str) -> str:
    return f"effects of argument {name}"


def _other_values(args: object) -> Iterator[tuple[RecordField, Sequence[object]]]:
    written = cast(Mapping[str, object], plain(args))
    for field in record_fields(type(args)):
        choices = [
            choice
            for rule in field.rules
            for choice in cast(Sequence[object], rule.schema.get("enum", ()))
        ]
        value = written.get(field.key)
        values = [each for each in (*_others(value), *choices) if each != value]
        if values:
            yield field, values


def _others(value: object) -> Sequence[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value * 100, 1]
    if isinstance(value, str):
        return [f"{value}a"]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return [[], [*value, "a"]]
    return []


def _with(
    subject: Subject, field: RecordField, value: object, cluster: SmallCluster
) -> Sequence[object]:
    """Return what a plugin does with another value; empty if that is not valid."""
    given = attrs.evolve(subject, args={**(subject.args or {}), field.key: value})
    try:
        _ = given.config
    except QuaymasterError:
        return ()
    return _acts(given, cluster)


class _Log:
    """Records the answers of hooks; see `quaymaster._core.runtime.Watch`."""

    def __init__(self) -> None:
        self.acts: list[object] = []

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """Return a function that records the answers of a hook."""
        del plugin, offered

        @functools.wraps(function)
        def watched(*args: object) -> object:
            answer: object = function(*args)
            self.acts.append((hook, _shown(answer)))
            return answer

        return watched


def _acts(subject: Subject, cluster: SmallCluster) -> Sequence[object]:
    """Return what a plugin does for the pods of a cluster."""
    log, executor = _Log(), HeldExecutor()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=executor)
    subject.wakes.clear()
    with suppress(HookFailedError, EndlessLoopError):  # other checks report them
        bench = Bench(subject, cluster, services=services, watches=[log])
        for pod in cluster.pending:
            walk(bench, pod)
            log.acts.append(services.clock.next_due())
        bench.advance(_SECONDS)
        walk(bench, cluster.pending[0])
        log.acts += [executor.tasks, sorted(bench.cluster.calls.items())]
    log.acts += [services.clock.next_due(), tuple(subject.wakes)]
    subject.close()
    return log.acts


def _shown(answer: object) -> object:
    if isinstance(answer, NodeVerdicts):
        names = [str(row) for row in range(len(answer.codes))]
        return [
            (name, shown(status)) for name, status in verdicts_of(answer, names).items()
        ]
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, PermitWait | PreBindWait):
        return answer.timeout_seconds
    if isinstance(answer, Status | PreFilterResult):
        return shown(answer)
    is_plain = isinstance(answer, int | float | str | tuple | frozenset)
    return repr(answer) if is_plain else type(answer).__name__
