"""LearnedPolicy: what it sees, how it scores, and what it is worth."""

import math
from pathlib import Path

import numpy as np
import pytest
from quaymaster import Pod
from quaymaster.config import ConfigErrors, load_config
from quaymaster.gym import NodeColumns
from quaymaster.testing import PluginHarness, make_node, make_pod

from quaymaster_learned_policy import LearnedPolicy, LearnedPolicyArgs
from quaymaster_learned_policy.columns import NAMES, PolicyColumns
from quaymaster_learned_policy.judge import judge, profiles, registry, table
from quaymaster_learned_policy.train import learn, make_env, play

PROFILE = Path(__file__).parents[1] / "profile.yaml"
ONLY_CPU = [1.0, *[0.0] * (len(NAMES) - 1)]


def a_pod(cpu: str = "2", memory: str = "8Gi") -> Pod:
    return make_pod(name="p", requests={"cpu": cpu, "memory": memory})


def a_harness(**args: object) -> PluginHarness:
    nodes = [
        make_node(name=f"of-{cpu}", capacity={"cpu": cpu, "memory": "16Gi"})
        for cpu in ("2", "4", "8")
    ]
    return PluginHarness(LearnedPolicy, args=args, nodes=nodes)


# What it sees -------------------------------------------------------------------------


def test_shares_are_those_with_the_pod() -> None:
    snapshot = a_harness().snapshot
    columns: NodeColumns = PolicyColumns()
    node = snapshot.get("of-8")
    assert node is not None
    seen = PolicyColumns().of(a_pod(), node)
    assert seen == [0.25, 0.5, 0.0625, 0.25, 0.125, 0.25, 0.25, 0.5]
    nodes = snapshot.nodes
    assert columns.read(a_pod(), nodes, nodes.row_numbers(nodes.rows))[2].tolist() == (
        seen
    )


def test_a_node_without_any_counts_as_full() -> None:
    node = make_node(name="n", capacity={"cpu": "0", "memory": "16Gi"})
    snapshot = PluginHarness(LearnedPolicy, nodes=[node]).snapshot
    columns = PolicyColumns()
    seen = columns.read(a_pod(), snapshot.nodes, snapshot.nodes.rows)
    assert seen[0, 0] == 1.0


# How it scores ------------------------------------------------------------------------


def test_the_highest_sum_is_best() -> None:
    harness = a_harness(weights=ONLY_CPU)
    scores = harness.normalized(a_pod())
    assert scores == {"of-2": 100, "of-4": 33, "of-8": 0}


def test_equal_sums_are_equal_scores() -> None:
    harness = a_harness(weights=[0.0] * len(NAMES))
    assert set(harness.normalized(a_pod()).values()) == {0}


def test_there_is_a_weight_for_each_column() -> None:
    assert len(LearnedPolicyArgs().weights) == len(NAMES)
    with pytest.raises(ConfigErrors, match="weights: expected 8 numbers, got 2"):
        profiles(registry(), [1.0, 2.0])


# What it is worth ---------------------------------------------------------------------


def test_the_profile_scores_by_it_alone() -> None:
    config = load_config(PROFILE, registry())
    assert (
        config.profiles[0].plugins
        == profiles(registry())["LearnedPolicy"].profiles[0].plugins
    )


@pytest.mark.long
def test_it_fills_more_than_least_allocated_on_arrivals_it_has_not_seen() -> None:
    plugins, seeds = registry(), range(25)
    found = profiles(plugins)
    old = judge("old", found["LeastAllocated"], plugins, seeds).filled
    new = judge("new", found["LearnedPolicy"], plugins, seeds).filled
    gains = np.subtract(new, old)
    assert gains.mean() > 3 * gains.std(ddof=1) / math.sqrt(len(gains))


@pytest.mark.long
def test_a_table_compares_seed_by_seed() -> None:
    plugins = registry()
    same = judge("same", profiles(plugins)["LearnedPolicy"], plugins, range(3))
    shown = table([same, same]).splitlines()
    assert shown[1].endswith("+0.0% ± 0.0%")
    assert len(shown) == 3


# How it learns ------------------------------------------------------------------------


def test_learning_finds_the_top_of_a_hill() -> None:
    top = np.linspace(-1, 1, len(NAMES))
    *_, last = learn(lambda weights, _: -float(abs(weights - top).sum()))
    assert abs(last.weights - top).max() < 0.3


def test_the_same_seed_learns_the_same() -> None:
    def worth(weights: np.ndarray, seeds: object) -> float:
        return float(weights[0])

    first, other = (list(learn(worth, generations=3, seed=5)) for _ in range(2))
    assert [each.weights.tolist() for each in first] == [
        each.weights.tolist() for each in other
    ]


@pytest.mark.long
def test_the_environment_is_worth_what_is_judged() -> None:
    env, plugins = make_env(), registry()
    weights = np.array(ONLY_CPU)
    config = profiles(plugins, ONLY_CPU)["LearnedPolicy"]
    judged = judge("", config, plugins, range(5)).filled
    for seed in range(5):
        assert play(env, weights, seed) == pytest.approx(judged[seed], abs=0.15)
        assert env.run.observe().attempts == 42
