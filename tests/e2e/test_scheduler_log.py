"""kube-scheduler's log is read in the format of each version."""

from pathlib import Path

import pytest

from tests.e2e.scheduler_log import SchedulerLog

HEAD = "I1126 22:10:00.123456   4321 {}] "
ATTEMPT = HEAD.format("schedule_one.go:117") + (
    '"Attempting to schedule pod" pod="load/urgent"'
)
VICTIMS = HEAD.format("default_preemption.go:406")


@pytest.mark.parametrize(
    "lines",
    [
        [
            VICTIMS + '"Pod is a potential preemption victim on node" '
            f'pod="load/{name}" node="node-1"'
            for name in ("small", "large")
        ],
        [
            VICTIMS + '"Pods are potential preemption victims on node" '
            f'pods=[{{"name":"{name}","namespace":"load"}}] node="node-1"'
            for name in ("small", "large")
        ],
        [
            VICTIMS + '"Pods are potential preemption victims on node" '
            'pods=[{"name":"small","namespace":"load"},'
            '{"name":"large","namespace":"load"}] node="node-1"'
        ],
    ],
    ids=["1.36", "1.37", "1.37, a pod group"],
)
def test_victims_on_a_node_are_read(tmp_path: Path, lines: list[str]) -> None:
    log = tmp_path / "kube-scheduler.log"
    log.write_text("".join(f"{line}\n" for line in [ATTEMPT, *lines]))
    (opinion,) = SchedulerLog(log).of("load/urgent")
    assert opinion.victims == {"node-1": {"load/small", "load/large"}}
