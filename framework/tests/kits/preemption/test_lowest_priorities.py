"""The lowest priority on each node is kept while pods and nodes come and go."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import NodeInfo, Snapshot
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.preemption import LowestPriorities
from tests.kit.internals.state import Cache

NUMBERS = st.integers(0, 3)


@given(
    history=st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(-1, 1), st.booleans())),
    limit=st.integers(-2, 2),
)
def test_nodes_with_less_important_pods_are_found(
    history: list[tuple[int, int, int, bool]], limit: int
) -> None:
    snapshot = Snapshot()
    cache, lowest = Cache(snapshot), LowestPriorities()
    for number, place, priority, is_node in history:
        name = f"n{number}"
        pod = make_pod(name=f"p{place}", node=name, priority=priority)
        info, cached = snapshot.get(name), cache.get(pod.uid)
        if is_node and info is not None and info.node is not None:
            cache.remove_node(info.node)
        elif is_node:
            cache.add_node(make_node(name=name))
        elif cached is not None:
            cache.remove_pod(cached)
        else:
            cache.add_pod(pod)
        nodes = snapshot.nodes
        rows = np.array([node.row for node in snapshot], dtype=np.intp)
        below = [
            any(pod.priority < limit for pod in node.pods.values()) for node in snapshot
        ]
        assert lowest.are_any_below(nodes, rows, limit) is any(below)
        for row, is_below in zip(rows, below, strict=True):
            assert lowest.are_any_below(nodes, np.array([row]), limit) is is_below


@given(
    st.lists(st.tuples(NUMBERS, st.integers(-1, 1), st.sampled_from("arc"))),
    st.integers(0, 3),
)
def test_a_node_maintains_the_lowest_priority_from_the_first_read(
    changes: list[tuple[int, int, str]], first: int
) -> None:
    info = NodeInfo(make_node(name="n"))
    for at, (number, priority, change) in enumerate(changes):
        pod = make_pod(name=f"p{number}", priority=priority)
        if pod.uid not in info.pods:
            info.add_pod(pod)
        elif change == "r":
            info.remove_pod(pod)
        elif change == "c":
            info.replace_pod(pod, differs=True)
        pods = info.pods.values()
        if at >= first:
            lowest = min((pod.priority for pod in pods), default=None)
            assert info.lowest_priority == info.clone().lowest_priority == lowest
