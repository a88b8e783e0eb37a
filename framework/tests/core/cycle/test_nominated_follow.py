"""The nominated pods that are updated between attempts equal a new search."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from quaymaster import Pod, Snapshot
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.cycle import NominatedPods
from tests.kit.internals.queue import Nominator
from tests.kit.internals.state import Cache

NODES = st.sampled_from([f"n{number}" for number in range(5)])
NAMES = st.sampled_from([f"p{number}" for number in range(6)])
PRIORITIES = (0, 1, 2)
# The last two have no node at first: their columns come and go with nodes and pods.
RESOURCES = st.sampled_from(["cpu", "memory", "example.com/x", "example.com/y"])


class NominationHistory(RuleBasedStateMachine):
    """Nodes and nominations come, change and go while a reader follows them."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = Snapshot()
        self.cache = Cache(self.snapshot)
        self.stored: dict[str, Pod] = {}
        self.nominator = Nominator(lambda key: self.stored.get(key.split("/")[1]))
        self.followed = NominatedPods(self.nominator, self.snapshot.nodes)

    @rule(name=NODES, resource=RESOURCES)
    def node_comes(self, name: str, resource: str) -> None:
        node = make_node(name=name, allocatable={resource: "9", "pods": "9"})
        if self.snapshot.get(name) is None:
            self.cache.add_node(node)

    @rule(name=NODES)
    def node_goes(self, name: str) -> None:
        info = self.snapshot.get(name)
        if info is not None:
            assert info.node is not None
            self.cache.remove_node(info.node)

    @rule(
        name=NAMES,
        node=NODES,
        resource=RESOURCES,
        amount=st.integers(0, 3),
        priority=st.sampled_from(PRIORITIES),
    )
    def pod_is_nominated(
        self, name: str, node: str, resource: str, amount: int, priority: int
    ) -> None:
        pod = make_pod(
            name=name,
            requests={resource: str(amount)},
            priority=priority,
            nominated_node=node,
        )
        self.stored[name] = pod
        self.nominator.add(pod)

    @rule(name=NAMES)
    def nomination_ends(self, name: str) -> None:
        if name in self.stored:
            self.nominator.delete(self.stored.pop(name))

    @rule(name=NAMES, priority=st.sampled_from(PRIORITIES))
    def readers_catch_up(self, name: str, priority: int) -> None:
        """Update some of the readers, so that the others fall behind."""
        self.check(self.stored.get(name) or make_pod(name="other", priority=priority))

    @invariant()
    def all_agree_with_a_new_search(self) -> None:
        self.check(make_pod(name="always", priority=1))

    def check(self, pod: Pod) -> None:
        nodes = self.snapshot.nodes
        anew = NominatedPods(self.nominator, nodes)
        ahead = self.followed.ahead(pod, nodes.rows)
        assert list(ahead) == sorted(ahead)
        expected = {}
        for node in self.snapshot:
            others = [
                other
                for other in self.nominator.pods_on(node.name)
                if other.priority >= pod.priority and other.uid != pod.uid
            ]
            if others:
                expected[node.row] = others
        assert {row: list(others) for row, others in ahead.items()} == expected
        mine, theirs = self.followed.imagined(pod), anew.imagined(pod)
        if not self.nominator.nodes():
            assert mine is None or not mine[1].any()  # there were some before
            return
        assert (mine is None) == (theirs is None)
        if mine is None or theirs is None:
            return
        one_by_one = nodes.imagined()
        for row, others in expected.items():
            for other in others:
                info = nodes.infos[row]
                assert info is not None
                assert one_by_one.imagine_pod(row, info.usage_of(other))
        table, is_ahead = mine
        assert is_ahead.nonzero()[0].tolist() == sorted(expected)
        assert (table.requested == one_by_one.requested).all()
        assert (table.non_zero_requested == one_by_one.non_zero_requested).all()
        assert (table.pod_count == one_by_one.pod_count).all()


TestNominationHistory = NominationHistory.TestCase
