"""The pool of volumes: the same candidates as a search through all volumes."""

from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from quaymaster import Snapshot
from quaymaster.objects import (
    LabelSelector,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeNodeAffinity,
)
from quaymaster.testing import (
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
)
from quaymaster.volumes import VolumePool, VolumeTopology, is_bound_to, storage_of

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def pool_of(*volumes: PersistentVolume) -> VolumePool:
    pool = VolumePool()
    for volume in volumes:
        pool.put(volume)
    return pool


def free(pool: VolumePool, claim: PersistentVolumeClaim) -> list[str]:
    return [volume.name for volume in pool.candidates(claim).free]


def search(
    claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume], label: str
) -> list[str]:
    """Apply the rule to a claim, which may select volumes by a label."""
    fitting = [
        volume
        for volume in volumes
        if volume.spec.claim_ref is None
        and volume.status.phase == "Available"
        and volume.spec.storage_class_name == claim.spec.storage_class_name
        and volume.spec.capacity["storage"] >= storage_of(claim.spec.resources)
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        and (not label or volume.labels.get("disk") == label)
    ]
    fitting.sort(key=lambda volume: volume.spec.capacity["storage"])
    return [volume.name for volume in fitting]


@pytest.mark.parametrize("seed", range(20))
def test_pool_finds_what_a_search_finds_while_volumes_come_and_go(seed: int) -> None:
    random, pool = Random(seed), VolumePool()
    volumes: dict[str, PersistentVolume] = {}
    owner = make_persistent_volume_claim(name="owner")
    for _ in range(200):
        name = f"v{random.randrange(12)}"
        if random.random() < 0.3:
            volumes.pop(name, None)
            pool.drop(name)
            continue
        volume = make_persistent_volume(
            name=name,
            storage=random.choice(["1Gi", "2Gi"]),
            storage_class=random.choice(["standard", "local"]),
            access_modes=random.choice([["ReadWriteOnce"], ["ReadOnlyMany"]]),
            labels={"disk": random.choice(["ssd", "hdd"])},
            claim=random.choice([None, None, owner]),
        )
        volumes[name] = volume
        pool.put(volume)
        label = random.choice(["", "ssd"])
        claim = make_persistent_volume_claim(
            storage=random.choice(["1Gi", "2Gi"]),
            storage_class=random.choice(["standard", "local"]),
        )
        if label:
            selector = LabelSelector(match_labels={"disk": label})
            claim = replace(claim, spec=replace(claim.spec, selector=selector))
        assert free(pool, claim) == search(claim, list(volumes.values()), label)
        kept = [candidate.volume.name for candidate in pool.candidates(owner).kept]
        assert kept == [v.name for v in volumes.values() if is_bound_to(v, owner)]


def test_changed_volume_keeps_its_place_and_a_new_one_of_its_name_does_not() -> None:
    first, second = (make_persistent_volume(name=name) for name in "ab")
    pool, claim = pool_of(first, second), make_persistent_volume_claim()
    pool.put(replace(first, status=replace(first.status, phase="Failed")))
    assert free(pool, claim) == ["b"]
    pool.put(first)
    assert free(pool, claim) == ["a", "b"]
    pool.put(replace(first, metadata=replace(first.metadata, uid="another")))
    assert free(pool, claim) == ["b", "a"]


def test_lists_of_many_shapes_of_claims_stay_right() -> None:
    pool = pool_of(make_persistent_volume(name="large", storage="1Ti"))
    claims = [
        make_persistent_volume_claim(storage=f"{size}Mi") for size in range(1, 200)
    ]
    assert all(free(pool, claim) == ["large"] for claim in claims)
    pool.put(make_persistent_volume(name="small", storage="100Mi"))
    assert sum("small" in free(pool, claim) for claim in claims) == 100


def reached(*terms: dict[str, tuple[str, tuple[str, ...]]]) -> VolumeNodeAffinity:
    return VolumeNodeAffinity(
        required=NodeSelector(
            node_selector_terms=tuple(
                NodeSelectorTerm(
                    match_expressions=tuple(
                        NodeSelectorRequirement(key=key, operator=operator, values=vs)
                        for key, (operator, vs) in term.items()
                    )
                )
                for term in terms
            )
        )
    )


REACHES = [
    None,
    reached(),
    reached({}),
    reached({ZONE: ("In", ("a", "b"))}),
    reached({HOST: ("In", ("n1",))}),
    reached({HOST: ("In", ("n9",))}),
    reached({ZONE: ("In", ("a",)), HOST: ("NotIn", ("n0",))}),
    reached({ZONE: ("Exists", ())}, {HOST: ("In", ("n3",))}),
    reached({ZONE: ("DoesNotExist", ())}),
    reached({"age": ("Gt", ("1",))}, {"age": ("Lt", ("1",))}),
]


def test_counting_all_nodes_at_once_agrees_with_counting_each() -> None:
    snapshot = Snapshot()
    for number, zone in enumerate("aabc"):
        labels = {HOST: f"n{number}", ZONE: zone, "age": str(number)}
        snapshot.add_node(make_node(name=f"n{number}", labels=labels))
    snapshot.add_node(make_node(name="bare", labels={HOST: "bare"}))
    nodes = snapshot.nodes
    volumes = [
        replace(volume, spec=replace(volume.spec, node_affinity=affinity))
        for number, affinity in enumerate(REACHES)
        for volume in [make_persistent_volume(name=f"v{number}")]
    ]
    pool, claim = pool_of(*volumes), make_persistent_volume_claim()

    def check() -> None:
        counts = pool.candidates(claim).free.counts(nodes, nodes.rows)
        expected = [
            sum(VolumeTopology(volume).includes(node.labels) for volume in volumes)
            for node in snapshot
        ]
        assert counts.tolist() == expected

    check()
    snapshot.add_node(make_node(name="n9", labels={HOST: "n9", ZONE: "d"}))
    check()
    while volumes:
        pool.drop(volumes.pop().name)
        check()
