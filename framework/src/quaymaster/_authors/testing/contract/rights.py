"""A check: a plugin makes only the writes that its class declares."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    post_filter_harnesses,
    preempting,
)
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
        _ask_pod(subject, cluster, pod)


def _ask_pod(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    for step in _STEPS:
        if subject.has(step):
            harness = admitted_harness(subject, cluster, PluginHarness)
            if harness is None:
                break
            run_step = partial(_run, harness, subject, pod, step)
            _ask_step(harness, cluster, pod, step, run_step)
    if subject.has("post_filter"):
        for harness in post_filter_harnesses(subject, cluster):
            run_post_filter = partial(harness.post_filter, preempting(pod))
            _ask_step(harness, cluster, pod, "post_filter", run_post_filter)


def _ask_step(
    harness: PluginHarness,
    cluster: SmallCluster,
    pod: Pod,
    step: str,
    run: Callable[[], object],
) -> None:
    # Other checks report other failures.
    with harness, suppress(Exception):
        harness.start()
        run()
    if harness.refused:
        problem = undeclared(harness.refused[0])
        fail(step, problem, pod, cluster.nodes, cluster.pods)


def _run(harness: PluginHarness, subject: Subject, pod: Pod, step: str) -> None:
    """Run one hook, after all that come before it in an attempt."""
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
