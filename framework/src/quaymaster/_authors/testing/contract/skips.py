"""Two checks: a Skip stays valid for as long, and as far, as the plugin declares."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, cast

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, difference, shown
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.early_skips import ask_with_imagined_pods
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import Revised, skips_binding
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["BINDING_SKIPS", "SKIPPED_FILTER", "SKIPS"]

_SKIP: Final = Status.skip()

# Hook -> its answer if there is nothing to do.
_IDLE: Final[Mapping[str, object]] = {
    "reserve": None,
    "permit": None,
    "pre_bind_pre_flight": _SKIP,
}


def _ask_later(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    """Change the cluster, and call again the hooks whose revisions are unchanged."""
    bench = Bench(subject, cluster)
    before = []
    for pod in cluster.pending:
        said = bench.ask("skips_depend_on", pod)
        if said is not None:
            sources = cast(Sequence[Revised], said)
            before.append((pod, sources, _revisions(sources), _skipping(bench, pod)))
    bench.become(cluster, other)
    for pod, sources, revisions, skipping in before:
        if _revisions(sources) != revisions:
            continue
        again = _prepared(bench, pod)
        for hook in skipping:
            actual = again.get(hook, _SKIP)
            if actual != _SKIP:
                text = (
                    f"{shown(actual)}, and Skip before the cluster changed; yet "
                    "nothing that skips_depend_on names has another revision"
                )
                shown_objects = (*other.nodes, *other.pods, *other.objects)
                fail(hook, text, pod, shown_objects)


def _revisions(sources: Sequence[Revised]) -> list[int]:
    return [source.revision for source in sources]


def _skipping(bench: Bench, pod: Pod) -> Sequence[str]:
    return [hook for hook, said in _prepared(bench, pod).items() if said == _SKIP]


def _prepared(bench: Bench, pod: Pod) -> Mapping[str, object]:
    """Return the answer of PreFilter, and of PreScore if it is called."""
    state, nodes = CycleState(), bench.snapshot.nodes
    actual: dict[str, object] = {}
    if bench.subject.has("pre_filter"):
        actual["pre_filter"] = said = bench.pre_filter(state, pod)
        if isinstance(said, Status) and said != _SKIP:
            return actual
    if bench.subject.has("pre_score") and len(nodes):
        actual["pre_score"] = bench.ask("pre_score", state, pod, nodes, nodes.rows)
    return actual


def _ask_to_bind(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    """Continue with a skipped pod: the binding hooks must do nothing for it."""
    if not skips_binding(subject.plugin):
        return
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        state = CycleState()
        if not cluster.nodes or bench.pre_filter(state, pod) != _SKIP:
            continue
        expected, node = answers(bench, pod), cluster.nodes[0]
        with bench.assuming(pod, node.name) as assumed:
            for hook, idle in _IDLE.items():
                if not subject.has(hook):
                    continue
                said = bench.ask(hook, state, assumed, node.name)
                if said != idle:
                    text = f"{shown(said)} for a pod that pre_filter skips, but the"
                    fail(hook, f"{text} class says skips_binding", pod, node)
        changed = difference(answers(bench, pod), expected)
        if changed is not None:
            text = f"after it, for a pod that is skipped, {changed.hook} says {changed}"
            fail("reserve", f"{text}, but the class says skips_binding", pod, node)


def _ask_skipped_filter(
    subject: Subject, cluster: SmallCluster, _other: SmallCluster
) -> None:
    """Call Filter although PreFilter returns Skip: it must not reject a node.

    This includes nodes to which other pods are nominated. A Filter that needs the
    state of PreFilter raises an exception, which is fine.
    """
    if not subject.has("filter"):
        return
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        state = CycleState()
        if bench.pre_filter(state, pod) != _SKIP:
            continue
        for info in list(bench.snapshot):
            with suppress(HookFailedError):
                _expect_no_rejection(bench, state, pod, info, cluster)
        ask_with_imagined_pods(bench, cluster, pod)


def _expect_no_rejection(
    bench: Bench, state: CycleState, pod: Pod, info: NodeInfo, cluster: SmallCluster
) -> None:
    verdict = bench.ask("filter", state, pod, info)
    if isinstance(verdict, Status) and verdict.is_rejected:
        if _new_instance_accepts(bench.subject, cluster, pod, info.name):
            text = (
                f"{shown(verdict)} for node '{info.name}' after a Skip of pre_filter, "
                "but not from a new instance: calls for other pods have changed what "
                "the plugin keeps; keep what belongs to an attempt in its CycleState"
            )
            fail("filter", text, pod, cluster.pending, info.node, info.pods.values())
        text = f"Skip, but filter rejects node '{info.name}': {shown(verdict)}"
        text = f"{text}; after a Skip it is not called"
        fail("pre_filter", text, pod, info.node, info.pods.values())


def _new_instance_accepts(
    subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str
) -> bool:
    """Return whether an instance accepts a node that got no call for another pod.

    A Filter that fails there lacks the state of PreFilter.
    """
    bench, state = Bench(subject, cluster), CycleState()
    info = bench.snapshot.get(node_name)
    if info is None or bench.pre_filter(state, pod) != _SKIP:
        return False
    with suppress(HookFailedError):
        verdict = bench.ask("filter", state, pod, info)
        return not (isinstance(verdict, Status) and verdict.is_rejected)
    return True


SKIPPED_FILTER = Check(
    name="skipped filter",
    promise="pre_filter returns Skip only if filter rejects no node, nor would",
    ask=_ask_skipped_filter,
    hooks=frozenset({"pre_filter"}),
)
SKIPS = Check(
    name="skips",
    promise="a Skip is valid until a revision in skips_depend_on changes",
    ask=_ask_later,
    hooks=frozenset({"skips_depend_on"}),
    needs_other=True,
)
BINDING_SKIPS = Check(
    name="binding skips",
    promise="with skips_binding, binding hooks do nothing for a skipped pod",
    ask=_ask_to_bind,
    hooks=frozenset({"reserve", "permit", "pre_bind"}),
)
