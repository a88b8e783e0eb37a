"""A check: what a plugin writes once a pod is bound is not lost."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod, to_wire
from quaymaster._authors.testing.contract.background_acts import settle, touch
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.binding_runs import (
    BindingRun,
    begin,
    open_nodes,
)
from quaymaster._authors.testing.contract.call_failures import FAILURES, PAUSES
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault
from quaymaster._core.contract.declarations import Verb, Write
from quaymaster._core.contract.status import Status
from quaymaster._core.registry.access import writes_of_plugin

__all__ = ["LOST_WRITES"]

_MOST_CALLS: Final = 3
"""So many calls fail, each in a run of its own."""

_FAULTS: Final = (Fault.ERROR, Fault.CONFLICT)

_OF_A_BIND: Final = frozenset(
    {
        Write(Verb.CREATE, Pod, "binding"),
        Write(Verb.PATCH, Pod, "status"),
        Write(Verb.DELETE, Pod),
    }
)
"""The writes that belong to attempts: the bench stores none of them."""

_BY_SERVERS: Final = frozenset({"resourceVersion", "uid", "generation"})

_Key: TypeAlias = tuple[type[ApiObject], str]
_Objects: TypeAlias = Mapping[_Key, ApiObject]
_Path: TypeAlias = tuple[str, ...]
_Change: TypeAlias = tuple[_Key, _Path]
"""An object, and the path of a field that has another value."""

_ADVICE: Final = (
    "post_bind runs once, and only in the process that has bound the pod. on_change "
    "delivers all pods and objects to each new instance, and then their changes: "
    "compare each object with its pod there, write what is missing, and try again "
    "after a failure with a pause (handle.clock.call_later). If the write "
    "may be missing, opt out of 'lost writes'"
)


def _writes_after_binds(plugin: type) -> bool:
    """Return whether a plugin may write anything once a pod is bound."""
    return bool(set(writes_of_plugin(plugin)) - _OF_A_BIND)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        trials = _Trials(subject, cluster, pod)
        usual = trials.changes(_post_bind)
        if usual:
            _ask_pod(trials, usual)
            return


@attrs.frozen
class _Trials:
    """A pod that is bound again and again, each time with a new plugin.

    Attributes:
        subject: The plugin.
        cluster: The cluster before.
        pod: The pod.
    """

    subject: Subject
    cluster: SmallCluster
    pod: Pod

    def changes(
        self, go_on: Callable[[BindingRun], Bench | None]
    ) -> Mapping[_Change, ApiObject] | None:
        """Return what changes from PreBind on, with the objects; None if not possible.

        Args:
            go_on: Binds the pod, and returns the bench that then goes on; None if the
                trial is not possible.
        """
        run = self._prepared()
        if run is None:
            return None
        before = _objects(run.bench)
        bench = go_on(run)
        if bench is None:
            return None
        for seconds in PAUSES:
            bench.advance(seconds)
            settle(bench)
            touch(bench)
        return dict(_changes(before, _objects(bench)))

    def _prepared(self) -> BindingRun | None:
        """Run the pod up to PreBind."""
        bench = Bench(self.subject, self.cluster)
        for node_name in open_nodes(bench, self.pod)[:1]:
            run = begin(bench, self.pod, node_name)
            if run is not None and isinstance(run.pre_bind(), Status):
                run.give_up()
                return None
            return run
        return None


def _post_bind(run: BindingRun) -> Bench:
    """Bind the pod, as usual."""
    run.bind()
    run.end("post_bind")
    return run.bench


def _restart(run: BindingRun) -> Bench:
    """Bind the pod, and start a new instance before PostBind."""
    run.bench.handle.retire()
    run.bind()
    return run.bench.renewed()


def _failing(fault: Fault, number: int) -> Callable[[BindingRun], Bench | None]:
    """Return what binds the pod, and lets one call fail that follows."""

    def go_on(run: BindingRun) -> Bench | None:
        run.bench.cluster.fail_once(fault, number)
        with suppress(HookFailedError):  # it reports the failure of its call
            _post_bind(run)
        return None if run.bench.cluster.stop_failing() else run.bench

    return go_on


def _ask_pod(trials: _Trials, usual: Mapping[_Change, ApiObject]) -> None:
    trials.subject.exercised["fields that are written after a bind"] += len(usual)
    lost = _lost(usual, trials.changes(_restart) or {})
    if lost and _is_steady(trials, usual):
        text = (
            "does not write this if the scheduler restarts between the bind and "
            f"post_bind. {_ADVICE}"
        )
        _fail(trials, lost, text)
    for fault in _FAULTS:
        for number in range(1, _MOST_CALLS + 1):
            changes = trials.changes(_failing(fault, number))
            if changes is None:
                break
            lost = _lost(usual, changes)
            if lost and _is_steady(trials, usual):
                text = (
                    f"never writes this once call {number} of handle.cluster after the "
                    f"bind {FAILURES[fault]}. {_ADVICE}"
                )
                _fail(trials, lost, text)


def _is_steady(trials: _Trials, usual: Mapping[_Change, ApiObject]) -> bool:
    """Return whether the plugin changes the same without a failure."""
    return not _lost(usual, trials.changes(_post_bind) or {})


def _fail(trials: _Trials, lost: Mapping[_Change, ApiObject], text: str) -> None:
    hook = "post_bind" if trials.subject.has("post_bind") else "on_change"
    (kind, key), path = next(iter(lost))
    what = f"{kind.kind} '{key}' ({'.'.join(path)})"
    fail(hook, f"{what}: {text}", trials.pod, next(iter(lost.values())))


def _lost(
    usual: Mapping[_Change, ApiObject], changes: Mapping[_Change, ApiObject]
) -> Mapping[_Change, ApiObject]:
    """Return the changes that are missing.

    Fields may have other values, such as the time. New objects may have other names.
    """
    created, expected = _created(changes), _created(usual)
    missing = {key: obj for key, obj in usual.items() if key not in changes}
    return {
        (key, path): obj
        for (key, path), obj in missing.items()
        if path[:1] != _CREATED or created[key[0]] < expected[key[0]]
    }


_CREATED: Final = ("created",)
_DELETED: Final = ("deleted",)


def _created(changes: Mapping[_Change, ApiObject]) -> Counter[type[ApiObject]]:
    """Return how many objects of each kind are new."""
    return Counter(kind for (kind, _), path in changes if path == _CREATED)


def _objects(bench: Bench) -> _Objects:
    """Return the objects of the kinds that the plugin writes."""
    kinds = dict.fromkeys(w.kind for w in writes_of_plugin(bench.subject.plugin))
    return {
        (kind, obj.key): obj for kind in kinds for obj in bench.cluster.list(kind).items
    }


def _changes(before: _Objects, after: _Objects) -> Iterator[tuple[_Change, ApiObject]]:
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if new is None and old is not None:
            yield (key, _DELETED), old
        elif old is None and new is not None:
            yield (key, _CREATED), new
            for path in _leaves(to_wire(new)):
                yield (key, (*_CREATED, *path)), new
        elif old is not None and new is not None and old != new:
            leaves, earlier = _leaves(to_wire(new)), _leaves(to_wire(old))
            for path in {**earlier, **leaves}:
                if leaves.get(path) != earlier.get(path):
                    yield (key, path), new


def _leaves(value: object) -> Mapping[_Path, object]:
    """Return the values of all fields by their paths."""
    return dict(_walk(value, ()))


def _walk(value: object, path: _Path) -> Iterator[tuple[_Path, object]]:
    if not isinstance(value, dict):
        yield path, value
        return
    for name, part in value.items():
        if name not in _BY_SERVERS:
            yield from _walk(part, (*path, name))


LOST_WRITES: Final = Check(
    name="lost writes",
    promise="what it writes once a pod is bound is written after a failure, too",
    ask=_ask,
    only_for=_writes_after_binds,
    hooks=frozenset({"reserve", "permit", "pre_bind", "post_bind"}),
)
