"""How often a pod that fits no node is tried, by the rules of kube-scheduler's source.

The rules are those of Kubernetes v1.37, ``pkg/scheduler``:

- ``isSchedulableAfterAssignedPodDelete`` in ``framework/plugins/noderesources/fit.go``:
  each deletion of a pod with a node requeues a pod that NodeResourcesFit rejected.
  Informers of the scheduler see a pod that ends as deleted.
- ``unlockedPop`` in ``backend/queue/active_queue.go``: if no pod is active, one that is
  backing off is tried at once.
- ``flushUnschedulableEntitiesLeftover`` in ``backend/queue/scheduling_queue.go``: every
  30 seconds, pods are requeued whose last attempt was more than five minutes ago.
"""

import random
from collections.abc import Collection, Mapping, Sequence

import pytest

from quaymaster.simulation import Run
from quaymaster.testing import make_node, make_pod

HORIZON = 1500.0
RUN_SECONDS = "simulation.quaymaster.io/run-seconds"
FLUSH_EVERY, LONGEST_WAIT = 30, 300


def times_by_the_source(ends: Collection[float]) -> Sequence[float]:
    """Return when a pod that never fits is tried, if attempts take no time."""
    times = [0.0]
    flushes = map(float, range(FLUSH_EVERY, int(HORIZON) + 1, FLUSH_EVERY))
    for now in sorted({*ends, *flushes}):
        if now in ends or now - times[-1] > LONGEST_WAIT:
            times.append(now)
    return times


def times_of_attempts(ends: Collection[float], never: int) -> Mapping[str, list[float]]:
    """Play the same in the default profile, with pods that end at some times."""
    times: dict[str, list[float]] = {f"never-{n}": [] for n in range(never)}
    capacity = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    with Run([make_node(name="node", capacity=capacity)]) as run:
        for name in times:
            run.create(make_pod(name=name, requests={"cpu": "9"}))
        for number, end in enumerate(ends):
            ending = {RUN_SECONDS: str(end)}
            run.create(make_pod(name=f"ends-{number}", annotations=ending))
        while run.now <= HORIZON:
            while (step := run.attempt()) is not None:
                if step.pod.name in times:
                    times[step.pod.name].append(step.at)
            if not run.wait():
                break
    return times


@pytest.mark.parametrize(
    ("seed", "longest", "never"),
    [(0, 20, 1), (1, 100, 3), (2, 400, 1), (3, 1400, 2)],
)
def test_a_pod_that_never_fits_is_tried_as_often_as_in_kube_scheduler(
    seed: int, longest: float, never: int
) -> None:
    draw = random.Random(seed)
    ends = {round(draw.uniform(0.1, longest), 1) for _ in range(10 * seed + 5)}
    expected = times_by_the_source(ends)
    times = times_of_attempts(sorted(ends), never)
    assert times == dict.fromkeys(times, expected)
