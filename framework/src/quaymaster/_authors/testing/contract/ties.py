"""A check: a tie breaker names one of the tied nodes."""

from quaymaster._authors.testing.contract.answers import answers
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.status import Status

__all__ = ["TIES"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        actual = answers(bench, pod)
        if not actual.tied or actual.tie in actual.tied:
            continue
        tie = actual.tie
        said = f"gave up: {tie.message}" if isinstance(tie, Status) else f"{tie}"
        rows = ", ".join(map(str, actual.tied))
        text = f"{said}, expected one of the rows {rows}"
        fail("break_tie", text, pod, cluster.nodes, cluster.pods)


TIES = Check(
    name="ties",
    promise="a tie is broken by naming one of the tied rows",
    ask=_ask,
    hooks=frozenset({"break_tie"}),
)
