"""Lost work, checkpoints, and pods that slow each other down."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import pytest

from quaymaster import Node, Pod
from quaymaster.experiments import (
    Arrival,
    Disruption,
    ExperimentErrors,
    ExperimentInput,
    InputContext,
    Interference,
    InterferenceError,
    Workload,
    parse_experiment,
    run_cell,
)
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION
from quaymaster.planning import FailNodes, ReturnNodes
from quaymaster.testing import make_job, make_node, make_pod

AGAIN = 75.0
"""When a lost pod runs again: its backoff ends then, after the return of the node."""


@attrs.frozen(kw_only=True)
class Pods(ExperimentInput):
    """Pods of a length on one node, which may fail from 65 s to 70 s.

    Attributes:
        seconds: How long each runs.
        every: The time between two pods.
        fails: Whether the node fails.
        is_job: Whether there is one Job instead.
    """

    seconds: tuple[float, ...] = (100.0,)
    every: float = 0.0
    fails: bool = False
    is_job: bool = False

    def make(self, context: InputContext) -> Workload:
        arrivals: list[Arrival | Disruption] = [
            Arrival(
                obj=make_pod(name=f"p{number}", requests={"cpu": "1"}),
                at=number * self.every,
                stays=seconds,
            )
            for number, seconds in enumerate(self.seconds)
        ]
        if self.is_job:
            template = make_pod(
                requests={"cpu": "1"}, annotations={RUN_SECONDS_ANNOTATION: "100"}
            )
            arrivals = [Arrival(obj=make_job(name="train", pod=template))]
        if self.fails:
            arrivals += [
                Disruption(change=FailNodes(nodes="n"), at=65.0),
                Disruption(change=ReturnNodes(nodes="n"), at=70.0),
            ]
        return Workload(objects=[make_node(name="n")], arrivals=arrivals)

    def reads(self, folder: Path) -> list[Path]:
        return []


@attrs.frozen(kw_only=True)
class EqualShares(Interference):
    """Pods of a node share it, up to a number of them."""

    most: int = 9
    factor: float = 1.0

    def speed(self, pod: Pod, node: Node, neighbours: Sequence[Pod]) -> float:
        assert node.name == pod.node_name or not pod.node_name
        assert pod.name not in {neighbour.name for neighbour in neighbours}
        if len(neighbours) >= self.most:
            return 0.0
        return self.factor / (1 + len(neighbours))


def values(fields: str, parameters: str) -> Mapping[str, object]:
    text = f"""
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
{fields}
inputs: [{{name: pods, use: "{__name__}:Pods", parameters: {parameters}}}]
metrics: [{{name: goodput}}, {{name: completion}}, {{name: slowdown}}]
"""
    [cell] = (experiment := parse_experiment(text)).cells
    return run_cell(experiment, cell).values


def sharing(parameters: str, more: str = "{}") -> Mapping[str, object]:
    fields = f'interference: {{use: "{__name__}:EqualShares", parameters: {more}}}'
    return values(fields, parameters)


CHECKPOINTS = (
    "restarts: {checkpointEvery: 20s, checkpointCost: 2s, restartCost: 5s, "
    "resubmit: true}"
)


@pytest.mark.long
def test_work_since_the_last_checkpoint_is_lost() -> None:
    columns = values(CHECKPOINTS, "{fails: true}")
    # By 65 s two checkpoints are complete: 20 + 2 + 20 + 2. The rest is lost.
    assert columns["goodput.lost"] == pytest.approx(21)
    # The second run: 5 s of restart, 60 s of work, and two checkpoints.
    assert columns["goodput.overhead"] == pytest.approx(4 + 5 + 4)
    assert columns["goodput.useful"] == pytest.approx(100)
    assert columns["goodput.slowed"] == 0
    assert columns["completion.max"] == pytest.approx(AGAIN + 5 + 60 + 4)


@pytest.mark.long
def test_a_pod_that_was_created_again_counts_once() -> None:
    columns = values(CHECKPOINTS, "{fails: true}")
    assert columns["completion.pods"] == 1
    assert columns["completion.censored"] == 0
    assert columns["slowdown.mean"] == pytest.approx((AGAIN + 69) / 69)


@pytest.mark.long
def test_without_checkpoints_all_work_is_lost() -> None:
    columns = values("restarts: {resubmit: true}", "{fails: true}")
    assert columns["goodput.lost"] == pytest.approx(65)
    assert columns["goodput.useful"] == pytest.approx(100)
    assert columns["completion.max"] == pytest.approx(AGAIN + 100)


@pytest.mark.long
def test_pods_without_a_controller_are_gone_by_default() -> None:
    columns = values("", "{fails: true}")
    assert columns["completion.pods"] == 0
    assert columns["goodput.lost"] == pytest.approx(65)


@pytest.mark.long
def test_a_pod_of_a_job_takes_up_the_work_of_the_lost_one() -> None:
    columns = values("restarts: {checkpointEvery: 20s}", "{fails: true, isJob: true}")
    assert columns["goodput.useful"] == pytest.approx(100)
    assert columns["goodput.lost"] == pytest.approx(5)
    from_zero = values("restarts: {restartCost: 5s}", "{fails: true, isJob: true}")
    assert from_zero["goodput.useful"] == pytest.approx(100)
    assert from_zero["goodput.lost"] == pytest.approx(65)
    assert from_zero["goodput.overhead"] == pytest.approx(5)


@pytest.mark.long
def test_checkpoints_cost_time_without_any_failure() -> None:
    columns = values(CHECKPOINTS, "{}")
    # At 100 s of work there is nothing left to save.
    assert columns["completion.max"] == pytest.approx(100 + 4 * 2)
    assert columns["goodput.overhead"] == pytest.approx(8)
    assert columns["goodput.share"] == pytest.approx(100 / 108)


@pytest.mark.long
def test_two_pods_of_a_node_share_its_speed() -> None:
    columns = sharing("{seconds: [60, 120]}")
    # Both at half speed until 120 s; then the second one is alone.
    assert columns["completion.mean"] == pytest.approx((120 + 180) / 2)
    assert columns["goodput.useful"] == pytest.approx(180)
    assert columns["goodput.slowed"] == pytest.approx(120)


@pytest.mark.long
def test_speeds_change_when_pods_come() -> None:
    columns = sharing("{seconds: [60, 60], every: 30}")
    # The first has 30 s of work left at 30 s, and works at half speed until 90 s.
    assert columns["completion.p50"] == pytest.approx((90 + 90) / 2)
    assert columns["completion.makespan"] == pytest.approx(120)


@pytest.mark.long
@pytest.mark.parametrize("pods", [1, 3, 7])
def test_equal_shares_end_all_work_in_its_sum(pods: int) -> None:
    """Processor sharing keeps the node busy, so the last pod ends at the sum."""
    lengths = [10.0 * (number + 1) for number in range(pods)]
    columns = sharing(f"{{seconds: {lengths}, every: 7}}")
    assert columns["completion.makespan"] == pytest.approx(sum(lengths))
    assert columns["goodput.useful"] == pytest.approx(sum(lengths))


@pytest.mark.long
def test_a_pod_with_speed_0_stands_still() -> None:
    columns = sharing("{seconds: [10, 10], every: 5}", "{most: 1}")
    # From 5 s on both stand still for ever, and the run ends.
    assert columns["completion.pods"] == 0


@pytest.mark.long
def test_lost_work_counts_at_the_speed_of_the_pod() -> None:
    fields = (
        f'{CHECKPOINTS}\ninterference: {{use: "{__name__}:EqualShares", '
        "parameters: {factor: 0.5}}"
    )
    columns = values(fields, "{fails: true}")
    # 65 s at half speed: one checkpoint is complete, after 22 of 32.5 s.
    assert columns["goodput.lost"] == pytest.approx(10.5)
    # The second run takes 5 + 80 + 3 * 2 s at full speed.
    assert columns["completion.max"] == pytest.approx(AGAIN + 2 * 91)
    assert columns["goodput.slowed"] == pytest.approx(32.5 + 91)


def test_a_speed_above_1_is_an_error() -> None:
    with pytest.raises(InterferenceError, match=r"EqualShares\.speed: .* got 2"):
        sharing("{}", "{factor: 2}")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("restarts: {checkpointCost: 1s}", "expected checkpointEvery, too"),
        ("interference: {use: 'nowhere:Model'}", "could not be imported"),
        ("interference: {use: 'pathlib:Path'}", "derives from Interference"),
    ],
    ids=["cost alone", "no module", "another class"],
)
def test_mistakes_are_reported_at_load(fields: str, message: str) -> None:
    with pytest.raises(ExperimentErrors, match=message):
        values(fields, "{}")
