"""Public traces are inputs of experiments; the small tables have the real columns."""

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from quaymaster import Node, Pod
from quaymaster.experiments import (
    Arrival,
    ExperimentErrors,
    ExperimentInput,
    InputContext,
    Workload,
    parse_experiment,
    run_cell,
)
from quaymaster.recording import RecordError, TraceFormat

OPENB = {
    "openb_node_list.csv": """\
sn,cpu_milli,memory_mib,gpu,model
node-0,32000,262144,2,P100
""",
    "openb_pod_list.csv": """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-1,6000,12288,1,460,T4,LS,Running,20,120,30
pod-0,12000,16384,2,1000,,LS,Running,0,,0
""",
}
ALIBABA_2018 = {
    "machine_meta.csv": """\
m_1,0,7,70,96,100,USING
m_2,0,8,71,96,-1,USING
""",
    "batch_task.csv": """\
M1,2,j_1,1,Terminated,100,160,100.0,0.2
R2_1,1,j_1,1,Waiting,,,50.0,0.1
""",
}
ALIBABA_GPU_2020 = {
    "pai_machine_spec.csv": "m1,T4,96,512,2\nm2,CPU,64,256,0\n",
    "pai_job_table.csv": "j1,i1,u1,Terminated,90.0,300.0\n",
    "pai_group_tag_table.csv": "i1,u1,T4,g,bert\n",
    "pai_task_table.csv": """\
job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type
j1,worker,2.0,Terminated,100.0,300.0,600.0,29.5,50.0,T4
j2,ps,1.0,Running,120.0,,200.0,10.0,,
j3,ps,1.0,Terminated,50.0,60.0,200.0,10.0,200.0,T4
""",
}
ALIBABA_SPOT_2026 = {
    "node_info_df.csv": """\
node_name,gpu_model,gpu_capacity_num,cpu_num
0,A10,4,128
""",
    "job_info_df.csv": """\
job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
239,13,A10,20,1,2,0,500,HP
240,57,A10,15,1,1,30,60,Spot
""",
}
HELIOS = {
    "cluster_gpu_number.csv": """\
date,vcA,vcB,total
2020-06-08,8,8,16
2020-06-09,12,0,12
2020-06-10,16,0,16
""",
    "cluster_log.csv": """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,\
queue
1,u,vcA,1,1,1,DONE,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0
2,u,vcA,16,32,2,FAILED,2020-06-09 18:42:01,2020-06-09 18:43:01,2020-06-09 18:44:01,60,60
3,u,vcB,0,4,1,DONE,2020-06-09 18:42:02,2020-06-09 18:43:01,2020-06-09 18:44:01,60,59
""",
}
PHILLY = {
    "cluster_machine_list": "machineId, number of GPUs, single GPU mem\nm1,8,24GB\n",
    "cluster_job_log": json.dumps(
        [
            {
                "status": "Pass",
                "vc": "ee9e8c",
                "jobid": "application_1_2",
                "attempts": [
                    {
                        "start_time": "2017-10-07 01:12:09",
                        "end_time": "2017-10-07 01:13:09",
                        "detail": [
                            {"ip": "m1", "gpus": ["gpu0", "gpu1"]},
                            {"ip": "m2", "gpus": ["gpu0"]},
                        ],
                    },
                    {
                        "start_time": "2017-10-07 01:14:09",
                        "end_time": "2017-10-07 01:15:09",
                        "detail": [],
                    },
                ],
                "submitted_time": "2017-10-07 01:11:39",
                "user": "ce2f4c",
            },
            {
                "status": "Killed",
                "vc": "ee9e8c",
                "jobid": "application_1_3",
                "attempts": [],
                "submitted_time": "2017-10-07 01:11:09",
                "user": "ce2f4c",
            },
        ]
    ),
}
GOOGLE = {
    "machine_events.csv": """\
time,machine_id,type,capacity.cpus,capacity.memory
0,11,1,0.5,0.25
900000000,12,1,1,0.5
950000000,11,2,,
""",
    "collection_events.csv": "time,type,collection_id,priority\n0,0,7,200\n",
    "instance_events.csv": """\
time,type,collection_id,alloc_collection_id,instance_index,machine_id,resource_request.cpus,resource_request.memory
600000000,SUBMIT,7,0,1,,0.4,0.002
601000000,SCHEDULE,7,0,1,11,0.4,0.002
700000000,FINISH,7,0,1,11,0.4,0.002
800000000,SUBMIT,8,7,1,,0.4,0.002
""",
}


def trace(name: str, **parameters: Any) -> ExperimentInput:
    """Return the input that experiment files call ``trace``."""
    [offer] = entry_points(group="quaymaster.experiment_inputs", name="trace")
    made: ExperimentInput = offer.load()(
        format=TraceFormat(name), files=(".",), **parameters
    )
    return made


def made(
    folder: Path, name: str, tables: dict[str, str], **parameters: Any
) -> Workload:
    for file, text in tables.items():
        (folder / file).write_text(text)
    return trace(name, **parameters).make(InputContext(seed=1, folder=folder))


def nodes(workload: Workload) -> dict[str, dict[str, str]]:
    return {
        obj.name: {name: str(amount) for name, amount in obj.status.allocatable.items()}
        for obj in workload.objects
        if isinstance(obj, Node)
    }


def arrivals(workload: Workload) -> list[Arrival]:
    return [part for part in workload.arrivals if isinstance(part, Arrival)]


def pods(workload: Workload) -> list[tuple[str, float, float | None, dict[str, str]]]:
    """Return name, arrival, run time and requests of each arriving pod."""
    rows = []
    for arrival in arrivals(workload):
        if isinstance(arrival.obj, Pod):
            [container] = arrival.obj.spec.containers
            requests = container.resources.requests
            amounts = {name: str(amount) for name, amount in requests.items()}
            rows.append((arrival.obj.name, arrival.at, arrival.stays, amounts))
    return rows


def warnings(workload: Workload) -> list[str]:
    return [notice.message for notice in workload.notices]


GPU = "alibabacloud.com/gpu-milli"


def test_openb_has_nodes_and_pods_with_shares_of_gpus(tmp_path: Path) -> None:
    workload = made(tmp_path, "alibaba-openb", OPENB)
    assert nodes(workload)["node-0"][GPU] == "2k"
    assert [(*row[:3], row[3][GPU]) for row in pods(workload)] == [
        ("pod-0", 0.0, None, "2k"),
        ("pod-1", 20.0, 90.0, "460"),
    ]


def test_alibaba_2018_has_the_instances_of_batch_tasks(tmp_path: Path) -> None:
    workload = made(tmp_path, "alibaba-2018", ALIBABA_2018)
    assert [*nodes(workload)] == ["m-1"]
    requests = {"cpu": "1", "memory": "205Mi"}
    assert pods(workload) == [
        ("j-1-m1-0", 100.0, 60.0, requests),
        ("j-1-m1-1", 100.0, 60.0, requests),
    ]
    assert warnings(workload) == [
        "machines of unknown size are left out: 1",
        "tasks without a start and an end are left out: 1",
    ]


def test_alibaba_gpu_2020_has_tasks_that_arrive_with_their_job(tmp_path: Path) -> None:
    workload = made(tmp_path, "alibaba-gpu-2020", ALIBABA_GPU_2020)
    assert nodes(workload)["m1"][GPU] == "2k"
    assert GPU not in nodes(workload)["m2"]
    half = {"cpu": "6", "memory": "29500M", GPU: "500"}
    assert pods(workload) == [
        ("j3-ps-0", 50.0, 10.0, {"cpu": "2", "memory": "10G", GPU: "2k"}),
        ("j1-worker-0", 90.0, 200.0, half),
        ("j1-worker-1", 90.0, 200.0, half),
    ]
    [_, tagged, _] = arrivals(workload)
    assert isinstance(tagged.obj, Pod)
    assert "T4" in str(tagged.obj.spec.affinity), "the tags require this type of GPU"
    assert len(warnings(workload)) == 1


def test_alibaba_spot_2026_has_workers_of_two_priorities(tmp_path: Path) -> None:
    workload = made(tmp_path, "alibaba-spot-2026", ALIBABA_SPOT_2026)
    assert nodes(workload)["node-0"] == {"pods": "1k", "cpu": "128", GPU: "4k"}
    priorities = [
        (arrival.obj.name, arrival.obj.priority, arrival.stays)
        for arrival in arrivals(workload)
        if isinstance(arrival.obj, Pod)
    ]
    assert priorities == [
        ("job-239-0", 1000, 500.0),
        ("job-239-1", 1000, 500.0),
        ("job-240-0", 0, 60.0),
    ]


def test_helios_has_nodes_of_the_first_day_and_jobs_by_node(tmp_path: Path) -> None:
    workload = made(tmp_path, "helios", HELIOS)
    sizes = [amounts["nvidia.com/gpu"] for amounts in nodes(workload).values()]
    assert sizes == ["8", "4"], "vcA has 12 GPUs on 2020-06-09, and vcB none"
    half = {"cpu": "16", "nvidia.com/gpu": "8"}
    assert pods(workload) == [
        ("job-1-0", 0.0, 36848.0, {"cpu": "1", "nvidia.com/gpu": "1"}),
        ("job-2-0", 60.0, 60.0, half),
        ("job-2-1", 60.0, 60.0, half),
        ("job-3-0", 61.0, 60.0, {"cpu": "4"}),
    ]


def test_philly_has_the_servers_of_the_first_attempt(tmp_path: Path) -> None:
    workload = made(tmp_path, "philly", PHILLY)
    assert nodes(workload) == {"m1": {"pods": "1k", "nvidia.com/gpu": "8"}}
    assert pods(workload) == [
        ("application-1-2-0", 30.0, 180.0, {"nvidia.com/gpu": "2"}),
        ("application-1-2-1", 30.0, 180.0, {"nvidia.com/gpu": "1"}),
    ]
    assert warnings(workload) == ["jobs without a start and an end are left out: 1"]


def test_google_2019_has_tasks_that_run_as_long_as_they_did(tmp_path: Path) -> None:
    workload = made(tmp_path, "google-2019", GOOGLE)
    assert [*nodes(workload)] == ["machine-11"]
    assert [(arrival.obj.name, arrival.at) for arrival in arrivals(workload)] == [
        ("7-1", 600.0),
        ("machine-12", 900.0),
    ]
    assert pods(workload)[0][2] == 99.0
    assert len(warnings(workload)) == 2


def test_a_part_of_a_trace_begins_with_its_first_pod(tmp_path: Path) -> None:
    workload = made(
        tmp_path, "helios", HELIOS, first=1, count=2, nodes=("3:cpu=64,memory=1Gi",)
    )
    assert len(nodes(workload)) == 3
    assert [(name, at) for name, at, *_ in pods(workload)] == [
        ("job-2-0", 0.0),
        ("job-2-1", 0.0),
    ]


def test_pods_of_a_trace_run_in_an_experiment(tmp_path: Path) -> None:
    for file, text in ALIBABA_SPOT_2026.items():
        (tmp_path / file).write_text(text)
    text = """apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
name: spot
inputs:
- name: spot
  use: trace
  parameters: {format: alibaba-spot-2026, files: [.]}
seeds: [1]
metrics: [{name: placed}]
"""
    experiment = parse_experiment(text, file=str(tmp_path / "experiment.yaml"))
    [cell] = experiment.cells
    assert run_cell(experiment, cell).values["placed"] == 3


# Mistakes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file", "text", "message"),
    [
        (
            "helios",
            "cluster_log.csv",
            "job_id,user,vc\n1,u,v\n",
            r"cluster_log.csv: line 1: expected the columns .*; gpu_num, .* is missing",
        ),
        (
            "helios",
            "cluster_log.csv",
            HELIOS["cluster_log.csv"].replace("2020-06-09 18:42:01", "yesterday"),
            r"line 3: submit_time: expected a time such as .*, got 'yesterday'",
        ),
        (
            "alibaba-spot-2026",
            "job_info_df.csv",
            ALIBABA_SPOT_2026["job_info_df.csv"].replace("Spot", "Sport"),
            r"line 3: job_type: expected one of HP, Spot, got 'Sport'",
        ),
        (
            "alibaba-gpu-2020",
            "pai_task_table.csv",
            "j1,worker,two,Terminated,100.0,300.0,600.0,29.5,50.0,T4\n",
            r"line 1: inst_num: expected a number from 0, got 'two'",
        ),
        (
            "alibaba-gpu-2020",
            "pai_task_table.csv",
            "j1,worker,2\n",
            r"line 1: expected 10 cells, got 3",
        ),
        ("philly", "cluster_job_log", "{}", r"expected an array of objects"),
        (
            "philly",
            "cluster_job_log",
            '[{"jobid": "a"}]',
            r"entry 1: expected the keys status, .*; status, vc, .* user is missing",
        ),
        (
            "philly",
            "cluster_job_log",
            PHILLY["cluster_job_log"].replace('["gpu0", "gpu1"]', '"gpu0"'),
            r"entry 1: attempts\[0\].detail\[0\].gpus: expected a list, got 'gpu0'",
        ),
    ],
)
def test_mistakes_in_tables_are_one_line(
    name: str, file: str, text: str, message: str, tmp_path: Path
) -> None:
    tables = {"helios": HELIOS, "philly": PHILLY}.get(name, ALIBABA_SPOT_2026)
    if name == "alibaba-gpu-2020":
        tables = ALIBABA_GPU_2020
    with pytest.raises(RecordError, match=message):
        made(tmp_path, name, {**tables, file: text})


def test_machines_are_needed(tmp_path: Path) -> None:
    tables = {"cluster_log.csv": HELIOS["cluster_log.csv"]}
    with pytest.raises(RecordError, match="expected a table of machines, or the param"):
        made(tmp_path, "helios", tables)


def test_a_part_must_be_in_the_trace(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="expected 9 pods or more, got 4"):
        made(tmp_path, "helios", HELIOS, first=4, count=5)


def test_parameters_are_checked_when_the_file_is_loaded() -> None:
    text = """apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
name: wrong
inputs:
- name: wrong
  use: trace
  parameters: {format: google, files: [], nodes: [many]}
seeds: [1]
metrics: [{name: placed}]
"""
    with pytest.raises(ExperimentErrors, match=r"format: expected one of"):
        parse_experiment(text)
