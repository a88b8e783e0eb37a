"""A check: while all calls fail, a plugin repeats them with pauses."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.background_acts import (
    Act,
    acts_of,
    bind_elsewhere,
    delete_pod,
    settle,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.bench_cluster import PAUSES
from quaymaster._authors.testing.contract.binding_runs import begin, open_nodes
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault
from quaymaster._core.contract.status import Status

__all__ = ["MOST_PER_MINUTE", "OUTAGES", "minutes"]

MOST_PER_MINUTE: Final = 120
"""Chosen, not measured: so often a call may be repeated for one object."""

_MINUTES: Final = 10
_SECONDS: Final = 60.0

_FAULTS: Final[Mapping[Fault, str]] = {
    Fault.ERROR: "all calls of handle.cluster fail",
    Fault.LOST_CALL: "all writes fail",
}

_Begin: TypeAlias = Callable[[], None]
"""Begins the outage."""


@attrs.frozen
class _Trial:
    """What a plugin has to do in an outage.

    Attributes:
        hook: The hook that makes the calls.
        play: Plays what comes before the outage, begins it, and plays what makes the
            calls.
    """

    hook: str
    play: Callable[[Bench, _Begin], None]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending[:1]:
        for act in acts_of(subject):
            for trial in _trials(subject, act, pod):
                for fault, what in _FAULTS.items():
                    _ask_of(_Outage(subject, cluster, act, pod, trial), fault, what)


def _trials(subject: Subject, act: Act, pod: Pod) -> Iterator[_Trial]:
    def write(bench: Bench, begin_outage: _Begin) -> None:
        begin_outage()
        act.play(bench, pod)

    def change(
        bench: Bench, begin_outage: _Begin, *, to: Callable[[Bench, Pod], None]
    ) -> None:
        act.play(bench, pod)
        begin_outage()
        to(bench, pod)

    yield _Trial(act.hook, write)
    if act.hook == "post_filter":
        yield _Trial("on_change", partial(change, to=bind_elsewhere))
    elif subject.has("unreserve"):
        yield _Trial("unreserve", partial(_undo, pod=pod))
    yield _Trial("on_change", partial(change, to=delete_pod))


def _undo(bench: Bench, begin_outage: _Begin, *, pod: Pod) -> None:
    """End the attempt of a pod after its PreBind."""
    for node_name in open_nodes(bench, pod)[:1]:
        run = begin(bench, pod, node_name)
        if run is not None and not isinstance(run.pre_bind(), Status):
            begin_outage()
            run.ask("unreserve")
            run.forget()


@attrs.frozen
class _Outage:
    """An outage of the cluster.

    Attributes:
        subject: The plugin.
        cluster: The cluster before.
        act: How the plugin writes.
        pod: The pod for which it writes.
        trial: What the plugin has to do.
    """

    subject: Subject
    cluster: SmallCluster
    act: Act
    pod: Pod
    trial: _Trial

    def calls(self, rates: Mapping[Fault, float]) -> Counter[str]:
        """Return the most calls that are made in a minute, by what they do.

        Args:
            rates: The faults of the outage.
        """
        executor = HeldExecutor()
        services = self.subject.make_services(self.subject.empty_cluster)
        services = attrs.evolve(services, executor=executor)
        bench = Bench(self.subject, self.cluster, services=services)
        most: Counter[str] = Counter()

        def begin_outage() -> None:
            executor.is_holding = True
            bench.cluster.set_rates(rates)
            bench.cluster.calls.clear()
            self.subject.wakes.clear()

        self.trial.play(bench, begin_outage)
        for _ in minutes(bench, executor, partial(self._go_on, bench)):
            most |= bench.cluster.calls
            if max(most.values(), default=0) > MOST_PER_MINUTE:
                break
            bench.cluster.calls.clear()
            settle(bench)
        return most

    def _go_on(self, bench: Bench) -> bool:
        """Try the pod again if the plugin has activated it; return whether it goes on.

        An activated pod does not wait for the end of its backoff.
        """
        if max(bench.cluster.calls.values(), default=0) > MOST_PER_MINUTE:
            return False
        wakes, is_activated = self.subject.wakes, self.pod.key in self.subject.wakes
        wakes.clear()
        stored = bench.services.informers.get(Pod, self.pod.key)
        if is_activated and stored is not None and not stored.node_name:
            self.act.play(bench, stored)
        return True


def minutes(
    bench: Bench, executor: HeldExecutor, go_on: Callable[[], bool]
) -> Iterator[None]:
    """Let ten minutes pass, and run the timers and tasks of the plugin.

    Args:
        bench: The plugin and its cluster.
        executor: The executor of the plugin, which holds tasks.
        go_on: Is called after each task, and returns whether the minute goes on: a
            plugin that never waits would have no end.

    Yields:
        None after each minute.
    """
    clock = bench.services.clock
    for _ in range(_MINUTES):
        end = clock.now() + _SECONDS
        while go_on():
            due = clock.next_due()
            if executor.has_tasks:
                executor.run_tasks()
                executor.deliver_results()
            elif due is not None and due <= end:
                bench.advance(max(0.0, due - clock.now()))
            else:
                bench.advance(end - clock.now())
                break
        yield


def _ask_of(outage: _Outage, fault: Fault, what: str) -> None:
    calls = outage.calls({fault: 1.0})
    for name, count in calls.most_common(1):
        if count > MOST_PER_MINUTE and count > 2 * outage.calls({})[name]:
            text = (
                f"repeats the {name} more than {MOST_PER_MINUTE} times in a minute "
                f"while {what}: {PAUSES}"
            )
            fail(outage.trial.hook, text, outage.pod)


OUTAGES: Final = Check(
    name="outages",
    promise="while all calls fail, they are repeated with pauses",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
