"""A check: a result of PostFilter repeats only as long as the hook would return it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.changes_beside_nodes import (
    Change,
    Changed,
    changes_beside_nodes,
    no_change,
)
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import preempting, signed_harnesses
from quaymaster._authors.testing.contract.repeating_harness import (
    RepeatingHarness,
    Trace,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.results import PostFilterResult
from quaymaster._core.contract.status import Status

__all__ = ["REPEATS"]

_MOST_PRIORITIES: Final = 2
"""The running pods near whose priorities pods are tried."""

_REMEDY: Final = (
    "the framework does not call the hook then, so compare in repeats all that the "
    "result follows from besides the nodes and the pods on them (such as the priority "
    "of the pod, other objects, nominations and the time), and return False if "
    "anything differs"
)


@attrs.frozen
class _Problem:
    """A call of `repeats` that is wrong.

    Attributes:
        pod: The pod.
        changed: What has changed since the result was returned.
        text: What is wrong, and what to do.
    """

    pod: Pod
    changed: Changed
    text: str


@attrs.frozen
class _Trial:
    """An attempt that fails, and later attempts for which its result may hold again.

    Attributes:
        subject: The plugin.
        cluster: The cluster before.
        pod: The pod of the first attempt.
        others: The pods of the later ones.
    """

    subject: Subject
    cluster: SmallCluster
    pod: Pod
    others: Sequence[Pod]

    def ask(self, change: Change) -> bool:
        """Make a change after the first attempt, and compare the next ones.

        Returns:
            Whether the framework has kept a result that may repeat.

        Raises:
            Finding: A call of `repeats` is wrong.
        """
        is_kept = False
        harnesses = signed_harnesses(self.subject, self.cluster, RepeatingHarness)
        for harness in harnesses:
            problem = None
            # Other checks report failures.
            with harness, suppress(Exception):
                harness.start()
                harness.queue(self.others)
                harness.fail_once(self.pod)
                if harness.kept(self.pod) is not None:
                    is_kept = True
                    problem = self._first_problem(harness, change)
            if problem is not None:
                self._fail(problem)
        return is_kept

    def _first_problem(
        self, harness: RepeatingHarness, change: Change
    ) -> _Problem | None:
        for changed in change(harness, self.pod):
            for pod in self.others:
                text = _wrong_repetition(harness, pod)
                if text:
                    return _Problem(pod, changed, text)
        return None

    def _fail(self, problem: _Problem) -> None:
        pod, changed = problem.pod, problem.changed
        # Identity: it may be one pod in both attempts.
        is_same = pod is self.pod
        first = "this pod" if is_same else f"pod '{self.pod.key}'"
        text = (
            f"for pod '{pod.key}' {changed.when}, repeats of the result for {first} "
            f"{problem.text}"
        )
        pods = [pod] if is_same else [self.pod, pod]
        cluster = self.cluster
        fail("post_filter", text, pods, changed.objects, cluster.nodes, cluster.pods)


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in (cluster.pending[0], preempting(cluster.pending[0])):
        equal, *alike = _copies(pod, cluster.pods)
        others = (pod, equal, *cluster.pending[1:])
        if _Trial(subject, cluster, pod, (*others, *alike)).ask(no_change):
            trial = _Trial(subject, cluster, pod, others)
            for change in changes_beside_nodes(subject, cluster, other):
                trial.ask(change)


def _copies(pod: Pod, running: Sequence[Pod]) -> Iterator[Pod]:
    """Yield an equal pod, and copies with another namespace, priority or policy."""
    priorities = sorted({each.priority for each in running})[:_MOST_PRIORITIES]
    near = {each + step for each in (pod.priority, *priorities) for step in (-1, 0, 1)}
    specs = [replace(pod.spec, priority=each) for each in sorted(near)]
    specs.append(replace(pod.spec, preemption_policy="Never"))
    equal, *copies = copies_of(pod, 1 + len(specs))
    yield equal
    yield from copies_of(pod, 1, f"{pod.namespace}-next")
    for copy, spec in zip(copies, specs, strict=True):
        yield replace(copy, spec=replace(spec, scheduling_gates=()))


def _wrong_repetition(harness: RepeatingHarness, pod: Pod) -> str:
    """Ask whether the kept result repeats, and compare it with that of the hook.

    Returns:
        What is wrong; empty if nothing is.
    """
    kept = harness.kept(pod)
    if kept is None or kept.repeats is None:
        return ""
    # If it fails, its guard returns a status.
    repeats: Callable[[Pod], object] = kept.repeats
    statuses = harness.attempt(pod)
    answer, repeating = harness.repeated_draws(
        lambda: harness.traced(lambda: repeats(pod))
    )
    if isinstance(answer, Status):
        return f"fails: {answer.message}"
    if not answer:
        return ""
    result, hook = harness.traced(lambda: harness.call_hook(pod, statuses))
    if _compared(result) != _compared(kept):
        return (
            f"returns True, although the hook returns {_shown(result)}, and has "
            f"returned {_shown(kept)} before: {_REMEDY}"
        )
    return _other_effects(repeating, hook)


def _other_effects(repeating: Trace, hook: Trace) -> str:
    """Return what the hook does besides its result, and `repeats` does not do."""
    missing = [act for act in hook.acts if act not in repeating.acts]
    if missing:
        return (
            f"returns True, although the hook {' and '.join(missing)}: the framework "
            "does not call the hook then, so return False, or let the result have no "
            "repeats, unless repeats does all that the hook would do"
        )
    if repeating.random != hook.random:
        return (
            "returns True, and draws other random numbers than the hook: draw from "
            "handle.random what the hook would draw before returning True, so that "
            "later decisions are the same"
        )
    return ""


def _compared(result: PostFilterResult) -> object:
    status = result.status
    rejected = None if status is None else (status.code, status.reasons)
    return rejected, result.nominating, result.message


def _shown(result: PostFilterResult) -> str:
    parts = [shown(result.status)]
    nominating = result.nominating
    if nominating is not None:
        parts.append(f"nomination {nominating.mode.value} '{nominating.node_name}'")
    if result.message:
        parts.append(f"message '{result.message}'")
    return ", ".join(parts)


REPEATS: Final = Check(
    name="repeats",
    promise="a result of post_filter repeats only if the hook would return it again",
    ask=_ask,
    hooks=frozenset({"post_filter"}),
    needs_other=True,
)
