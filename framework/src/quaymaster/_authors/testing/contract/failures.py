"""A check: hooks do not raise, and return what their spec allows."""

from collections.abc import Iterable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    post_filter_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.object_keys import WatchedObjects
from quaymaster._authors.testing.contract.old_pods import OLD_DAYS, aged
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import (
    NOT_NUMBERS,
    ODD_NUMBERS,
    with_texts,
)
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.contract_error import ContractError
from quaymaster._authors.testing.harness import PluginHarness, PluginStatusError
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import describe_exception

__all__ = ["FAILURES"]

_COPIES: Final = 8
_MOST_SHOWN: Final = 20


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    try:
        objects = WatchedObjects(subject)
        services = subject.make_services(subject.empty_cluster)
        services = attrs.evolve(services, informers=objects)
        bench = Bench(subject, cluster, services=services)
        if subject.has("events_to_register"):
            bench.ask("events_to_register")
        Bench(subject, cluster).close()
    except HookFailedError as failure:
        fail(failure.hook, failure.problem)
    for pod in cluster.pending:
        try:
            walk(bench, pod)
            if subject.has("post_filter"):
                _post_filter(subject, cluster, pod)
        except HookFailedError as failure:
            fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)
    _ask_with_old_pods(bench, cluster)
    confused = objects.confused_key(cluster.objects)
    if confused is not None:
        fail("", str(confused), confused.meant, cluster.pending)
    _ask_with_texts(subject, cluster)
    crowded = _crowded(cluster)
    try:
        walk(Bench(subject, crowded), cluster.pending[0])
    except HookFailedError as failure:
        shown = (cluster.pending[0], crowded.nodes, crowded.pods)
        fail(failure.hook, failure.problem, *shown)


def _ask_with_old_pods(bench: Bench, cluster: SmallCluster) -> None:
    """Call the hooks for pods that have waited longer than the scheduler has run."""
    for pod in map(aged, cluster.pending):
        try:
            bench.add(pod)
            walk(bench, pod)
        except HookFailedError as failure:
            text = f"{failure.problem} (the pod was created {OLD_DAYS} days ago)"
            fail(failure.hook, text, pod, cluster.nodes, cluster.pods)


def _ask_with_texts(subject: Subject, cluster: SmallCluster) -> None:
    """Call the hooks where labels and annotations are odd numbers.

    A plugin may fail on any text that is not a number, but not on these alone.
    """
    if not cluster.nodes or _failure_with(subject, cluster, ODD_NUMBERS) is None:
        return
    if _failure_with(subject, cluster, NOT_NUMBERS) is not None:
        return
    for text, remedy in ODD_NUMBERS.items():
        failure = _failure_with(subject, cluster, [text])
        if failure is not None:
            problem = (
                f"{failure.problem} for a label or annotation {_shown(text)}, but not "
                f"for texts that are no numbers: {remedy}"
            )
            fail(failure.hook, problem, cluster.pending, cluster.nodes)


def _shown(text: str) -> str:
    """Return a text in quotes, or what a long one consists of."""
    is_long = len(text) > _MOST_SHOWN
    return f"of {len(text)} times '{text[0]}'" if is_long else f"'{text}'"


def _failure_with(
    subject: Subject, cluster: SmallCluster, texts: Iterable[str]
) -> HookFailedError | None:
    texted = with_texts(cluster, [*texts])
    try:
        bench = Bench(subject, texted)
        for pod in texted.pending:
            walk(bench, pod)
    except HookFailedError as failure:
        return failure
    return None


def _crowded(cluster: SmallCluster) -> SmallCluster:
    """Return a cluster with many pods like a waiting one on its first node.

    No filter has placed them: other schedulers also bind pods.
    """
    if not cluster.nodes:
        return cluster
    node_name = cluster.nodes[0].name
    copies = copies_of(cluster.pending[0], _COPIES)
    placed = [replace(copy, node_name=node_name) for copy in copies]
    return attrs.evolve(cluster, pods=(*cluster.pods, *placed))


def _post_filter(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    if not cluster.nodes:
        return
    for harness in post_filter_harnesses(subject, cluster):
        with harness:
            _ask_post_filter(harness, pod)


def _ask_post_filter(harness: PluginHarness, pod: Pod) -> None:
    try:
        harness.start()
        harness.post_filter(preempting(pod))
    except (PluginStatusError, ContractError):
        return  # an undeclared write is a matter of another check
    except QuaymasterError as error:
        raise HookFailedError("post_filter", str(error)) from error
    except Exception as error:
        problem = f"raised {describe_exception(error)}"
        raise HookFailedError("post_filter", problem) from error


FAILURES = Check(
    name="failures",
    promise="no hook raises, each returns what its spec allows, and keys may exist",
    ask=_ask,
)
