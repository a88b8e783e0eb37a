"""Broken plugins with one mistake each, and the finding of the contract suite.

A specification: what is wrong with the class below each name, the check that finds it,
and what the author reads.
"""

import gc
import subprocess
import sys
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.config import Kubernetes
from quaymaster.testing import (
    ContractError,
    MissingHypothesisError,
    PluginContract,
    SmallCluster,
    check_plugin,
    clusters,
    make_pod,
    nodes,
    pods,
)
from tests.kit.broken_plugins import (
    BROKEN,
    STOP,
    OnlyOpenNodes,
    RunsAThread,
    ScoresHigh,
)
from tests.kit.internals.testing import CHECKS, first_difference


@pytest.fixture
def _leaks_are_found(check: str) -> Iterator[None]:
    if check != "leaks":
        yield
        return
    STOP.clear()
    gc.unfreeze()  # else the referrers of an object cannot be reported
    yield
    gc.freeze()
    STOP.set()


@pytest.mark.usefixtures("unshrunk_examples", "_leaks_are_found")
@pytest.mark.long
@pytest.mark.parametrize(
    ("plugin", "check", "said"),
    [pytest.param(*case, id=case[0].__name__) for case in BROKEN],
)
def test_each_mistake_is_named_by_its_check(
    plugin: type, check: str, said: str
) -> None:
    others = {} if check == "loading" else dict.fromkeys(CHECKS, "not asked here")
    others.pop(check, None)
    with pytest.raises(ContractError) as caught:
        check_plugin(plugin, opt_outs=others)
    (found,) = caught.value.violations
    assert (found.check, found.plugin) == (check, plugin.__name__)
    assert said in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        pytest.param([], [("filter", "success")], id="only in the other one"),
        pytest.param([("filter", "success")], [], id="only here"),
    ],
)
def test_decision_of_one_process_alone_is_a_difference(
    here: Sequence[tuple[str, str]], there: Sequence[tuple[str, str]]
) -> None:
    common = [("pre_filter", "success")]
    difference = first_difference([*common, *here], [*common, *there])
    assert difference is not None
    assert difference[0] == "filter"
    assert "nothing more" in difference[1]
    assert first_difference([*common, *here], [*common, *here]) is None


class Sound(OnlyOpenNodes):
    """A valid plugin."""

    scope = Scope.NODE
    pod_use = PodUse.NONE

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return ""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_TAINT)]


class TestSound(PluginContract):
    plugin = Sound


class Shared:
    """An object of the scheduler, which keeps the informers of the first plugin."""

    def __init__(self, handle: Handle) -> None:
        self.informers = handle.informers


class SharesInformers(Sound):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.shared = handle.shared(Shared, lambda: Shared(handle))


def test_shared_object_may_keep_the_informers_of_a_replaced_plugin() -> None:
    others = {check: "not asked here" for check in CHECKS if check != "leaks"}
    check_plugin(SharesInformers, opt_outs=others)


class TestWithAThread(PluginContract):
    plugin = RunsAThread
    opt_outs = {"timers": "the check of leaks is meant"}


class TestOptedOut(PluginContract):
    plugin = ScoresHigh
    opt_outs = {"score range": "it is the only plugin of its profile"}


@pytest.mark.long
def test_checks_that_a_plugin_opts_out_of_are_skipped() -> None:
    check_plugin(ScoresHigh, opt_outs={"score range": "on purpose"})


class Notes:
    """Notes the pods that it gets."""

    noted: ClassVar[list[Pod]] = []

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        self.noted.append(pod)
        return None


def _constant(digest: bytes, _test: object) -> bytes:
    return digest


@pytest.mark.long
@pytest.mark.usefixtures("unshrunk_examples")
def test_same_clusters_are_drawn_whatever_the_source_of_the_suite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = {check: "not asked here" for check in CHECKS if check != "failures"}
    drawn = []
    for digest in (b"one source", b"another one"):
        Notes.noted.clear()
        # By default, hypothesis draws by the hash of the source of a test function.
        digest_of = partial(_constant, digest)
        monkeypatch.setattr("hypothesis.core.function_digest", digest_of)
        check_plugin(Notes, opt_outs=others)
        drawn.append(tuple(Notes.noted))
    assert drawn[0] == drawn[1]


def test_opting_out_needs_a_check_and_a_reason() -> None:
    with pytest.raises(ValueError, match=r"no check 'twins' .*did you mean 'twin'\?"):
        check_plugin(Sound, opt_outs={"twins": "on purpose"})
    with pytest.raises(ValueError, match="opting out of 'twin' needs a reason"):
        check_plugin(Sound, opt_outs={"twin": ""})


def test_suite_without_hypothesis_names_the_missing_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    said = r"not installed: hypothesis; pip install 'quaymaster\[testing\]'"
    with pytest.raises(MissingHypothesisError, match=said):
        check_plugin(Sound)
    for strategy in (clusters, nodes, pods):
        with pytest.raises(MissingHypothesisError, match=said):
            strategy()


@pytest.mark.long
def test_public_module_does_not_import_hypothesis() -> None:
    code = "import sys, quaymaster.testing; sys.exit('hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(cluster=clusters(pods=pods({"labels": {"tier": "gold"}})))
def test_drawn_clusters_are_consistent(cluster: SmallCluster) -> None:
    names = [node.name for node in cluster.nodes]
    assert names == [f"n{at}" for at in range(len(names))]
    assert all(pod.node_name in names for pod in cluster.pods)
    assert not any(pod.node_name for pod in cluster.pending)
    assert len({pod.uid for pod in (*cluster.pods, *cluster.pending)}) == len(
        cluster.pods
    ) + len(cluster.pending)


@given(
    cluster=clusters(
        pods=pods({"requests": {"cpu": "3"}}, {"limits": {"cpu": "2", "memory": "1Gi"}})
    )
)
def test_drawn_pods_request_no_more_than_their_limits(cluster: SmallCluster) -> None:
    for pod in (*cluster.pods, *cluster.pending):
        for container in pod.spec.containers:
            requests, limits = container.resources.requests, container.resources.limits
            assert all(
                requests.get(name, most) <= most for name, most in limits.items()
            )


def test_a_contract_without_a_plugin_is_an_error() -> None:
    class TestNothing(PluginContract):
        """A contract test class without a plugin."""

    with pytest.raises(ContractError, match="TestNothing: set plugin = "):
        _ = TestNothing().plugin


# Versions of Kubernetes ---------------------------------------------------------------


LABELLED = clusters(pods=st.builds(make_pod, labels=st.just({"tier": "gold"})))


class WrongInOldVersions:
    """A twin that rejects no node, where the scalar hook rejects all with 1.36."""

    def __init__(self, _args: object, handle: Handle) -> None:
        self._is_old = not handle.kubernetes.since("1.37")

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return Status.unschedulable("old") if self._is_old and pod.labels else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        codes = np.zeros(nodes.count(rows), dtype=np.int64)
        return NodeVerdicts(codes, lambda _code: Status.unschedulable("old"))


class WrongWhenAskedLate(WrongInOldVersions):
    """The same, but it reads the version in hooks only."""

    def __init__(self, _args: object, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        self._is_old = not self._handle.kubernetes.since("1.37")
        return super().filter(pod)


class FailsInOldVersions:
    """A plugin that cannot be built with 1.36."""

    def __init__(self, _args: object, handle: Handle) -> None:
        if not handle.kubernetes.since("1.37"):
            raise RuntimeError("too old")

    @hookimpl
    def filter(self) -> None: ...


@pytest.mark.long
@pytest.mark.parametrize("plugin", [WrongInOldVersions, WrongWhenAskedLate])
def test_a_plugin_that_reads_the_version_is_checked_with_all_versions(
    plugin: type,
) -> None:
    with pytest.raises(ContractError) as caught:
        check_plugin(plugin, clusters=LABELLED)
    said = f"[twin] {plugin.__name__}.filter_nodes, with Kubernetes 1.36: "
    assert said in str(caught.value)


def test_error_of_a_plugin_that_cannot_be_built_names_the_version() -> None:
    text = r"\[loading\] FailsInOldVersions, with Kubernetes 1\.36: .*too old"
    with pytest.raises(ContractError, match=text):
        check_plugin(FailsInOldVersions)


@pytest.mark.long
def test_versions_can_be_chosen() -> None:
    check_plugin(WrongInOldVersions, clusters=LABELLED, kubernetes=[Kubernetes("1.37")])
    with pytest.raises(ContractError, match=r"with Kubernetes 1\.36"):
        check_plugin(
            WrongInOldVersions, clusters=LABELLED, kubernetes=[Kubernetes("1.36")]
        )


@pytest.mark.long
def test_other_plugins_are_checked_with_the_newest_version_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(WrongInOldVersions, "__init__", lambda *_: None)
    monkeypatch.setattr(WrongInOldVersions, "_is_old", True, raising=False)
    with pytest.raises(ContractError) as caught:
        check_plugin(WrongInOldVersions, clusters=LABELLED)
    assert "with Kubernetes" not in str(caught.value)
