"""Groups pods that fit on the same empty nodes."""

from collections.abc import Hashable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Affinity, Container, Pod, PodSpec
from quaymaster._api.objects.codec import ENCODER
from quaymaster._api.objects.spec_key import SpecKey

__all__ = ["plain_spec", "signature"]


def signature(pod: Pod) -> Hashable:
    """Return a key; pods with the same key fit on the same empty nodes."""
    return _SIGNATURES.of(pod)


def _signature(spec: PodSpec) -> bytes:
    return ENCODER.encode(plain_spec(spec))


_SIGNATURES: Final = SpecKey(_signature)


def plain_spec(spec: PodSpec) -> PodSpec:
    """Return a spec without fields that depend on other pods, volumes and devices."""
    affinity = spec.affinity
    if affinity is not None:
        affinity = Affinity(node_affinity=affinity.node_affinity)
    return replace(
        spec,
        affinity=affinity,
        topology_spread_constraints=(),
        resource_claims=(),
        scheduling_group=None,
        volumes=(),
        init_containers=tuple(map(_unclaiming, spec.init_containers)),
        containers=tuple(map(_unclaiming, spec.containers)),
    )


def _unclaiming(container: Container) -> Container:
    """Return a container without claims of devices, which its pod no longer has."""
    return replace(container, resources=replace(container.resources, claims=()))
