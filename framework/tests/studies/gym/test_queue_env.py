"""In the queue's environments, an agent decides which pod goes where, or waits."""

import itertools
from collections.abc import Sequence
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Handle, Node, NodeInfo, Pod, PodUse, Scope, Status, hookimpl
from quaymaster.config import parse_config
from quaymaster.errors import VerificationError
from quaymaster.experiments import Arrival, Disruption, Workload
from quaymaster.gym import (
    QueueEnv,
    SchedulerVectorEnv,
    SchedulingEnv,
    UnsupportedWorkloadError,
    added_slowdown,
    bounded_slowdown,
    queue_workload,
    small_workload,
    started_pods,
)
from quaymaster.planning import FailNodes
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_affinity_term,
    make_node,
    make_pod,
    profile_config,
)

REGISTRY = PluginRegistry.discover()
WAIT = -1


def a_node(name: str, cpu: str = "4") -> Node:
    return make_node(name=name, capacity={"cpu": cpu, "memory": "8Gi", "pods": "110"})


def a_job(name: str, cpu: str = "1", **timing: float) -> Arrival:
    return Arrival(obj=make_pod(name=name, requests={"cpu": cpu}), **timing)


def an_env(
    nodes: Sequence[Any], *arrivals: Arrival, turn_away: bool = False, **settings: Any
) -> QueueEnv:
    workload = Workload(objects=nodes, arrivals=arrivals, turn_away=turn_away)
    settings = {"registry": REGISTRY, "window": 4, "verify": 1, **settings}
    return QueueEnv(lambda _seed: workload, **settings)


def allowed(info: dict[str, Any]) -> list[int]:
    """Return the allowed actions; the last one, which waits, is -1."""
    actions = np.flatnonzero(info["action_mask"]).tolist()
    last = len(info["action_mask"]) - 1
    return [WAIT if action == last else action for action in actions]


def step(env: QueueEnv, action: int) -> tuple[float, bool, list[int]]:
    size = int(env.action_space.n)  # type: ignore[attr-defined]  # a Discrete space
    _, reward, is_over, _, info = env.step(action % size)
    return reward, is_over, allowed(info)


# Gymnasium's own rules ----------------------------------------------------------------


def test_the_queue_passes_the_checker_of_gymnasium() -> None:
    check_env(gymnasium.make("quaymaster.gym:Quaymaster/Queue-v0").unwrapped)


def test_make_vec_makes_all_runs_in_one_process() -> None:
    envs = gymnasium.make_vec("Quaymaster/Queue-v0", num_envs=3, window=2)
    assert isinstance(envs.unwrapped, SchedulerVectorEnv)
    seen, info = envs.reset(seed=3)
    assert envs.observation_space.contains(dict(seen))
    assert info["action_mask"].shape == (3, 2 * 4 + 1)
    alone, _ = QueueEnv(window=2).reset(seed=4)
    assert (seen["pods"][1] == alone["pods"]).all()
    envs.close()


def test_runs_that_have_ended_begin_again_in_the_next_step() -> None:
    envs = SchedulerVectorEnv(small_workload, 2, registry=REGISTRY)
    _, info = envs.reset(seed=1)
    over = np.zeros(2, np.bool_)
    while not over.any():
        action = info["action_mask"].argmax(axis=1)
        _, _, over, _, info = envs.step(action)
    _, rewards, again, _, info = envs.step(info["action_mask"].argmax(axis=1))
    assert not again[over].any()
    assert not rewards[over].any()
    assert info["action_mask"][over].any()


def test_the_queue_has_to_be_reset_first() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        SchedulerVectorEnv(registry=REGISTRY).step(np.zeros(1, np.int64))


# Decisions ----------------------------------------------------------------------------


def test_the_agent_chooses_a_pod_and_its_node() -> None:
    env = an_env([a_node("a"), a_node("b", cpu="1")], a_job("p"), a_job("q", cpu="2"))
    _, info = env.reset(seed=1)
    assert allowed(info) == [0, 1, 2], "q fits only on a; nothing to wait for"
    assert step(env, 2) == (0.0, False, [0, 1]), "q has left the window"


def test_waiting_lasts_until_the_next_pod_arrives_or_ends() -> None:
    env = an_env(
        [a_node("a", cpu="1")],
        a_job("p", stays=60),
        a_job("q", stays=1),
        a_job("late", at=10, stays=1),
    )
    env.reset(seed=1)
    assert step(env, 0) == (-60 - 50, False, [0, 1, WAIT][:2]), "until p ends"


def test_a_pod_waits_while_no_pod_of_the_window_fits() -> None:
    env = an_env([a_node("a", cpu="1")], a_job("p", stays=5), a_job("q", stays=5))
    env.reset(seed=1)
    seen, reward, is_over, _, _ = env.step(0)
    assert (reward, is_over) == (-5.0, False)
    assert seen["queue"].tolist() == [1, 0, 5, 0]
    assert step(env, 0)[:2] == (0.0, True)


def test_an_action_that_the_mask_excludes_waits() -> None:
    env = an_env([a_node("a")], a_job("p"), a_job("late", at=7))
    env.reset(seed=1)
    assert step(env, 3) == (-7.0, False, [0, 1])


def test_waiting_for_nothing_ends_the_episode() -> None:
    env = an_env([a_node("a")], a_job("p"))
    _, info = env.reset(seed=1)
    assert allowed(info) == [0]
    assert step(env, WAIT) == (0.0, True, [])
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(0)


def test_pods_that_find_no_room_leave_if_the_workload_turns_them_away() -> None:
    env = an_env(
        [a_node("a", cpu="1")], a_job("p", stays=5), a_job("q"), turn_away=True
    )
    env.reset(seed=1)
    assert step(env, 0) == (0.0, True, [])


def test_at_the_head_of_the_line_a_chosen_pod_blocks_the_others() -> None:
    env = an_env(
        [a_node("a", cpu="2")],
        a_job("p", stays=10),
        a_job("wide", cpu="2", stays=5),
        a_job("narrow", stays=1),
        head_of_line=True,
    )
    env.reset(seed=1)
    assert step(env, 0) == (0.0, False, [0, 1, WAIT])
    assert step(env, 0) == (-20.0, False, [0, WAIT]), "narrow fits, but waits for wide"
    assert step(env, 0) == (-5.0, True, [])


def test_pods_that_can_never_fit_are_never_allowed() -> None:
    env = an_env([a_node("a")], a_job("big", cpu="5"), a_job("p"), head_of_line=True)
    _, info = env.reset(seed=1)
    assert allowed(info) == [1]


def test_pods_that_run_at_the_beginning_end_at_their_time() -> None:
    running = make_pod(
        name="running",
        requests={"cpu": "4"},
        node="a",
        annotations={"simulation.quaymaster.io/run-seconds": "30"},
    )
    pending = make_pod(name="pending", requests={"cpu": "1"})
    env = an_env([a_node("a"), running, pending], a_job("p", at=5))
    seen, info = env.reset(seed=1)
    assert seen["queue"].tolist() == [2, 0, 30, 0]
    assert allowed(info) == [0, 1]


@pytest.mark.parametrize(
    ("departures_first", "expected"),
    [(True, ["wide", "narrow"]), (False, ["narrow", "wide"])],
)
def test_pods_may_end_one_by_one_after_arrivals(
    departures_first: bool, expected: list[str]
) -> None:
    """A second after two pods have ended, both places are free, or only one."""
    jobs = [
        a_job("first", at=0, stays=10),
        a_job("second", at=0, stays=10),
        a_job("wide", cpu="2", at=1, stays=5),
        a_job("narrow", at=10, stays=5),
    ]
    env = an_env([a_node("a", cpu="2")], *jobs, departures_first=departures_first)
    _, info = env.reset(seed=1)
    placed = []
    names, is_over = ["first", "second", "wide", "narrow"], False
    while not is_over:
        [position, *_] = [action for action in allowed(info) if action != WAIT]
        placed.append(names.pop(position))
        _, _, is_over, _, info = env.step(position)
    assert placed == ["first", "second", *expected]


@pytest.mark.parametrize("head_of_line", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_whole_scheduler_agrees_if_arrivals_come_first(
    seed: int, head_of_line: bool
) -> None:
    draw = Random(seed)
    jobs = [
        a_job(f"j{n}", cpu=str(draw.randint(1, 3)), at=n // 2, stays=draw.randint(0, 4))
        for n in range(20)
    ]
    nodes = [a_node("a"), a_node("b", cpu="3")]
    env = an_env(nodes, *jobs, departures_first=False, head_of_line=head_of_line)
    play(env, 1, draw)


@pytest.mark.parametrize("window", [1, 5])
@pytest.mark.parametrize("head_of_line", [False, True])
def test_the_whole_scheduler_agrees_with_every_decision(
    window: int, head_of_line: bool
) -> None:
    env = QueueEnv(
        lambda seed: shortened(queue_workload(seed), 25),
        window=window,
        head_of_line=head_of_line,
        verify=1,
        registry=REGISTRY,
    )
    play(env, 5, Random(1))


def shortened(workload: Workload, pods: int) -> Workload:
    arrivals = list(itertools.islice(workload.arrivals, pods))
    return Workload(objects=workload.objects, arrivals=arrivals)


def play(env: QueueEnv, seed: int, choices: Random) -> float:
    _, info = env.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        action = choices.choice(allowed(info)) % len(info["action_mask"])
        _, reward, is_over, _, info = env.step(action)
        total += reward
    return total


@pytest.mark.long
@given(seed=st.integers(0, 1000), choices=st.randoms(use_true_random=False))
def test_the_whole_scheduler_agrees_on_random_episodes(
    seed: int, choices: Random
) -> None:
    workload = shortened(queue_workload(seed), 12)
    env = QueueEnv(lambda _: workload, window=3, verify=1, registry=REGISTRY)
    play(env, seed, choices)


def test_it_plays_the_episodes_of_the_environment_of_nodes() -> None:
    """With a window of one pod, the mask is that of `SchedulingEnv`."""
    envs = SchedulerVectorEnv(small_workload, window=1, registry=REGISTRY)
    env = SchedulingEnv(registry=REGISTRY)
    _, expected = env.reset(seed=3)
    _, info = envs.reset(seed=3)
    is_over = False
    while not is_over:
        masks = info["action_mask"][0][:-1].tolist()
        assert masks == expected["action_mask"].tolist()
        row = int(info["action_mask"][0].argmax())
        *_, is_over, _, expected = env.step(row)
        _, _, over, _, info = envs.step(np.array([row]))
        assert bool(over[0]) == is_over


@pytest.mark.long
def test_runs_go_on_while_others_begin_with_new_clusters() -> None:
    """States are numbered again after many clusters; running episodes continue."""

    def workload(seed: int) -> Workload:
        if not seed:
            return queue_workload(0)
        nodes = [a_node(f"node-{seed}"), *(a_node(name) for name in "abc")]
        return Workload(objects=nodes, arrivals=[a_job("p"), a_job("big", cpu="5")])

    envs = SchedulerVectorEnv(workload, 5, window=4, registry=REGISTRY)
    _, info = envs.reset(seed=range(5))
    alone = QueueEnv(queue_workload, window=4, registry=REGISTRY)
    _, expected = alone.reset(seed=0)
    for _ in range(150):  # every second step of each other run begins an episode
        mask = info["action_mask"]
        assert mask[0].tolist() == expected["action_mask"].tolist()
        _, rewards, over, _, info = envs.step(mask.argmax(axis=1))
        _, reward, is_over, _, expected = alone.step(int(mask[0].argmax()))
        assert (rewards[0], over[0]) == (reward, is_over)
        if is_over:
            break


# Rewards and observations -------------------------------------------------------------


def test_rewards_pay_for_elapsed_time_or_for_started_pods() -> None:
    arrivals = (a_job("p", stays=20), a_job("q", stays=5))
    rewards = {}
    for reward in (bounded_slowdown, added_slowdown, started_pods):
        env = an_env([a_node("a", cpu="1")], *arrivals, reward=reward)
        env.reset(seed=1)
        rewards[reward] = (step(env, 0)[0], step(env, 0)[0])
    assert rewards[bounded_slowdown] == (-1.0, -2.5), "(20 + 5) / 10"
    assert rewards[added_slowdown] == pytest.approx((-2.0, 0.0))
    assert rewards[started_pods] == (1.0, 1.0)


def test_the_agent_observes_pods_nodes_and_time() -> None:
    env = an_env(
        [a_node("a"), a_node("b", cpu="2")],
        a_job("p", cpu="2", stays=60),
        a_job("q", cpu="3", at=10, stays=7),
        resources=["cpu"],
    )
    assert env.columns.pods == (
        "seconds waited",
        "feasible nodes",
        "seconds to run",
        "cpu requested",
    )
    assert env.columns.nodes == ("cpu used", "cpu size")
    seen, _ = env.reset(seed=1)
    assert seen["pods"][0].tolist() == [0, 2, 60, 0.5]
    seen, *_ = env.step(0)
    assert seen["pods"][0].tolist() == [50, 1, 7, 0.75], "q waits until p ends"
    assert seen["nodes"].tolist() == [[0, 1], [0, 0.5]]
    assert seen["queue"].tolist() == [1, 0, 60, 0]


def test_estimates_may_differ_from_running_times() -> None:
    env = an_env([a_node("a")], a_job("p", stays=60), estimate=lambda _arrival: 3600.0)
    seen, _ = env.reset(seed=1)
    assert seen["pods"][0, 2] == 3600


# Limits -------------------------------------------------------------------------------


def test_pods_that_look_at_other_nodes_are_refused() -> None:
    apart = make_affinity_term(selector={"app": "p"})
    pod = make_pod(name="p", labels={"app": "p"}, pod_anti_affinity=[apart])
    env = an_env([a_node("a")], Arrival(obj=pod))
    text = r"pod 'default/p': plugin 'InterPodAffinity' reads more than one node"
    with pytest.raises(UnsupportedWorkloadError, match=text):
        env.reset(seed=1)


def test_objects_other_than_pods_do_not_arrive() -> None:
    env = an_env([a_node("a")], Arrival(obj=a_node("late")))
    with pytest.raises(UnsupportedWorkloadError, match="Node 'late': only pods"):
        env.reset(seed=1)


def test_disruptions_are_refused() -> None:
    failure = Disruption(change=FailNodes(nodes="a"), at=5)
    env = QueueEnv(
        lambda _: Workload(objects=[a_node("a")], arrivals=[failure]),
        registry=REGISTRY,
    )
    with pytest.raises(UnsupportedWorkloadError, match="disruption FailNodes"):
        env.reset(seed=1)


def test_gated_pods_are_refused() -> None:
    pod = make_pod(name="p", scheduling_gates=["wait"])
    with pytest.raises(UnsupportedWorkloadError, match="'SchedulingGates' gates it"):
        an_env([a_node("a")], Arrival(obj=pod)).reset(seed=1)


def test_more_nodes_than_the_space_has_are_an_error() -> None:
    env = an_env([a_node("a"), a_node("b")], a_job("p"), max_nodes=1)
    with pytest.raises(ValueError, match=r"max_nodes: expected at least 2 .* got 1"):
        env.reset(seed=1)


class OneOfEachTeam:
    """Allow one pod of a team on a node: reads single pods."""

    scope = Scope.NODE
    pod_use = PodUse.PODS

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def sign_pod(self, pod: Pod) -> str:
        return pod.labels.get("team", "")

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        teams = {other.labels.get("team") for other in node.pods.values()}
        if pod.labels.get("team") in teams:
            return Status.unschedulable("one of the team is here")
        return None


class Forgetful(OneOfEachTeam):
    """Claims to read sums only, so red and blue pods seem to be the same."""

    pod_use = PodUse.SUMS

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: object, rows: object) -> None:
        return None


def team_env(plugin: type) -> QueueEnv:
    registry = REGISTRY.with_plugin(plugin)
    config = parse_config(profile_config(enable=[plugin]), registry)
    pods = [
        make_pod(name=f"p-{place}", labels={"team": team}, requests={"cpu": "1"})
        for place, team in enumerate(["red", "blue", "red", "blue"])
    ]
    return QueueEnv(
        lambda _seed: Workload(
            objects=[a_node("a")],
            # An iterator, which can be read only once.
            arrivals=(Arrival(obj=pod, stays=5.0) for pod in pods),
        ),
        window=4,
        verify=1,
        registry=registry,
        config=config,
    )


def test_a_custom_filter_may_read_single_pods() -> None:
    env = team_env(OneOfEachTeam)
    _, info = env.reset(seed=1)
    assert allowed(info) == [0, 1, 2, 3]
    assert step(env, 0) == (0.0, False, [0, 2, WAIT])


def test_wrong_declarations_are_found_by_verification() -> None:
    env = team_env(Forgetful)
    env.reset(seed=1)
    assert step(env, 0) == (0.0, False, [0, 2, WAIT]), "a red pod"
    env.reset(seed=1)
    with pytest.raises(VerificationError, match="the whole scheduler decides"):
        step(env, 1)
