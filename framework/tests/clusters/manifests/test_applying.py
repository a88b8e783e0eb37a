"""Manifests are applied on top of the objects of a cluster."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import load_config
from quaymaster.manifests import Loaded, ManifestErrors, load
from quaymaster.objects import (
    OwnerReference,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    to_wire,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import (
    make_deployment,
    make_namespace,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_replica_set,
)


def on_top(folder: Path, stored: Sequence[ApiObject], *written: ApiObject) -> Loaded:
    """Load manifests on top of what a server has stored."""
    trees: list[Any] = [to_wire(obj) for obj in written]
    for tree in trees:
        tree["metadata"].pop("uid", None)  # only a server sets it
        if tree["kind"] == "Pod":
            tree.pop("status", None)
    (folder / "new.json").write_text("\n".join(map(json.dumps, trees)))
    items = [to_wire(obj) for obj in stored]
    content = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return load([folder / "new.json"], stored=[("here", content.encode())])


def nodes_of_new_pods(loaded: Loaded) -> list[str]:
    registry = PluginRegistry.discover()
    config = load_config("default", registry)
    result = simulate(loaded.objects, config=config, registry=registry)
    assert not result.unscheduled
    return [placement.node for placement in result.placements]


def test_manifest_wins_and_the_fields_of_the_server_are_kept(
    tmp_path: Path,
) -> None:
    stored = make_pod(name="p", node="n", labels={"app": "a", "by": "server"})
    written = make_pod(name="p", labels={"app": "b"}, requests={"cpu": "1"})
    [pod] = on_top(tmp_path, [stored], written).of(Pod)
    assert pod.labels == {"app": "b", "by": "server"}
    assert (pod.uid, pod.node_name, pod.status) == (stored.uid, "n", stored.status)
    assert pod.spec.containers[0].resources.requests


def test_claim_keeps_its_volume(tmp_path: Path) -> None:
    written = make_persistent_volume_claim(name="c")
    stored = replace(
        written,
        metadata=replace(written.metadata, uid="c"),
        spec=PersistentVolumeClaimSpec(volume_name="v"),
    )
    [claim] = on_top(tmp_path, [stored], written).of(PersistentVolumeClaim)
    assert claim.spec.volume_name == "v"


def a_running_deployment() -> list[ApiObject]:
    """Return a Deployment with its ReplicaSet and a pod on each of two nodes."""
    labels = {"app": "web", "pod-template-hash": "abc"}
    deployment = make_deployment(name="web", replicas=2, pod=pod_of("v1"))
    template = deployment.spec.template
    replica_set = make_replica_set(name="web-abc", replicas=2, selector=labels)
    replica_set = replace(
        replica_set,
        metadata=replace(
            replica_set.metadata,
            owner_references=(
                OwnerReference(
                    api_version=deployment.api_version,
                    kind=deployment.kind,
                    name=deployment.name,
                    uid=deployment.uid,
                    controller=True,
                ),
            ),
        ),
        spec=replace(
            replica_set.spec,
            template=replace(
                template, metadata=replace(template.metadata, labels=labels)
            ),
        ),
    )
    return [
        deployment,
        replica_set,
        *(make_node(name=f"n{index}") for index in range(2)),
        *(
            make_pod(
                name=f"web-abc-{index}",
                node=f"n{index}",
                labels=labels,
                owner=replica_set,
                images=["v1"],
                requests={"cpu": "1"},
            )
            for index in range(2)
        ),
    ]


def pod_of(image: str) -> Pod:
    return make_pod(labels={"app": "web"}, images=[image], requests={"cpu": "1"})


def test_scaled_deployment_gets_one_more_pod(tmp_path: Path) -> None:
    more = make_deployment(name="web", replicas=3, pod=pod_of("v1"))
    loaded = on_top(tmp_path, a_running_deployment(), more)
    assert len(nodes_of_new_pods(loaded)) == 1


def test_deployment_with_another_image_is_rolled_out(tmp_path: Path) -> None:
    other = make_deployment(name="web", replicas=2, pod=pod_of("v2"))
    loaded = on_top(tmp_path, a_running_deployment(), other)
    assert len(nodes_of_new_pods(loaded)) == 2


def test_new_objects_are_added(tmp_path: Path) -> None:
    loaded = on_top(tmp_path, [make_node(name="n")], make_pod(name="p"))
    assert [obj.key for obj in loaded.objects] == ["n", "default/p"]
    assert [str(source) for source in loaded.sources] == [
        "here: items[0]",
        str(tmp_path / "new.json"),
    ]


def test_object_is_applied_once(tmp_path: Path) -> None:
    pod, namespace = make_pod(name="p"), make_namespace(name="crew")
    with pytest.raises(ManifestErrors, match="duplicate Pod 'default/p', first in"):
        on_top(tmp_path, [pod], pod, pod)
    loaded = on_top(tmp_path, [namespace], namespace, namespace)
    assert [obj.key for obj in loaded.objects] == ["crew"]
