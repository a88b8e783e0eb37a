"""The volume plugins' cached state equals the state of new plugins.

Clusters change at random: objects are added, changed and deleted between attempts,
while pods wait for their volumes. After each step some pods are judged twice: with
batch twins by plugins that have followed the changes, and node by node by new plugins.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, CycleState, Node, NodeVerdicts, Pod, Status
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    AWSElasticBlockStoreVolumeSource,
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSIStorageCapacity,
    GCEPersistentDiskVolumeSource,
    LabelSelector,
    PersistentVolume,
    PersistentVolumeClaim,
    Quantity,
    Volume,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
)
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import (
    make_csi_node,
    make_metadata,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import MIGRATED_PLUGINS, NO_PROVISIONER
from quaymaster_volume_binding import VolumeBinding
from tests.kit.engine import binding_of, build_profiles
from tests.kit.internals.cycle import Attempt
from tests.kit.internals.engine import Framework

PLUGINS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
EBS, PLAIN = "ebs.csi.aws.com", "csi.example.com"
SEEDS = 4
CLASSES = ("standard", "local", "zoned", "tracked")


class ChangingVolumes:
    """A cluster, a scheduler that follows it, and random changes of it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(self.clock)
        driver = CSIDriver(
            metadata=make_metadata(CSIDriver, name="tracked.example.com"),
            spec=CSIDriverSpec(storage_capacity=True),
        )
        self.cluster.load(
            [
                driver,
                make_storage_class(),
                make_storage_class(name="local", provisioner=NO_PROVISIONER),
                make_storage_class(
                    name="zoned",
                    provisioner=EBS,
                    allowed_topologies=[{ZONE: ["a"]}, {ZONE: ["b"], HOST: ["n1"]}],
                ),
                make_storage_class(name="tracked", provisioner="tracked.example.com"),
            ]
        )
        self.registry = PluginRegistry.discover()
        self.config = default_config(self.registry)
        self.scheduler = Scheduler(
            self.cluster, self.config, self.registry, clock=self.clock, seed=seed
        )
        for _ in range(5):
            self.add_node()
        self.scheduler.start()
        self.count = 0

    def fresh(self) -> Framework:
        """Build new plugins, without any cached state."""
        built = build_profiles(self.scheduler, self.config)
        return next(iter(built.values()))

    def live(self) -> Framework:
        return next(iter(self.scheduler.frameworks.values()))

    # What happens -------------------------------------------------------------------

    def step(self) -> None:
        happen: list[Callable[[], None]] = [
            self.add_node,
            self.drop(Node),
            self.set_csi_node,
            self.drop(CSINode),
            self.add_attachment,
            self.drop(VolumeAttachment),
            self.set_capacity,
            self.drop(CSIStorageCapacity),
            *2 * [self.add_volume],
            self.drop(PersistentVolume),
            self.change_volume,
            *2 * [self.add_bound_claim],
            *2 * [self.add_claim],
            self.drop(PersistentVolumeClaim),
            *6 * [self.add_pod],
            *2 * [self.drop(Pod)],
        ]
        self.random.choice(happen)()
        for _ in range(self.random.randrange(4)):
            self.scheduler.turn()

    def number(self) -> int:
        self.count += 1
        return self.count

    def pick(self, kind: type[Any]) -> Any:  # noqa: ANN401  # of whatever kind
        listed = self.cluster.list(kind).items
        return self.random.choice(listed) if listed else None

    def drop(self, kind: type[ApiObject]) -> Callable[[], None]:
        def happen() -> None:
            obj = self.pick(kind)
            if obj is not None:
                self.cluster.delete(kind, obj.key, grace_period_seconds=0)

        return happen

    def add(self, obj: ApiObject) -> None:
        if all(obj.key != item.key for item in self.cluster.list(type(obj)).items):
            self.cluster.create(obj)

    def put(self, obj: ApiObject) -> None:
        if any(obj.key == item.key for item in self.cluster.list(type(obj)).items):
            self.cluster.update(replace(obj, metadata=replace(obj.metadata, uid="")))
        else:
            self.cluster.create(obj)

    def add_node(self) -> None:
        name = f"n{self.random.randrange(8)}"
        labels = {HOST: name}
        if self.random.random() < 0.8:
            labels[ZONE] = self.random.choice("abc")
        self.put(make_node(name=name, labels=labels, allocatable={"cpu": "9"}))

    def set_csi_node(self) -> None:
        limits = {
            driver: self.random.choice([None, 1, 2, 3])
            for driver in self.random.sample([EBS, PLAIN, "tracked.example.com"], 2)
        }
        csi_node = make_csi_node(name=f"n{self.random.randrange(8)}", limits=limits)
        listed = self.random.choice([{}, {MIGRATED_PLUGINS: "kubernetes.io/aws-ebs"}])
        metadata = replace(csi_node.metadata, annotations=listed)
        self.put(replace(csi_node, metadata=metadata))

    def add_attachment(self) -> None:
        volume = self.pick(PersistentVolume)
        name = "gone" if volume is None else volume.name
        self.put(
            VolumeAttachment(
                metadata=make_metadata(
                    VolumeAttachment, name=f"at-{self.random.randrange(6)}"
                ),
                spec=VolumeAttachmentSpec(
                    attacher=PLAIN,
                    node_name=f"n{self.random.randrange(8)}",
                    source=VolumeAttachmentSource(persistent_volume_name=name),
                ),
            )
        )

    def set_capacity(self) -> None:
        selector = self.random.choice(
            [
                None,
                LabelSelector(),
                LabelSelector(match_labels={ZONE: self.random.choice("abc")}),
                LabelSelector(match_labels={HOST: "n1", ZONE: "a"}),
            ]
        )
        self.put(
            CSIStorageCapacity(
                metadata=make_metadata(
                    CSIStorageCapacity,
                    name=f"cap-{self.random.randrange(4)}",
                    namespace="default",
                ),
                storage_class_name=self.random.choice(["tracked", "standard"]),
                node_topology=selector,
                capacity=Quantity(self.random.choice(["1Gi", "4Gi"])),
            )
        )

    def add_volume(self) -> None:
        reach = self.random.choice(
            [
                None,
                {HOST: f"n{self.random.randrange(8)}"},
                {ZONE: ["a", "b"]},
                {ZONE: "a", HOST: [f"n{number}" for number in range(4)]},
            ]
        )
        volume = make_persistent_volume(
            name=f"v{self.random.randrange(30)}",
            storage=self.random.choice(["1Gi", "2Gi", "3Gi"]),
            storage_class=self.random.choice(CLASSES),
            labels=self.random.choice([None, {ZONE: "a"}]),
            node_labels=reach,
        )
        if volume.name not in {
            v.name for v in self.cluster.list(PersistentVolume).items
        }:
            self.cluster.create(volume)

    def change_volume(self) -> None:
        volume = self.pick(PersistentVolume)
        if volume is not None:
            phase = self.random.choice(["Available", "Failed"])
            self.cluster.update(
                replace(volume, status=replace(volume.status, phase=phase))
            )

    def add_claim(self) -> None:
        claim = make_persistent_volume_claim(
            name=f"c{self.random.randrange(30)}",
            storage=self.random.choice(["1Gi", "2Gi", "3Gi"]),
            storage_class=self.random.choice(CLASSES),
        )
        if claim.key not in {
            c.key for c in self.cluster.list(PersistentVolumeClaim).items
        }:
            self.cluster.create(claim)

    def add_bound_claim(self) -> None:
        """Add a claim, and its volume if that is missing."""
        name = f"b{self.number()}"
        claim = make_persistent_volume_claim(name=name, volume=name)
        self.cluster.create(claim)
        if self.random.random() < 0.2:
            return
        reach = self.random.choice([None, {ZONE: "a"}])
        volume = make_persistent_volume(name=name, claim=claim, node_labels=reach)
        if self.random.random() < 0.5:
            source = AWSElasticBlockStoreVolumeSource(
                volume_id=self.random.choice([f"vol-{name}", "vol-1", "aws://bad"])
            )
            spec = replace(volume.spec, csi=None, aws_elastic_block_store=source)
            volume = replace(volume, spec=spec)
        self.cluster.create(volume)

    def add_pod(self) -> None:
        self.cluster.create(self.make_pod(f"p{self.number()}"))

    def make_pod(self, name: str) -> Pod:
        claims = [c.name for c in self.cluster.list(PersistentVolumeClaim).items]
        claims = self.random.sample(claims, min(len(claims), self.random.randrange(4)))
        if self.random.random() < 0.1:
            claims.append("missing")
        volumes = []
        if self.random.random() < 0.2:
            disk = GCEPersistentDiskVolumeSource(
                pd_name=self.random.choice("xy"), read_only=self.random.random() < 0.5
            )
            volumes.append(Volume(name="disk", gce_persistent_disk=disk))
        if self.random.random() < 0.1:
            volume_id = self.random.choice(["vol-1", "vol-2", "aws://bad"])
            ebs = AWSElasticBlockStoreVolumeSource(volume_id=volume_id)
            volumes.append(Volume(name="ebs", aws_elastic_block_store=ebs))
        return make_pod(
            name=name, claims=claims, volumes=volumes, requests={"cpu": "1"}
        )


def attempt(framework: Framework, plugin: str, pod: Pod) -> tuple[CycleState, object]:
    state = CycleState()
    nodes = framework.handle.snapshot.nodes
    status = framework.plain.pre_filter.run_one(
        plugin, Attempt.begin(state, pod, nodes)
    )
    return state, status


def one_by_one(framework: Framework, plugin: str, pod: Pod) -> Mapping[str, object]:
    """Return a plugin's results, node by node, up to the first error."""
    state, status = attempt(framework, plugin, pod)
    if status is not None:
        return {"": status} if isinstance(status, Status) else {}
    found: dict[str, object] = {}
    for node in framework.handle.snapshot:
        answer = framework.plain.filter.run_one(plugin, state, pod, node)
        if answer is not None and answer.is_error:
            return {"error": replaced(answer)}
        if answer is not None:
            found[node.name] = replaced(answer)
    return {**found, **plans(framework, state)}


def at_once(framework: Framework, plugin: str, pod: Pod) -> Mapping[str, object]:
    """Return the same results from the batch twin."""
    state, status = attempt(framework, plugin, pod)
    if status is not None:
        return {"": status} if isinstance(status, Status) else {}
    call = next(c for c in framework.profile.plan("filter") if c.plugin == plugin)
    nodes = framework.handle.snapshot.nodes
    try:
        answer = call.hooks["filter_nodes"](state, pod, nodes, nodes.rows)
    except Exception as error:
        answer = Status.from_error(error)
    names = nodes.names_at(nodes.rows)
    if isinstance(answer, Status):
        if answer.is_error:
            return {"error": replaced(answer)}
        return dict.fromkeys(names, replaced(answer))
    if answer is None:
        return plans(framework, state)
    assert isinstance(answer, NodeVerdicts)
    codes = zip(names, answer.codes.tolist(), strict=True)
    found = {name: replaced(answer.status_of(code)) for name, code in codes if code}
    return {**found, **plans(framework, state)}


def plans(framework: Framework, state: CycleState) -> Mapping[str, object]:
    """Return the plans for the volumes on the feasible nodes."""
    plugin = framework.profile.plugins["VolumeBinding"]
    assert isinstance(plugin, VolumeBinding)
    found: dict[str, object] = {}
    for node in framework.handle.snapshot:
        plan = plugin.plan(state, node.name)
        if plan is not None:
            static = [
                (binding.claim.key, binding.volume.name) for binding in plan.static
            ]
            found[node.name] = (static, [claim.key for claim in plan.provision])
    return found


def replaced(status: Status) -> Status:
    """Return a status without the plugin's name and the stations' prefix."""
    reasons = tuple(reason.rpartition("plugin: ")[2] for reason in status.reasons)
    return Status(status.code, reasons)


def probes(world: ChangingVolumes) -> Iterator[Pod]:
    for number in range(4):
        pod = world.make_pod(f"probe-{number}")
        yield replace(pod, metadata=replace(pod.metadata, uid=f"probe-{number}"))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS))
def test_memory_of_volumes_follows_the_cluster(seed: int) -> None:
    world = ChangingVolumes(seed)
    for _ in range(80):
        world.step()
        fresh = world.fresh()
        is_at_rest = not binding_of(world.scheduler).in_flight
        for pod in probes(world):
            for plugin in PLUGINS:
                expected = one_by_one(world.live(), plugin, pod)
                assert at_once(world.live(), plugin, pod) == expected, (plugin, pod)
                if is_at_rest or plugin != "VolumeBinding":
                    assert one_by_one(fresh, plugin, pod) == expected, (plugin, pod)
    assert any(pod.node_name for pod in world.cluster.list(Pod).items)
