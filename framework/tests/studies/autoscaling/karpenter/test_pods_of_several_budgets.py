"""A pod of several PodDisruptionBudgets is not evicted, and all of them are named."""

import itertools

from quaymaster.objects import PodDisruptionBudget, from_wire
from quaymaster.testing import make_pod
from tests.kit.internals.karpenter import ClusterState


def make_budget(name: str) -> PodDisruptionBudget:
    tree = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 5},
    }
    return from_wire(tree, PodDisruptionBudget)


def test_budgets_are_named_in_the_order_of_the_api_server() -> None:
    pod = make_pod(name="p", node="n", labels={"app": "web"})
    budgets = [make_budget(name) for name in ("b", "a", "c")]
    for order in itertools.permutations(budgets):
        state = ClusterState.from_objects(order, [], now=0.0)
        keys = state.disruption_limits.blocking([pod])
        assert keys == ["default/a", "default/b", "default/c"]
