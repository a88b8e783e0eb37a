"""The hash of the template of a NodePool, by which Karpenter detects drift.

Mirrors ``NodePool.Hash`` (sigs.k8s.io/karpenter v1.15, ``pkg/apis/v1/nodepool.go``),
which calls ``Hash`` of github.com/mitchellh/hashstructure v2 with its second format,
``SlicesAsSets``, ``IgnoreZeroValue`` and ``ZeroNil``. Requirements do not count.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from quaymaster._api.objects import Taint
from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClassReference,
    NodePool,
    NodeTemplate,
)

__all__ = ["HASH", "HASH_VERSION", "VERSION", "template_hash"]

HASH: Final = "karpenter.sh/nodepool-hash"
HASH_VERSION: Final = "karpenter.sh/nodepool-hash-version"
VERSION: Final = "v3"
"""The version of the hash; hashes of other versions are not comparable."""

_OFFSET: Final = 14695981039346656037
_PRIME: Final = 1099511628211
_MASK: Final = 2**64 - 1
_NEVER: Final = "Never"

_Field: TypeAlias = tuple[str, int | None]
"""The name of a field in Go, and the hash of its value; None for a zero value."""


def template_hash(pool: NodePool) -> str:
    """Return the hash of the template of a pool, as its annotation has it."""
    return str(_template(pool.spec.template))


def _template(template: NodeTemplate) -> int:
    metadata, spec = template.metadata, template.spec
    own_metadata = _struct(
        "ObjectMeta",
        ("Labels", _map(metadata.labels)),
        ("Annotations", _map(metadata.annotations)),
    )
    own_spec = _struct(
        "NodeClaimTemplateSpec",
        ("Taints", _taints(spec.taints)),
        ("StartupTaints", _taints(spec.startup_taints)),
        ("NodeClassRef", _reference(spec.node_class_ref)),
        ("TerminationGracePeriod", _duration(spec.termination_grace_period)),
        ("ExpireAfter", _duration(spec.expire_after, "NillableDuration")),
    )
    has_metadata = metadata.labels or metadata.annotations
    return _struct(
        "NodeClaimTemplate",
        ("ObjectMeta", own_metadata if has_metadata else None),
        ("Spec", own_spec),
    )


def _taints(taints: Iterable[Taint]) -> int | None:
    hashes = [
        _struct(
            "Taint",
            ("Key", _text(taint.key)),
            ("Value", _text(taint.value)),
            ("Effect", _text(taint.effect)),
        )
        for taint in taints
    ]
    return _unordered(hashes) if hashes else None


def _reference(reference: NodeClassReference) -> int | None:
    if reference == NodeClassReference():
        return None
    return _struct(
        "NodeClassReference",
        ("Kind", _text(reference.kind)),
        ("Name", _text(reference.name)),
        ("Group", _text(reference.group)),
    )


def _duration(text: str | None, kind: str = "Duration") -> int | None:
    length = None if text is None or text == _NEVER else parse_duration(text)
    if length is None:
        return None
    nanoseconds = round(length.total_seconds() * 10**9)
    return _struct(kind, ("Duration", _fnv(nanoseconds.to_bytes(8, "little"))))


def _map(values: Mapping[str, str]) -> int | None:
    if not values:
        return None
    pairs = (_ordered(_string(key), _string(value)) for key, value in values.items())
    return _finished(_unordered(pairs))


def _struct(name: str, *fields: _Field) -> int:
    """Return the hash of a Go struct; it is finished after each field that counts."""
    result = _string(name)
    for field, value in fields:
        if value is not None:
            result = _finished(result ^ _ordered(_string(field), value))
    return result


def _text(text: str) -> int | None:
    return _string(text) if text else None


def _string(text: str) -> int:
    return _fnv(text.encode())


def _unordered(hashes: Iterable[int]) -> int:
    result = 0
    for each in hashes:
        result ^= each
    return result


def _ordered(left: int, right: int) -> int:
    return _fnv(left.to_bytes(8, "little") + right.to_bytes(8, "little"))


def _finished(value: int) -> int:
    return _fnv(value.to_bytes(8, "little"))


def _fnv(content: bytes) -> int:
    """Return the 64-bit FNV-1 hash."""
    result = _OFFSET
    for byte in content:
        result = (result * _PRIME & _MASK) ^ byte
    return result
