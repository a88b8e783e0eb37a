"""VolumeBinding assumes, releases and writes volumes, and waits for them."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod, PreBindWait, Status
from quaymaster.objects import (
    LabelSelector,
    PersistentVolume,
    PersistentVolumeClaim,
    PodTemplateSpec,
    StatefulSet,
    StatefulSetSpec,
)
from quaymaster.testing import (
    PluginHarness,
    SchedulerHarness,
    make_metadata,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import (
    NO_PROVISIONER,
    SELECTED_NODE,
    VolumeTopology,
    is_bound_to,
    is_fully_bound,
    selected_node,
)
from quaymaster_volume_binding import VolumeBinding

ZONE = "topology.kubernetes.io/zone"
NODES = [
    make_node(name=f"n{zone}", labels={ZONE: zone}, allocatable={"cpu": "4"})
    for zone in ("a", "b")
]
STATIC_ONLY = make_storage_class(provisioner=NO_PROVISIONER)


def reserve(harness: PluginHarness, pod: Pod, node: str) -> Status | None:
    harness.filter(pod)
    return harness.reserve(pod, node)


# Reserve ------------------------------------------------------------------------------


def test_a_reserved_volume_is_no_other_pods_to_have() -> None:
    claims = [make_persistent_volume_claim(name=name) for name in ("one", "two")]
    volume = make_persistent_volume()
    objects = [STATIC_ONLY, volume, *claims]
    harness = PluginHarness(VolumeBinding, nodes=NODES, objects=objects)
    assert reserve(harness, make_pod(claims=["one"]), "na") is None
    assert set(harness.filter(make_pod(claims=["two"]))) == {"na", "nb"}


def test_the_node_of_a_reserved_claim_is_the_only_one_for_other_pods() -> None:
    objects = [make_storage_class(), make_persistent_volume_claim()]
    harness = PluginHarness(VolumeBinding, nodes=NODES, objects=objects)
    assert reserve(harness, make_pod(claims=["claim"]), "na") is None
    other = make_pod(name="other", claims=["claim"])
    assert set(harness.filter(other)) == {"nb"}


def test_unreserve_without_reserve_takes_nothing_from_others() -> None:
    claims = [make_persistent_volume_claim(name=name) for name in ("one", "two")]
    objects = [STATIC_ONLY, make_persistent_volume(), *claims]
    harness = PluginHarness(VolumeBinding, nodes=NODES, objects=objects)
    first, two = make_pod(claims=["one"]), make_pod(name="two", claims=["two"])
    assert harness.filter(two) == {}
    stale = harness.state
    assert reserve(harness, first, "na") is None
    harness.state = stale
    harness.unreserve(two, "na")
    harness.unreserve(two, "na")
    assert set(harness.filter(two)) == {"na", "nb"}


@given(
    volumes=st.lists(st.tuples(st.integers(1, 3), st.sampled_from("ab")), max_size=4),
    claims=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    provisioner=st.sampled_from(["csi.example.com", NO_PROVISIONER]),
    node=st.sampled_from(["na", "nb"]),
)
def test_reserve_then_unreserve_leaves_no_trace(
    volumes: list[tuple[int, str]], claims: list[int], provisioner: str, node: str
) -> None:
    objects: list[ApiObject] = [make_storage_class(provisioner=provisioner)]
    for index, (size, zone) in enumerate(volumes):
        labels = {ZONE: zone}
        objects.append(
            make_persistent_volume(
                name=f"v{index}", storage=f"{size}Gi", node_labels=labels
            )
        )
    names = [f"c{index}" for index in range(len(claims))]
    for name, size in zip(names, claims, strict=True):
        objects.append(make_persistent_volume_claim(name=name, storage=f"{size}Gi"))
    harness = PluginHarness(VolumeBinding, nodes=NODES, objects=objects)
    pod = make_pod(claims=names)
    before = harness.filter(pod), plans(harness)
    assert harness.reserve(pod, node) is None
    harness.unreserve(pod, node)
    harness.unreserve(pod, node)
    assert (harness.filter(pod), plans(harness)) == before


def plans(harness: PluginHarness) -> dict[str, object]:
    """Return the plan of the last attempt for each node, with whole objects."""
    plugin = harness.plugin
    assert isinstance(plugin, VolumeBinding)
    found = {}
    for node in NODES:
        plan = plugin.plan(harness.state, node.name)
        found[node.name] = plan and (
            [(binding.claim, binding.volume) for binding in plan.static],
            list(plan.provision),
        )
    return dict(found)


# PreBind ------------------------------------------------------------------------------


def test_there_is_nothing_to_bind_for_bound_claims() -> None:
    claim = make_persistent_volume_claim(volume="volume")
    objects = [claim, make_persistent_volume(claim=claim)]
    harness = PluginHarness(VolumeBinding, nodes=NODES, objects=objects)
    pod = make_pod(claims=["claim"])
    assert reserve(harness, pod, "na") is None
    assert harness.pre_bind_pre_flight(pod, "na") == Status.skip()
    assert harness.pre_bind(pod, "na") is None


def test_pre_bind_writes_the_selected_node_and_waits() -> None:
    objects = [make_storage_class(), make_persistent_volume_claim()]
    harness = PluginHarness(
        VolumeBinding, args={"bindTimeoutSeconds": 7}, nodes=NODES, objects=objects
    )
    pod = make_pod(claims=["claim"])
    assert reserve(harness, pod, "nb") is None
    assert harness.pre_bind_pre_flight(pod, "nb") != Status.skip()
    answer = harness.pre_bind(pod, "nb")
    assert isinstance(answer, PreBindWait)
    assert answer.timeout_seconds == 7
    claim = harness.cluster.get(PersistentVolumeClaim, "default/claim")
    assert selected_node(claim) == "nb"


def test_pre_bind_writes_the_claim_to_its_volume() -> None:
    claim = make_persistent_volume_claim()
    objects = [STATIC_ONLY, claim, make_persistent_volume()]
    harness = PluginHarness(VolumeBinding, nodes=NODES, objects=objects)
    pod = make_pod(claims=["claim"])
    assert reserve(harness, pod, "na") is None
    assert isinstance(harness.pre_bind(pod, "na"), PreBindWait)
    volume = harness.cluster.get(PersistentVolume, "volume")
    assert is_bound_to(volume, claim)


def test_pre_bind_without_a_plan_is_an_error() -> None:
    harness = PluginHarness(
        VolumeBinding,
        nodes=NODES,
        objects=[make_storage_class(), make_persistent_volume_claim()],
    )
    pod = make_pod(claims=["claim"])
    harness.filter(pod)
    expected = 'no pod volume found for node "na"'
    for answer in (
        harness.pre_bind_pre_flight(pod, "na"),
        harness.pre_bind(pod, "na"),
    ):
        assert isinstance(answer, Status)
        assert answer.is_error
        assert answer.message == expected


# Whole simulations --------------------------------------------------------------------


def bound_volume(harness: SchedulerHarness, claim: str) -> PersistentVolume:
    """Return the volume of a claim, if both refer to each other."""
    stored = harness.cluster.get(PersistentVolumeClaim, f"default/{claim}")
    assert is_fully_bound(stored)
    assert stored.status.phase == "Bound"
    volume = harness.cluster.get(PersistentVolume, stored.spec.volume_name)
    assert is_bound_to(volume, stored)
    assert volume.status.phase == "Bound"
    return volume


def test_a_delayed_claim_is_bound_to_a_new_volume_near_the_pod() -> None:
    objects = [*NODES, make_storage_class(), make_persistent_volume_claim()]
    pod = make_pod(claims=["claim"], node_selector={ZONE: "b"})
    harness = SchedulerHarness([*objects, pod])
    harness.settle()
    assert harness.node_of("pod") == "nb"
    topology = VolumeTopology(bound_volume(harness, "claim"))
    assert topology.includes({ZONE: "b"})
    assert not topology.includes({ZONE: "a"})


def test_a_delayed_claim_is_bound_to_a_volume_that_exists() -> None:
    volume = make_persistent_volume(node_labels={ZONE: "a"})
    claim = make_persistent_volume_claim()
    pod = make_pod(claims=["claim"])
    harness = SchedulerHarness([*NODES, STATIC_ONLY, volume, claim, pod])
    harness.settle()
    assert harness.node_of("pod") == "na"
    assert bound_volume(harness, "claim").name == "volume"


def test_two_pods_do_not_get_one_volume() -> None:
    claims = [make_persistent_volume_claim(name=name) for name in ("one", "two")]
    pods = [make_pod(name=claim.name, claims=[claim.name]) for claim in claims]
    volume = make_persistent_volume()
    harness = SchedulerHarness([*NODES, STATIC_ONLY, volume, *claims, *pods])
    harness.settle()
    assert sorted([bool(harness.node_of(pod.name)) for pod in pods]) == [False, True]
    late = make_persistent_volume(name="late")
    harness.cluster.create(late)
    harness.settle()
    assert all(harness.node_of(pod.name) for pod in pods)


def test_claims_of_a_stateful_set_end_bound_in_the_zones_of_its_pods() -> None:
    labels = {"app": "db"}
    template = make_pod(labels=labels, requests={"cpu": "3"})
    stateful_set = StatefulSet(
        metadata=make_metadata(StatefulSet, name="db", namespace="default"),
        spec=StatefulSetSpec(
            replicas=2,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=template.metadata, spec=template.spec),
            volume_claim_templates=(
                make_persistent_volume_claim(name="data", storage_class=None),
            ),
        ),
    )
    harness = SchedulerHarness([*NODES, stateful_set])
    harness.settle()
    zones = set()
    for ordinal in range(2):
        node = harness.cluster.get(Node, harness.node_of(f"db-{ordinal}"))
        topology = VolumeTopology(bound_volume(harness, f"data-db-{ordinal}"))
        assert topology.includes(node.labels)
        zones.add(node.labels[ZONE])
        other = {ZONE: "a" if node.labels[ZONE] == "b" else "b"}
        assert not topology.includes(other)
    assert zones == {"a", "b"}


def test_a_pod_whose_volume_nobody_makes_is_tried_again_after_the_timeout() -> None:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "pluginConfig": [
                    {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 30}}
                ]
            }
        ],
    }
    claim = make_persistent_volume_claim()
    volume = make_persistent_volume(name="pvc-uid", claim=claim)
    # A volume with the name that the provisioner would use blocks it.
    foreign = make_persistent_volume(
        name=volume.name, claim=make_persistent_volume_claim(name="other")
    )
    metadata = replace(claim.metadata, uid="uid")
    harness = SchedulerHarness(
        [
            *NODES,
            make_storage_class(),
            foreign,
            replace(claim, metadata=metadata),
            make_pod(claims=["claim"]),
        ],
        config=config,
    )
    assert harness.schedule_one() == "default/pod"
    harness.advance(29)
    assert len(harness.attempts) == 1
    harness.advance(10)
    assert harness.node_of("pod") == ""
    assert len(harness.attempts) > 1
    stored = harness.cluster.get(PersistentVolumeClaim, "default/claim")
    assert SELECTED_NODE in stored.annotations
