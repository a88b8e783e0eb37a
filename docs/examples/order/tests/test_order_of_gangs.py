"""PodGroups in the orders: a gang is one job that starts when its pods fit together."""

import csv
import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaymaster import Pod
from quaymaster.config import Kubernetes, parse_config
from quaymaster.objects import PodGroup
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Run
from quaymaster.testing import make_node, make_pod, make_pod_group, profile_config

from quaymaster_order import (
    REQUESTED_SECONDS,
    AgeingSort,
    ConservativeBackfilling,
    EasyBackfilling,
    FeatureGateError,
    HeadOfLine,
)

DATA: Final = Path(__file__).parent / "data"
PLUGINS = (AgeingSort, ConservativeBackfilling, EasyBackfilling, HeadOfLine)
BACKFILLING = (EasyBackfilling, ConservativeBackfilling)
RUN_SECONDS = "simulation.quaymaster.io/run-seconds"
GROUPS = "GenericWorkload"
PLACEMENTS = (GROUPS, "TopologyAwareWorkloadScheduling")
RACK = "example.com/rack"
END = 2000.0


@attrs.frozen
class Gang:
    """Pods that start together.

    Attributes:
        name: The name of the PodGroup.
        pods: The number of pods.
        cpu: The CPUs of each pod.
        seconds: How long they run, which is what they request.
        least: The minCount; by default the number of pods.
        fields: Further fields of the pods.
    """

    name: str
    pods: int
    cpu: int
    seconds: int
    least: int | None = None
    fields: Mapping[str, object] = attrs.field(factory=dict)

    @property
    def group(self) -> PodGroup:
        """The PodGroup."""
        return make_pod_group(name=self.name, min_count=self.least or self.pods)

    def members(self) -> Iterator[Pod]:
        """Make the pods."""
        for number in range(self.pods):
            yield job(
                f"{self.name}-{number}",
                self.cpu,
                self.seconds,
                scheduling_group=self.name,
                **self.fields,
            )


def job(name: str, cpu: int, seconds: int, **fields: object) -> Pod:
    annotations = {REQUESTED_SECONDS: str(seconds), RUN_SECONDS: str(seconds)}
    return make_pod(
        name=name,
        requests={"cpu": str(cpu)},
        annotations=annotations,
        **fields,  # type: ignore[arg-type]  # fields of make_pod
    )


def on(node: str) -> Mapping[str, object]:
    """Return the fields of pods that are for one node."""
    return {"node_selector": {"kubernetes.io/hostname": node}}


@contextmanager
def cluster(
    plugin: type,
    nodes: Mapping[str, int] | None = None,
    gates: Sequence[str] = (GROUPS,),
    **args: object,
) -> Iterator[Run]:
    """A run with nodes of so many CPUs; the name of a rack is the node's first letter.

    By default one node has ten CPUs.
    """
    registry = PluginRegistry.discover()
    for each in PLUGINS:
        registry = registry.with_plugin(each)
    document = profile_config(
        enable=[plugin],
        disable=["PrioritySort", "DefaultPreemption"],
        args={plugin: args},
    )
    kubernetes = Kubernetes(version="1.37", feature_gates=dict.fromkeys(gates, True))
    config = parse_config(document, registry, kubernetes=kubernetes)
    made = [
        make_node(
            name=name,
            capacity={"cpu": str(cpu), "memory": "16Gi", "pods": "300"},
            labels={RACK: name[0]},
        )
        for name, cpu in (nodes or {"node": 10}).items()
    ]
    with Run(made, config=config, registry=registry) as run:
        yield run


def attempt(run: Run) -> None:
    while run.attempt() is not None:
        pass


def arrive(run: Run, *jobs: Pod | Gang) -> None:
    """Create jobs, each followed by attempts."""
    for each in jobs:
        if isinstance(each, Gang):
            run.create(each.group)
            for pod in each.members():
                run.create(pod)
        else:
            run.create(each)
        attempt(run)


def go_on(run: Run, until: int) -> None:
    """Let time pass, with attempts each second."""
    for _ in range(until - int(run.observe().at)):
        run.advance(1)
        attempt(run)


def starts(run: Run, until: float = END) -> Mapping[str, float | list[float]]:
    """Continue to the end; return when each job was bound.

    Of a gang whose pods do not start together, the times of all pods are returned.
    """
    # Jobs that wait for ever are tried every few minutes.
    while run.observe().at < until and run.wait():
        attempt(run)
    times: dict[str, set[float]] = {}
    for placement in run.result().placements:
        name = placement.pod.removeprefix("default/").partition("-")[0]
        times.setdefault(name, set()).add(placement.bound)
    return {
        name: next(iter(bound)) if len(bound) == 1 else sorted(bound)
        for name, bound in times.items()
    }


# One entry of the line ----------------------------------------------------------------


def test_a_gang_is_one_entry_of_the_line() -> None:
    with cluster(HeadOfLine) as run:
        arrive(run, job("a", 6, 100), Gang("gang", 3, 3, 50), job("small", 1, 10))
        assert starts(run) == {"a": 0, "gang": 100, "small": 100}


@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
def test_a_gang_waits_behind_the_head(plugin: type) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50), Gang("gang", 2, 1, 500))
        # It fits beside the head, so that it may pass with backfilling.
        expected = 100 if plugin is HeadOfLine else 0
        assert starts(run) == {"a": 0, "wide": 100, "gang": expected}


@pytest.mark.long
def test_a_gang_counts_with_the_cpus_of_all_its_pods() -> None:
    with cluster(HeadOfLine, orderBy="F1") as run:
        arrive(run, job("a", 10, 100), job("head", 10, 100))
        arrive(run, Gang("gang", 4, 2, 50), job("alone", 3, 50))
        # Eight CPUs, although each of its pods is smaller than the pod.
        expected = {"a": 0, "head": 100, "alone": 200, "gang": 250}
        assert starts(run) == expected


@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
def test_a_deleted_gang_leaves_the_line(plugin: type) -> None:
    with cluster(plugin) as run:
        gang = Gang("gang", 2, 5, 50)
        arrive(run, job("a", 6, 100), gang, job("small", 1, 500))
        for pod in gang.members():
            run.delete(run.cluster.get(Pod, pod.key))
        attempt(run)
        assert starts(run) == {"a": 0, "small": 0}


@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
def test_a_gang_with_too_few_pods_does_not_hold_up_the_line(plugin: type) -> None:
    with cluster(plugin) as run:
        gang = Gang("gang", 2, 5, 50)
        first, second = gang.members()
        arrive(run, job("a", 6, 100))
        run.create(gang.group)
        arrive(run, first, job("wide", 8, 50))
        arrive(run, second)
        assert starts(run) == {"a": 0, "wide": 100, "gang": 150}


@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
def test_a_gang_that_loses_a_pod_makes_way_for_the_next_job(plugin: type) -> None:
    with cluster(plugin) as run:
        gang = Gang("gang", 2, 5, 50)
        first, second = gang.members()
        arrive(run, job("a", 6, 100), gang, job("wide", 8, 50))
        run.delete(run.cluster.get(Pod, first.key))
        attempt(run)
        run.advance(80)
        # Now it is complete again, behind the pod that is at the head.
        arrive(run, job("gang-2", 5, 50, scheduling_group="gang"))
        assert starts(run) == {"a": 0, "wide": 100, "gang": 150}
        assert second.key in {placement.pod for placement in run.result().placements}


@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
def test_without_the_feature_gate_pods_of_a_group_are_entries_of_their_own(
    plugin: type,
) -> None:
    with cluster(plugin, gates=()) as run:
        arrive(run, job("a", 6, 100), job("wide", 9, 50))
        for pod in Gang("gang", 2, 1, 500).members():
            arrive(run, pod)
        first = 100 if plugin is HeadOfLine else 0
        assert starts(run) == {"a": 0, "wide": 100, "gang": [first, 150]}


@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
def test_groups_of_groups_are_an_error_with_its_reason(plugin: type) -> None:
    message = (
        f"plugin '{plugin.__name__}': does not support the feature gate "
        "CompositePodGroup, because an entry of its line is a pod or a PodGroup"
    )
    gates = (*PLACEMENTS, "CompositePodGroup")
    with pytest.raises(FeatureGateError, match=message), cluster(plugin, gates=gates):
        pass


def test_ageing_sort_counts_all_pods_of_a_gang() -> None:
    with cluster(AgeingSort, orderBy="F1") as run:
        run.advance(1000)
        # Five CPUs count more than two, although each pod of the gang is smaller.
        gang = Gang("gang", 5, 1, 1000)
        run.create(gang.group)
        for pod in (*gang.members(), job("alone", 2, 1000)):
            run.create(pod)
        attempt(run)
        placed = [placement.pod for placement in run.result().placements]
        assert placed[0] == "default/alone"


def test_ageing_sort_sorts_a_gang_again_when_a_pod_joins_it() -> None:
    with cluster(AgeingSort, orderBy="F1") as run:
        run.advance(1000)
        gang = Gang("gang", 5, 1, 1000, least=1)
        first, *others = gang.members()
        run.create(gang.group)
        run.create(first)
        run.create(job("alone", 2, 1000))
        assert run.peek().pod.name == "gang-0"  # type: ignore[union-attr]  # it is queued
        for pod in others:
            run.create(pod)
        assert run.peek().pod.name == "alone"  # type: ignore[union-attr]  # as above


# Backfilling --------------------------------------------------------------------------


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_a_pod_passes_a_gang_if_it_ends_before_all_its_pods_can_start(
    plugin: type,
) -> None:
    with cluster(plugin, {"n1": 4, "n2": 4}) as run:
        arrive(run, job("a", 4, 100), job("b", 2, 60))
        # Two of its pods have room at 60, and the others at 100.
        arrive(run, Gang("gang", 4, 2, 50))
        arrive(run, job("short", 2, 100), job("longer", 2, 101))
        assert starts(run) == {"a": 0, "b": 0, "short": 0, "gang": 100, "longer": 150}


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_a_gang_passes_a_pod_if_it_ends_before_the_pod_can_start(plugin: type) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), job("wide", 10, 50))
        arrive(run, Gang("short", 4, 1, 100), Gang("longer", 2, 1, 101))
        assert starts(run) == {"a": 0, "short": 0, "wide": 100, "longer": 150}


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_a_gang_passes_only_as_a_whole(plugin: type) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), job("wide", 10, 50))
        arrive(run, Gang("gang", 5, 1, 100), job("small", 1, 100))
        assert starts(run) == {"a": 0, "small": 0, "wide": 100, "gang": 150}


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_the_pods_of_a_gang_share_the_room_that_the_head_leaves(plugin: type) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), job("wide", 8, 50))
        # Each pod alone would fit beside the head.
        arrive(run, Gang("three", 3, 1, 500), Gang("two", 2, 1, 500))
        assert starts(run) == {"a": 0, "two": 0, "wide": 100, "three": 150}


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_the_head_and_the_jobs_that_pass_it_may_be_gangs(plugin: type) -> None:
    with cluster(plugin, {"n1": 4, "n2": 4}) as run:
        arrive(run, Gang("a", 2, 2, 100), job("b", 2, 40))
        # 2 CPUs are free now, 4 at 40, and 8 at 100.
        arrive(run, Gang("head", 4, 2, 50))
        arrive(run, Gang("pair", 2, 1, 100), Gang("late", 2, 1, 101))
        assert starts(run) == {"a": 0, "b": 0, "pair": 0, "head": 100, "late": 150}


def test_easy_may_delay_the_second_gang_and_conservative_does_not() -> None:
    jobs = (job("a", 6, 100), Gang("wide", 4, 2, 50), Gang("second", 5, 2, 10))
    late = Gang("late", 2, 1, 500)
    with cluster(EasyBackfilling) as run:
        arrive(run, *jobs, late)
        assert starts(run) == {"a": 0, "late": 0, "wide": 100, "second": 500}
    with cluster(ConservativeBackfilling) as run:
        arrive(run, *jobs, late)
        assert starts(run) == {"a": 0, "wide": 100, "second": 150, "late": 160}


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_a_gang_starts_with_the_least_number_of_pods_and_others_follow(
    plugin: type,
) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), job("b", 2, 60))
        # Two of its four pods have room at 60. The others stay at the head.
        arrive(run, Gang("gang", 4, 2, 500, least=2), job("short", 2, 60))
        arrive(run, job("next", 3, 10))
        assert starts(run) == {
            "a": 0,
            "b": 0,
            "short": 0,
            "gang": [60, 100],
            "next": 560,
        }


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_the_reservation_of_a_gang_is_on_nodes_that_it_may_have(plugin: type) -> None:
    with cluster(plugin, {"n1": 4, "n2": 4}) as run:
        arrive(run, job("a", 3, 100, **on("n1")), job("b", 3, 200, **on("n2")))
        arrive(run, Gang("gang", 2, 2, 50, fields=on("n1")))
        arrive(run, job("elsewhere", 1, 900), job("late", 1, 900))
        times = {"a": 0, "b": 0, "gang": 100, "elsewhere": 0, "late": 150}
        assert starts(run) == times


@pytest.mark.parametrize("plugin", BACKFILLING)
def test_a_gang_that_can_never_start_lets_all_pass(plugin: type) -> None:
    with cluster(plugin) as run:
        arrive(run, job("a", 6, 100), Gang("gang", 3, 5, 50), job("b", 4, 500))
        assert starts(run) == {"a": 0, "b": 0}


def test_the_reservation_of_a_gang_follows_its_placements() -> None:
    nodes = {"a1": 4, "a2": 4, "b1": 4, "b2": 4}
    with cluster(EasyBackfilling, nodes, gates=PLACEMENTS) as run:
        for name, seconds in {"a1": 100, "b1": 50, "a2": 200, "b2": 300}.items():
            arrive(run, job(f"p{name}", 3, seconds, **on(name)))
        group = make_pod_group(name="gang", min_count=2, topology_key=RACK)
        run.create(group)
        for pod in Gang("gang", 2, 4, 50).members():
            run.create(pod)
        attempt(run)
        # Two nodes have room at 100. Those of one rack have it at 200.
        arrive(run, job("late", 1, 400), job("later", 1, 400), job("last", 1, 400))
        times = starts(run)
        assert times["gang"] == 200
        assert (times["late"], times["later"], times["last"]) == (0, 0, 50)


# A published simulator ---------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("plugin", "file", "args"),
    [
        (HeadOfLine, "starts.csv.gz", {}),
        (
            EasyBackfilling,
            "starts_easy_backfilling.csv.gz",
            {"backfillIn": "Arrival", "spareRoom": False, "margin": "1s"},
        ),
    ],
)
def test_gangs_of_pods_with_one_cpu_start_as_the_jobs_of_a_published_simulator(
    plugin: type, file: str, args: Mapping[str, object]
) -> None:
    """The first jobs of a sequence of RLScheduler's study; see `SOURCE.txt`."""
    with gzip.open(DATA / file, "rt", newline="") as opened:
        published = {
            int(row["job"]): int(row["started"])
            for row in csv.DictReader(opened)
            if row["iter"] == "1" and row["policy"] == "fcfs"
        }
    with gzip.open(DATA / "lublin_256.swf.gz", "rt") as trace:
        rows = [line.split() for line in trace if not line.startswith(";")]
    jobs = [[int(row[column]) for column in (0, 1, 3, 4)] for row in rows]
    sequence = [job for job in jobs if 1260 <= job[0] <= 1300]
    begin = sequence[0][1]
    later = next(submit for number, submit, _, _ in jobs if number == 1301)
    with cluster(plugin, {"machine": 256}, (GROUPS,), **args) as run:
        for number, submit, seconds, processors in sequence:
            go_on(run, submit - begin)
            arrive(run, Gang(f"j{number}", processors, 1, seconds))
        times = starts(run, until=later - begin)
    # Jobs after these may change what has not started by then.
    expected = {
        f"j{number}": published[number] - begin
        for number, *_ in sequence
        if published[number] < later
    }
    assert {name: times[name] for name in expected} == expected
    assert len(times) == len(expected)
    assert len(expected) > 15


# Properties ---------------------------------------------------------------------------


@attrs.frozen
class Arrival:
    """A gang of pods with equal requests, and when it arrives."""

    at: int
    pods: int
    cpu: int
    seconds: int

    def gang(self, number: int) -> Gang:
        return Gang(f"g{number}", self.pods, self.cpu, self.seconds)

    def wide(self, number: int) -> Pod:
        return job(f"g{number}", self.pods * self.cpu, self.seconds)


ARRIVALS = st.lists(
    st.builds(
        Arrival,
        at=st.integers(0, 60),
        pods=st.integers(1, 4),
        cpu=st.integers(1, 2),
        seconds=st.integers(1, 40),
    ),
    min_size=2,
    max_size=12,
).map(lambda arrivals: sorted(arrivals, key=lambda arrival: arrival.at))


def played(
    plugin: type,
    arrivals: Sequence[Arrival],
    nodes: Mapping[str, int],
    *,
    as_gangs: bool = True,
) -> tuple[Mapping[str, float], Mapping[str, list[str]]]:
    """Return when each job starts, and the nodes of its pods."""
    with cluster(plugin, nodes) as run:
        for number, arrival in enumerate(arrivals):
            go_on(run, arrival.at)
            arrive(run, arrival.gang(number) if as_gangs else arrival.wide(number))
        times = starts(run)
        places: dict[str, list[str]] = {}
        for placement in run.result().placements:
            name = placement.pod.removeprefix("default/").partition("-")[0]
            places.setdefault(name, []).append(placement.node)
    single = {name: at for name, at in times.items() if not isinstance(at, list)}
    assert len(single) == len(arrivals), "each gang starts, and as a whole"
    return single, places


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(arrivals=ARRIVALS)
def test_no_gang_starts_later_than_easy_backfilling_promises(
    arrivals: list[Arrival],
) -> None:
    """The promise: as soon as enough pods have ended of those before it at the head."""
    times, places = played(EasyBackfilling, arrivals, {"n1": 4, "n2": 4})
    head_since = 0.0
    for number, arrival in enumerate(arrivals):
        name = f"g{number}"
        # It comes to the head once all before it have started.
        head_since = max(head_since, arrival.at)
        others = [
            (times[other] + arrivals[int(other[1:])].seconds, other)
            for other in times
            if times[other] < head_since
            or (times[other] == head_since and int(other[1:]) < number)
        ]
        ends = sorted({head_since, *(end for end, _ in others if end > head_since)})
        promise = next(at for at in ends if room(arrival, at, others, arrivals, places))
        assert times[name] <= promise
        head_since = max(head_since, times[name])


def room(
    arrival: Arrival,
    at: float,
    others: Iterable[tuple[float, str]],
    arrivals: Sequence[Arrival],
    places: Mapping[str, list[str]],
) -> bool:
    """Whether the pods of a gang fit on two nodes of four CPUs."""
    free = {"n1": 4, "n2": 4}
    for end, other in others:
        if end > at:
            for node in places[other]:
                free[node] -= arrivals[int(other[1:])].cpu
    return sum(cpus // arrival.cpu for cpus in free.values()) >= arrival.pods


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(arrivals=ARRIVALS)
def test_conservative_backfilling_delays_no_gang(arrivals: list[Arrival]) -> None:
    """Each starts in the first gap that those before it leave on its arrival."""
    times, _ = played(ConservativeBackfilling, arrivals, {"node": 8})
    taken: list[tuple[float, float, int]] = []  # start, end, CPUs
    for number, arrival in enumerate(arrivals):
        width = arrival.pods * arrival.cpu
        for at in sorted({float(arrival.at), *(end for _, end, _ in taken)}):
            marks = [at, *(start for start, _, _ in taken)]
            if at >= arrival.at and all(
                sum(cpus for start, end, cpus in taken if start <= mark < end) + width
                <= 8
                for mark in marks
                if at <= mark < at + arrival.seconds
            ):
                break
        assert times[f"g{number}"] == at
        taken.append((at, at + arrival.seconds, width))


@pytest.mark.long
@pytest.mark.parametrize("plugin", [HeadOfLine, *BACKFILLING])
@settings(deadline=None, max_examples=30)
@given(arrivals=ARRIVALS)
def test_a_gang_on_one_node_starts_like_a_pod_with_all_its_cpus(
    plugin: type, arrivals: list[Arrival]
) -> None:
    gangs, _ = played(plugin, arrivals, {"node": 8})
    wide, _ = played(plugin, arrivals, {"node": 8}, as_gangs=False)
    assert gangs == wide
