"""Pods of every kind, one after another; equal seeds give equal pods."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import attrs

from quaymaster import ApiObject
from quaymaster.objects import Toleration, to_wire
from quaymaster.testing import (
    make_affinity_term,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_spread_constraint,
)
from tests.e2e.client import Tree
from tests.e2e.mixed_cluster import APPS, DRIVER, IMAGES, NAMESPACES, ZONES, node_name
from tests.e2e.mixed_devices import CARD, random_claim

__all__ = ["Arrival", "arrivals"]

_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONE: Final = "topology.kubernetes.io/zone"
_CPUS: Final = ("50m", "250m", "500m", "1", "1500m", "2", "3")
_MEMORIES: Final = ("64Mi", "512Mi", "1Gi", "3Gi", "5Gi")
_CLASSES: Final = ("dynamic", "dynamic", "two-zones", "local", "at-once")
_GATE: Final = "example.com/wait"
_ANYTHING: Final = Toleration(operator="Exists")


@attrs.frozen
class Arrival:
    """A pod, and the objects that must exist before it.

    Attributes:
        pod: The pod.
        needs: Claims and volumes that must be created before.
        gates: The pod's gates, which are removed later.
    """

    pod: Tree
    needs: tuple[ApiObject | Tree, ...]
    gates: tuple[str, ...]


@attrs.define
class _Draft:
    """A pod to which features are added.

    Attributes:
        name: Its name.
        random: The random generator.
        nodes: The number of nodes.
        words: Arguments of `make_pod`.
        needs: The objects that must exist before.
        priority_class: Its class, if any.
        device_claim: The name of its claim for devices, if any.
    """

    name: str
    random: random.Random
    nodes: int
    words: dict[str, Any] = attrs.field(factory=dict)
    needs: list[ApiObject | Tree] = attrs.field(factory=list)
    priority_class: str = ""
    device_claim: str = ""

    def app(self) -> dict[str, str]:
        """Return the selector of a random app."""
        return {"app": self.random.choice(APPS)}

    def key(self) -> str:
        """Return a random topology key."""
        return self.random.choice((_HOSTNAME, _ZONE, "topology.kubernetes.io/region"))

    @property
    def namespace(self) -> str:
        """Its namespace."""
        namespace: str = self.words["namespace"]
        return namespace


_Feature: TypeAlias = Callable[[_Draft], None]


def arrivals(
    count: int,
    *,
    nodes: int,
    seed: int,
    scheduler: str = "default-scheduler",
    broken_volumes: bool = True,
) -> Iterator[Arrival]:
    """Make pods for `mixed_cluster`.

    Args:
        count: The number of pods.
        nodes: The number of nodes.
        seed: The seed of all random choices.
        scheduler: The scheduler name of the pods.
        broken_volumes: Whether some pods claim volumes of a provisioner that does
            nothing.
    """
    chance = random.Random(seed)
    features = (
        *_FEATURES,
        *_DEVICES,
        *((_broken_volume,) if broken_volumes else ()),
    )
    for number in range(count):
        draft = _Draft(f"pod-{number:05}", chance, nodes)
        _plain(draft)
        for feature in dict.fromkeys(chance.choices(features, k=chance.randrange(4))):
            feature(draft)
        pod = to_wire(
            make_pod(name=draft.name, scheduler_name=scheduler, **draft.words)
        )
        if draft.priority_class:
            pod["spec"]["priorityClassName"] = draft.priority_class
        if draft.device_claim:
            claim = {"name": "devices", "resourceClaimName": draft.device_claim}
            pod["spec"]["resourceClaims"] = [claim]
        gates = tuple(draft.words.get("scheduling_gates", ()))
        yield Arrival(pod, tuple(draft.needs), gates)


def _plain(draft: _Draft) -> None:
    chance = draft.random
    draft.words.update(
        namespace=chance.choices(NAMESPACES, (6, 1, 1))[0],
        labels={"app": chance.choice(APPS), "tier": chance.choice("xyz")},
        priority=None,
        preemption_policy=None,
        images=chance.choices(IMAGES, k=chance.choice((1, 1, 2))),
    )
    if chance.random() < 0.9:
        draft.words["requests"] = {
            "cpu": chance.choice(_CPUS),
            "memory": chance.choice(_MEMORIES),
        }


def _node_affinity(draft: _Draft) -> None:
    chance = draft.random
    draft.words["node_affinity"] = chance.choice(
        (
            {"disk": "ssd"},
            {_ZONE: ZONES[:2]},
            {"disk": "hdd", "rank": ("1", "2", "3")},
            {_HOSTNAME: [node_name(chance.randrange(draft.nodes)) for _ in range(4)]},
        )
    )


def _preferred_nodes(draft: _Draft) -> None:
    draft.words["preferred_node_affinity"] = [
        (30, {"disk": "ssd"}),
        (draft.random.randint(1, 100), {_ZONE: draft.random.choice(ZONES)}),
    ]


def _node_selector(draft: _Draft) -> None:
    draft.words["node_selector"] = {"rank": str(draft.random.randrange(7))}


def _together(draft: _Draft) -> None:
    term = make_affinity_term(selector=draft.app(), topology_key=draft.key())
    draft.words["pod_affinity"] = [term]


def _apart(draft: _Draft) -> None:
    term = make_affinity_term(
        selector={"app": draft.words["labels"]["app"]},
        topology_key=_HOSTNAME,
        namespaces=NAMESPACES if draft.random.random() < 0.3 else (),
    )
    draft.words["pod_anti_affinity"] = [term]


def _preferably_apart(draft: _Draft) -> None:
    term = make_affinity_term(
        selector=draft.app(),
        topology_key=draft.key(),
        namespace_selector={"colour": draft.random.choice(("red", "blue"))},
    )
    draft.words["preferred_pod_anti_affinity"] = [(draft.random.randint(1, 100), term)]


def _preferably_together(draft: _Draft) -> None:
    term = make_affinity_term(selector=draft.app(), topology_key=draft.key())
    draft.words["preferred_pod_affinity"] = [(draft.random.randint(1, 100), term)]


def _spread(draft: _Draft) -> None:
    chance = draft.random
    hard = make_spread_constraint(
        selector={"app": draft.words["labels"]["app"]},
        topology_key=chance.choice((_ZONE, _HOSTNAME)),
        max_skew=chance.choice((1, 2, 5)),
        min_domains=chance.choice((None, 3, 4)),
        node_taints_policy=chance.choice((None, "Honor")),
    )
    draft.words["spread"] = [hard]


def _softly_spread(draft: _Draft) -> None:
    chance = draft.random
    draft.words["spread"] = [
        make_spread_constraint(
            selector={"app": draft.words["labels"]["app"]},
            topology_key=key,
            max_skew=chance.choice((1, 3)),
            when_unsatisfiable="ScheduleAnyway",
            match_label_keys=chance.choice(((), ("tier",))),
        )
        for key in chance.choice(((_ZONE,), (_ZONE, _HOSTNAME)))
    ]


def _tolerant(draft: _Draft) -> None:
    draft.words["tolerations"] = draft.random.choice(
        (["dedicated=gpu:NoSchedule"], ["burning=true:NoExecute"], ["wet"], [_ANYTHING])
    )


def _device(draft: _Draft) -> None:
    draft.words["requests"] = {"cpu": "1", "example.com/gpu": "1"}
    draft.words["limits"] = {"example.com/gpu": "1"}
    draft.words["tolerations"] = ["dedicated=gpu:NoSchedule"]


def _claimed_devices(draft: _Draft) -> None:
    draft.device_claim = f"{draft.name}-devices"
    claim = random_claim(draft.device_claim, draft.namespace, draft.random)
    draft.needs.append(claim)
    # No other pod evicts it: its devices would be free a moment after it is deleted,
    # and an attempt in between would have another state than the compared one.
    draft.priority_class = "top"


def _card(draft: _Draft) -> None:
    draft.words["requests"] = {"cpu": "250m", CARD: "1"}
    draft.words["limits"] = {CARD: "1"}
    draft.priority_class = "top"  # as with claims


def _host_port(draft: _Draft) -> None:
    draft.words["host_ports"] = [draft.random.choice((8080, 8080, "8080/UDP", 9090))]


def _important(draft: _Draft) -> None:
    chance = draft.random
    priority_class = chance.choice(("high", "high", "top", "polite", "low"))
    draft.priority_class = draft.priority_class or priority_class
    draft.words["requests"] = {"cpu": chance.choice(("2", "3500m", "6"))}


def _gated(draft: _Draft) -> None:
    draft.words["scheduling_gates"] = [_GATE]


def _impossible(draft: _Draft) -> None:
    words: Mapping[str, Any] = draft.random.choice(
        (
            {"requests": {"cpu": "64"}},
            {"node_selector": {"disk": "tape"}},
            {"claims": ["nobody-made-it"]},
            {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}},
        )
    )
    draft.words.update(words)


def _broken_volume(draft: _Draft) -> None:
    _add_claim(draft, "never")


def _volume(draft: _Draft) -> None:
    _add_claim(draft, draft.random.choice(_CLASSES))


def _add_claim(draft: _Draft, chosen: str) -> None:
    if "claims" in draft.words:
        return
    chance = draft.random
    name = f"{draft.name}-data"
    modes = chance.choice((["ReadWriteOnce"], ["ReadWriteOncePod"]))
    claim = make_persistent_volume_claim(
        name=name,
        namespace=draft.namespace,
        storage_class=chosen,
        access_modes=modes,
    )
    if chosen == "local":
        for number in chance.sample(range(draft.nodes), 3):
            volume = make_persistent_volume(
                name=f"{name}-{number:03}",
                storage_class="local",
                access_modes=modes,
                driver=DRIVER,
                node_labels={_HOSTNAME: node_name(number)},
            )
            draft.needs.append(volume)
    draft.needs.append(claim)
    draft.words["claims"] = [name]


_FEATURES: Final[tuple[_Feature, ...]] = (
    _node_affinity,
    _preferred_nodes,
    _node_selector,
    _together,
    _apart,
    _preferably_apart,
    _preferably_together,
    _spread,
    _softly_spread,
    _tolerant,
    _device,
    _host_port,
    _important,
    _important,
    _gated,
    _impossible,
    _volume,
    _volume,
)

_DEVICES: Final[tuple[_Feature, ...]] = (_claimed_devices, _claimed_devices, _card)
