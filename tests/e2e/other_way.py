"""One pod after another: ``quaymaster run`` decides after kube-scheduler has."""

from collections.abc import Iterator
from typing import Final

from tests.e2e.client import ApiClient, Tree, path_of
from tests.e2e.follower import key_of
from tests.e2e.mixed_pods import Arrival
from tests.e2e.one_by_one import Trial
from tests.e2e.processes import ProcessError, eventually
from tests.e2e.scheduler_log import Opinion

__all__ = ["JUDGE", "OURS", "JudgedByKubeScheduler", "let_judge"]

OURS: Final = "quaymaster"
JUDGE: Final[Tree] = {
    "profiles": [
        {
            "schedulerName": OURS,
            "plugins": {"preEnqueue": {"disabled": [{"name": "SchedulingGates"}]}},
        }
    ]
}
"""kube-scheduler's configuration: it tries pods at once, in spite of their gates."""

_GATE: Final = {"name": "example.com/judged"}
_SECONDS: Final = 5.0  # for evictions that differ


def let_judge(admin: ApiClient, user: str) -> None:
    """Let a user read everything and write nothing, so that it binds no pod."""
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    metadata = {"name": "judge"}
    role = {"kind": "ClusterRole", "metadata": metadata, "rules": [rule], **rbac}
    binding = {
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"kind": "ClusterRole", "name": "judge"},
        "subjects": [{"kind": "User", "name": user}],
        **rbac,
    }
    admin.create_all([role, binding], threads=1)


class JudgedByKubeScheduler(Trial):
    """Quaymaster decides; a kube-scheduler without write access has decided before.

    Each pod has a gate at first, which that kube-scheduler ignores: it tries the pod at
    once, and its writes are refused. Then the test removes the gate; the state is still
    the same.
    """

    def arrive(self, arrival: Arrival) -> Iterator[str]:
        """Create a pod, and let it run and end."""
        client = self.scene.client
        pod = {**arrival.pod}
        pod["spec"] = {**pod["spec"], "schedulingGates": [_GATE], "schedulerName": OURS}
        pod = client.create(pod)
        key = key_of(pod)
        eventually(lambda: self._first(key).is_complete, what=f"an opinion on {key}")
        theirs = self._first(key)
        client.patch(path_of(pod), {"spec": {"schedulingGates": []}})
        self.scene.pods.wait(
            lambda: self.node_of(key) or self.reason_of(key), what=f"a node for {key}"
        )
        self.counts["attempts"] += 1
        victims = self._evicted(theirs)
        found = list(self._differences(key, theirs, victims))
        if victims:
            self.counts["made room"] += 1
            self.let_go(victims)
            self.scene.pods.wait(lambda: self.node_of(key), what=f"room for {key}")
            if self.node_of(key) != theirs.target:
                found.append(f"is on {self.node_of(key)!r} in the end")
        self.counts["differ"] += bool(found)
        for difference in found:
            yield f"{key}: {difference}"
        self.finish(pod)

    def _first(self, key: str) -> Opinion:
        """Return kube-scheduler's result for a new pod."""
        return next(iter(self.log.of(key)), Opinion())

    def _evicted(self, theirs: Opinion) -> set[str]:
        """Return the evicted pods, after a wait for kube-scheduler's victims."""
        wanted = theirs.victims.get(theirs.target, set())
        try:
            self.scene.pods.wait(lambda: self._leaving() >= wanted, within=_SECONDS)
        except ProcessError:
            self.counts["late"] += 1
        return self._leaving()

    def _leaving(self) -> set[str]:
        return {
            key_of(pod)
            for pod in self.scene.pods.all()
            if "deletionTimestamp" in pod["metadata"]
        }

    def _differences(
        self, key: str, theirs: Opinion, victims: set[str]
    ) -> Iterator[str]:
        node = self.node_of(key)
        if node and node not in theirs.best:
            where = theirs.totals or theirs.chosen or theirs.message
            yield f"is on {node}, kube-scheduler: {where}"
        if self.reason_of(key) != theirs.message and not node:
            yield f"message {self.reason_of(key)!r}, kube-scheduler {theirs.message!r}"
        pod = self.scene.pods.get(key)
        target = pod["status"].get("nominatedNodeName", "") if pod else ""
        if target != theirs.target:
            yield f"makes room on {target!r}, kube-scheduler on {theirs.target!r}"
        wanted = theirs.victims.get(theirs.target, set())
        if victims != wanted:
            yield f"victims {sorted(victims)}, kube-scheduler {sorted(wanted)}"
