"""A trace: a line of ``key=value`` for everything that happens, on some topics."""

import json
import re
from collections.abc import Callable, Iterable

import pytest

from quaymaster import ApiObject, Handle, Pod, Status, hookimpl
from quaymaster.config import Kubernetes
from quaymaster.scheduler import SchedulerOptions, Trace, TraceTopic
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.engine import cache_of, scheduler_of
from tests.kit.internals.state import Cache

FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^\s"]+)(?: |$)')


def fields(line: str) -> dict[str, str]:
    """Parse a line as an independent program would."""
    found = FIELD.findall(line)
    assert "".join(f"{key}={value} " for key, value in found).rstrip() == line
    return {
        key: json.loads(value) if value[0] == '"' else value for key, value in found
    }


class Lines:
    """Collects the lines of a trace."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def matching(self, *keys: str, **wanted: str) -> list[tuple[str | None, ...]]:
        """Return some fields of the lines that have the given values."""
        all_fields = map(fields, self.lines)
        return [
            tuple(field.get(key) for key in keys)
            for field in all_fields
            if wanted.items() <= field.items()
        ]


def traced(
    write: Callable[[str], object],
    objects: Iterable[ApiObject],
    topics: Iterable[TraceTopic] = tuple(TraceTopic),
    version: str = "1.36",
    **plugins: type,
) -> SchedulerHarness:
    return SchedulerHarness(
        objects,
        plugins=plugins,
        config=profile_config(enable=list(plugins)),
        options=SchedulerOptions(trace=Trace(write, topics=topics)),
        kubernetes=Kubernetes(version),
    )


SMALL = make_node(name="small", allocatable={"cpu": "1", "pods": "9"})
LARGE = make_node(name="large", allocatable={"cpu": "8", "pods": "9"})
POD = make_pod(name="p", requests={"cpu": "4"})


@pytest.mark.parametrize(
    ("version", "arrival"),
    [("1.36", "UnschedulablePodAdd"), ("1.37", "UnscheduledPodAdd")],
)
def test_the_queue_traces_where_a_pod_goes_and_why(version: str, arrival: str) -> None:
    out = Lines()
    harness = traced(
        out.lines.append, [SMALL, POD], [TraceTopic.QUEUE], version=version
    )
    harness.settle()
    harness.cluster.create(LARGE)
    harness.settle()
    keys = ("event", "queue", "cause", "rejected_by", "plugin", "answer")
    fit = "NodeResourcesFit"
    assert out.matching(*keys) == [
        ("enter", "active", arrival, None, None, None),
        ("pop", None, None, None, None, None),
        ("enter", "unschedulable", "ScheduleAttemptFailure", fit, None, None),
        ("hint", None, None, None, fit, "Queue"),
        ("enter", "backoff", "NodeAdd", fit, None, None),
        ("pop", None, None, None, None, None),
    ]
    assert out.matching("attempt", event="pop") == [("1",), ("2",)]


def test_the_queue_traces_gates_and_deleted_pods() -> None:
    out = Lines()
    gated = make_pod(name="g", scheduling_gates=("wait",))
    harness = traced(out.lines.append, [SMALL, gated], [TraceTopic.QUEUE])
    harness.settle()
    harness.cluster.delete(Pod, "default/g")
    harness.settle()
    assert out.matching("event", "queue", "gated_by") == [
        ("enter", "unschedulable", "SchedulingGates"),
        ("delete", None, None),
    ]


def test_backoff_after_an_error_is_traced() -> None:
    class Failing:
        def __init__(self, args: object, handle: Handle) -> None:
            pass

        @hookimpl
        def pre_filter(self) -> Status | None:
            raise OSError("no answer")

    out = Lines()
    objects = [SMALL, make_pod(name="p")]
    harness = traced(out.lines.append, objects, [TraceTopic.QUEUE], Failing=Failing)
    harness.schedule_one()
    assert out.matching("queue", cause="ScheduleAttemptFailure") == [("error backoff",)]


def test_the_cache_traces_assumed_and_confirmed_pods() -> None:
    out = Lines()
    bound = make_pod(name="b", node="large")
    harness = traced(out.lines.append, [LARGE, bound, POD], [TraceTopic.CACHE])
    harness.settle()
    harness.cluster.delete(Pod, "default/p", grace_period_seconds=0)
    harness.cluster.delete(type(LARGE), "large")
    harness.settle()
    assert out.matching("event", "pod", "node") == [
        ("set-node", None, "large"),
        ("add", "default/b", "large"),
        ("assume", "default/p", "large"),
        ("confirm", "default/p", "large"),
        ("remove-node", None, "large"),
        ("remove", "default/p", "large"),
        ("remove", "default/b", "large"),
    ]


def test_a_pod_that_loses_its_node_before_it_is_bound_is_forgotten() -> None:
    class Refusing:
        def __init__(self, args: object, handle: Handle) -> None:
            pass

        @hookimpl
        def permit(self) -> Status:
            return Status.unschedulable("no")

    out = Lines()
    topics = [TraceTopic.CACHE]
    traced(out.lines.append, [LARGE, POD], topics, Refusing=Refusing).schedule_one()
    assert out.matching("event", pod="default/p") == [("assume",), ("forget",)]


def test_plugin_calls_are_traced_with_their_answers() -> None:
    out = Lines()
    harness = traced(out.lines.append, [SMALL, POD], [TraceTopic.PLUGIN])
    harness.settle()
    [filtered] = out.matching(
        *("event", "rows", "answer", "rejected", "message"),
        plugin="NodeResourcesFit",
        hook="filter_nodes",
    )
    assert filtered == ("called", "1", "NodeVerdicts", "1", "Insufficient cpu")
    [(answer, message)] = out.matching(
        "answer", "message", plugin="DefaultPreemption", hook="post_filter"
    )
    assert answer == "Unschedulable"
    assert message
    assert message.startswith("preemption: 0/1 nodes are available")


def test_scores_are_traced_by_their_range() -> None:
    out = Lines()
    nodes = [LARGE, make_node(name="other", allocatable={"cpu": "9", "pods": "9"})]
    traced(out.lines.append, [*nodes, POD], [TraceTopic.PLUGIN]).settle()
    [(answer, lowest, highest)] = out.matching(
        "answer", "lowest", "highest", plugin="NodeResourcesFit", hook="score_nodes"
    )
    assert answer == "scores"
    assert lowest is not None
    assert highest is not None
    assert 0 <= int(lowest) <= int(highest) <= 100


def test_times_are_those_of_the_clock_since_the_scheduler_was_built() -> None:
    out = Lines()
    harness = traced(out.lines.append, [SMALL, POD], [TraceTopic.QUEUE])
    harness.settle()
    harness.advance(90)
    harness.cluster.create(make_pod(name="q"))
    harness.settle()
    assert out.matching("at", pod="default/q", queue="active") == [("90.000000",)]
    assert ("0.000000",) in out.matching("at", pod="default/p", queue="active")


def test_trace_of_one_pod_leaves_out_everything_else() -> None:
    out = Lines()
    trace = Trace(out.lines.append, pods=["default/p", "default/typo"])
    objects = [LARGE, POD, make_pod(name="q")]
    SchedulerHarness(objects, options=SchedulerOptions(trace=trace)).settle()
    assert {fields(line)["trace"] for line in out.lines} == {"plugin", "queue", "cache"}
    # Lines without a pod, such as those of nodes, are left out as well.
    assert {fields(line).get("pod") for line in out.lines} == {POD.key}
    assert trace.unseen_pods == ["default/typo"]


def test_texts_that_would_break_a_line_are_quoted() -> None:
    class Chatty:
        def __init__(self, args: object, handle: Handle) -> None:
            pass

        @hookimpl
        def pre_filter(self) -> Status:
            return Status.unschedulable('say "no"\nand = more')

    out = Lines()
    traced(out.lines.append, [LARGE, POD], [TraceTopic.PLUGIN], Chatty=Chatty).settle()
    assert set(out.matching("message", plugin="Chatty")) == {('say "no"\nand = more',)}
    assert not any("\n" in line for line in out.lines)


def test_a_trace_that_cannot_be_written_ends_and_disturbs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def write(_line: str) -> None:
        raise OSError("disk full")

    harness = traced(write, [LARGE, POD])
    harness.settle()
    assert harness.node_of("p") == "large"
    [record] = caplog.records
    assert record.getMessage() == "cannot write the trace; no more lines are written"


def test_decisions_are_those_without_a_trace() -> None:
    pods = [make_pod(name=f"p{number}", requests={"cpu": "3"}) for number in range(4)]
    harness = traced(lambda _line: None, [SMALL, LARGE, *pods])
    kubernetes = harness.config.kubernetes
    other = SchedulerHarness([SMALL, LARGE, *pods], kubernetes=kubernetes)
    harness.settle()
    other.settle()
    for pod in pods:
        assert harness.node_of(pod.name) == other.node_of(pod.name)
        assert harness.message(pod.name) == other.message(pod.name)


def test_without_a_trace_cache_and_hooks_are_not_wrapped() -> None:
    assert type(cache_of(scheduler_of(SchedulerHarness([LARGE])))) is Cache
    only_queue = traced(print, [LARGE], [TraceTopic.QUEUE])
    assert type(cache_of(scheduler_of(only_queue))) is Cache


@pytest.mark.parametrize("topics", [[], ["queue"]], ids=["none", "a text"])
def test_unknown_topics_are_rejected(topics: list[TraceTopic]) -> None:
    with pytest.raises(ValueError, match=r"Trace: expected topics, got \["):
        Trace(print, topics=topics)
