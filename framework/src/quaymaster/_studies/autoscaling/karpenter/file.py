"""The file of Karpenter.

A file is like this one::

    apiVersion: simulation.quaymaster.io/v1alpha1
    kind: Karpenter
    flags:
      - --feature-gates=SpotToSpotConsolidation=true
    catalogue: instance-types.csv
    zones: [eu-west-1a, eu-west-1b]
    reserved: {cpu: 100m, memory: 200Mi}
    times: {registration: 40s, readiness: 10s}
    failures:
      - {zone: eu-west-1a, capacityType: spot, from: 5m, until: 1h}
    interruptions:
      - {perHour: 0.05}
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._api.objects import Time
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.wire import from_wire
from quaymaster._api.openapi.table import field_table
from quaymaster._base.errors import ObjectError, TimeError
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES
from quaymaster._clusters.manifests.class_fields import find_unknown_in_class
from quaymaster._core.config.converter import structure
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.fields import duration, non_empty, one_of
from quaymaster._core.config.findings import Findings
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.karpenter.amounts import amounts_of
from quaymaster._studies.autoscaling.karpenter.catalogue import (
    TypeSpec,
    catalogue_path,
    instance_types,
    read_catalogue,
)
from quaymaster._studies.autoscaling.karpenter.controller import KarpenterSetup
from quaymaster._studies.autoscaling.karpenter.flags import read_karpenter_flags
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.interruptions import Interruption
from quaymaster._studies.autoscaling.karpenter.machines import Failure, LaunchTimes
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions

__all__ = ["read_karpenter"]

_NONE: Final = timedelta(0)
_PROVIDER_DOMAINS: Final = ("karpenter.k8s.aws", "karpenter.kwok.sh")


@attrs.frozen(kw_only=True)
class _Times:
    """How long a machine takes."""

    launch: timedelta = attrs.field(
        default=timedelta(seconds=2), validator=duration(_NONE)
    )
    registration: timedelta = attrs.field(
        default=timedelta(seconds=30), validator=duration(_NONE)
    )
    readiness: timedelta = attrs.field(
        default=timedelta(seconds=10), validator=duration(_NONE)
    )
    startup_taints: timedelta = attrs.field(default=_NONE, validator=duration(_NONE))
    termination: timedelta = attrs.field(default=_NONE, validator=duration(_NONE))


@attrs.frozen(kw_only=True)
class _Failure:
    """Offerings that the cloud lacks, or whose nodes fail; ``*`` matches any text."""

    type: str = "*"
    zone: str = "*"
    capacity_type: str = "*"
    from_: timedelta = attrs.field(default=_NONE, validator=duration(_NONE))
    until: timedelta | None = attrs.field(default=None)
    registers: bool = True


@attrs.frozen(kw_only=True)
class _Interruption:
    """Spot nodes that the cloud takes back, at a time or by chance."""

    type: str = "*"
    zone: str = "*"
    node_pool: str = "*"
    at: timedelta | None = attrs.field(default=None)
    per_hour: float | None = attrs.field(default=None)
    notice: timedelta = attrs.field(
        default=timedelta(minutes=2), validator=duration(_NONE)
    )


@attrs.frozen(kw_only=True)
class _Document:
    """A file of Karpenter."""

    api_version: str
    kind: str = attrs.field(validator=one_of("Karpenter"))
    flags: tuple[str, ...] = ()
    now: str | None = None
    catalogue: str | None = attrs.field(default=None, validator=non_empty())
    zones: tuple[str, ...] = ()
    types: tuple[TypeSpec, ...] = ()
    reserved: Mapping[str, Quantity] = attrs.field(factory=dict)
    node_pools: tuple[Mapping[str, object], ...] = ()
    times: _Times = attrs.field(factory=_Times)
    failures: tuple[_Failure, ...] = ()
    interruptions: tuple[_Interruption, ...] = ()


def read_karpenter(document: Mapping[str, object], source: str) -> KarpenterSetup:
    """Read Karpenter's settings.

    Args:
        document: The content of the file.
        source: The name of the file, for messages.

    Raises:
        ConfigErrors: The content is invalid; the error lists all mistakes of form.
        AutoscalerError: A flag cannot be used, or a catalogue or a pool is wrong.
    """
    content, mistakes = structure(document, _Document)
    findings = Findings(source)
    findings.extend("", mistakes)
    if findings.problems or not isinstance(content, _Document):
        raise ConfigErrors(findings.problems)
    types = _types(content, source)
    options = read_karpenter_flags(content.flags, source, _options(types))
    times = content.times
    return KarpenterSetup(
        types=types,
        pools=_pools(content.node_pools, source),
        options=options,
        times=LaunchTimes(
            launch=times.launch.total_seconds(),
            registration=times.registration.total_seconds(),
            readiness=times.readiness.total_seconds(),
            startup_taints=times.startup_taints.total_seconds(),
            termination=times.termination.total_seconds(),
        ),
        failures=[_failure(each) for each in content.failures],
        interruptions=[
            _interruption(each, f"{source}: interruptions[{number}]")
            for number, each in enumerate(content.interruptions)
        ],
        real_start=_time(content.now, source),
        files=[catalogue_path(each, source) for each in [content.catalogue] if each],
        source=source,
    )


def _types(content: _Document, source: str) -> Sequence[InstanceType]:
    specs = [*content.types]
    if content.catalogue is not None:
        path = catalogue_path(content.catalogue, source)
        specs += read_catalogue(path, str(path), content.zones)
    if not specs:
        raise AutoscalerError(source, "expected types or a catalogue, got none")
    names: set[str] = set()
    for spec in specs:
        if spec.name in names:
            raise AutoscalerError(f"{source}: types", f"{spec.name!r} is there twice")
        names.add(spec.name)
        _check_capacity(spec, source)
    return instance_types(specs, amounts_of(content.reserved))


def _check_capacity(spec: TypeSpec, source: str) -> None:
    """Check that pods may fit on the nodes of a type, as they need each of these."""
    for resource in ("cpu", "memory", "pods"):
        if resource not in spec.capacity:
            where = f"{source}: types ({spec.name})"
            raise AutoscalerError(where, f"capacity: expected {resource}, got none")


def _options(types: Sequence[InstanceType]) -> KarpenterOptions:
    """Return the options with the labels that the types give to nodes."""
    options = KarpenterOptions()
    labels = {requirement.key for each in types for requirement in each.requirements}
    return attrs.evolve(
        options,
        well_known_labels=options.well_known_labels | labels,
        restricted_domains=options.restricted_domains | {*_PROVIDER_DOMAINS},
    )


def _pools(trees: Sequence[Mapping[str, object]], source: str) -> Sequence[NodePool]:
    pools = []
    table = field_table(DEFAULT_KUBERNETES)
    for number, tree in enumerate(trees):
        where = f"{source}: nodePools[{number}]"
        declared = tree.get("apiVersion", NodePool.api_version), tree.get("kind", "")
        if declared not in ((NodePool.api_version, NodePool.kind), _UNNAMED):
            problem = f"expected {NodePool.api_version} {NodePool.kind}, got {declared}"
            raise AutoscalerError(where, problem)
        for odd in find_unknown_in_class(tree, NodePool, table):
            # Not those that only wait for a feature gate of Kubernetes.
            if not odd.gate:
                problem = f"{odd.path}: unknown field{odd.hint}"
                raise AutoscalerError(where, problem)
        try:
            pools.append(from_wire(dict(tree), NodePool))
        except ObjectError as error:
            raise AutoscalerError(where, str(error)) from error
    return pools


_UNNAMED: Final = (NodePool.api_version, "")


def _failure(spec: _Failure) -> Failure:
    until = spec.until
    return Failure(
        type=spec.type,
        zone=spec.zone,
        capacity_type=spec.capacity_type,
        since=spec.from_.total_seconds(),
        until=float("inf") if until is None else until.total_seconds(),
        registers=spec.registers,
    )


def _interruption(spec: _Interruption, where: str) -> Interruption:
    if (spec.at is None) == (spec.per_hour is None):
        raise AutoscalerError(where, "expected either at or perHour")
    if spec.per_hour is not None and not 0 < spec.per_hour < 1:
        problem = f"perHour: expected a number between 0 and 1, got {spec.per_hour:g}"
        raise AutoscalerError(where, problem)
    return Interruption(
        type=spec.type,
        zone=spec.zone,
        pool=spec.node_pool,
        at=None if spec.at is None else spec.at.total_seconds(),
        per_hour=spec.per_hour or 0.0,
        notice=spec.notice.total_seconds(),
    )


def _time(text: str | None, source: str) -> float | None:
    if text is None:
        return None
    try:
        return Time.parse(text)
    except TimeError as error:
        problem = f"expected a time such as 2026-01-31T09:00:00Z, got {text!r}"
        raise AutoscalerError(f"{source}: now", problem) from error
