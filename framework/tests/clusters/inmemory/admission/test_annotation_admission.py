"""Which annotations and networks of pods and nodes an API server rejects."""

from typing import Any

import pytest

from tests.kit.admission import rejected_paths

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io"
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
MIRROR = "kubernetes.io/config.mirror"


def pod(annotations: dict[str, str], **spec: object) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    metadata = {"name": "a", "annotations": annotations}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        (f"{APP_ARMOR}/c", "localhost/a", ""),
        (f"{APP_ARMOR}/c", "mine", f"[{APP_ARMOR}/c]"),
        (f"{APP_ARMOR}/d", "unconfined", f"[{APP_ARMOR}/d]"),
        (SECCOMP, "docker/default", ""),
        (SECCOMP, "localhost/../a", f".{SECCOMP}"),
        (SECCOMP, "mine", f".{SECCOMP}"),
        (MIRROR, "", f"[{MIRROR}]"),
    ],
)
def test_profiles_of_annotations_are_checked(key: str, value: str, path: str) -> None:
    paths = [f"metadata.annotations{path}"] if path else []
    assert rejected_paths("Pod", pod({key: value})) == paths


def test_static_pod_has_a_node() -> None:
    assert rejected_paths("Pod", pod({MIRROR: "x"}, nodeName="n")) == []


@pytest.mark.parametrize(
    ("networks", "paths"),
    [
        (["10.0.0.0/16", "2000::/10"], []),
        (["10.0.0.0/16", "10.1.0.0/16"], ["spec.podCIDRs"]),
        (["10.0.0.1/16"], ["spec.podCIDRs[0]"]),
        (["010.0.0.0/16"], ["spec.podCIDRs[0]"]),
        (["10.0.0.0"], ["spec.podCIDRs[0]"]),
    ],
)
def test_networks_of_nodes_are_checked(networks: list[str], paths: list[str]) -> None:
    assert rejected_paths("Node", {"spec": {"podCIDRs": networks}}) == paths


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ('{"preferAvoidPods": [{}]}', "[0].PodSignature"),
        (
            '{"preferAvoidPods": [{"podSignature": {"podController": {}}}]}',
            "[0].PodSignature.PodController.Controller",
        ),
    ],
)
def test_avoided_pods_of_nodes_have_a_controller(value: str, path: str) -> None:
    key = "scheduler.alpha.kubernetes.io/preferAvoidPods"
    tree = {"metadata": {"name": "n", "annotations": {key: value}}}
    assert rejected_paths("Node", tree) == [f"metadata.annotations.{key}{path}"]
