"""A meter computes figures from attempts and bindings."""

from typing import cast

import pytest

from quaymaster import Pod
from quaymaster.objects import ObjectMeta, Time
from tests.kit.internals.engine import Framework
from tests.kit.internals.perf import Distribution, Measurement, Meter, PacedClock

NO_FRAMEWORK = cast(Framework, None)
START = 1000.0


class Bench:
    """A meter whose time is set by hand."""

    def __init__(self) -> None:
        self.real = 0.0
        self.result: str | None = "unschedulable"
        self.clock = PacedClock(start=START, tick_seconds=0, real=lambda: self.real)
        self.meter = Meter(self.clock, lambda _: self.result)

    def at(self, seconds: float) -> None:
        self.real = seconds
        self.clock.keep_pace()

    def attempt(self, pod: Pod, *, begin: float, end: float, binds: bool) -> None:
        self.at(begin)
        self.meter.attempting(pod, NO_FRAMEWORK)
        self.at(end)
        if binds:
            self.meter.bound(pod, "node")
        self.meter.turned()

    def measure(self, *pods: Pod) -> None:
        self.meter.start("test", ["measured"], {"type": "one"})
        for created in pods:
            self.meter.creating(created)

    def stop(self) -> Measurement:
        return self.meter.stop(nodes=7)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def pod(name: str, namespace: str = "measured", kind: str = "one") -> Pod:
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=name,
            labels={"type": kind, "other": "label"},
            creation_timestamp=Time(START),
        )
    )


def test_throughput_is_pods_per_time_from_first_creation_to_last_binding(
    bench: Bench,
) -> None:
    a, b = pod("a"), pod("b")
    bench.measure()
    bench.at(1)
    bench.meter.creating(a)
    bench.at(2)
    bench.meter.creating(b)
    bench.attempt(a, begin=3, end=4, binds=True)
    bench.attempt(b, begin=4, end=5, binds=True)
    bench.at(99)
    measured = bench.stop()
    assert (measured.pods, measured.scheduled, measured.nodes) == (2, 2, 7)
    assert measured.seconds == measured.busy_seconds == 4
    assert measured.throughput.average == measured.busy_throughput == 0.5


def test_waiting_counts_as_time_but_not_as_work(bench: Bench) -> None:
    measured_pod = pod("a")
    bench.measure(measured_pod)
    bench.clock.call_later(8, lambda: None)
    bench.clock.skip()
    bench.attempt(measured_pod, begin=1, end=2, binds=True)
    measured = bench.stop()
    assert measured.seconds == 10
    assert measured.busy_seconds == 2
    assert measured.throughput.average == 0.1
    assert measured.busy_throughput == 0.5


def test_only_pods_of_the_namespaces_with_the_labels_are_measured(
    bench: Bench,
) -> None:
    others = [pod("b", namespace="elsewhere"), pod("c", kind="other")]
    bench.measure(pod("a"), *others)
    bench.attempt(others[0], begin=0, end=1, binds=True)
    bench.attempt(others[1], begin=1, end=2, binds=True)
    measured = bench.stop()
    assert (measured.pods, measured.scheduled) == (1, 0)
    assert measured.throughput.average == measured.seconds == 0


def test_attempts_are_counted_by_result_for_all_pods(bench: Bench) -> None:
    measured_pod, other = pod("a"), pod("b", namespace="elsewhere")
    bench.measure(measured_pod)
    bench.attempt(other, begin=0, end=3, binds=False)
    bench.result = "error"
    bench.attempt(other, begin=3, end=4, binds=False)
    bench.attempt(measured_pod, begin=4, end=6, binds=True)
    measured = bench.stop()
    assert measured.attempts == {"unschedulable": 1, "error": 1, "scheduled": 1}
    assert measured.attempt_seconds == Distribution(
        count=3, average=2, p50=2, p90=3, p99=3
    )


def test_a_binding_that_takes_its_time_belongs_to_its_attempt(bench: Bench) -> None:
    measured_pod = pod("a")
    bench.result = None
    bench.measure(measured_pod)
    bench.attempt(measured_pod, begin=0, end=1, binds=False)
    bench.at(5)
    bench.meter.bound(measured_pod, "node")
    measured = bench.stop()
    assert measured.attempts == {"scheduled": 1}
    assert measured.attempt_seconds.average == 5


def test_pods_are_measured_from_their_creation_to_their_binding(bench: Bench) -> None:
    measured_pod = pod("a")
    bench.measure(measured_pod)
    bench.attempt(measured_pod, begin=1, end=3, binds=True)
    assert bench.stop().pod_seconds.average == 3


def test_a_window_without_pods_lowers_the_rates_of_those_behind_it(
    bench: Bench,
) -> None:
    bench.measure(*(pod(str(number)) for number in range(20)))
    moments = [0.5, 3.5, *range(3, 21)]
    for number, moment in enumerate(moments):
        bench.attempt(pod(str(number)), begin=moment, end=moment, binds=True)
    measured = bench.stop()
    assert measured.throughput.window_seconds == 1
    # Seconds two to four have two pods, both in the last of them.
    assert measured.throughput.rates[:4] == (1, 2 / 3, 2 / 3, 2 / 3)
    assert len(measured.throughput.rates) == 20


def test_the_last_window_takes_what_is_left_over(bench: Bench) -> None:
    bench.measure(*(pod(str(number)) for number in range(21)))
    for number in range(21):
        moment = (number + 0.5) if number < 20 else 20.5
        bench.attempt(pod(str(number)), begin=moment, end=moment, binds=True)
    rates = bench.stop().throughput.rates
    assert len(rates) == 20
    assert rates[-1] == 2 / 1.5


@pytest.mark.parametrize(
    ("seconds", "window"), [(0.005, 0.001), (0.5, 0.01), (2, 0.1), (19, 0.1), (20, 1)]
)
def test_windows_are_a_second_or_less_if_too_few_would_fit(
    bench: Bench, seconds: float, window: float
) -> None:
    measured_pod = pod("a")
    bench.measure(measured_pod)
    bench.attempt(measured_pod, begin=0, end=seconds, binds=True)
    assert bench.stop().throughput.window_seconds == window


def test_percentiles_are_measured_values() -> None:
    spread = Distribution.of([float(n) for n in range(100, 0, -1)])
    assert spread == Distribution(count=100, average=50.5, p50=50, p90=90, p99=99)
    assert Distribution.of([]) == Distribution()
