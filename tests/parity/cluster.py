"""The cluster of a case: nodes, pods, nominations and built profiles."""

from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random
from typing import Literal, TypeAlias, TypeVar, cast

import attrs
import msgspec

from quaymaster import ApiObject, Node, Pod, Snapshot
from quaymaster.cluster import PodStatusPatch
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    KINDS,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
    SpecPool,
    decode,
)
from quaymaster.scheduler import Clock, PluginRegistry, VirtualClock
from tests.kit.informers import HeldObjects
from tests.kit.internals.cycle import Algorithm, NodeOrder
from tests.kit.internals.engine import Framework, FrameworkBuilder, Services
from tests.kit.internals.memo import Signatures, remember
from tests.kit.internals.queue import Nominator
from tests.kit.internals.runtime import Call
from tests.kit.internals.state import Cache
from tests.parity.cases import Case, Json
from tests.parity.claims import ClaimServer
from tests.parity.configuration import load_configuration

__all__ = ["CallLog", "CaseCluster", "Path", "apply"]

Path: TypeAlias = Literal["scalar", "twin", "plain"]
"""The hooks that judge nodes.

``scalar`` uses the scalar ones only, ``twins`` uses batch twins where they exist, and
``plain`` uses these without any cache.
"""

ObjT = TypeVar("ObjT", bound=ApiObject)

_TWINS = frozenset(twin for point in EXTENSION_POINTS for twin in point.twins.values())


class CallLog(InMemoryCluster):
    """The API server of a case: it stores claims only, and logs other calls.

    Attributes:
        claims: The claims of the case.
        cleared: The keys of the pods whose nominations the scheduler cleared.
        deleted: The keys of the pods that the scheduler deleted.
    """

    def __init__(self, clock: Clock, claims: ClaimServer) -> None:
        super().__init__(clock)
        self.claims = claims
        self.cleared: list[str] = []
        self.deleted: list[str] = []

    def clear(self) -> None:
        """Forget the calls."""
        self.cleared.clear()
        self.deleted.clear()

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Log a patch that clears a nomination."""
        if patch.nominated_node_name == "":
            self.cleared.append(pod.key)

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """Delete a claim, or log the deletion of a pod."""
        if kind is ResourceClaim:
            self.claims.delete(key)
            return
        assert kind is Pod
        self.deleted.append(key)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """Return a claim."""
        assert kind is ResourceClaim
        return cast("ObjT", self.claims.get(key))

    def create(self, obj: ObjT) -> ObjT:
        """Store a claim."""
        assert isinstance(obj, ResourceClaim)
        return cast("ObjT", self.claims.create(obj))

    def update(self, obj: ObjT) -> ObjT:
        """Replace a claim."""
        assert isinstance(obj, ResourceClaim)
        return cast("ObjT", self.claims.update(obj))

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """Change a claim's status, or store a pod's status of extended resources."""
        if isinstance(obj, ResourceClaim):
            return cast("ObjT", self.claims.patch_status(obj, changes))
        status = changes["extended_resource_claim_status"]
        assert isinstance(status, PodExtendedResourceClaimStatus)
        self.claims.extended_resources[obj.key] = status
        return obj


class _First(Random):
    """A random generator that always chooses the first."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return 0


@attrs.frozen(eq=False, kw_only=True)
class CaseCluster:
    """All objects that scheduling a case's pods reads and changes.

    Attributes:
        snapshot: The nodes with their pods.
        cache: The cache that keeps the snapshot up to date.
        objects: All objects, for plugins.
        nominator: The nominated pods.
        frameworks: Scheduler name -> its built profile.
        pods: The pods to schedule, by key.
        calls: The log of API calls.
        clock: The clock, whose time does not pass.
    """

    snapshot: Snapshot
    cache: Cache
    objects: HeldObjects
    nominator: Nominator
    frameworks: Mapping[str, Framework]
    pods: dict[str, Pod]
    calls: CallLog
    clock: VirtualClock

    @classmethod
    def build(
        cls,
        case: Case,
        registry: PluginRegistry,
        path: Path,
        dropped: Counter[str],
    ) -> "CaseCluster":
        """Build a case's cluster before the first pod.

        Args:
            case: The case.
            registry: The installed plugins.
            path: The hooks that judge nodes.
            dropped: Counts the entries of the configuration whose plugin is not
                installed.

        Raises:
            ConfigErrors: The case's configuration is wrong.
        """
        config = load_configuration(case, registry, dropped)
        pool = SpecPool()
        objects = [_decoded(tree, pool) for tree in case.objects]
        pods = [_decoded_pod(tree, pool) for tree in case.pods if "metadata" in tree]
        waiting = [obj for obj in objects if isinstance(obj, Pod) and not obj.node_name]
        listed = HeldObjects([*objects, *pods])
        nominator = Nominator(lambda key: listed.get(Pod, key))
        for pod in (*waiting, *pods):
            nominator.add(pod)
        snapshot = Snapshot(case.kubernetes)
        cache = _filled_cache(snapshot, objects)
        clock = VirtualClock()
        calls = CallLog(clock, ClaimServer(listed, case.drivers))
        services = _services(clock, calls, snapshot, listed, nominator)
        order = NodeOrder()
        builder = FrameworkBuilder(registry=registry, services=services, order=order)
        percentage = config.percentage_of_nodes_to_score
        frameworks = {
            profile.scheduler_name: builder.build(profile, percentage)
            for profile in config.profiles
        }
        if path == "scalar":
            frameworks = {
                name: _without_twins(framework, snapshot, nominator, order, percentage)
                for name, framework in frameworks.items()
            }
        elif path == "plain":
            frameworks = {
                name: msgspec.structs.replace(framework, algorithm=framework.plain)
                for name, framework in frameworks.items()
            }
        return cls(
            snapshot=snapshot,
            cache=cache,
            objects=listed,
            nominator=nominator,
            frameworks=frameworks,
            pods={pod.key: pod for pod in pods},
            calls=calls,
            clock=clock,
        )


def apply(cluster: CaseCluster, tree: Json) -> None:
    """Create or replace an object other than a node or a pod."""
    obj = _decoded(tree, SpecPool())
    if isinstance(obj, ResourceClaim):
        cluster.calls.claims.put(obj)
    else:
        cluster.objects.put(obj)


def _decoded(tree: Json, pool: SpecPool) -> ApiObject:
    return decode(msgspec.json.encode(tree), KINDS[tree["kind"]], pool=pool)


def _decoded_pod(tree: Json, pool: SpecPool) -> Pod:
    return decode(msgspec.json.encode(tree), Pod, pool=pool)


def _filled_cache(snapshot: Snapshot, objects: Iterable[ApiObject]) -> Cache:
    cache = Cache(snapshot)
    for obj in objects:
        if isinstance(obj, Node):
            cache.add_node(obj)
        elif isinstance(obj, Pod) and obj.node_name:
            cache.add_pod(obj)
    return cache


def _services(
    clock: Clock,
    calls: CallLog,
    snapshot: Snapshot,
    objects: HeldObjects,
    nominator: Nominator,
) -> Services:
    return Services(
        clock=clock,
        cluster=calls,
        informers=objects,
        snapshot=snapshot,
        nominator=nominator,
        random=_First(),
    )


def _without_twins(
    framework: Framework,
    snapshot: Snapshot,
    nominator: Nominator,
    order: NodeOrder,
    percentage: int,
) -> Framework:
    profile = framework.profile
    plans = {key: tuple(map(_scalar, calls)) for key, calls in profile.plans.items()}
    profile = msgspec.structs.replace(profile, plans=plans)
    plain = Algorithm(profile, snapshot.nodes, nominator, order, percentage)
    framework.handle.attach(plain)
    algorithm = remember(plain, Signatures(profile, snapshot.nodes))
    return msgspec.structs.replace(
        framework, profile=profile, algorithm=algorithm, plain=plain
    )


def _scalar(call: Call) -> Call:
    hooks = {
        hook: function for hook, function in call.hooks.items() if hook not in _TWINS
    }
    return msgspec.structs.replace(call, hooks=hooks)
