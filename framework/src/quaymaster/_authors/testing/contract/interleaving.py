"""A check: what belongs to an attempt is in its CycleState, not in the plugin."""

from functools import partial
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, difference, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    binding_answers,
    first_open_node,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["INTERLEAVING"]

_WHEN: Final = (
    "when an attempt for another pod runs between two hooks: keep what belongs to an "
    "attempt in its CycleState, not in the plugin"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    pairs = list(zip(cluster.pending, cluster.pending[1:], strict=False))
    for pod, rival in (*pairs, *((rival, pod) for pod, rival in pairs)):
        bench = Bench(subject, cluster)
        expected = answers(bench, pod)
        attempt = answers(bench, pod, partial(answers, bench, rival))
        changed = difference(attempt, expected)
        if changed is not None:
            fail(changed.hook, f"{changed} as before, {_WHEN}", pod, rival)
        if subject.has("reserve") or subject.has("permit"):
            _ask_binding(subject, cluster, pod, rival)


def _ask_binding(subject: Subject, cluster: SmallCluster, pod: Pod, rival: Pod) -> None:
    plain, bench = Bench(subject, cluster), Bench(subject, cluster)
    node_name = first_open_node(plain, pod)
    if not node_name or first_open_node(bench, pod) != node_name:
        return
    expected = binding_answers(plain, pod, node_name)
    meanwhile = partial(answers, bench, rival)
    results = binding_answers(bench, pod, node_name, meanwhile)
    for hook, answer in results.items():
        if answer != expected.get(hook):
            text = f"{shown(answer)}, expected {shown(expected.get(hook))}"
            fail(hook, f"{text} {_WHEN}", pod, rival)


INTERLEAVING: Final = Check(
    name="interleaving",
    promise="attempts for other pods may run between the hooks of an attempt",
    ask=_ask,
    hooks=frozenset({"filter", "score", "reserve", "permit"}),
)
