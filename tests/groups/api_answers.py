"""Our answers to the family ``api``: requests about groups to an API server."""

from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_priority_class
from tests.groups.api_server import ApiServer
from tests.groups.cases import Tree, kubernetes_of

__all__ = ["api_answer"]


def api_answer(case: Tree) -> Tree:
    """Return our answers to the requests of a case."""
    cluster = InMemoryCluster(
        VirtualClock(),
        kubelet=False,
        controllers=False,
        kubernetes=kubernetes_of(case),
    )
    for name, value, policy in (
        ("high", 1000, "PreemptLowerPriority"),
        ("low", 10, "PreemptLowerPriority"),
        ("high-never", 1000, "Never"),
    ):
        cluster.create(
            make_priority_class(name=name, value=value, preemption_policy=policy)
        )
    server = ApiServer(cluster)
    return {"id": case["id"], "answers": list(map(server.answer, case["requests"]))}
