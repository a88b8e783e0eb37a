"""``SchedulerOptions(verify=N)`` finds plugins that break their promises."""

from collections.abc import Hashable

import numpy as np
import pytest

from quaymaster import (
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Snapshot,
    Status,
    hookimpl,
)
from quaymaster.errors import QuaymasterError, VerificationError
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node
from tests.kit.documents import HEADER
from tests.memo.world import Full, Preparing, Rated, Recording, World, kind

VERIFIED = SchedulerOptions(verify=1)
NO = Status.unschedulable("no")
HEAD = "pod 'default/pod': the decision is not the one of the scalar hooks: "


class Envious(Recording):
    """Has the scope of one node, but looks at all pods."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.snapshot: Snapshot = handle.snapshot

    @hookimpl
    def filter(self) -> Status | None:
        return NO if any(node.pods for node in self.snapshot) else None


class Careless(Recording):
    """Signs all pods equally, but treats them differently."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return "all alike"

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return NO if pod.labels["kind"] == "b" and node.name == "n1" else None


class Metered(Recording):
    """Signs pods by measurements from outside of the cluster."""

    load = 0

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.labels["kind"], Metered.load

    @hookimpl
    def filter(self) -> Status | None:
        return NO if Metered.load else None


class Looking(Full):
    """Declares that it does not use pods, but does."""

    pod_use = PodUse.NONE


class Unsigned(Recording):
    """Signs no pods, so it is called every time."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> None:
        return None


class Parted(Unsigned):
    """Its twin counts two pods as one."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if len(node.pods) > 1 else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        return NodeVerdicts.reject_where(nodes.pod_count[rows] > 2, NO)


class Talkative(Unsigned):
    """Its twin gives another reason."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NO if node.pods else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        never = Status.unschedulable("never")
        return NodeVerdicts.reject_where(nodes.pod_count[rows] > 0, never)


class Greedy(Rated):
    """Its twin scores one more for each pod."""

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return 11 * nodes.pod_count[rows]


class Fickle(Rated):
    """Has the scope of one node, but looks at all pods."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.snapshot: Snapshot = handle.snapshot

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        busy = sum(len(other.pods) for other in self.snapshot)
        return busy if node.name == "n2" else 0


class Queueing(Rated):
    """Prefers the later ones of the nodes in its argument."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return np.arange(len(scores), dtype=np.int64)


class Changing(Preparing):
    """Returns other PreFilter results for pods with equal signatures."""

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        self.calls.append("pre")
        return NO if len(self.calls) > 1 else None


def _two_on_n0(world: World) -> None:
    world.bind("x", "n0")
    world.bind("x", "n0")


@pytest.mark.parametrize("plugin", [Parted, Talkative])
def test_a_filter_twin_that_says_something_else_is_found(
    plugin: type[Recording],
) -> None:
    world = World(plugin, nodes=5, options=VERIFIED)
    assert len(world.fits(kind("a"))) == 5
    _two_on_n0(world)
    with pytest.raises(VerificationError) as caught:
        world.attempt(kind("a"))
    found = {"Parted": "feasible", "Talkative": "UNSCHEDULABLE 'never' of Talkative"}
    name = plugin.__name__
    assert str(caught.value) == (
        f"{HEAD}n0: {found[name]}, expected UNSCHEDULABLE 'no' of {name}"
    )


def test_an_answer_that_depends_on_other_nodes_is_found() -> None:
    world = World(Envious, nodes=3, options=VERIFIED)
    world.fits(kind("a"))
    world.bind("x", "n0")
    with pytest.raises(VerificationError) as caught:
        world.attempt(kind("a"))
    wrong = "feasible, expected UNSCHEDULABLE 'no' of Envious"
    assert str(caught.value) == f"{HEAD}n1: {wrong}; n2: {wrong}"
    assert caught.value.pod == "default/pod"
    assert caught.value.differences == (f"n1: {wrong}", f"n2: {wrong}")
    assert isinstance(caught.value, QuaymasterError)


def test_only_some_of_many_differences_are_reported() -> None:
    world = World(Envious, nodes=30, options=VERIFIED)
    world.fits(kind("a"))
    world.bind("x", "n0")
    with pytest.raises(VerificationError, match=r"n5: [^;]*; and 24 more$") as caught:
        world.attempt(kind("a"))
    assert len(caught.value.differences) == 29


def test_a_signature_that_leaves_out_too_much_is_found() -> None:
    world = World(Careless, nodes=3, options=VERIFIED)
    world.fits(kind("a"))
    with pytest.raises(VerificationError) as caught:
        world.attempt(kind("b"))
    assert str(caught.value) == (
        f"{HEAD}n1: feasible, expected UNSCHEDULABLE 'no' of Careless"
    )


def test_a_signature_with_data_from_outside_is_found() -> None:
    Metered.load = 0
    world = World(Metered, nodes=3, options=VERIFIED)
    pod = kind("a")
    world.fits(pod)
    world.fits(pod)
    Metered.load = 1
    with pytest.raises(VerificationError) as caught:
        world.attempt(pod)
    assert str(caught.value) == (
        "pod 'default/pod': its cached signature is out of date: sign_pod of plugin "
        "'Metered' returned ('a', 1), and before ('a', 0): it is called once for all "
        "pods with the same spec, so its result must depend on the pod only"
    )


def test_a_plugin_that_looks_at_pods_after_all_is_found() -> None:
    world = World(Looking, nodes=3, options=VERIFIED)
    world.fits(kind("a"))
    world.bind("a", "n1")
    with pytest.raises(VerificationError, match=r"n1: feasible, expected .* 'has a'"):
        world.attempt(kind("a"))


def test_a_pre_filter_that_depends_on_more_than_the_signature_is_found() -> None:
    world = World(Changing, Full, nodes=2, options=VERIFIED)
    with pytest.raises(VerificationError, match=r"n0: feasible, expected .* 'no'"):
        world.attempt(kind("a"))


def test_a_score_twin_that_says_something_else_is_found() -> None:
    world = World(Full, Greedy, nodes=6, options=VERIFIED)
    world.fits(kind("a"))
    world.bind("x", "n1")
    world.fits(kind("a"))  # where one node changed, the scalar hook is called
    with pytest.raises(VerificationError) as caught:
        world.attempt(kind("b"))
    assert str(caught.value) == f"{HEAD}n1 scores +11 against n0, expected +10"


def test_a_score_that_depends_on_other_nodes_is_found() -> None:
    world = World(Full, Fickle, nodes=6, options=VERIFIED)
    world.fits(kind("a"))
    world.bind("x", "n1")
    with pytest.raises(VerificationError) as caught:
        world.attempt(kind("a"))
    assert str(caught.value) == f"{HEAD}n2 scores +0 against n0, expected +1"


def test_a_normalisation_that_separates_equal_scores_is_found() -> None:
    world = World(Full, Queueing, options=VERIFIED)
    with pytest.raises(VerificationError) as caught:
        world.attempt(kind("a"))
    assert str(caught.value) == (
        f"{HEAD}n1 scores +0 against n0, expected +1; "
        "n2 scores +0 against n0, expected +2"
    )


def test_only_every_nth_decision_is_verified() -> None:
    world = World(Envious, nodes=3, options=SchedulerOptions(verify=3))
    world.fits(kind("a"))
    world.bind("x", "n0")
    world.fits(kind("a"))
    with pytest.raises(VerificationError):
        world.attempt(kind("a"))
    world.fits(kind("a"))


def test_nothing_is_verified_without_the_option() -> None:
    world = World(Envious, nodes=3)
    world.fits(kind("a"))
    world.bind("x", "n0")
    for _ in range(10):
        world.fits(kind("a"))


def test_plugins_that_keep_their_word_are_never_complained_about() -> None:
    world = World(Full, Rated, Preparing, nodes=40, options=VERIFIED)
    for number in range(60):
        world.fits(kind("ab"[number % 2]))
        world.bind("ab"[number % 2], f"n{number * 7 % 40}")
        if number % 9 == 0:
            world.set_node(f"n{number % 40}", labels={"rate": str(number)})


def test_a_decision_that_cannot_be_verified_ends_the_run() -> None:
    plugins = {"filter": {"enabled": [{"name": "Envious"}]}}
    harness = SchedulerHarness(
        [make_node(name="x"), make_node(name="y"), kind("a", name="a")],
        plugins={"Envious": Envious},
        config={
            **HEADER,
            "profiles": [{"plugins": plugins}],
        },
        options=VERIFIED,
    )
    harness.cluster.create(kind("a", name="b"))
    with pytest.raises(VerificationError, match="pod 'default/b'"):
        harness.settle()
