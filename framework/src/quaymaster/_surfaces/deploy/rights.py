"""The rights that a configuration needs on an API server: these, and no others.

Classes of plugins declare what they read and write. The rights of the scheduler itself
mirror the role ``system:kube-scheduler`` of Kubernetes v1.37
(``plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go``), except those that are
not needed: only preemption deletes pods, only one lease is used, and no scheduler
writes the status of CompositePodGroups.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Lease, Node, Pod, PodGroup
from quaymaster._api.objects.kinds import group_of, is_builtin, plural_of
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.kubernetes.authorities import AUTHORITIES
from quaymaster._core.config.kinds import groups_read, profile_plugins
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.settings import LeaderElection
from quaymaster._core.contract.declarations import Verb
from quaymaster._core.registry.access import reads_of_plugin, writes_of_plugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["READING", "SCHEDULER", "Need", "Right", "rights_of"]

SCHEDULER: Final = "the scheduler"
"""The reason of rights that no plugin needs."""

READING: Final = ("get", "list", "watch")
"""The verbs for following a kind."""

_AUTHENTICATION: Final = "authentication.k8s.io"
_AUTHORIZATION: Final = "authorization.k8s.io"
_EVENTS: Final = "events.k8s.io"
_REVIEWS: Final = "the pages of metrics (authentication and authorisation)"
_EVENT_WRITER: Final = f"{SCHEDULER} (Events about pods)"
_CONDITIONS: Final = f"{SCHEDULER} (why a pod is not scheduled)"
_GROUP_CONDITIONS: Final = f"{SCHEDULER} (whether a group is scheduled)"
_ELECTION: Final = "the leader election"
_CERTIFICATES: Final = "the pages of metrics (client certificates)"


@attrs.frozen
class Right:
    """A right on an API server.

    Attributes:
        verb: The verb, such as ``list``.
        resource: The resource with its subresource: ``pods/binding``.
        group: The group of the resource; empty for the core group.
        namespace: The only namespace; empty for all.
        name: The name of the only object; empty for all.
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
    """A right, and the components that need it.

    Attributes:
        right: The right.
        who: The plugins by their names, and parts of the scheduler.
    """

    right: Right
    who: tuple[str, ...]


def rights_of(config: SchedulerConfig, registry: PluginRegistry) -> Sequence[Need]:
    """Return the rights that a scheduler with a configuration needs.

    Args:
        config: The configuration.
        registry: The plugins by name.

    Returns:
        Each right once, those of the scheduler itself first.

    Raises:
        PluginLoadError: A plugin cannot be used.
    """
    needs: dict[Right, dict[str, None]] = {}
    for right, who in _rights(config, registry):
        needs.setdefault(right, {})[who] = None
    return [Need(right, tuple(who)) for right, who in needs.items()]


def _rights(
    config: SchedulerConfig, registry: PluginRegistry
) -> Iterator[tuple[Right, str]]:
    yield from _following((Node, Pod), SCHEDULER)
    yield Right("patch", "pods/status"), _CONDITIONS
    yield from _of_groups(config.kubernetes)
    yield from (
        (Right(verb, "events", _EVENTS), _EVENT_WRITER) for verb in _EVENT_VERBS
    )
    yield Right("create", "tokenreviews", _AUTHENTICATION), _REVIEWS
    yield Right("create", "subjectaccessreviews", _AUTHORIZATION), _REVIEWS
    for name in profile_plugins(config):
        yield from _rights_of_plugin(registry[name].load(), name, config.kubernetes)
    if config.leader_election.leader_elect:
        yield from _electing(config.leader_election)
    yield Right("get", "configmaps", "", *AUTHORITIES), _CERTIFICATES


_EVENT_VERBS: Final = ("create", "patch")


def _of_groups(kubernetes: Kubernetes) -> Iterator[tuple[Right, str]]:
    """Yield the rights for groups, if their feature gates are on."""
    kinds = groups_read(kubernetes)
    yield from _following(kinds, SCHEDULER)
    if PodGroup in kinds:
        resource = f"{plural_of(PodGroup)}/status"
        group = group_of(PodGroup.api_version)
        yield Right("patch", resource, group), _GROUP_CONDITIONS


def _rights_of_plugin(
    plugin: type, name: str, kubernetes: Kubernetes
) -> Iterator[tuple[Right, str]]:
    reads = (
        kind
        for kind in reads_of_plugin(plugin)
        if kind not in (Node, Pod)
        and (not is_builtin(kind) or kubernetes.reads(kind.kind))
    )
    yield from _following(reads, name)
    for write in writes_of_plugin(plugin):
        yield Right(write.verb.value, write.resource, write.group), name
        if write.verb is Verb.UPDATE:
            # An update begins with reading the whole stored object.
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
    # RBAC cannot restrict `create` to a name.
    yield Right("create", resource, group, namespace), _ELECTION
