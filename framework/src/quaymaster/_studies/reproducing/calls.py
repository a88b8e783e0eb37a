"""The function `make_test`, which generates a test of a decision."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.wire import from_wire, to_wire
from quaymaster._base.errors import QuaymasterError, counted
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.kubernetes.anonymising import anonymised
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import RANDOM, SchedulerConfig
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.reproducing.capture import CapturingLog
from quaymaster._studies.reproducing.decision import Decision, decision_of
from quaymaster._studies.reproducing.first_cluster import cluster_of, useful_nodes
from quaymaster._studies.reproducing.playing import failure_of
from quaymaster._studies.reproducing.shrinking import (
    Budget,
    BudgetSpent,
    smaller_list,
    smaller_tree,
)
from quaymaster._studies.reproducing.writing import TestSource
from quaymaster._studies.simulation.attempts import shown_attempt
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.explained import ExplainedPod, WhichAttempt
from quaymaster._studies.simulation.explaining import explain_pod, without_node
from quaymaster._studies.simulation.names import RequestedPod
from quaymaster._studies.simulation.run import Simulation

__all__ = ["MAX_TRIALS", "MadeTest", "UnreproducibleError", "make_test"]

Tree: TypeAlias = dict[str, Any]

MAX_TRIALS = 2000
"""How many smaller clusters are tried."""

_SEEDS = 32
"""How many seeds are tried for a tie: each of two nodes wins with half of them."""


class UnreproducibleError(QuaymasterError):
    """A decision that no test can reproduce.

    Attributes:
        pod: The pod's key.
    """

    def __init__(self, pod: str, problem: str) -> None:
        super().__init__(f"pod '{pod}': {problem}")
        self.pod = pod


@attrs.frozen(kw_only=True)
class MadeTest:
    """A pytest file of a decision.

    Attributes:
        text: The file's content.
        pod: The pod's key in the test.
        outcome: The decision about it.
        nodes: The number of nodes in the test's cluster.
        pods: The new number of pods.
        objects: The number of all objects.
        trials: How many smaller clusters were tried.
        is_smallest: Whether nothing more can be removed from the cluster; False if the
            trials were used up.
    """

    text: str = attrs.field(repr=False)
    pod: str
    outcome: str
    nodes: int
    pods: int
    objects: int
    trials: int
    is_smallest: bool


def make_test(
    pod: str,
    objects: Sequence[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    namespace: str = "",
    unbind: bool = False,
    attempt: WhichAttempt | int = WhichAttempt.AUTO,
    config_name: str = "",
    config_text: str = "",
    kinds: Sequence[type[ApiObject]] = (),
    max_trials: int = MAX_TRIALS,
    max_pods: int = MAX_PODS,
    on_trial: Callable[[int, int], None] = lambda _done, _most: None,
) -> MadeTest:
    """Make a pytest file of the decision about a pod.

    The objects are simulated. The cluster at the attempt of the pod is then made
    smaller while the decision stays the same: the outcome, the node, and the reasons
    for which nodes were rejected, but not the number of nodes per reason. In the end,
    all names are replaced.

    Args:
        pod: As for `quaymaster.simulation.explain_pod`.
        objects: Nodes, pods, workloads and all else, as in manifests.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `quaymaster.simulation.explain_pod`.
        namespace: The only namespace to search; empty for all namespaces.
        unbind: Whether a pod that has a node is scheduled again.
        attempt: The attempt, by number or by word, as for
            `quaymaster.simulation.explain_pod`; ``all`` selects the last one. The
            attempt that preempts other pods comes before the one that gives the pod its
            node.
        config_name: The shipped profile with this configuration, for the test.
        config_text: The configuration's YAML, for the test, if it is not a shipped one.
            The default one needs neither.
        kinds: The kinds of plugins and packages, in addition to those of Kubernetes.
        max_trials: How many smaller clusters are tried at most.
        max_pods: How many pods the workloads may ask for in all.
        on_trial: Called with the number of trials so far, and the limit.

    Raises:
        PodNotFoundError: No object or several objects have that name, or the pod was
            tried less often.
        UnreproducibleError: The pod was never tried, the decision differs without the
            earlier attempts, or the test fails.
    """
    config, registry = with_defaults(config, registry)
    given = list(objects)
    if unbind:
        cluster = filled_cluster(given, seed, max_pods, kubernetes=config.kubernetes)
        taken = RequestedPod(pod, namespace, cluster).find()
        given = without_node(given, taken)
        pod, namespace = taken.key, ""
    maker = _Maker(
        config=config,
        registry=registry,
        seed=seed,
        kinds=KindSet(kinds),
        budget=Budget(max_trials, on_trial),
        max_pods=max_pods,
    )
    key, decision, captured = maker.capture(pod, given, namespace, attempt)
    maker.key, maker.expected = key, decision_of(decision)
    trees, is_smallest = maker.shrink(maker.first(decision, captured))
    trees, key = maker.anonymise(trees)
    explained = maker.explain(key, trees)
    source = TestSource(
        trees=trees,
        explained=explained,
        nominated_node=explained.attempts[0].nominated_node,
        config=config_name,
        config_text=config_text,
        kubernetes=config.kubernetes,
        seed=maker.seed,
        story=_story(
            trees,
            maker.budget.used,
            is_smallest,
            decision_of(decision),
            decision.explanation.tie_breaker if decision.explanation else RANDOM,
        ),
        has_own_kinds=maker.has_own_kinds(trees),
    )
    text = source.text()
    # The text itself is run, since it is what users get.
    if failure := failure_of(text):
        problem = f"the generated test does not reproduce the decision: {failure}"
        raise UnreproducibleError(pod, problem)
    counts = [tree["kind"] for tree in trees]
    return MadeTest(
        text=text,
        pod=key,
        outcome=explained.outcome.value,
        nodes=counts.count(Node.kind),
        pods=counts.count(Pod.kind),
        objects=len(counts),
        trials=maker.budget.used,
        is_smallest=is_smallest,
    )


def _story(
    trees: Sequence[Tree],
    trials: int,
    is_smallest: bool,
    decision: Decision,
    tie_breaker: str,
) -> str:
    count, tried = counted(len(trees), "object"), counted(trials, "trial")
    verb = "is" if len(trees) == 1 else "are"
    parts = [f"Of the cluster, {count} {verb} left after {tried}"]
    parts.append(
        ": without any field of them, it would be decided in another way."
        if is_smallest
        else "; more could perhaps be left out."
    )
    if decision.contest == "tied":
        who = "the seed" if tie_breaker == RANDOM else f"tieBreaker {tie_breaker}"
        parts.append(f" Another node is as good, so {who} decides.")
    parts.append(" All names are made up.")
    return "".join(parts)


@attrs.define(kw_only=True)
class _Maker:
    """Tries clusters: finds the decision about the pod in each."""

    config: SchedulerConfig
    registry: PluginRegistry
    seed: int
    kinds: KindSet
    budget: Budget
    max_pods: int
    key: str = ""
    expected: Decision | None = None
    _best: list[Tree] = attrs.field(factory=list, init=False)

    def capture(
        self,
        pod: str,
        objects: Sequence[ApiObject],
        namespace: str,
        which: WhichAttempt | int,
    ) -> tuple[str, Attempt, Sequence[ApiObject]]:
        """Simulate, and return the pod's key, its attempt, and the cluster then."""
        cluster = filled_cluster(
            objects, self.seed, self.max_pods, kubernetes=self.config.kubernetes
        )
        requested = RequestedPod(pod, namespace, cluster)
        terminating = any(
            pod.node_name and pod.is_terminating and not pod.is_finished
            for pod in cluster.list(Pod).items
        )
        if which is WhichAttempt.AUTO and terminating:
            which = WhichAttempt.FIRST
        if which in (WhichAttempt.AUTO, WhichAttempt.ALL):
            which = WhichAttempt.LAST
        log = CapturingLog(requested, which, cluster, list(self.kinds.own))
        with Simulation(
            cluster,
            config=self.config,
            registry=self.registry,
            seed=self.seed,
            log=log,
        ) as run:
            run.settle()
            stored = requested.find()
        attempts = log.of(stored.key)
        if not attempts:
            raise UnreproducibleError(stored.key, _why_untried(stored))
        shown = shown_attempt(stored.key, attempts, which)
        is_last = which is WhichAttempt.LAST
        if is_last and shown.outcome is AttemptOutcome.UNFINISHED and shown.number > 1:
            # A pod that waits on Permit and is refused again and again never settles.
            return self.capture(pod, objects, namespace, shown.number - 1)
        return stored.key, shown, log.captured(stored.key)

    def first(self, attempt: Attempt, captured: Sequence[ApiObject]) -> list[Tree]:
        """Return an initial cluster in which the decision is the same.

        The seed is changed to one with the same decision.

        Raises:
            UnreproducibleError: No seed leads to the same decision.
        """
        nodes = useful_nodes(attempt)
        candidates = (
            cluster_of(captured, self.key, nodes),
            cluster_of(captured, self.key, None),
            captured,
        )
        # Ties are drawn at random: for the pod alone, another seed may draw the node
        # that this seed drew after the earlier pods.
        is_tied = self.expected is not None and self.expected.contest == "tied"
        seeds = range(self.seed, self.seed + (_SEEDS if is_tied else 1))
        for candidate in candidates:
            trees = [to_wire(obj) for obj in candidate]
            for self.seed in seeds:
                if self.holds(trees, free=True):
                    return trees
        problem = "what is decided depends on what happened before; no test can say it"
        raise UnreproducibleError(self.key, problem)

    def shrink(self, trees: list[Tree]) -> tuple[list[Tree], bool]:
        """Return a smaller cluster, and whether nothing more can be removed."""
        try:
            # Until nothing changes: without a removed object, another may have become
            # useless.
            while True:
                before = trees
                # Nodes first: each takes its pods along, so that most of the cluster
                # goes in few trials.
                trees = self._fewer_nodes(trees)
                trees = smaller_list(trees, self.holds)
                for place in range(len(trees)):
                    trees = self._smaller_object(trees, place)
                if trees == before:
                    return trees, True
                self._best = trees
        except BudgetSpent:
            return self._best, False

    def _fewer_nodes(self, trees: list[Tree]) -> list[Tree]:
        """Remove nodes, each with its pods."""
        names = [_name(tree) for tree in trees if tree["kind"] == Node.kind]

        def among(kept: Sequence[str]) -> list[Tree]:
            return [tree for tree in trees if _node_of(tree) in ("", *kept)]

        return among(smaller_list(names, lambda kept: self.holds(among(kept))))

    def _smaller_object(self, trees: list[Tree], place: int) -> list[Tree]:
        def having(tree: Tree) -> list[Tree]:
            return [*trees[:place], tree, *trees[place + 1 :]]

        tree = smaller_tree(trees[place], lambda tree: self.holds(having(tree)))
        return having(tree)

    def holds(self, trees: Sequence[Tree], *, free: bool = False) -> bool:
        """Whether the decision is still the same in a cluster."""
        if not free:
            self.budget.take()
        # Otherwise a workload of the cluster could create a pod of the same name.
        if not any(self._is_the_pod(tree) for tree in trees):
            return False
        try:
            explained = self.explain(self.key, trees)
        # Such as a reference to an object that was removed.
        except QuaymasterError:
            return False
        is_same = bool(explained.attempts) and (
            decision_of(explained.attempts[0]) == self.expected
        )
        if is_same:
            self._best = list(trees)
        return is_same

    def explain(self, key: str, trees: Sequence[Tree]) -> ExplainedPod:
        """Explain the pod's first attempt in a cluster, as the test will."""
        return explain_pod(
            key,
            self._objects(trees),
            config=self.config,
            registry=self.registry,
            seed=self.seed,
            attempt=1,
            max_pods=self.max_pods,
        )

    def anonymise(self, trees: list[Tree]) -> tuple[list[Tree], str]:
        """Return the cluster with other names, and the pod's key in it.

        Raises:
            UnreproducibleError: With other names, the decision differs.
        """
        place = next(at for at, tree in enumerate(trees) if self._is_the_pod(tree))
        renamed = [_tidy(tree) for tree in anonymised(trees, self.kinds)]
        key = _key(renamed[place])
        try:
            explained = self.explain(key, renamed)
        except QuaymasterError as error:
            raise UnreproducibleError(self.key, str(error)) from error
        expected = self.expected
        decision = decision_of(explained.attempts[0])
        if expected is None or not decision.is_renamed(expected):
            problem = "with other names, it is decided about in another way"
            raise UnreproducibleError(self.key, problem)
        return renamed, key

    def has_own_kinds(self, trees: Sequence[Tree]) -> bool:
        """Whether some objects are of kinds of plugins and packages."""
        own = set(self.kinds.own)
        return any(
            self.kinds.find(tree["apiVersion"], tree["kind"]) in own for tree in trees
        )

    def _is_the_pod(self, tree: Tree) -> bool:
        return tree["kind"] == Pod.kind and _key(tree) == self.key

    def _objects(self, trees: Sequence[Tree]) -> list[ApiObject]:
        objects = []
        for tree in trees:
            kind = self.kinds.find(tree["apiVersion"], tree["kind"])
            if kind is not None:
                objects.append(from_wire(tree, kind))
        return objects


def _why_untried(pod: Pod) -> str:
    if pod.node_name:
        return f"it is on {pod.node_name} already; --unbind schedules it anew"
    return "no scheduler has tried it, so nothing was decided"


def _tidy(tree: Tree) -> Tree:
    """Remove empty and irrelevant fields."""
    return {key: value for key, value in tree.items() if value not in ({}, [], "")}


def _name(tree: Tree) -> str:
    return str(tree["metadata"].get("name", ""))


def _key(tree: Tree) -> str:
    namespace = tree["metadata"].get("namespace") or "default"
    return f"{namespace}/{_name(tree)}"


def _node_of(tree: Tree) -> str:
    """Return the name of a node, or of a pod's node; empty for other objects."""
    if tree["kind"] == Node.kind:
        return _name(tree)
    if tree["kind"] == Pod.kind:
        return str(tree.get("spec", {}).get("nodeName", ""))
    return ""
