"""A check: decisions do not depend on the hashes of texts, or the order of sets."""

from typing import Final

from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.decisions import decisions
from quaymaster._authors.testing.contract.other_process import ask_other_processes
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["HASH_ORDER"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    results = ask_other_processes(subject, cluster)
    made = decisions(subject, cluster) if results else []
    for result in results:
        for (hook, found), (_, other) in zip(made, result, strict=False):
            if found != other:
                text = (
                    f"{found}, and in another process {other}: sort what comes from a "
                    "set, and do not use hashes of texts (PYTHONHASHSEED changes them)"
                )
                fail(hook, text, cluster.pending, cluster.nodes, cluster.pods)


HASH_ORDER: Final = Check(
    name="hash order",
    promise="another process decides the same: no order of sets, no hash of a text",
    ask=_ask,
)
