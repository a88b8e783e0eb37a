"""The cached best nodes are those that new calls of the plugins would find."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.scheduler import SchedulerOptions
from tests.kit.internals.cycle import Decision
from tests.memo.world import Rated, Recording, World, kind

NODES = 5


class Selective:
    """Rejects the nodes that the test sets; it is called in every cycle."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.rejected: frozenset[str] = frozenset()

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        if node.name in self.rejected:
            return Status.unschedulable("moody")
        return None


class Spread(Recording):
    """Scores a node higher if it has fewer pods, up to five."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return max(0, 5 - len(node.pods))


STEPS = st.tuples(
    st.sampled_from(["bind", "unbind", "unbind"]),
    st.integers(0, NODES - 1),
    st.frozensets(st.integers(0, NODES - 1), max_size=2),
)


@given(steps=st.lists(STEPS, max_size=40))
def test_ties_are_those_of_new_calls(
    steps: Sequence[tuple[str, int, frozenset[int]]],
) -> None:
    world = World(Spread, Selective, nodes=NODES, options=SchedulerOptions(verify=1))
    plugin = world.framework.profile.plugins["Selective"]
    assert isinstance(plugin, Selective)
    pods = [0] * NODES
    for action, node, rejected in steps:
        if action == "unbind" and not pods[node]:
            node = max(range(NODES), key=pods.__getitem__)  # noqa: PLW2901
        name = f"n{node}"
        if action == "bind":
            world.bind("b", name)
            pods[node] += 1
        elif action == "unbind" and pods[node]:
            world.unbind(name)
            pods[node] -= 1
        plugin.rejected = frozenset(f"n{number}" for number in rejected)
        found = world.attempt(kind("a"))
        if isinstance(found, Decision):
            assert found.node.name not in plugin.rejected


def test_the_best_follow_single_nodes_up_and_down() -> None:
    world = World(Rated, nodes=3)
    pod = kind("a")
    assert world.fits(pod) == ["n0", "n1", "n2"]
    world.bind("b", "n1")
    assert world.fits(pod) == ["n1"]
    world.bind("b", "n2")
    assert world.fits(pod) == ["n1", "n2"]
    world.unbind("n1")
    assert world.fits(pod) == ["n2"]
    world.unbind("n2")
    assert world.fits(pod) == ["n0", "n1", "n2"]
