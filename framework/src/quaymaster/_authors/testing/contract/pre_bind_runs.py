"""A check: PreBind may run again, beside other pods, and after what it has left."""

from typing import Final

from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.pre_bind_again import ask_again
from quaymaster._authors.testing.contract.pre_bind_beside import ask_beside
from quaymaster._authors.testing.contract.pre_bind_failing import ask_failing
from quaymaster._authors.testing.contract.pre_bind_lagging import ask_lagging
from quaymaster._authors.testing.contract.pre_bind_late import ask_late
from quaymaster._authors.testing.contract.pre_bind_meanwhile import ask_meanwhile
from quaymaster._authors.testing.contract.pre_bind_names import ask_names
from quaymaster._authors.testing.contract.pre_bind_undoing import ask_undoing
from quaymaster._authors.testing.contract.pre_flights import ask_pre_flight
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["PRE_BIND"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    ask_names(subject, cluster)
    ask_again(subject, cluster)
    ask_beside(subject, cluster)
    ask_meanwhile(subject, cluster)
    ask_failing(subject, cluster)
    ask_lagging(subject, cluster)
    ask_late(subject, cluster)
    ask_undoing(subject, cluster)
    if subject.has("pre_bind_pre_flight"):
        ask_pre_flight(subject, cluster)


PRE_BIND: Final = Check(
    name="pre binding",
    promise="pre_bind may run again for a pod, on other nodes, and beside other pods",
    ask=_ask,
    hooks=frozenset({"pre_bind"}),
)
