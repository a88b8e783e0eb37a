"""Public traces become records; the small tables have the columns of real ones."""

from pathlib import Path

import pytest

from quaymaster import Node, Pod
from quaymaster.config import default_config
from quaymaster.recording import (
    Agreement,
    ImportedTrace,
    RecordedObjects,
    RecordError,
    TraceFormat,
    import_trace,
    read_objects,
    replay,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)

OPENB = {
    "openb_node_list_all_node.csv": """\
sn,cpu_milli,memory_mib,gpu,model
openb-node-0000,32000,262144,0,
openb-node-0001,64000,262144,2,P100
openb-node-0002,64000,262144,2,T4
""",
    "openb_pod_list_default.csv": """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-0001,6000,12288,1,460,T4,LS,Running,20,120,30
openb-pod-0000,12000,16384,2,1000,,LS,Running,0,12537496,0
openb-pod-0002,1000,0,0,0,,BE,Pending,40,,
""",
}
ALIBABA = {
    "machine_meta.csv": """\
m_1,0,7,70,96,100,USING
m_2,0,8,71,96,100,USING
m_2,90,8,71,96,100,USING
m_3,90,8,71,96,100,IMPORT
m_4,0,8,71,96,-1,USING
m_5,0,8,71,,,USING
""",
    "container_meta.csv": """\
c_1,m_2,0,app_1,started,400,800,3.13
c_2,m_1,50,app_1,started,400,800,3.13
c_2,m_1,60,app_1,started,400,800,3.13
c_3,m_1,0,app_1,started,400,800,101
""",
    "batch_task.csv": """\
M1,2,j_1,1,Terminated,100,160,100.0,0.2
R2_1,1,j_1,1,Terminated,160,200,50.0,
task_x,1,j_2,1,Waiting,,,50.0,0.1
""",
}
GOOGLE = {
    "machine_events.csv": """\
time,machine_id,type,switch_id,capacity.cpus,capacity.memory,platform_id,missing_data_reason
0,11,1,a,0.5,0.25,p,
0,12,1,a,1,0.5,p,
900000000,12,2,a,,,p,
""",
    "collection_events.csv": """\
time,type,collection_id,scheduling_class,collection_type,priority,user,scheduler
0,0,7,2,0,200,u,1
""",
    "instance_events.csv": """\
time,type,collection_id,alloc_collection_id,instance_index,machine_id,resource_request.cpus,resource_request.memory
0,SUBMIT,7,0,0,,0.01,0.002
0,SCHEDULE,7,0,0,11,0.01,0.002
0,SCHEDULE,8,7,0,11,0.01,0.002
600000000,0,7,0,1,,0.6,0.002
601000000,3,7,0,1,12,0.6,0.002
700000000,6,7,0,1,12,0.6,0.002
9223372036854775807,7,7,,0,11,0.01,0.002
""",
}


def record_of(
    folder: Path, trace: TraceFormat, tables: dict[str, str]
) -> tuple[ImportedTrace, Path]:
    for name, text in tables.items():
        (folder / name).write_text(text)
    file = folder / "record.jsonl.gz"
    return import_trace(trace, [folder], file), file


def objects_of(file: Path) -> tuple[dict[str, Node], dict[str, Pod]]:
    found: RecordedObjects = read_objects(file)
    assert found.notices == ()
    nodes = {node.name: node for node in found.objects if isinstance(node, Node)}
    pods = {pod.name: pod for pod in found.objects if isinstance(pod, Pod)}
    return nodes, pods


@pytest.mark.long
def test_openb_has_devices_models_and_run_times(tmp_path: Path) -> None:
    trace, file = record_of(tmp_path, TraceFormat.ALIBABA_OPENB, OPENB)
    assert (trace.nodes, trace.pods, trace.seconds) == (3, 3, 40)
    nodes, pods = objects_of(file)
    result = simulate(
        [*nodes.values(), *pods.values()], config=CONFIG, registry=REGISTRY
    )
    places = {placement.pod: placement.node for placement in result.placements}
    assert places["trace/openb-pod-0001"] == "openb-node-0002"
    assert len(places) == 3
    assert result.makespan >= 12537496
    assert list(pods) == ["openb-pod-0000", "openb-pod-0001", "openb-pod-0002"]


def test_openb_has_nothing_to_compare(tmp_path: Path) -> None:
    _, file = record_of(tmp_path, TraceFormat.ALIBABA_OPENB, OPENB)
    result = replay(file, config=CONFIG, registry=REGISTRY)
    assert (result.decisions, result.unknown, result.waiting) == ((), (), 3)


def test_containers_of_2018_are_compared_and_tasks_wait(tmp_path: Path) -> None:
    trace, file = record_of(tmp_path, TraceFormat.ALIBABA_2018, ALIBABA)
    assert (trace.nodes, trace.pods, trace.seconds) == (2, 6, 160)
    nodes, pods = objects_of(file)
    assert sorted(nodes) == ["m-1", "m-2"]
    assert {name: pod.node_name for name, pod in pods.items()} == {
        "c-1": "m-2",
        "c-2": "m-1",
        "c-3": "m-1",
        "j-1-m1-0": "",
        "j-1-m1-1": "",
        "j-1-r2-1-0": "",
    }
    [decision] = replay(file, config=CONFIG, registry=REGISTRY).decisions
    assert (decision.pod, decision.agreement) == ("trace/c-2", Agreement.SAME)


def test_incomplete_rows_of_2018_are_left_out(tmp_path: Path) -> None:
    _, file = record_of(tmp_path, TraceFormat.ALIBABA_2018, ALIBABA)
    nodes, pods = objects_of(file)
    assert not {"m-4", "m-5"} & nodes.keys()
    requests = pods["c-3"].spec.containers[0].resources.requests
    assert requests["memory"].value == 0


def test_instances_of_google_are_compared_and_end(tmp_path: Path) -> None:
    trace, file = record_of(tmp_path, TraceFormat.GOOGLE_2019, GOOGLE)
    assert (trace.nodes, trace.pods, trace.seconds) == (2, 2, 900)
    nodes, pods = objects_of(file)
    assert sorted(nodes) == ["machine-11"]
    assert pods["7-0"].node_name == "machine-11"
    assert pods["7-0"].priority == 200
    assert list(pods) == ["7-0"]
    [decision] = replay(file, config=CONFIG, registry=REGISTRY).decisions
    assert (decision.theirs.node, decision.agreement) == ("machine-12", Agreement.SAME)
    assert decision.at == 601


def test_only_the_first_pods_are_imported_on_request(tmp_path: Path) -> None:
    for name, text in OPENB.items():
        (tmp_path / name).write_text(text)
    file = tmp_path / "record.jsonl"
    trace = TraceFormat.ALIBABA_OPENB
    assert import_trace(trace, [tmp_path], file, max_pods=1).pods == 1
    assert list(objects_of(file)[1]) == ["openb-pod-0000"]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "expected a table openb_node_list*.csv or openb_node_list*.csv.gz"),
        (
            {"openb_node_list.csv": "sn,cpu_milli,gpu,model\n"},
            "sn, cpu_milli, memory_mib, gpu, model; memory_mib is missing",
        ),
        (
            {"openb_node_list.csv": "sn,cpu_milli,memory_mib,gpu,model\na,b,1,0,\n"},
            "line 2: cpu_milli: expected a number from 0, got 'b'",
        ),
        (
            {"openb_node_list.csv": "sn,cpu_milli,memory_mib,gpu,model\na,1\n"},
            "line 2: expected 5 cells, got 2",
        ),
    ],
    ids=["no table", "a column is missing", "no number", "a short row"],
)
def test_wrong_tables_are_an_error_of_one_line(
    tmp_path: Path, tables: dict[str, str], message: str
) -> None:
    with pytest.raises(RecordError) as caught:
        record_of(tmp_path, TraceFormat.ALIBABA_OPENB, tables)
    assert str(caught.value).endswith(message)


def test_existing_record_is_not_overwritten(tmp_path: Path) -> None:
    record_of(tmp_path, TraceFormat.ALIBABA_OPENB, OPENB)
    with pytest.raises(RecordError, match="expected a new file"):
        record_of(tmp_path, TraceFormat.ALIBABA_OPENB, OPENB)
