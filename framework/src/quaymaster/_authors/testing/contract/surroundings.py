"""A check: decisions do not depend on the process: its hashes, date and time zone."""

from typing import Final

from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.decisions import decisions
from quaymaster._authors.testing.contract.other_process import ask_other_processes
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["OTHER_PROCESS"]

_REMEDY: Final = (
    "sort what comes from a set, do not use hashes of texts (PYTHONHASHSEED changes "
    "them), and read handle.clock instead of the wall clock (the other process has "
    "another date and time zone)"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    results = ask_other_processes(subject, cluster)
    made = decisions(subject, cluster) if results else []
    for result in results:
        for (hook, found), (_, other) in zip(made, result, strict=False):
            if found != other:
                text = f"{found}, and in another process {other}: {_REMEDY}"
                fail(hook, text, cluster.pending, cluster.nodes, cluster.pods)


OTHER_PROCESS: Final = Check(
    name="other process",
    promise="another process decides the same, with other hashes on another date",
    ask=_ask,
)
