"""Runs PreBind of two pods at the same time."""

import inspect

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    BindingRun,
    begin,
    content_of,
    open_nodes,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.handled_objects import handled
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.results import PreBindWait

__all__ = ["ask_beside"]

_REMEDY = (
    "several pods are in PreBind at the same time, so keep what belongs to a pod in "
    "its CycleState or in a local variable, not in the plugin"
)


def ask_beside(subject: Subject, cluster: SmallCluster) -> None:
    """Check that PreBind of a pod, and its wait, do not use data of another pod.

    Raises:
        Finding: They do.
    """
    pairs = list(zip(cluster.pending, cluster.pending[1:], strict=False))
    for pod, rival in (*pairs, *((rival, pod) for pod, rival in pairs)):
        _ask_written(subject, cluster, pod, rival)
        _ask_wait(subject, cluster, pod, rival)


def _ask_written(subject: Subject, cluster: SmallCluster, pod: Pod, rival: Pod) -> None:
    """Compare what PreBind writes when another pod was reserved before it, or not."""
    plain, bench = Bench(subject, cluster), Bench(subject, cluster)
    expected, run = _begin(plain, pod), _begin(bench, pod)
    if expected is None or run is None or _begin(bench, rival) is None:
        return
    expected_answer, answer = expected.pre_bind(), run.pre_bind()
    before = {(type(obj), obj.key): content_of(obj) for obj in expected.written}
    after = {(type(obj), obj.key): content_of(obj) for obj in run.written}
    if after != before:
        text = (
            f"writes other objects for pod '{pod.key}' if pod '{rival.key}' passes "
            f"reserve before: {_REMEDY}"
        )
        fail("pre_bind", text, pod, rival, run.written, expected.written)
    if type(answer) is not type(expected_answer):
        text = (
            f"{shown(answer)} for pod '{pod.key}', expected {shown(expected_answer)} "
            f"as without pod '{rival.key}', which passes reserve before: {_REMEDY}"
        )
        fail("pre_bind", text, pod, rival)


def _ask_wait(subject: Subject, cluster: SmallCluster, pod: Pod, rival: Pod) -> None:
    """Compare a wait if this instance runs PreBind of another pod, or another one."""
    benches = [Bench(subject, cluster), Bench(subject, cluster)]
    runs, waits = [], []
    for bench, other in zip(benches, (benches[0], benches[1].sibling()), strict=True):
        run = _begin(bench, pod)
        wait = run.pre_bind() if run is not None else None
        if run is None or not isinstance(wait, PreBindWait):
            return
        rival_run = _begin(other, rival)
        if rival_run is None:
            return
        rival_run.pre_bind()
        runs.append(run)
        waits.append(wait)
    run = runs[0]
    for obj in (None, *(new for old in run.written for new in handled(old, cluster))):
        answers = []
        for bench, wait in zip(benches, waits, strict=True):
            if obj is not None:
                bench.add(obj)
            answers.append(_checked(wait))
        if answers[0] != answers[1]:
            text = (
                f"the check of the PreBindWait of pod '{pod.key}' returns {answers[0]}"
                f" once pre_bind has run for pod '{rival.key}', expected {answers[1]}: "
                f"{_REMEDY}"
            )
            fail("pre_bind", text, pod, rival, run.written)


def _begin(bench: Bench, pod: Pod) -> BindingRun | None:
    nodes = open_nodes(bench, pod)
    return begin(bench, pod, nodes[0]) if nodes else None


def _checked(wait: PreBindWait) -> str:
    # The guard would return a status for an exception.
    check = inspect.unwrap(wait.check)
    try:
        return shown(check())
    except Exception as error:
        return describe_exception(error)
