"""Runs the experiment on a scheduler, pod by pod."""

from collections.abc import Iterator, Sequence

import attrs

from quaymaster import Node, Pod
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.openb.gpu_share import GpuShare
from tests.openb.gpus import COUNT, MILLI
from tests.openb.ranks import BASE, RANK, LowestRank
from tests.openb.trace import Arrival, Decision, Experiment, Machine

__all__ = ["Difference", "differences"]

_PLUGINS = {"GpuShare": GpuShare, "RankHigh": LowestRank, "RankLow": LowestRank}


@attrs.frozen(kw_only=True)
class Difference:
    """A decision that differs from the experiment's.

    Attributes:
        arrival: The position of the pod, from 0.
        pod: Its name.
        expected: The decision in the experiment, or None if the pod fitted nowhere.
        decided: Our decision.
    """

    arrival: int
    pod: str
    expected: Decision | None
    decided: Decision | None


def differences(
    experiment: Experiment, policy: str, *, options: SchedulerOptions | None = None
) -> Iterator[Difference]:
    """Run one policy, and yield the different decisions as they are made.

    The profile is the default one without its scores. A pod that fits nowhere is
    deleted, as in the experiment.

    Args:
        experiment: The experiment.
        policy: The policy's name.
        options: Further options of the scheduler.
    """
    harness = SchedulerHarness(
        map(_node, experiment.machines),
        plugins=_PLUGINS,
        config=_config(experiment, policy),
        options=options,
    )
    for index, arrival in enumerate(experiment.arrivals):
        decided = _decide(harness, _pod(arrival, index))
        expected = arrival.decisions[policy]
        if decided != expected:
            yield Difference(
                arrival=index, pod=arrival.name, expected=expected, decided=decided
            )


def _decide(harness: SchedulerHarness, pod: Pod) -> Decision | None:
    created = harness.cluster.create(pod)
    tried = harness.schedule_one()
    assert tried == created.key
    node = harness.node_of(created.key)
    if not node:
        harness.cluster.delete(Pod, created.key)
        return None
    taken = harness.plugin(GpuShare).taken_by(created)
    assert taken is not None
    return Decision(node=node, devices=taken.devices, score=taken.score)


def _node(machine: Machine) -> Node:
    return make_node(
        name=machine.name,
        labels={RANK: str(machine.rank)},
        capacity={
            "cpu": f"{machine.cpu_milli}m",
            "memory": f"{machine.memory_mib}Mi",
            "pods": "1001",
            COUNT: str(machine.gpus),
        },
    )


def _pod(arrival: Arrival, index: int) -> Pod:
    return make_pod(
        name=f"{arrival.name}-{index}",  # some names come again
        requests={
            "cpu": f"{arrival.cpu_milli}m",
            "memory": f"{arrival.memory_mib}Mi",
        },
        annotations={COUNT: str(arrival.num_gpu), MILLI: str(arrival.gpu_milli)},
    )


def _config(experiment: Experiment, policy: str) -> dict[str, object]:
    rated_by = [
        {"name": "GpuShare", "weight": 2000},
        {"name": "RankHigh", "weight": BASE},
        {"name": "RankLow", "weight": 1},
    ]
    plugins = {
        "multiPoint": {"enabled": rated_by},
        "score": {"disabled": [{"name": "*"}], "enabled": rated_by},
    }
    share = {"policy": policy, "typicalPods": _typical_pods(experiment)}
    args = [
        {"name": "GpuShare", "args": share},
        {"name": "RankHigh", "args": {"unit": BASE}},
    ]
    return {
        **HEADER,
        "profiles": [{"plugins": plugins, "pluginConfig": args}],
    }


def _typical_pods(experiment: Experiment) -> Sequence[dict[str, float]]:
    return [
        {
            "cpuMilli": pod.cpu_milli,
            "numGpu": pod.num_gpu,
            "gpuMilli": pod.gpu_milli,
            "weight": pod.weight,
        }
        for pod in experiment.typical_pods
    ]
