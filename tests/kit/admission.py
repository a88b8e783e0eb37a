"""Pods as manifests have them, and as a cluster stores them after admission."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import Kubernetes
from quaymaster.errors import ObjectError
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import (
    KINDS,
    Container,
    ContainerPort,
    ObjectMeta,
    PodSpec,
    Quantity,
    ResourceRequirements,
    from_wire,
)
from tests.kit.clusters import make_cluster

__all__ = ["admitted", "bare_container", "bare_pod", "problems_of", "rejected_paths"]


def bare_container(
    requests: dict[str, Quantity] | None = None,
    limits: dict[str, Quantity] | None = None,
    ports: Sequence[ContainerPort] = (),
) -> Container:
    """Make a container as a manifest has it, without any defaults."""
    resources = ResourceRequirements(requests=requests or {}, limits=limits or {})
    return Container(
        name="main", image="pause", resources=resources, ports=tuple(ports)
    )


def bare_pod(spec: PodSpec | None = None, *containers: Container) -> Pod:
    """Make a pod as a manifest has it, without any defaults."""
    spec = spec or PodSpec()
    containers = containers or (bare_container(),)
    return Pod(metadata=ObjectMeta(name="a"), spec=replace(spec, containers=containers))


def admitted(obj: Pod, *others: ApiObject) -> Pod:
    """Return a pod as a cluster with some other objects stores it."""
    cluster = make_cluster(*others)
    return cluster.create(obj)


def problems_of(*objects: ApiObject) -> list[str]:
    """Return the problems of objects that a cluster rejects, each with its path."""
    with pytest.raises(AdmissionError) as caught:
        make_cluster(*objects)
    return [f"{p.path}: {p.message}" for p in caught.value.problems]


def rejected_paths(
    kind: str, tree: dict[str, Any], kubernetes: Kubernetes | None = None
) -> list[str]:
    """Return the fields for which a new object is rejected; empty if it is stored."""
    cluster = make_cluster(controllers=False, kubernetes=kubernetes or Kubernetes())
    try:
        cluster.create(from_wire({"metadata": {"name": "a"}, **tree}, KINDS[kind]))
    except (AdmissionError, ObjectError) as error:
        return [problem.path for problem in error.problems]
    return []
