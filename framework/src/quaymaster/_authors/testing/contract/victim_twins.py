"""A check: batch twins of victim rules and limits agree with their scalar methods."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.large_numbers import with_large_numbers
from quaymaster._authors.testing.contract.replacing import replacing
from quaymaster._authors.testing.contract.rule_twins import twin_difference
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.state.arrays import RowArray
from quaymaster._kits.preemption.dry_run import DryRun
from quaymaster._kits.preemption.search import Search

__all__ = ["VICTIM_TWINS"]

_MOST_PRIORITIES: Final = 2


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in map(preempting, cluster.pending):
        _ask_pod(subject, cluster, pod)
    for variant, numbers in with_large_numbers(cluster):
        pod = preempting(variant.pending[0])
        _ask_pod(subject, variant, pod, f", with larger {numbers}")


def _ask_pod(subject: Subject, cluster: SmallCluster, pod: Pod, when: str = "") -> None:
    for harness in evicting_harnesses(subject, cluster, PluginHarness):
        difference = _difference(harness, pod)
        if difference:
            text = f"{difference}{when}"
            fail("post_filter", text, pod, cluster.nodes, cluster.pods)


def _difference(harness: PluginHarness, pod: Pod) -> str:
    """Return the difference that the first dry run with one has, or empty."""
    differences: list[str] = []
    find = DryRun.find

    def compare(
        dry_run: DryRun,
        state: CycleState,
        pod: Pod,
        rows: RowArray,
        **options: Any,
    ) -> Search:
        # Other checks report other failures.
        with suppress(Exception):
            rule, limit = dry_run.rule, dry_run.limit
            nodes = harness.snapshot.nodes
            for variant in (pod, *_with_priorities(pod, harness)):
                text = twin_difference(rule, limit, state, variant, nodes, rows)
                if text and variant is not pod:  # Identity: one of the variants
                    text = f"{text}, for a pod of priority {variant.priority}"
                differences.append(text)
        return find(dry_run, state, pod, rows, **options)

    with harness, replacing(DryRun, "find", compare), suppress(Exception):
        harness.start()
        harness.post_filter(pod)
    return next(filter(None, differences), "")


def _with_priorities(pod: Pod, harness: PluginHarness) -> Iterator[Pod]:
    """Yield the pod with the priorities of running pods, and with lower ones.

    Rules compare priorities, and all pods are victims of one with the highest.
    """
    running = {
        other.priority for info in harness.snapshot for other in info.pods.values()
    }
    for priority in sorted(running)[:_MOST_PRIORITIES]:
        for changed in (priority - 1, priority, priority + 1):
            yield replace(pod, spec=replace(pod.spec, priority=changed))


VICTIM_TWINS = Check(
    name="victim twins",
    promise="batch twins of victim rules and limits agree with the scalar methods",
    ask=_ask,
    hooks=frozenset({"post_filter"}),
)
