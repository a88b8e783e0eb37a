"""A check: a plugin makes only the writes that its class declares."""

from contextlib import suppress

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.harnesses import admitted_harness
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.declared_writes import undeclared
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._base.errors import QuaymasterError

__all__ = ["RIGHTS"]

_STEPS = ("reserve", "permit", "pre_bind", "bind", "post_bind", "unreserve")


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for step in ("post_filter", *_STEPS):
            if subject.has(step):
                _ask_step(subject, cluster, pod, step)


def _ask_step(subject: Subject, cluster: SmallCluster, pod: Pod, step: str) -> None:
    harness = admitted_harness(subject, cluster)
    if harness is None:
        return
    # Other checks report other failures.
    with harness, suppress(Exception):
        _run(harness, subject, pod, step)
    if harness.refused:
        problem = undeclared(harness.refused[0])
        fail(step, problem, pod, cluster.nodes, cluster.pods)


def _run(harness: PluginHarness, subject: Subject, pod: Pod, step: str) -> None:
    """Run one hook, after all that come before it in an attempt."""
    if step == "post_filter":
        harness.post_filter(pod)
        return
    rejected = harness.filter(pod) if subject.has("filter") else {}
    if not subject.has("filter") and subject.has("pre_filter"):
        harness.pre_filter(pod)
    for info in harness.snapshot:
        if info.name not in rejected:
            break
    else:
        return
    for hook in _STEPS[: _STEPS.index(step) + 1]:
        if subject.has(hook):
            with suppress(QuaymasterError):
                getattr(harness, hook)(pod, info.name)


RIGHTS = Check(
    name="rights",
    promise="the plugin writes nothing to the cluster that its class does not declare",
    ask=_ask,
    hooks=frozenset({"post_filter", *_STEPS}),
)
