"""Hashes templates, for the names of ReplicaSets."""

from msgspec.structs import replace

from quaymaster._api.objects import Container, PodTemplateSpec, Probe
from quaymaster._api.objects.codec import ENCODER
from quaymaster._clusters.inmemory.names import safe_hash

__all__ = ["template_hash"]


def template_hash(template: PodTemplateSpec, attempt: int) -> str:
    """Return the hash of a template.

    Fields that scheduling never reads do not count, so that names stay the same from
    version to version. Templates that differ only in these get different attempts.

    Args:
        template: The template.
        attempt: How many hashes of it are taken.
    """
    spec = template.spec
    spec = replace(
        spec,
        containers=tuple(map(_bare, spec.containers)),
        init_containers=tuple(map(_bare, spec.init_containers)),
    )
    text = ENCODER.encode(replace(template, spec=spec))
    return safe_hash(text + str(attempt).encode() if attempt else text)


def _bare(container: Container) -> Container:
    hooks = container.lifecycle
    if hooks is not None and hooks.pre_stop is not None:
        hook = replace(hooks.pre_stop, exec=None, http_get=None, tcp_socket=None)
        hooks = replace(hooks, pre_stop=hook)
    return replace(
        container,
        image_pull_policy="",
        readiness_probe=_bare_probe(container.readiness_probe),
        startup_probe=_bare_probe(container.startup_probe),
        lifecycle=hooks,
    )


def _bare_probe(probe: Probe | None) -> Probe | None:
    if probe is None:
        return None
    return replace(probe, exec=None, http_get=None, tcp_socket=None, grpc=None)
