"""Random workloads and changes of them, as courses of ``tests.world``."""

import random
from collections.abc import Callable, Iterator
from typing import Final

from tests.e2e.client import Tree
from tests.world.cases import Tree as Case

__all__ = ["NODES", "random_courses"]

NODES: Final = ("course-1", "course-2", "course-3")
"""The nodes on which all courses are played."""

_FIRST_STEP: Final = 18
_BETWEEN_STEPS: Final = (4, 4, 8, 12)
_MOST_STEPS: Final = 3
_QUIET: Final = 24
"""Seconds without a change after which a course ends: longer than any wait in it."""

_UNTIL: Final = 130
_LIMITS: Final = (0, 1, 2, 3, "20%", "34%", "50%", "100%")


def random_courses(count: int, *, seed: int) -> Iterator[Case]:
    """Make courses of all families in turn.

    Args:
        count: The number of courses.
        seed: The seed of all random choices.
    """
    chance = random.Random(seed)
    for number in range(count):
        family, make = _FAMILIES[number % len(_FAMILIES)]
        yield {
            "id": f"{family}-{number:03}",
            "family": family,
            "nodes": [_node(name) for name in NODES],
            "by_node": False,
            "early": _QUIET,
            "until": _UNTIL,
            **make(chance),
        }


def _node(name: str) -> Tree:
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "2000"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _workload(kind: str, name: str, spec: Tree) -> Tree:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec("app:1")}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def _pod_spec(image: str) -> Tree:
    return {"containers": [{"name": "c", "image": image}]}


def _kubelet(chance: random.Random) -> Tree:
    """Return how the kubelet treats each image's pods; those of one never get ready."""
    rules: Tree = {
        f"app:{number}": {"start": chance.randint(1, 3), "stop": chance.randint(1, 3)}
        for number in (1, 2, 3)
    }
    return {**rules, "bad:1": {"ready": False, "stop": chance.randint(1, 2)}}


def _steps(chance: random.Random, *makers: Callable[[], Tree]) -> list[Tree]:
    """Return up to three steps, each by a random maker."""
    steps: list[Tree] = []
    second = _FIRST_STEP
    for _ in range(chance.randint(1, _MOST_STEPS)):
        steps.append({"at": second, **chance.choice(makers)()})
        second += chance.choice(_BETWEEN_STEPS)
    return steps


def _patch(kind: str, name: str, spec: Tree) -> Tree:
    return {"do": "patch", "kind": kind, "name": name, "patch": {"spec": spec}}


def _new_image(chance: random.Random) -> Tree:
    image = chance.choice(("app:1", "app:2", "app:2", "app:3", "bad:1"))
    return {"template": {"spec": _pod_spec(image)}}


def _deployment(chance: random.Random) -> Case:
    surge, unavailable = chance.choice(_LIMITS), chance.choice(_LIMITS)
    if surge == unavailable == 0:
        surge = 1
    limits = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy: Tree = {"type": "RollingUpdate", "rollingUpdate": limits}
    if chance.random() < 0.2:
        strategy = {"type": "Recreate"}
    spec = {
        "replicas": chance.randint(1, 8),
        "strategy": strategy,
        "minReadySeconds": chance.choice((0, 0, 5)),
    }
    change = _changes("Deployment", "web", chance)
    steps = _steps(
        chance,
        change(_new_image),
        change(_new_image),
        change(_new_size),
        change(lambda _: {"paused": True}),
        change(lambda _: {"paused": False}),
        lambda: {"do": "delete_of", "family": "web"},
    )
    objects = [_workload("Deployment", "web", spec)]
    return {"objects": objects, "steps": steps, "images": _kubelet(chance)}


def _changes(
    kind: str, name: str, chance: random.Random
) -> Callable[[Callable[[random.Random], Tree]], Callable[[], Tree]]:
    """Return a function that makes step makers from makers of a changed spec."""

    def from_spec(make: Callable[[random.Random], Tree]) -> Callable[[], Tree]:
        return lambda: _patch(kind, name, make(chance))

    return from_spec


def _new_size(chance: random.Random) -> Tree:
    return {"replicas": chance.randint(0, 9)}


def _stateful_set(chance: random.Random) -> Case:
    replicas = chance.randint(1, 5)
    update: Tree = {"type": "RollingUpdate", "rollingUpdate": {}}
    if chance.random() < 0.4:
        update["rollingUpdate"]["maxUnavailable"] = chance.choice((1, 2, 3, "50%"))
    if chance.random() < 0.3:
        update["rollingUpdate"]["partition"] = chance.randint(0, replicas)
    if chance.random() < 0.15:
        update = {"type": "OnDelete"}
    spec = {
        "serviceName": "db",
        "replicas": replicas,
        "podManagementPolicy": chance.choice(("OrderedReady", "Parallel")),
        "updateStrategy": update,
        "minReadySeconds": chance.choice((0, 0, 0, 5)),
    }
    change = _changes("StatefulSet", "db", chance)
    steps = _steps(
        chance,
        change(_new_image),
        change(_new_image),
        change(lambda chance: {"replicas": chance.randint(0, 6)}),
        lambda: _named(chance, "delete", replicas),
        lambda: _named(chance, "fail", replicas),
    )
    objects = [_workload("StatefulSet", "db", spec)]
    return {"objects": objects, "steps": steps, "images": _kubelet(chance)}


def _named(chance: random.Random, action: str, replicas: int) -> Tree:
    """A step on one of the first pods of the StatefulSet."""
    name = f"db-{chance.randrange(replicas)}"
    return {"do": action, "kind": "Pod", "name": name}


def _daemon_set(chance: random.Random) -> Case:
    limits = {"maxUnavailable": chance.choice((1, 2, "50%", "100%"))}
    if chance.random() < 0.4:
        limits = {"maxUnavailable": 0, "maxSurge": chance.choice((1, "50%", "100%"))}
    spec = {
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits},
        "minReadySeconds": chance.choice((0, 0, 5)),
    }
    change = _changes("DaemonSet", "agent", chance)
    steps = _pods_first(
        _steps(
            chance,
            change(_new_image),
            change(_new_image),
            lambda: {"do": "delete_of", "family": f"agent/{chance.choice(NODES)}"},
            lambda: {"do": "fail_of", "family": f"agent/{chance.choice(NODES)}"},
        )
    )
    objects = [_workload("DaemonSet", "agent", spec)]
    return {"objects": objects, "steps": steps, "images": _kubelet(chance)}


def _pods_first(steps: list[Tree]) -> list[Tree]:
    """Order steps so that those on pods of a node come before new images.

    Upstream updates the nodes of a DaemonSet in any order. So after a new image, it is
    left to chance which pod a node has.
    """
    seconds = [step["at"] for step in steps]
    ordered = sorted(steps, key=lambda step: step["do"] == "patch")
    return [
        {**step, "at": second} for second, step in zip(seconds, ordered, strict=True)
    ]


def _job(chance: random.Random) -> Case:
    completions = chance.randint(1, 5)
    spec: Tree = {
        "completions": completions,
        "parallelism": chance.randint(1, completions),
        "backoffLimit": chance.choice((0, 1, 2, 6)),
        "template": {"spec": {**_pod_spec("done:1"), "restartPolicy": "Never"}},
    }
    is_indexed = chance.random() < 0.6
    if is_indexed:
        spec["completionMode"] = "Indexed"
        if chance.random() < 0.3:
            spec["backoffLimitPerIndex"] = chance.choice((0, 1))
            spec.pop("backoffLimit")
        elif chance.random() < 0.3:
            count = chance.randint(1, completions)
            spec["successPolicy"] = {"rules": [{"succeededCount": count}]}
    if chance.random() < 0.2:
        spec["activeDeadlineSeconds"] = chance.choice((7, 11))
    if chance.random() < 0.3:
        spec["podReplacementPolicy"] = chance.choice(("TerminatingOrFailed", "Failed"))
    steps: list[Tree] = []
    if chance.random() < 0.3:
        steps = [
            {"at": 10, **_patch("Job", "train", {"suspend": True})},
            {"at": 26, **_patch("Job", "train", {"suspend": False})},
        ]
    if steps and "activeDeadlineSeconds" in spec:
        # Pods end at multiples of four seconds, and upstream's controller follows them
        # a second later: no deadline may be due then.
        spec["activeDeadlineSeconds"] = 13
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": spec,
    }
    rule = _run_of(chance, completions if is_indexed else 0)
    return {"objects": [job], "steps": steps, "images": {"done:1": rule}}


def _run_of(chance: random.Random, indexes: int) -> Tree:
    """How the pods of a job run: for how many turns, and with which exit codes."""
    rule: Tree = {"start": 1, "stop": chance.randint(1, 3), "run": chance.randint(1, 3)}
    if not indexes:
        return {**rule, "exit": chance.choice((0, 0, 0, 1))}
    failing = chance.sample(range(indexes), chance.randint(0, min(2, indexes)))
    codes = {str(index): chance.choice(([1, 0], [1, 1, 1])) for index in failing}
    return {**rule, "exits": codes} if codes else rule


def _budget(chance: random.Random) -> Case:
    case = _stateful_set(chance)
    (stateful_set,) = case["objects"]
    replicas = stateful_set["spec"]["replicas"] = chance.randint(2, 5)
    field = chance.choice(("minAvailable", "maxUnavailable"))
    budget: Tree = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "db"},
        "spec": {
            "selector": {"matchLabels": {"app": "db"}},
            field: chance.choice((0, 1, 2, "40%", "75%")),
        },
    }
    if chance.random() < 0.3:
        budget["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
    evictions = [
        {"at": second, "do": "evict", "name": f"db-{chance.randrange(replicas)}"}
        for second in sorted(chance.choices((50, 54, 58, 66), k=4))
    ]
    return {**case, "objects": [stateful_set, budget], "steps": evictions}


_FAMILIES: Final[tuple[tuple[str, Callable[[random.Random], Case]], ...]] = (
    ("deployment", _deployment),
    ("stateful-set", _stateful_set),
    ("daemon-set", _daemon_set),
    ("job", _job),
    ("budget", _budget),
)
