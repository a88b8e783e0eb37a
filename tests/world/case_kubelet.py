"""The kubelet of a course: it starts, ends and removes pods by rules of the case."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from tests.world.case_cluster import CaseCluster
from tests.world.cases import Tree
from tests.world.pod_states import image_of, is_deleted, phase_of

__all__ = ["CaseKubelet"]

_EXITED: Final = 143
_INDEX: Final = "batch.kubernetes.io/job-completion-index"


class CaseKubelet:
    """Acts on the pods of a cluster, at every multiple of four seconds.

    Args:
        case: The course, with its rules by image.
        cluster: The cluster.

    Attributes:
        silent: The names of nodes whose kubelets do not answer.
    """

    def __init__(self, case: Tree, cluster: CaseCluster) -> None:
        self._rules: Tree = case.get("images", {})
        self._cluster = cluster
        self._turns: Counter[tuple[str, str]] = Counter()
        self._attempts: Counter[str] = Counter()
        self.silent: set[str] = set()

    def act(self, pods: Iterable[Tree]) -> None:
        """Take one turn over all pods, the oldest first."""
        for pod in sorted(pods, key=_age):
            node = pod["spec"].get("nodeName")
            if node and node not in self.silent:
                self._act_on(pod, self._rules.get(image_of(pod["spec"]), {}))

    def _act_on(self, pod: Tree, rule: Tree) -> None:
        phase = phase_of(pod)
        if is_deleted(pod):
            if self._is_due(pod, "stop", rule.get("stop", 1)):
                self._end_deleted(pod, phase)
        elif phase == "Pending":
            if self._is_due(pod, "start", rule.get("start", 1)):
                self._cluster.start_pod(pod, rule.get("ready", True))
        elif (
            phase == "Running"
            and "run" in rule
            and self._is_due(pod, "run", rule["run"])
        ):
            self._cluster.end_pod(pod, self._exit_code(pod, rule))

    def _is_due(self, pod: Tree, reason: str, turns: int) -> bool:
        """Count a turn; whether there have been enough."""
        key = (pod["metadata"]["uid"], reason)
        self._turns[key] += 1
        return self._turns[key] >= turns

    def _end_deleted(self, pod: Tree, phase: str) -> None:
        """Remove a pod; one that is not restarted fails first."""
        is_restarted = pod["spec"].get("restartPolicy", "Always") == "Always"
        if phase not in ("Succeeded", "Failed") and not is_restarted:
            self._cluster.end_pod(pod, _EXITED)
        self._cluster.remove_pod(pod)

    def _exit_code(self, pod: Tree, rule: Tree) -> int:
        index = (pod["metadata"].get("annotations") or {}).get(_INDEX, "")
        codes = rule.get("exits", {}).get(index) if index else None
        if codes is None:
            return int(rule.get("exit", 0))
        self._attempts[index] += 1
        return int(codes[min(self._attempts[index], len(codes)) - 1])


def _age(pod: Tree) -> tuple[str, str]:
    metadata = pod["metadata"]
    return metadata["creationTimestamp"], metadata["name"]
