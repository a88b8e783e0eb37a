"""Traces in the Standard Workload Format as inputs of experiments."""

import gzip
from pathlib import Path

import pytest

from quaymaster import Pod
from quaymaster.errors import QuaymasterError
from quaymaster.experiments import (
    Arrival,
    InputContext,
    SwfError,
    SwfJob,
    Workload,
    parse_experiment,
    read_swf,
    run_cell,
)
from tests.kit.internals.experiments import SwfInput

HEADER = """\
; Version: 2.2
; MaxNodes: 8
; MaxProcs: 16
; Note: made up
"""

JOBS = """\
1  100 -1  60  4 -1 -1  8  90  2048 1  7  3 -1 2 -1 -1 -1
2  130 -1  30  2 -1 -1 -1  -1   -1 1  7  3 -1 2 -1  1 -1
3  150 -1   0  1 -1 -1  1  10   -1 0  8  3 -1 2 -1 -1 -1
4  160 -1  -1  1 -1 -1  1  10   -1 5  8  3 -1 2 -1 -1 -1
5  170 -1  10.5 1 -1 512 1 20   -1 1  8  3 -1 2 -1 -1 -1
"""


def workload(folder: Path, text: str = HEADER + JOBS, **fields: object) -> Workload:
    (folder / "trace.swf").write_text(text)
    made = SwfInput(file="trace.swf", **fields)  # type: ignore[arg-type]  # as in a file
    return made.make(InputContext(seed=0, folder=folder))


def arrivals_of(loaded: Workload) -> list[Arrival]:
    return [each for each in loaded.arrivals if isinstance(each, Arrival)]


def pods(loaded: Workload) -> list[Pod]:
    arriving = [arrival.obj for arrival in arrivals_of(loaded)]
    assert all(isinstance(pod, Pod) for pod in arriving)
    return [pod for pod in arriving if isinstance(pod, Pod)]


def cpus(loaded: Workload) -> list[str]:
    return [
        str(pod.spec.containers[0].resources.requests["cpu"]) for pod in pods(loaded)
    ]


def test_jobs_arrive_when_they_were_submitted_and_run_as_long(tmp_path: Path) -> None:
    arrivals = arrivals_of(workload(tmp_path))
    assert [(arrival.at, arrival.stays) for arrival in arrivals] == [
        (0.0, 60.0),
        (30.0, 30.0),
        (70.0, 10.5),
    ]


def test_a_job_is_a_pod_with_its_times_and_its_user(tmp_path: Path) -> None:
    pod = pods(workload(tmp_path))[0]
    assert pod.key == "default/job-1"
    assert pod.metadata.annotations == {
        "batch.quaymaster.io/requested-seconds": "90",
        "batch.quaymaster.io/submitted-seconds": "100",
    }
    assert pod.labels == {
        "batch.quaymaster.io/user": "7",
        "batch.quaymaster.io/group": "3",
        "batch.quaymaster.io/queue": "2",
    }


def test_the_run_time_counts_if_no_time_was_requested(tmp_path: Path) -> None:
    annotations = pods(workload(tmp_path))[1].metadata.annotations
    assert annotations["batch.quaymaster.io/requested-seconds"] == "30"


@pytest.mark.parametrize(
    ("processors", "expected"),
    [
        ("Requested", ["8", "2", "1"]),
        ("Allocated", ["4", "2", "1"]),
        ("Larger", ["8", "2", "1"]),
    ],
)
def test_processors_are_cpus(
    tmp_path: Path, processors: str, expected: list[str]
) -> None:
    (tmp_path / "trace.swf").write_text(HEADER + JOBS)
    text = f"""
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs:
  - {{name: t, use: swf, parameters: {{file: trace.swf, processors: {processors}}}}}
metrics: [{{name: placed}}]
"""
    file = str(tmp_path / "experiment.yaml")
    [cell] = (experiment := parse_experiment(text, file=file)).cells
    assert run_cell(experiment, cell).values["placed"] == 3
    kind = type(SwfInput(file="x").processors)
    assert cpus(workload(tmp_path, processors=kind(processors))) == expected


def test_memory_counts_on_request(tmp_path: Path) -> None:
    requests = pods(workload(tmp_path, memory=True))[0].spec.containers[0].resources
    assert requests.requests["memory"].value == 2048 * 1024 * 8


def test_all_processors_are_one_node_by_default(tmp_path: Path) -> None:
    [node] = workload(tmp_path).objects
    assert node.name.startswith("machine")
    nodes = workload(tmp_path, nodes=("4:cpu=4,memory=16Gi",)).objects
    assert len(nodes) == 4


def test_jobs_that_never_ran_are_left_out_with_a_warning(tmp_path: Path) -> None:
    messages = [notice.message for notice in workload(tmp_path).notices]
    assert messages == [
        "2 of 5 jobs that never ran, or had no processor, are left out",
        "1 of 5 jobs follow another job, which is ignored",
    ]


def test_some_jobs_of_a_trace(tmp_path: Path) -> None:
    chosen = workload(tmp_path, first=1, count=1)
    assert [pod.name for pod in pods(chosen)] == ["job-2"]


def test_trace_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "t.swf.gz").write_bytes(gzip.compress((HEADER + JOBS).encode()))
    made = SwfInput(file="t.swf.gz").make(InputContext(seed=0, folder=tmp_path))
    assert len(pods(made)) == 3


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        (HEADER + "1 2 3\n", {}, "line 5: expected 18 fields of a job, got 3"),
        (HEADER + JOBS[:-5], {}, "line 9: expected 18 fields of a job, got 17"),
        (
            HEADER + JOBS.replace("130", "soon"),
            {},
            "line 6: submit time: expected a number from 0, got 'soon'",
        ),
        (
            HEADER + JOBS.replace("60  4", "nan  4"),
            {},
            "line 5: run time: expected a number, got 'nan'",
        ),
        (
            HEADER + JOBS.replace("60  4", "60  inf"),
            {},
            "line 5: allocated processors: expected a whole number, got 'inf'",
        ),
        (
            HEADER + JOBS.replace("60  4", "60  4.5"),
            {},
            "line 5: allocated processors: expected a whole number, got '4.5'",
        ),
        (
            HEADER + JOBS.replace("2  130", "2  -1"),
            {},
            "line 6: submit time: expected a number from 0, got '-1'",
        ),
        (JOBS, {}, "expected a header MaxProcs or MaxNodes, or the parameter nodes"),
        (HEADER, {}, "expected 1 job or more, got 0"),
        (HEADER + JOBS, {"first": 9}, "expected 10 jobs or more, got 5"),
        (HEADER + JOBS, {"first": 3, "count": 4}, "expected 7 jobs or more, got 5"),
    ],
)
def test_mistakes_of_a_trace_are_reported_with_their_place(
    tmp_path: Path, text: str, fields: dict[str, object], message: str
) -> None:
    with pytest.raises(QuaymasterError) as raised:
        workload(tmp_path, text, **fields)
    assert "trace.swf" in str(raised.value)
    assert message in str(raised.value)


def test_a_missing_trace_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(QuaymasterError, match=r"none\.swf: No such file"):
        SwfInput(file="none.swf").make(InputContext(seed=0, folder=tmp_path))


# The reader ---------------------------------------------------------------------------


def test_a_job_has_all_fields_of_its_line(tmp_path: Path) -> None:
    file = tmp_path / "trace.swf"
    file.write_text("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n")
    [job] = read_swf(file).jobs
    assert job == SwfJob(
        number=1,
        submitted=2.0,
        wait_seconds=3.0,
        run_seconds=4.0,
        allocated=5,
        cpu_seconds=6.0,
        used_memory=7.0,
        requested=8,
        requested_seconds=9.0,
        requested_memory=10.0,
        status=11,
        user=12,
        group=13,
        executable=14,
        queue=15,
        partition=16,
        preceding=17,
        think_seconds=18.0,
    )


def test_minus_one_is_no_value(tmp_path: Path) -> None:
    file = tmp_path / "trace.swf"
    file.write_text("1 0" + " -1" * 16)
    assert read_swf(str(file)).jobs == (SwfJob(number=1, submitted=0.0),)


def test_a_trace_has_headers_and_a_number_of_processors(tmp_path: Path) -> None:
    file = tmp_path / "trace.swf"
    file.write_text(HEADER + "; Note: again\n;\n; 12 words without a name\n\n" + JOBS)
    trace = read_swf(file)
    assert trace.headers["Note"] == "made up"
    assert trace.processors == 16
    assert len(trace.jobs) == 5
    file.write_text("; MaxProcs: unknown\n; MaxNodes: 8\n")
    assert read_swf(file).processors == 8
    file.write_text("")
    assert read_swf(file).processors is None


def test_an_error_of_a_trace_has_its_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "trace.swf"
    file.write_text(HEADER + "1 2\n")
    with pytest.raises(SwfError) as raised:
        read_swf(file)
    assert (raised.value.file, raised.value.line) == (str(file), 5)
