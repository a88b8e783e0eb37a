"""The scheduling cycle around the plugins: its calls and its messages.

The plugins here read their answers off the labels of nodes and pods: a node labelled
``Picky: too small;too slow`` is rejected by ``Picky`` for those two reasons.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pytest

from quaymaster import (
    CycleState,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PostFilterResult,
    PreFilterResult,
    Rows,
    Snapshot,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.testing import make_node, make_pod
from tests.kit.cycles import make_algorithm, make_nominator
from tests.kit.internals.cycle import (
    Algorithm,
    Attempt,
    Decision,
    Diagnosis,
    FitError,
    Ties,
    explain,
)

_SEEN = StateKey[list[str]]("seen")


class _Plugin:
    def __init__(self, args: None, handle: Handle) -> None:
        pass

    def reasons(self, labels: Mapping[str, str]) -> list[str]:
        text = labels.get(type(self).__name__, "")
        return text.split(";") if text else []


class Picky(_Plugin):
    """Rejects nodes with its label."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        reasons = self.reasons(node.labels)
        return Status.unschedulable(*reasons) if reasons else None


class Stern(_Plugin):
    """Rejects nodes with its label, in a batch, and for good."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        reasons = self.reasons(node.labels)
        return Status.unresolvable(*reasons) if reasons else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        texts = [";".join(self.reasons(info.labels)) for info in nodes.infos_at(rows)]
        distinct = sorted({"", *texts})  # nothing comes first, as code 0
        return NodeVerdicts(
            np.array([distinct.index(reasons) for reasons in texts]),
            lambda code: Status.unresolvable(*distinct[code].split(";")),
        )


class Roomy(_Plugin):
    """Lets two pods share a node, nominated ones included; rejects a third."""

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        state[_SEEN] = []
        return Status.skip() if "careless" in pod.labels else None

    @hookimpl
    def add_pod(self, state: CycleState, pod_to_add: Pod) -> None:
        state[_SEEN] = [*state[_SEEN], pod_to_add.name]

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        assert len(state[_SEEN]) <= len(node.pods)
        return Status.unschedulable("full") if len(node.pods) >= 2 else None


class Sociable(_Plugin):
    """Wants another pod on the node."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None if node.pods else Status.unschedulable("lonely")


class Chooser(_Plugin):
    """Restricts the pod to the nodes that its label names."""

    @hookimpl
    def pre_filter(self, pod: Pod) -> PreFilterResult | Status | None:
        names = self.reasons(pod.labels)
        return PreFilterResult(frozenset(names)) if names else None


class Another(Chooser):
    """The same, with a label of its own."""


class Refuser(_Plugin):
    """Rejects pods with its label in PreFilter; later plugins still run."""

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        reasons = self.reasons(pod.labels)
        return Status.unschedulable(*reasons) if reasons else None


class Closer(_Plugin):
    """Rejects pods with its label for good."""

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        reasons = self.reasons(pod.labels)
        return Status.unresolvable(*reasons) if reasons else None


class Skipper(_Plugin):
    """Skips the pod, although its filter would reject all nodes."""

    @hookimpl
    def pre_filter(self) -> Status:
        return Status.skip()

    @hookimpl
    def filter(self) -> Status:
        return Status.unschedulable("never asked")


class Unprepared(_Plugin):
    """Reads a key that was never written."""

    @hookimpl
    def filter(self, state: CycleState) -> Status | None:
        return Status.unschedulable(*state[_SEEN])


class Rating(_Plugin):
    """Scores a node by its label."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(node.labels.get(type(self).__name__, "0"))


class Scaled(Rating):
    """Scores by its label, and halves everything afterwards."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return scores // 2


class Bored(Rating):
    """Would score by its label, but skips the pod."""

    @hookimpl
    def pre_score(self) -> Status:
        return Status.skip()


class Forgetful(_Plugin):
    """Scores from what its missing ``pre_score`` should have written."""

    @hookimpl
    def score(self, state: CycleState) -> int:
        return len(state[_SEEN])


class Shrug(_Plugin):
    """Cannot help."""

    @hookimpl
    def post_filter(self) -> Status:
        return Status.unschedulable("no idea")


class Advice(_Plugin):
    """Cannot help either; its message differs."""

    @hookimpl
    def post_filter(self) -> PostFilterResult:
        return PostFilterResult(Status.unschedulable("try later"))


class Helper(_Plugin):
    """Makes room."""

    @hookimpl
    def post_filter(self) -> None:
        return None


def algorithm_of(
    *plugins: type,
    nodes: Iterable[Node],
    pods: Iterable[Pod] = (),
    nominated: Iterable[Pod] = (),
    weights: Mapping[str, int] | None = None,
) -> Algorithm:
    """Build a profile of plugins, in this order, on a cluster."""
    snapshot = snapshot_of(nodes)
    for pod in pods:
        snapshot.add_pod(pod)
    nominator = make_nominator(nominated)
    return make_algorithm(snapshot, *plugins, nominator=nominator, weights=weights)


def _first(_nodes: NodeTable, rows: Ties) -> int:
    return int(rows[0])


def node_for(algorithm: Algorithm, pod: Pod) -> str:
    """Return the node that a pod gets."""
    decision = algorithm.schedule(CycleState(), pod, _first)
    assert isinstance(decision, Decision)
    return decision.node.name


def message_for(algorithm: Algorithm, pod: Pod) -> str:
    """Return the message about a pod that fits nowhere."""
    unfit = unfit_for(algorithm, pod)
    assert unfit.diagnosis is not None
    return unfit.diagnosis.message()


def unfit_for(algorithm: Algorithm, pod: Pod) -> FitError:
    """Return the error about a pod that fits nowhere."""
    unfit = algorithm.schedule(CycleState(), pod, _first)
    assert isinstance(unfit, FitError)
    return unfit


def snapshot_of(nodes: Iterable[Node]) -> Snapshot:
    """A cluster of these nodes, without pods."""
    snapshot = Snapshot()
    for node in nodes:
        snapshot.add_node(node)
    return snapshot


def totals(algorithm: Algorithm, nodes: Sequence[Node]) -> list[int]:
    """The total scores of a cluster's nodes."""
    table = snapshot_of(nodes).nodes
    attempt = Attempt.begin(CycleState(), make_pod(), table)
    assert algorithm.score.prepare(attempt, table.rows) is None
    scores = algorithm.score.totals(attempt, table.rows)
    assert not isinstance(scores, Status)
    return [int(score) for score in scores]


def make_nodes(count: int, labels: Callable[[int], Mapping[str, str]]) -> list[Node]:
    """Nodes ``node-0``, ``node-1``, ... with labels by their number."""
    return [make_node(name=f"node-{i}", labels=labels(i)) for i in range(count)]


# Messages


def test_each_reason_of_a_node_counts_once() -> None:
    """Rule 2 of the parity format."""
    nodes = [
        make_node(name="a", labels={"Picky": "too small;too slow"}),
        make_node(name="b", labels={"Picky": "too slow"}),
        make_node(name="c", labels={"Stern": "too far"}),
    ]
    algorithm = algorithm_of(Picky, Stern, nodes=nodes)
    assert message_for(algorithm, make_pod()) == (
        "0/3 nodes are available: 1 too far, 1 too small, 2 too slow."
    )


@pytest.mark.parametrize("plugin", ["Picky", "Stern"])
def test_reasons_are_sorted_as_text_count_first(plugin: str) -> None:
    """Rule 2 of the parity format."""
    nodes = make_nodes(12, lambda i: {plugin: "rare" if i < 2 else "usual"})
    algorithm = algorithm_of(Picky, Stern, nodes=nodes)
    assert message_for(algorithm, make_pod()) == (
        "0/12 nodes are available: 10 usual, 2 rare."
    )


def test_only_the_first_plugin_that_rejects_a_node_is_counted() -> None:
    nodes = make_nodes(2, lambda i: {"Stern": "far", "Picky": "small"})
    algorithm = algorithm_of(Stern, Picky, nodes=nodes)
    assert message_for(algorithm, make_pod()) == "0/2 nodes are available: 2 far."


def test_nodes_left_out_by_pre_filter_are_counted_under_its_plugins() -> None:
    """Rule 2 of the parity format."""
    nodes = make_nodes(3, lambda i: {"Picky": "small"})
    algorithm = algorithm_of(Another, Chooser, Picky, nodes=nodes)
    pod = make_pod(labels={"Chooser": "node-1;node-2", "Another": "node-2;gone"})
    assert message_for(algorithm, pod) == (
        "0/3 nodes are available: 1 small, "
        "2 node(s) didn't satisfy plugin(s) [Another Chooser]."
    )


def test_a_rejection_in_pre_filter_hides_the_nodes() -> None:
    """Rule 2 of the parity format."""
    algorithm = algorithm_of(Closer, Picky, nodes=make_nodes(2, lambda i: {}))
    pod = make_pod(labels={"Closer": "not today"})
    assert message_for(algorithm, pod) == "0/2 nodes are available: not today."


def test_without_nodes_the_message_is_no_nodes_available() -> None:
    unfit = unfit_for(algorithm_of(Picky, nodes=[]), make_pod())
    assert unfit.no_nodes
    assert unfit.status.message == "no nodes available to schedule pods"


def test_messages_of_post_filter_plugins_are_joined_at_the_end() -> None:
    """Rule 3 of the parity format."""
    nodes = make_nodes(1, lambda i: {"Picky": "small"})
    algorithm = algorithm_of(Picky, Shrug, Advice, nodes=nodes)
    assert message_for(algorithm, make_pod()) == (
        "0/1 nodes are available: 1 small. no idea, try later"
    )


def test_a_post_filter_plugin_that_helps_adds_no_message() -> None:
    nodes = make_nodes(1, lambda i: {"Picky": "small"})
    algorithm = algorithm_of(Picky, Shrug, Helper, Advice, nodes=nodes)
    assert message_for(algorithm, make_pod()) == "0/1 nodes are available: 1 small."


def test_the_plugins_that_rejected_or_restricted_a_pod_are_named() -> None:
    nodes = make_nodes(3, lambda i: {"Picky": "small"} if i else {"Stern": "far"})
    algorithm = algorithm_of(Chooser, Picky, Stern, Skipper, nodes=nodes)
    unfit = unfit_for(algorithm, make_pod(labels={"Chooser": "node-0;node-1"}))
    assert unfit.diagnosis is not None
    assert unfit.diagnosis.unschedulable_plugins == {"Chooser", "Picky", "Stern"}


def test_a_node_that_was_not_filtered_is_unresolvable_without_a_reason() -> None:
    nodes = make_nodes(2, lambda i: {"Picky": "small"} if i else {})
    diagnosis = Diagnosis(snapshot_of(nodes).nodes)
    diagnosis.reject("node-1", Status.unschedulable("small"))
    assert diagnosis["node-0"] == Status.unresolvable()
    assert diagnosis.message() == "0/2 nodes are available: 1 small."


def test_an_explanation_repeats_the_message_of_pre_filter() -> None:
    nodes = make_nodes(2, lambda i: {})
    algorithm = algorithm_of(Closer, nodes=nodes)
    pod = make_pod(labels={"Closer": "not today"})
    explanation = explain(algorithm, pod, "test")
    assert explanation.message == "0/2 nodes are available: not today."
    assert [rejection.plugin for rejection in explanation.rejections] == ["Closer"] * 2


# PreFilter


def test_restrictions_of_several_plugins_are_intersected() -> None:
    algorithm = algorithm_of(Chooser, Another, nodes=make_nodes(3, lambda i: {}))
    pod = make_pod(labels={"Chooser": "node-0;node-1", "Another": "node-1;node-2"})
    assert node_for(algorithm, pod) == "node-1"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        pytest.param(
            {"Chooser": "node-0", "Another": "node-1"},
            "node(s) didn't satisfy plugin(s) [Another Chooser] simultaneously",
            id="disjoint sets",
        ),
        pytest.param(
            {"Another": "node-1", "Chooser": "node-0", "Closer": "late"},
            "node(s) didn't satisfy plugin(s) [Another Chooser] simultaneously",
            id="before a later plugin is asked",
        ),
    ],
)
def test_an_empty_common_set_ends_the_attempt(
    labels: Mapping[str, str], message: str
) -> None:
    nodes = make_nodes(2, lambda i: {})
    algorithm = algorithm_of(Chooser, Another, Closer, nodes=nodes)
    text = message_for(algorithm, make_pod(labels=labels))
    assert text == f"0/2 nodes are available: {message}."


def test_an_empty_set_of_one_plugin_names_it_alone() -> None:
    class Nowhere(_Plugin):
        @hookimpl
        def pre_filter(self) -> PreFilterResult:
            return PreFilterResult(frozenset())

    algorithm = algorithm_of(Nowhere, nodes=make_nodes(1, lambda i: {}))
    assert message_for(algorithm, make_pod()) == (
        "0/1 nodes are available: node(s) didn't satisfy plugin Nowhere."
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        pytest.param({"Refuser": "a", "Closer": "b"}, "b", id="unresolvable wins"),
        pytest.param({"Refuser": "a"}, "a", id="others had nothing against it"),
    ],
)
def test_after_unschedulable_the_other_pre_filter_plugins_are_called(
    labels: Mapping[str, str], message: str
) -> None:
    nodes = make_nodes(1, lambda i: {})
    algorithm = algorithm_of(Refuser, Closer, nodes=nodes)
    text = message_for(algorithm, make_pod(labels=labels))
    assert text == f"0/1 nodes are available: {message}."


def test_after_unresolvable_no_other_pre_filter_plugin_is_called() -> None:
    """Rule 4 of the parity format."""
    algorithm = algorithm_of(Closer, Refuser, nodes=make_nodes(1, lambda i: {}))
    text = message_for(algorithm, make_pod(labels={"Refuser": "a", "Closer": "b"}))
    assert text == "0/1 nodes are available: b."


def test_a_plugin_that_skips_does_not_filter() -> None:
    algorithm = algorithm_of(Skipper, nodes=make_nodes(1, lambda i: {}))
    assert node_for(algorithm, make_pod()) == "node-0"


def test_a_filter_that_misses_its_state_fails_the_attempt() -> None:
    """It is an exception like any other; upstream's plugins say "not found"."""
    algorithm = algorithm_of(Unprepared, nodes=make_nodes(2, lambda i: {}))
    unfit = unfit_for(algorithm, make_pod())
    assert unfit.diagnosis is None
    assert unfit.status.is_error
    assert unfit.status.plugin == "Unprepared"
    assert unfit.status.message.startswith(
        'running "Unprepared" filter plugin: StateNotFoundError: '
        "nothing was written under 'seen' in this attempt ("
    )


# Nominated pods


@pytest.mark.parametrize(
    ("priority", "node"),
    [
        pytest.param(9, "node-0", id="lower than the pod's"),
        pytest.param(10, "node-1", id="equal"),
        pytest.param(11, "node-1", id="higher"),
    ],
)
def test_nominated_pods_take_room_unless_their_priority_is_lower(
    priority: int, node: str
) -> None:
    """Rule 6 of the parity format."""
    other = make_pod(name="other", priority=priority, nominated_node="node-0")
    algorithm = algorithm_of(
        Roomy,
        nodes=make_nodes(2, lambda i: {}),
        pods=[make_pod(name="old", node="node-0")],
        nominated=[other],
    )
    assert node_for(algorithm, make_pod(priority=10)) == node


def test_a_pod_must_fit_without_the_nominated_pods_too() -> None:
    """Rule 6 of the parity format."""
    other = make_pod(name="other", nominated_node="node-0")
    nodes = make_nodes(1, lambda i: {})
    algorithm = algorithm_of(Sociable, nodes=nodes, nominated=[other])
    assert message_for(algorithm, make_pod()) == "0/1 nodes are available: 1 lonely."


def test_a_plugin_that_skips_does_not_get_nominated_pods() -> None:
    """Rule 5 of the parity format."""
    others = [make_pod(name=n, nominated_node="node-0") for n in ("one", "two")]
    nodes = make_nodes(1, lambda i: {})
    algorithm = algorithm_of(Roomy, nodes=nodes, nominated=others)
    assert message_for(algorithm, make_pod()) == "0/1 nodes are available: 1 full."
    assert node_for(algorithm, make_pod(labels={"careless": ""})) == "node-0"


def test_nominated_pods_leave_the_cycle_state_as_it_was() -> None:
    other = make_pod(name="other", nominated_node="node-0")
    nodes = make_nodes(1, lambda i: {})
    algorithm = algorithm_of(Roomy, nodes=nodes, nominated=[other])
    state = CycleState()
    algorithm.find_feasible(Attempt.begin(state, make_pod(), algorithm.nodes))
    assert state[_SEEN] == []


def test_a_pods_own_nomination_takes_no_room() -> None:
    pod = make_pod(nominated_node="node-0")
    algorithm = algorithm_of(
        Roomy,
        nodes=make_nodes(1, lambda i: {}),
        pods=[make_pod(name="old", node="node-0")],
        nominated=[pod],
    )
    assert node_for(algorithm, pod) == "node-0"


def test_the_nominated_node_wins_without_scoring() -> None:
    """Rule 6 of the parity format."""
    nodes = make_nodes(3, lambda i: {"Rating": str(10 * i)})
    algorithm = algorithm_of(Picky, Rating, nodes=nodes)
    pod = make_pod(nominated_node="node-1")
    assert node_for(algorithm, pod) == "node-1"
    assert node_for(algorithm, make_pod()) == "node-2"


def test_the_nominated_node_wins_although_pre_filter_left_it_out() -> None:
    """Rule 6 of the parity format."""
    algorithm = algorithm_of(Chooser, nodes=make_nodes(2, lambda i: {}))
    pod = make_pod(labels={"Chooser": "node-0"}, nominated_node="node-1")
    assert node_for(algorithm, pod) == "node-1"


@pytest.mark.parametrize("nominated", ["node-0", "gone"])
def test_when_the_nominated_node_fails_all_nodes_are_tried(nominated: str) -> None:
    nodes = make_nodes(
        3, lambda i: {"Rating": str(i), **({} if i else {"Picky": "no"})}
    )
    algorithm = algorithm_of(Picky, Rating, nodes=nodes)
    assert node_for(algorithm, make_pod(nominated_node=nominated)) == "node-2"


# Scores


def test_without_score_plugins_the_first_feasible_node_is_chosen() -> None:
    """Rule 7 of the parity format."""
    nodes = make_nodes(4, lambda i: {"Picky": "no"} if i < 2 else {})
    algorithm = algorithm_of(Picky, nodes=nodes)
    decision = algorithm.schedule(CycleState(), make_pod(), _first)
    assert isinstance(decision, Decision)
    assert (decision.node.name, decision.feasible_nodes) == ("node-2", 1)
    assert totals(algorithm, nodes) == [1, 1, 1, 1]


def test_normalized_scores_are_weighted_and_summed() -> None:
    nodes = make_nodes(2, lambda i: {"Rating": "30", "Scaled": str(100 * i)})
    algorithm = algorithm_of(Rating, Scaled, nodes=nodes, weights={"Scaled": 3})
    assert totals(algorithm, nodes) == [30, 180]


def test_a_plugin_that_skips_does_not_score() -> None:
    nodes = make_nodes(2, lambda i: {"Rating": str(i), "Bored": str(50 - i)})
    assert node_for(algorithm_of(Rating, Bored, nodes=nodes), make_pod()) == "node-1"


def test_a_single_feasible_node_is_not_scored() -> None:
    algorithm = algorithm_of(Rating, nodes=make_nodes(1, lambda i: {"Rating": "x"}))
    assert node_for(algorithm, make_pod()) == "node-0"


def test_a_score_that_misses_its_state_fails_the_attempt() -> None:
    """It is an exception like any other; upstream's plugins say "not found"."""
    algorithm = algorithm_of(Forgetful, nodes=make_nodes(2, lambda i: {}))
    status = unfit_for(algorithm, make_pod()).status
    assert (status.is_error, status.plugin) == (True, "Forgetful")
    assert status.message.startswith(
        'running Score plugins: plugin "Forgetful" failed with: '
        "StateNotFoundError: nothing was written under 'seen' in this attempt ("
    )


def test_a_score_out_of_range_fails_the_attempt() -> None:
    nodes = make_nodes(2, lambda i: {"Rating": str(101 * i)})
    status = unfit_for(algorithm_of(Rating, nodes=nodes), make_pod()).status
    assert status.is_error
    assert "returns an invalid score 101" in status.message
