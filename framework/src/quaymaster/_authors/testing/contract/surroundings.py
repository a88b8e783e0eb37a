"""A check: decisions do not depend on the process: its hashes, date and time zone."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.decisions import FAILS, Decision, decisions
from quaymaster._authors.testing.contract.other_process import ask_other_processes
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["OTHER_PROCESS", "first_difference"]

_REMEDY: Final = (
    "sort what comes from a set, do not use hashes of texts (PYTHONHASHSEED changes "
    "them), use handle.random instead of the module random, and read handle.clock "
    "instead of the wall clock (the other process has another date and time zone)"
)
_NOTHING: Final[Decision] = ("", "nothing more")


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    results = ask_other_processes(subject, cluster)
    made = decisions(subject, cluster) if results else []
    for result in results:
        changed = first_difference(made, result)
        if changed is not None:
            hook, problem = changed
            text = f"{problem}: {_REMEDY}"
            fail(hook, text, cluster.pending, cluster.nodes, cluster.pods)


def first_difference(
    here: Sequence[Decision], there: Sequence[Decision]
) -> Decision | None:
    """Compare the decisions of two processes.

    Returns:
        The hook that decides otherwise, and what each process decides; None if all
        decisions are equal. If the hook fails in both, another check reports it.
    """
    for own, other in zip_longest(here, there, fillvalue=_NOTHING):
        (hook, decided), (other_hook, otherwise) = own, other
        if own != other and not _fail_both(decided, otherwise):
            problem = f"{decided}, and in another process {otherwise}"
            return hook or other_hook, problem
    return None


def _fail_both(decided: str, otherwise: str) -> bool:
    return decided.startswith(FAILS) and otherwise.startswith(FAILS)


OTHER_PROCESS: Final = Check(
    name="other process",
    promise="another process decides the same, with other hashes on another date",
    ask=_ask,
)
