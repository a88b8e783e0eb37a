"""Plays a course: steps, a kubelet, and the states that follow.

Every even second the state is looked at. Directly after it, at multiples of four, the
kubelet takes its turn; at the other even seconds the steps of that second are taken.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Final

from tests.world.case_cluster import CaseCluster
from tests.world.case_kubelet import CaseKubelet
from tests.world.cases import Tree
from tests.world.cluster import PlayedCluster
from tests.world.pod_states import family_name, is_deleted
from tests.world.projection import Objects, state_of

__all__ = ["play"]

_LOOK: Final = 2
_TURN: Final = 4


def play(case: Tree, cluster: CaseCluster | None = None) -> Tree:
    """Play a course; return the states and answers, in the form of the recording.

    Args:
        case: The course.
        cluster: Where it is played; by default a simulated cluster of its own.
    """
    return {"id": case["id"], **_Course(case, cluster or PlayedCluster(case)).run()}


class _Course:
    def __init__(self, case: Tree, cluster: CaseCluster) -> None:
        self._case = case
        self._cluster = cluster
        self._kubelet = CaseKubelet(case, cluster)
        self._objects: Objects = {}
        self._states: list[Tree] = []
        self._answers: list[Tree] = []
        self._actions: Mapping[str, Callable[[Tree], Tree]] = {
            "create": lambda step: self._cluster.create(copy.deepcopy(step["object"])),
            "patch": lambda step: self._cluster.patch(
                step["kind"], step["name"], step["patch"]
            ),
            "delete": lambda step: self._cluster.delete(step["kind"], step["name"]),
            "evict": lambda step: self._cluster.evict(step["name"]),
            "ready": self._write_readiness,
            "unready": self._write_readiness,
            "fail": self._end,
            "delete_of": self._delete_oldest,
            "fail_of": self._end,
            "silence": self._silence,
            "speak": self._speak,
            "node_ready": self._write_node,
        }

    def run(self) -> Tree:
        """Play all steps; return states and answers."""
        for tree in self._case["objects"]:
            answer = self._cluster.create(copy.deepcopy(tree))
            if answer["code"] >= 300:
                self._answers.append({"at": 0, **answer})
        last_step = max((step["at"] for step in self._case["steps"]), default=0)
        for now in range(_LOOK, self._case["until"] + 1, _LOOK):
            self._look(now)
            if now > last_step and self._is_quiet(now):
                break
            if now % _TURN == 0:
                self._kubelet.act(self._objects["Pod"])
            self._take_steps(now)
        return {"course": self._states, "answers": self._answers}

    def _look(self, now: int) -> None:
        self._cluster.wait_until(now)
        self._objects = self._cluster.objects()
        state = state_of(self._objects, self._case)
        if (
            not self._states
            or {"at": self._states[-1]["at"], **state} != (self._states[-1])
        ):
            self._states.append({"at": now, **state})

    def _is_quiet(self, now: int) -> bool:
        """Whether nothing has changed for as long as the case says."""
        quiet = self._case.get("early")
        return bool(quiet) and now - self._states[-1]["at"] > quiet

    def _take_steps(self, now: int) -> None:
        for step in self._case["steps"]:
            if step["at"] == now:
                answer = self._actions[step["do"]](step)
                self._answers.append({"at": now, "do": step["do"], **answer})

    def _pod(self, step: Tree) -> Tree | None:
        """The pod that a step names, or the oldest one of the family that it names."""
        pods = self._objects["Pod"]
        if "family" not in step:
            named = (pod for pod in pods if pod["metadata"]["name"] == step["name"])
            return next(named, None)
        replica_sets = {
            tree["metadata"]["name"]: tree for tree in self._objects["ReplicaSet"]
        }
        family = (
            pod
            for pod in pods
            if not is_deleted(pod) and family_name(pod, replica_sets) == step["family"]
        )
        return min(
            family,
            key=lambda pod: (
                pod["metadata"]["creationTimestamp"],
                pod["metadata"]["name"],
            ),
            default=None,
        )

    def _write_readiness(self, step: Tree) -> Tree:
        pod = self._pod(step)
        if pod is None:
            return {"code": 404}
        self._cluster.start_pod(pod, step["do"] == "ready")
        return {"code": 200}

    def _end(self, step: Tree) -> Tree:
        pod = self._pod(step)
        if pod is None:
            return {"code": 404}
        self._cluster.end_pod(pod, step.get("exit", 1))
        return {"code": 200}

    def _delete_oldest(self, step: Tree) -> Tree:
        pod = self._pod(step)
        if pod is None:
            return {"code": 404}
        return self._cluster.delete("Pod", pod["metadata"]["name"])

    def _silence(self, step: Tree) -> Tree:
        self._kubelet.silent.add(step["node"])
        self._cluster.stop_kubelet(step["node"])
        return {"code": 200}

    def _speak(self, step: Tree) -> Tree:
        self._kubelet.silent.discard(step["node"])
        self._cluster.start_kubelet(step["node"])
        return {"code": 200}

    def _write_node(self, step: Tree) -> Tree:
        self._cluster.set_node_ready(step["node"], step["status"])
        return {"code": 200}
