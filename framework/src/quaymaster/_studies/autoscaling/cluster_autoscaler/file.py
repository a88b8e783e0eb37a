"""The file of a cluster autoscaler.

A file is like this one::

    apiVersion: simulation.quaymaster.io/v1alpha1
    kind: ClusterAutoscaler
    flags:
      - --expander=least-waste
      - --balance-similar-node-groups
    groups:
      - name: general
        min: 0
        max: 20
        price: 0.19
        registration: 60s
        readiness: 30s
        resources: {cpu: 4, memory: 16Gi}
        labels: {disk: ssd}
"""

import re
from collections.abc import Mapping

import attrs

from quaymaster._core.config.converter import structure
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.fields import non_empty, number, one_of
from quaymaster._core.config.findings import Findings
from quaymaster._studies.autoscaling.cluster_autoscaler.controller import (
    ClusterAutoscalerSetup,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.flags import (
    FlagError,
    read_flags,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.price_expander import (
    PodPrices,
)
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.group_settings import GroupSettings
from quaymaster._studies.autoscaling.karpenter.catalogue import (
    catalogue_path,
    read_catalogue,
)

__all__ = ["read_cluster_autoscaler"]


@attrs.frozen(kw_only=True)
class _Priority:
    """One priority of the expander ``priority``."""

    priority: int
    groups: tuple[str, ...] = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class _PodPrices:
    """What pods pay for requests, with the expander ``price``; per core and GiB."""

    cpu: float = attrs.field(default=PodPrices().cpu, validator=number(0))
    memory: float = attrs.field(default=PodPrices().memory, validator=number(0))


@attrs.frozen(kw_only=True)
class _Document:
    """A file of a cluster autoscaler."""

    api_version: str
    kind: str = attrs.field(validator=one_of("ClusterAutoscaler"))
    flags: tuple[str, ...] = ()
    priorities: tuple[_Priority, ...] | None = None
    pod_prices: _PodPrices = attrs.field(factory=_PodPrices)
    catalogue: str | None = attrs.field(default=None, validator=non_empty())
    groups: tuple[GroupSettings, ...] = attrs.field(validator=non_empty())


def read_cluster_autoscaler(
    document: Mapping[str, object], source: str
) -> ClusterAutoscalerSetup:
    """Read a cluster autoscaler.

    Args:
        document: The content of the file.
        source: The name of the file, for messages.

    Raises:
        ConfigErrors: The content is invalid; the error lists all mistakes of form.
        AutoscalerError: A flag cannot be used, or a group is impossible.
    """
    content, mistakes = structure(document, _Document)
    findings = Findings(source)
    findings.extend("", mistakes)
    if findings.problems or not isinstance(content, _Document):
        raise ConfigErrors(findings.problems)
    _check_groups(content.groups, source)
    files = [catalogue_path(each, source) for each in [content.catalogue] if each]
    # Types without a zone have the same price everywhere.
    catalogue = [
        spec for path in files for spec in read_catalogue(path, str(path), ("",))
    ]
    return ClusterAutoscalerSetup(
        groups=content.groups,
        options=_options(content.flags, source),
        priorities=_priorities(content.priorities, source),
        pod_prices=PodPrices(
            cpu=content.pod_prices.cpu, memory=content.pod_prices.memory
        ),
        catalogue=catalogue,
        files=files,
        source=source,
    )


def _check_groups(groups: tuple[GroupSettings, ...], source: str) -> None:
    names: set[str] = set()
    for index, group in enumerate(groups):
        where = f"{source}: groups[{index}] ({group.name})"
        if group.name in names:
            raise AutoscalerError(where, f"name: {group.name!r} is taken already")
        if group.max < group.min:
            problem = f"max: expected at least min, which is {group.min}"
            raise AutoscalerError(where, f"{problem}, got {group.max}")
        names.add(group.name)


def _options(flags: tuple[str, ...], source: str) -> ClusterAutoscalerOptions:
    try:
        return read_flags(flags)
    except FlagError as error:
        raise AutoscalerError(f"{source}: flags", str(error)) from error


def _priorities(
    entries: tuple[_Priority, ...] | None, source: str
) -> Mapping[int, tuple[str, ...]] | None:
    if entries is None:
        return None
    for index, entry in enumerate(entries):
        for pattern in entry.groups:
            _check_pattern(pattern, f"{source}: priorities[{index}]")
    return {entry.priority: entry.groups for entry in entries}


def _check_pattern(pattern: str, where: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        problem = f"expected a regular expression, got {pattern!r}: {error}"
        raise AutoscalerError(where, problem) from error
