"""Scenes with groups of pods, for two schedulers that decide the same side by side.

Each scheduler has nodes, namespaces and pods of its own, which are equal except for
their names. A node selector keeps a scene to its nodes.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from tests.e2e.client import ApiClient, Tree, path_of

__all__ = ["CLASSES", "SCENES", "Scene", "Side", "classes", "gang", "node", "pod"]

_GROUPS: Final = "scheduling.k8s.io/v1beta1"
_POOL: Final = "example.com/pool"
_RACK: Final = "example.com/rack"
CLASSES: Final = {"low": 10, "high": 1000}
"""The priority classes."""


@attrs.frozen
class Side:
    """One scheduler's copy of the scenes.

    Attributes:
        name: Its name, which is in the names of all objects.
        scheduler: The scheduler name of its pods.
    """

    name: str
    scheduler: str

    def placed(self, scene: str, tree: Tree) -> Tree:
        """Return this side's copy of an object of a scene."""
        pool = f"{self.name}-{scene}"
        metadata, spec = tree["metadata"], tree["spec"]
        if tree["kind"] == "Node":
            name = f"{pool}-{metadata['name']}"
            labels = {_POOL: pool, "kubernetes.io/hostname": name}
            if "rack" in spec:
                labels[_RACK] = f"{pool}-{spec['rack']}"
            return {
                **tree,
                "metadata": {"name": name, "labels": labels},
                "spec": {},
            }
        metadata = {**metadata, "namespace": pool}
        if tree["kind"] == "Pod":
            own = {"schedulerName": self.scheduler, "nodeSelector": {_POOL: pool}}
            spec = {**spec, **own}
        return {**tree, "metadata": metadata, "spec": spec}

    def shown(self, scene: str, text: str) -> str:
        """Return a text without the names of this side."""
        return text.replace(f"{self.name}-{scene}", scene)


@attrs.frozen
class Scene:
    """A scene: objects, and later changes.

    Attributes:
        objects: What is created first.
        later: What is created once both schedulers have decided.
        gone: The names of pods that are deleted then.
        ungated: The names of pods that lose their scheduling gates then.
        bound: The names of the pods that are bound in the end.
        is_loose: Whether a later cycle for left-over pods may write the condition of
            the group, over one that kube-scheduler has not yet seen.
        is_chance: Whether messages depend on chance.
    """

    objects: Sequence[Tree]
    later: Sequence[Tree] = ()
    gone: Sequence[str] = ()
    ungated: Sequence[str] = ()
    bound: Sequence[str] = ()
    is_loose: bool = False
    is_chance: bool = False

    def begin(self, client: ApiClient, side: Side, name: str) -> None:
        """Create the first objects of a side."""
        metadata = {"name": f"{side.name}-{name}"}
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        for tree in self.objects:
            client.create(side.placed(name, tree))

    def change(self, client: ApiClient, side: Side, name: str) -> None:
        """Make the changes of a side."""
        for tree in self.later:
            client.create(side.placed(name, tree))
        for gone in self.gone:
            client.delete(path_of(side.placed(name, pod(gone))), grace=0)
        for held in self.ungated:
            path = path_of(side.placed(name, pod(held)))
            client.patch(path, {"spec": {"schedulingGates": []}})


def node(name: str, cpu: int, rack: str = "") -> Tree:
    """Return a node of a scene."""
    amounts = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
    ready = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": {"rack": rack} if rack else {},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": ready},
    }


def gang(name: str, minimum: int | None, **spec: object) -> Tree:
    """Return a group; without a minimum, a basic one."""
    policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    return {
        "apiVersion": _GROUPS,
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": policy, **spec},
    }


def pod(name: str, group: str = "", cpu: int = 1, **spec: object) -> Tree:
    """Return a pod of a scene, which is gone as soon as it is deleted."""
    member = {"schedulingGroup": {"podGroupName": group}} if group else {}
    resources = {"requests": {"cpu": str(cpu)}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": resources}],
            "terminationGracePeriodSeconds": 0,
            **member,
            **spec,
        },
    }


def classes() -> list[Tree]:
    """Return the priority classes."""
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        for name, value in CLASSES.items()
    ]


def _pods(group: str, count: int, cpu: int = 1, **spec: object) -> list[Tree]:
    return [pod(f"{group}-{n}", group, cpu, **spec) for n in range(count)]


def _names(group: str, count: int) -> list[str]:
    return [f"{group}-{n}" for n in range(count)]


_SIZES: Final = [node("a", 4), node("b", 6), node("c", 9)]
_HOLD: Final[Tree] = {"schedulingGates": [{"name": "example.com/hold"}]}
_IN_A_RACK: Final[Tree] = {"schedulingConstraints": {"topology": [{"key": _RACK}]}}
_ALL: Final[Tree] = {"disruptionMode": {"all": {}}}
_LOW: Final[Tree] = {"priorityClassName": "low"}
_HIGH: Final[Tree] = {"priorityClassName": "high"}

SCENES: Final[Mapping[str, Scene]] = {
    "fits": Scene(
        [*_SIZES, gang("g", 4), *_pods("g", 4, 2)],
        bound=_names("g", 4),
    ),
    "too-large": Scene(
        [node("a", 4), gang("g", 3), *_pods("g", 3, 2)],
        later=[node("b", 2)],
        bound=_names("g", 3),
    ),
    "basic": Scene(
        [node("a", 4), gang("g", None), *_pods("g", 3, 2)],
        bound=_names("g", 2),
        is_loose=True,
    ),
    "left-over": Scene(
        [node("a", 6), gang("g", 2), *_pods("g", 4, 2)],
        bound=_names("g", 3),
        is_loose=True,
    ),
    "incomplete": Scene(
        [node("a", 4), gang("g", 3), *_pods("g", 2)],
        later=[pod("g-2", "g")],
        bound=_names("g", 3),
    ),
    "held": Scene(
        [node("a", 4), gang("g", 2), pod("g-0", "g"), pod("g-1", "g", **_HOLD)],
        ungated=["g-1"],
        bound=_names("g", 2),
    ),
    "before-its-group": Scene(
        [node("a", 4), *_pods("g", 2)],
        later=[gang("g", 2)],
        bound=_names("g", 2),
    ),
    "shrinks": Scene(
        [node("a", 3), gang("g", 3), *_pods("g", 3, 2), pod("alone", cpu=1)],
        gone=["g-2"],
        bound=["alone"],
        is_loose=True,
    ),
    "in-a-rack": Scene(
        [
            node("a", 2, "left"),
            node("b", 2, "left"),
            node("c", 4, "right"),
            node("d", 5, "right"),
            gang("g", 3, **_IN_A_RACK),
            *_pods("g", 3, 2),
        ],
        bound=_names("g", 3),
    ),
    "no-rack": Scene(
        [
            node("a", 4, "left"),
            node("b", 4, "right"),
            gang("g", 3, **_IN_A_RACK),
            *_pods("g", 3, 2),
        ],
        is_chance=True,  # the first placement
    ),
    "disagree": Scene(
        [
            node("a", 4),
            gang("g", 2),
            pod("g-0", "g"),
            pod("g-1", "g", **_LOW),
        ],
    ),
    "preempts": Scene(
        [
            node("a", 4),
            node("b", 6),
            pod("low-0", cpu=5, **_LOW),
            pod("low-1", cpu=3, **_LOW),
        ],
        later=[gang("g", 2, **_HIGH), *_pods("g", 2, 2, **_HIGH)],
        bound=_names("g", 2),
    ),
    "preempted": Scene(
        [
            node("a", 4),
            node("b", 6),
            gang("g", 2, **_LOW, **_ALL),
            *_pods("g", 2, 3, **_LOW),
        ],
        later=[pod("urgent", cpu=5, **_HIGH)],
        bound=["urgent"],
    ),
}
"""All scenes by name."""
