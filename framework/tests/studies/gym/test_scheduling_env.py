"""In the environment of Gymnasium, an agent makes the scheduler's choices."""

import functools
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, NodeTable, Pod
from quaymaster.columns import Float64Array, RowArray
from quaymaster.config import SchedulerConfig, default_config, parse_config
from quaymaster.experiments import Arrival, Disruption, Workload
from quaymaster.gym import (
    NodeActions,
    SchedulingEnv,
    ShareColumns,
    WeightActions,
    score_plugins,
    small_workload,
)
from quaymaster.planning import RemoveNodes
from quaymaster.scheduler import PluginRegistry, SchedulerOptions
from quaymaster.simulation import Run, Step
from quaymaster.testing import make_node, make_pod, profile_config
from tests.kit.programs import run_program

REGISTRY = PluginRegistry.discover()
PLUGINS = score_plugins(default_config(REGISTRY))
IDS = ("Quaymaster/Nodes-v0", "Quaymaster/Weights-v0")


def a_node(name: str, cpu: str = "4") -> Node:
    return make_node(name=name, capacity={"cpu": cpu, "memory": "8Gi", "pods": "110"})


def a_pod(name: str, cpu: str = "1", **fields: Any) -> Pod:
    return make_pod(name=name, requests={"cpu": cpu}, **fields)


def an_env(
    nodes: Iterable[Node],
    *arrivals: Pod | Arrival | Disruption,
    turn_away: bool = True,
    **settings: Any,
) -> SchedulingEnv:
    """Make an environment with the same arrivals in each episode."""
    came = [
        Arrival(obj=arrival) if isinstance(arrival, Pod) else arrival
        for arrival in arrivals
    ]
    workload = Workload(objects=list(nodes), arrivals=came, turn_away=turn_away)
    return SchedulingEnv(lambda _seed: workload, registry=REGISTRY, **settings)


def node_of(env: SchedulingEnv, pod: str) -> str:
    return env.run.cluster.get(Pod, f"default/{pod}").node_name


def pods(env: SchedulingEnv) -> list[str]:
    return [pod.name for pod in env.run.cluster.list(Pod).items]


# Gymnasium's own rules ----------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_registered_environments_pass_the_checker_of_gymnasium(name: str) -> None:
    check_env(gymnasium.make(f"quaymaster.gym:{name}").unwrapped)


@pytest.mark.long
@pytest.mark.parametrize("name", IDS)
def test_environments_run_side_by_side(name: str) -> None:
    envs = gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync")
    seen, info = envs.reset(seed=3)
    assert seen.shape == (2, 6, 6)
    assert info["action_mask"].shape == (2, 6)
    for _ in range(70):  # some begin a second episode
        seen, reward, *_, info = envs.step(envs.action_space.sample())
        assert seen.shape == (2, 6, 6)
        assert reward.shape == (2,)
    envs.close()


@pytest.mark.long
def test_environments_run_in_separate_processes() -> None:
    envs = gymnasium.make_vec(IDS[0], num_envs=2, vectorization_mode="async")
    seen, _ = envs.reset(seed=3)
    alone, _ = gymnasium.make(IDS[0]).reset(seed=4)
    assert (seen[1] == alone).all()
    envs.close()


def test_masks_have_the_name_that_learners_expect() -> None:
    env = gymnasium.make(IDS[0])
    _, info = env.reset(seed=0)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert masks.tolist() == info["action_mask"].astype(bool).tolist()


def test_it_has_to_be_reset_first() -> None:
    env = an_env([a_node("a")], a_pod("p"))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_reset_accepts_no_options() -> None:
    with pytest.raises(ValueError, match="options: expected none"):
        an_env([a_node("a")], a_pod("p")).reset(options={"pods": 3})


def test_error_without_gymnasium_names_the_extra_to_install(tmp_path: Path) -> None:
    (tmp_path / "without.py").write_text(
        "import sys\nsys.modules['gymnasium'] = None\nimport quaymaster.gym\n"
    )
    done = run_program(["python", "without.py"], tmp_path, tmp_path / "site")
    assert "pip install 'quaymaster[gym]'" in done.errors


# Decisions ----------------------------------------------------------------------------


def test_a_pod_goes_to_the_node_that_the_action_names() -> None:
    env = an_env(map(a_node, "abc"), a_pod("p"), a_pod("q"))
    env.reset(seed=1)
    for name, row in (("p", 2), ("q", 0)):
        _, reward, *_ = env.step(row)
        assert reward == 1.0
        assert node_of(env, name) == "abc"[row]


def test_the_mask_shows_what_the_filters_let_through() -> None:
    nodes = [
        a_node("a"),
        a_node("small", cpu="1"),
        make_node(name="c", taints=["x:NoSchedule"]),
    ]
    env = an_env(nodes, a_pod("p", cpu="2"), a_pod("q", cpu="3"), a_pod("r"))
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == [1, 0, 0]
    *_, info = env.step(0)
    assert info["action_mask"].tolist() == [1, 1, 0], "q fits nowhere: r is next"


def test_a_pod_that_is_sent_where_it_may_not_go_is_turned_away() -> None:
    env = an_env(
        [a_node("a"), a_node("small", cpu="1")], a_pod("p", cpu="2"), a_pod("q")
    )
    env.reset(seed=1)
    _, reward, is_over, *_ = env.step(1)
    assert (reward, is_over) == (0.0, False)
    assert pods(env) == ["q"]


def test_the_episode_ends_when_no_pod_can_move() -> None:
    env = an_env([a_node("a")], a_pod("p"), a_pod("big", cpu="5"))
    env.reset(seed=1)
    seen, reward, is_over, is_cut, info = env.step(0)
    assert (reward, is_over, is_cut) == (1.0, True, False)
    assert not seen.any()
    assert not info["action_mask"].any()
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(0)


def test_an_episode_without_a_decision_is_over_at_its_first_step() -> None:
    env = an_env([a_node("a")], a_pod("big", cpu="5"))
    seen, info = env.reset(seed=1)
    assert not seen.any()
    assert not info["action_mask"].any()


def test_pods_that_wait_come_again_once_there_is_room() -> None:
    env = an_env(
        [a_node("a")],
        Arrival(obj=a_pod("short", cpu="3"), stays=60),
        a_pod("waits", cpu="3"),
        Arrival(obj=a_pod("late"), at=10),
        turn_away=False,
    )
    env.reset(seed=1)
    env.step(0)
    assert env.run.now == 10
    env.step(0)
    assert node_of(env, "late") == "a"
    assert env.run.now == 60
    *_, is_over, _, _ = env.step(0)
    assert is_over
    assert node_of(env, "waits") == "a"


def test_disruptions_happen_at_their_time() -> None:
    env = an_env(
        map(a_node, "ab"),
        a_pod("p"),
        Disruption(change=RemoveNodes(nodes="a"), at=5),
        Arrival(obj=a_pod("q"), at=10),
    )
    env.reset(seed=1)
    env.step(1)
    assert env.action_masks().tolist() == [False, True]


def test_pods_that_fit_nowhere_may_preempt_others() -> None:
    low = a_pod("low", cpu="3", termination_grace_period_seconds=0)
    env = an_env([a_node("a")], low, a_pod("high", cpu="3", priority=1))
    env.reset(seed=1)
    env.step(0)
    assert pods(env) == ["high"]
    env.step(0)
    assert node_of(env, "high") == "a"


def test_filters_are_verified_on_request() -> None:
    env = SchedulingEnv(registry=REGISTRY, options=SchedulerOptions(verify=1))
    _, info = env.reset(seed=2)
    is_over = False
    while not is_over:
        *_, is_over, _, info = env.step(int(info["action_mask"].argmax()))


@pytest.mark.long
@given(seed=st.integers(0, 1000), choices=st.randoms(use_true_random=False))
def test_pods_go_only_where_there_is_room(seed: int, choices: Random) -> None:
    env = SchedulingEnv(registry=REGISTRY)
    _, info = env.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        rows = np.flatnonzero(info["action_mask"]).tolist()
        _, reward, is_over, _, info = env.step(choices.choice(rows))
        total += reward
    observation = env.run.observe()
    assert (observation.free >= 0).all()
    assert observation.placed == observation.pods.sum() == total
    env.close()


# Seeds --------------------------------------------------------------------------------


def played(env: SchedulingEnv, seed: int | None) -> list[float]:
    seen, info = env.reset(seed=seed)
    numbers = [float(seen.sum())]
    is_over = False
    while not is_over:
        seen, reward, is_over, _, info = env.step(int(info["action_mask"].argmax()))
        numbers += [reward, float(seen.sum())]
    return numbers


@pytest.mark.long
def test_the_same_seed_gives_the_same_episode_and_another_seed_does_not() -> None:
    first, other = SchedulingEnv(registry=REGISTRY), SchedulingEnv(registry=REGISTRY)
    assert played(first, 7) == played(other, 7) != played(first, 8)


def test_without_a_seed_each_episode_is_another_one() -> None:
    env = SchedulingEnv(registry=REGISTRY)
    env.reset(seed=7)
    assert played(env, None) != played(env, None)


def test_a_seed_is_that_of_the_workload() -> None:
    seeds = []

    def workload(seed: int) -> Workload:
        seeds.append(seed)
        return small_workload(seed)

    SchedulingEnv(workload, registry=REGISTRY).reset(seed=11)
    assert seeds == [0, 11], "at first it looks how many nodes there are"


# Observations -------------------------------------------------------------------------


def test_shares_are_observed_before_and_with_the_pod() -> None:
    nodes = [a_node("a"), a_node("b", cpu="8"), a_node("c", cpu="1")]
    env = an_env(
        nodes, a_pod("p", cpu="2"), a_pod("q", cpu="2"), columns=ShareColumns(["cpu"])
    )
    assert env.columns.names == ("cpu used", "cpu used with the pod", "cpu size")
    env.reset(seed=1)
    seen, *_ = env.step(1)
    assert seen.tolist() == [[0, 0.5, 0.5], [0.25, 0.5, 1], [0, 1, 0.125]]
    assert env.observation_space.contains(seen)


def test_a_resource_that_no_node_offers_is_0() -> None:
    columns = ShareColumns(["example.com/gpu", "cpu"])
    gpu = make_node(name="gpu", capacity={"cpu": "4", "example.com/gpu": "2"})
    env = an_env([a_node("a")], a_pod("p"), columns=columns)
    assert env.reset(seed=1)[0][0].tolist() == [0, 0, 0, 0, 0.25, 1]
    env = an_env([a_node("a"), gpu], a_pod("p"), columns=columns)
    assert env.reset(seed=1)[0][:, :3].tolist() == [[0, 0, 0], [0, 0, 1]]


class PodCounts:
    """Observes the number of pods on each node."""

    names = ("pods",)
    bounds = (0.0, 110.0)

    def read(self, pod: Pod, nodes: NodeTable, rows: RowArray) -> Float64Array:
        return nodes.pod_count[rows][:, None].astype(np.float64)


def test_custom_columns_may_be_added() -> None:
    env = an_env(map(a_node, "ab"), a_pod("p"), a_pod("q"), columns=PodCounts())
    env.reset(seed=1)
    assert env.step(1)[0].tolist() == [[0], [1]]


def test_nodes_that_come_later_need_room_in_the_columns() -> None:
    arrivals = (a_pod("p"), Arrival(obj=a_node("late")), a_pod("q"))
    small = an_env([a_node("a")], *arrivals)
    small.reset(seed=1)
    with pytest.raises(ValueError, match=r"max_nodes: expected at least 2 .* got 1"):
        small.step(0)
    large = an_env([a_node("a")], *arrivals, max_nodes=3)
    large.reset(seed=1)
    seen, *_, info = large.step(0)
    assert info["action_mask"].tolist() == [1, 1, 0]
    assert not seen[2].any()


def test_custom_rewards_may_be_used() -> None:
    def leftover(run: Run, step: Step) -> float:
        return float(run.observe().free[0].sum()) if step.node else -1.0

    env = an_env([a_node("a")], a_pod("p"), a_pod("big", cpu="5"), reward=leftover)
    env.reset(seed=1)
    assert env.step(0)[1] == 3000 - 1


# Weights ------------------------------------------------------------------------------


def fit_by(strategy: str) -> SchedulerConfig:
    args = {"scoringStrategy": {"type": strategy, "resources": [{"name": "cpu"}]}}
    config = profile_config(args={"NodeResourcesFit": args})
    return parse_config(config, REGISTRY)


@pytest.mark.parametrize(
    ("strategy", "node"), [("LeastAllocated", "b"), ("MostAllocated", "a")]
)
def test_weights_choose_the_node_with_the_highest_sum(strategy: str, node: str) -> None:
    config = fit_by(strategy)
    env = an_env(
        [a_node("a"), a_node("b", cpu="8")],
        a_pod("p"),
        actions=WeightActions(),
        config=config,
    )
    env.reset(seed=1)
    names = score_plugins(config)
    assert env.action_space.shape == (len(names),)
    env.step(np.array([float(name == "NodeResourcesFit") for name in names]))
    assert node_of(env, "p") == node


@pytest.mark.long
def test_of_equally_good_nodes_one_is_drawn() -> None:
    env = an_env(map(a_node, "abcd"), a_pod("p"), actions=WeightActions())
    nothing = np.zeros(len(PLUGINS))
    found = set()
    for seed in range(20):
        env.reset(seed=seed)
        env.step(nothing)
        found.add(node_of(env, "p"))
    assert len(found) > 1


@pytest.mark.parametrize(("decisions", "steps"), [(1, 5), (2, 3), (10, 1)])
def test_a_step_may_be_several_decisions(decisions: int, steps: int) -> None:
    env = an_env(
        map(a_node, "ab"),
        *(a_pod(f"p-{number}") for number in range(5)),
        actions=WeightActions(decisions),
    )
    env.reset(seed=1)
    rewards = []
    is_over = False
    while not is_over:
        _, reward, is_over, *_ = env.step(np.ones(len(PLUGINS)))
        rewards.append(reward)
    assert len(rewards) == steps
    assert sum(rewards) == 5


def test_a_step_is_at_least_one_decision() -> None:
    with pytest.raises(ValueError, match="decisions: expected a number from 1, got 0"):
        WeightActions(0)


def test_registered_environments_accept_arguments() -> None:
    make = functools.partial(gymnasium.make, IDS[0], registry=REGISTRY)
    assert make(actions=NodeActions(), max_nodes=9).action_space == Discrete(9)
