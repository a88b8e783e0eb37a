"""The rights that a configuration needs on an API server: these, and no others.

What plugins read and write is declared by their classes. What the scheduler itself asks
for mirrors the role ``system:kube-scheduler`` of Kubernetes v1.36
(``plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go``), but for what it need
not do: pods are deleted by preemption alone, leases are known by their names.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Lease, Node, Pod
from quaymaster._api.objects.kinds import group_of, plural_of
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.kubernetes.authorities import AUTHORITIES
from quaymaster._core.config.kinds import profile_plugins
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.settings import LeaderElection
from quaymaster._core.contract.declarations import Verb
from quaymaster._core.registry.access import reads_of_plugin, writes_of_plugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["READING", "SCHEDULER", "Need", "Right", "rights_of"]

SCHEDULER: Final = "the scheduler"
"""Who needs what no plugin asks for."""

READING: Final = ("get", "list", "watch")
"""The verbs by which a kind is followed."""

_AUTHENTICATION: Final = "authentication.k8s.io"
_AUTHORIZATION: Final = "authorization.k8s.io"
_EVENTS: Final = "events.k8s.io"
_WHO_ASKS: Final = "the pages of metrics (who asks, and what they may)"
_EVENTS_TOLD: Final = f"{SCHEDULER} (what became of pods)"
_CONDITIONS: Final = f"{SCHEDULER} (why a pod is not scheduled)"
_ELECTION: Final = "the leader election"
_CERTIFICATES: Final = "the pages of metrics (whose certificates they know)"


@attrs.frozen
class Right:
    """One sort of request that an API server may allow.

    Attributes:
        verb: What is done, such as ``list``.
        resource: To what, with its subresource: ``pods/binding``.
        group: The group of the resource; empty for the core group.
        namespace: The one namespace that it is about; empty for all.
        name: The one object that it is about; empty for all.
    """

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f" {self.name!r}" if self.name else ""
        where = f" in namespace {self.namespace!r}" if self.namespace else ""
        return f"{self.verb} {full}{named}{where}"


@attrs.frozen
class Need:
    """A right, and who cannot do without it.

    Attributes:
        right: The right.
        who: The plugins by their names, and parts of the scheduler.
    """

    right: Right
    who: tuple[str, ...]


def rights_of(config: SchedulerConfig, registry: PluginRegistry) -> Sequence[Need]:
    """The rights that a scheduler with a configuration needs.

    Args:
        config: The configuration.
        registry: Where its plugins are found.

    Returns:
        Each right once, those of the scheduler itself first.

    Raises:
        PluginLoadError: A plugin cannot be used.
    """
    found: dict[Right, dict[str, None]] = {}
    for right, who in _asked(config, registry):
        found.setdefault(right, {})[who] = None
    return [Need(right, tuple(who)) for right, who in found.items()]


def _asked(
    config: SchedulerConfig, registry: PluginRegistry
) -> Iterator[tuple[Right, str]]:
    yield from _following((Node, Pod), SCHEDULER)
    yield Right("patch", "pods/status"), _CONDITIONS
    yield from ((Right(verb, "events", _EVENTS), _EVENTS_TOLD) for verb in _TELLING)
    yield Right("create", "tokenreviews", _AUTHENTICATION), _WHO_ASKS
    yield Right("create", "subjectaccessreviews", _AUTHORIZATION), _WHO_ASKS
    for name in profile_plugins(config):
        yield from _asked_by_plugin(registry[name].load(), name, config.kubernetes)
    if config.leader_election.leader_elect:
        yield from _electing(config.leader_election)
    yield Right("get", "configmaps", "", *AUTHORITIES), _CERTIFICATES


_TELLING: Final = ("create", "patch")


def _asked_by_plugin(
    plugin: type, name: str, kubernetes: Kubernetes
) -> Iterator[tuple[Right, str]]:
    reads = (
        kind
        for kind in reads_of_plugin(plugin)
        if kind not in (Node, Pod) and kubernetes.reads(kind.kind)
    )
    yield from _following(reads, name)
    for write in writes_of_plugin(plugin):
        yield Right(write.verb.value, write.resource, write.group), name
        if write.verb is Verb.UPDATE:
            # An update begins with the whole object as it is stored.
            yield Right("get", plural_of(write.kind), write.group), name


def _following(
    kinds: Iterable[type[ApiObject]], who: str
) -> Iterator[tuple[Right, str]]:
    for kind in kinds:
        group = group_of(kind.api_version)
        for verb in READING:
            yield Right(verb, plural_of(kind), group), who


def _electing(settings: LeaderElection) -> Iterator[tuple[Right, str]]:
    namespace, name = settings.resource_namespace, settings.resource_name
    resource, group = plural_of(Lease), group_of(Lease.api_version)
    for verb in ("get", "update"):
        yield Right(verb, resource, group, namespace, name), _ELECTION
    # Who creates an object has no name to be allowed by.
    yield Right("create", resource, group, namespace), _ELECTION
