"""A check: a plugin makes up for a call of the cluster that has failed once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.background_acts import (
    Act,
    acts_of,
    bound,
    settle,
    touch,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import written_objects
from quaymaster._authors.testing.contract.call_failures import FAILURES, PAUSES
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault

__all__ = ["FAILED_WRITES"]

_MOST_CALLS: Final = 2
"""So many calls fail, each in a run of its own."""


@attrs.frozen
class _Trial:
    """One call of the cluster fails, and then the plugin goes on.

    Attributes:
        hook: The hook that makes the call.
        prepare: Plays what comes before.
        play: Plays what makes the call.
        go_on: Plays what comes next, which is repeated as time passes.
    """

    hook: str
    prepare: Callable[[Bench], None]
    play: Callable[[Bench], None]
    go_on: Callable[[Bench], None]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending[:1]:
        for trial in _trials(subject, pod):
            for fault in FAILURES:
                for number in range(1, _MOST_CALLS + 1):
                    if not _ask_of(subject, cluster, trial, fault, number):
                        break


def _trials(subject: Subject, pod: Pod) -> Iterator[_Trial]:
    for act in acts_of(subject):
        # A pod without a node is tried again. After a bind, another one is tried.
        is_repeated = act.hook == "post_filter"
        turns = (pod, pod) if is_repeated else copies_of(pod, 2)
        play, go_on = (_played(act, each) for each in turns)
        yield _Trial(act.hook, _nothing, play, go_on)
        if is_repeated:
            yield _Trial("on_change", play, _bound(pod), touch)


def _played(act: Act, pod: Pod) -> Callable[[Bench], None]:
    def play(bench: Bench) -> None:
        stored = bench.services.informers.get(Pod, pod.key)
        if stored is None:
            bench.add(pod)
        if stored is None or not stored.node_name:
            act.play(bench, pod)

    return play


def _bound(pod: Pod) -> Callable[[Bench], None]:
    def bind(bench: Bench) -> None:
        bench.add(bound(bench, pod))
        settle(bench)

    return bind


def _nothing(_bench: Bench) -> None:
    return None


def _ask_of(
    subject: Subject, cluster: SmallCluster, trial: _Trial, fault: Fault, number: int
) -> bool:
    """Let one call fail; return whether there was such a call."""
    bench = _after(subject, cluster, trial, fault, number)
    if bench is None:
        return False
    renewed = _renewed(_after(subject, cluster, trial, fault, number))
    actual, expected = _continued(bench, trial), _continued(renewed, trial)
    if actual != expected and _is_steady(subject, cluster, trial):
        text = (
            f"once call {number} of handle.cluster {FAILURES[fault]}, further attempts "
            "and changes of objects lead to other objects than from a new instance "
            "with the same cluster: what the plugin has noted before a call, such as "
            "a flag, must not outlive its failure, so release it in done of "
            "run_in_background, whatever the result"
        )
        fail(trial.hook, text, *_differing(actual, expected), cluster.pending[:1])
    return True


def _is_steady(subject: Subject, cluster: SmallCluster, trial: _Trial) -> bool:
    """Return whether a new instance does the same as an old one without failures."""
    bench = _after(subject, cluster, trial)
    renewed = _renewed(_after(subject, cluster, trial))
    return bench is not None and _continued(bench, trial) == _continued(renewed, trial)


def _after(
    subject: Subject,
    cluster: SmallCluster,
    trial: _Trial,
    fault: Fault | None = None,
    number: int = 0,
) -> Bench | None:
    """Return a bench after the trial; None if no call has failed that should."""
    bench = Bench(subject, cluster)
    trial.prepare(bench)
    if fault is not None:
        bench.cluster.fail_once(fault, number)
    trial.play(bench)
    return None if bench.cluster.stop_failing() else bench


def _renewed(bench: Bench | None) -> Bench:
    assert bench is not None, "the same calls are made each time"
    bench.handle.retire()
    return bench.renewed()


def _continued(bench: Bench, trial: _Trial) -> Mapping[tuple[type, str], ApiObject]:
    """Return the objects that are left once the plugin has gone on for a while."""
    for seconds in PAUSES:
        bench.advance(seconds)
        settle(bench)
        trial.go_on(bench)
    return {
        key: replace(obj, metadata=replace(obj.metadata, uid=""))
        for key, obj in written_objects(bench).items()
    }


def _differing(
    actual: Mapping[tuple[type, str], ApiObject],
    expected: Mapping[tuple[type, str], ApiObject],
) -> Sequence[Sequence[ApiObject]]:
    return [
        [each for each in (actual.get(key), expected.get(key)) if each is not None]
        for key in {**actual, **expected}
        if actual.get(key) != expected.get(key)
    ][:1]


FAILED_WRITES: Final = Check(
    name="failed writes",
    promise="after a failed call, further attempts and changes make up for it",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
