"""Checks: equal calls get equal answers, and answers follow the cluster."""

from quaymaster._authors.testing.contract.answers import answers, difference
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["DETERMINISM", "STALENESS"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench, again = Bench(subject, cluster), Bench(subject, cluster)
    for pod in cluster.pending:
        expected = answers(bench, pod)
        for who, found in (
            ("when it is called again", answers(bench, pod)),
            ("when another instance is called", answers(again, pod)),
        ):
            changed = difference(found, expected)
            if changed is not None:
                text = f"{changed} as before, {who} with an unchanged cluster"
                fail(changed.hook, text, pod, cluster.nodes, cluster.pods)


def _ask_later(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        answers(bench, pod)
    bench.become(cluster, other)
    old = bench.plugin
    young, _ = subject.make(bench.services)
    for pod in cluster.pending:
        bench.plugin = old
        found = answers(bench, pod)
        bench.plugin = young
        changed = difference(found, answers(bench, pod))
        if changed is not None:
            text = f"{changed} as from a new instance"
            fail(
                changed.hook,
                f"{text}; it keeps data of the earlier cluster",
                pod,
                [*cluster.nodes, *cluster.pods],
                [*other.nodes, *other.pods, *other.objects],
            )


DETERMINISM = Check(
    name="determinism",
    promise="the same call with the same cluster has the same answer",
    ask=_ask,
)
STALENESS = Check(
    name="staleness",
    promise="answers follow the cluster: no outdated data is used",
    ask=_ask_later,
    needs_other=True,
)
