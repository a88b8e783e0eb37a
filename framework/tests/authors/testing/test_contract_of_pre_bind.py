"""The contract suite runs PreBind, so that plugins may give up there what they keep."""

from collections.abc import Iterator

import pytest
from hypothesis.strategies import sampled_from
from msgspec.structs import replace

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    Pod,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.objects import PersistentVolumeClaim
from quaymaster.testing import (
    ContractError,
    check_plugin,
    clusters,
    make_persistent_volume_claim,
    pods,
)
from tests.kit.internals.testing import CHECKS

NODE = "example.com/node"
CLAIMS = [make_persistent_volume_claim(name=name) for name in ("data", "logs")]
KEPT = ("staleness", "restarts", "memory")
"""The checks that let pods be bound."""
OWN = StateKey[list[PersistentVolumeClaim]]("Pins/own")


class Pins:
    """Pins each claim to the node of its first pod.

    It keeps a pinned claim from Reserve until PreBind has written it.
    """

    reads = (PersistentVolumeClaim,)
    writes = (Write(Verb.UPDATE, PersistentVolumeClaim),)

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        self.pinned: dict[str, PersistentVolumeClaim] = {}

    def claims_of(self, pod: Pod) -> Iterator[PersistentVolumeClaim]:
        for volume in pod.spec.volumes:
            source = volume.persistent_volume_claim
            claim = source and self.claim(f"{pod.namespace}/{source.claim_name}")
            if claim:
                yield claim

    def claim(self, key: str) -> PersistentVolumeClaim | None:
        stored = self.handle.informers.get(PersistentVolumeClaim, key)
        return self.pinned.get(key, stored)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        for claim in self.claims_of(pod):
            if claim.annotations.get(NODE, node.name) != node.name:
                return Status.unschedulable("claim is pinned to another node")
        return None

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        state[OWN] = own = []
        for claim in self.claims_of(pod):
            if NODE not in claim.annotations:
                metadata = replace(claim.metadata, annotations={NODE: node_name})
                own.append(replace(claim, metadata=metadata))
        self.pinned.update({claim.key: claim for claim in own})

    @hookimpl
    def unreserve(self, state: CycleState) -> None:
        for claim in state.get(OWN) or ():
            self.pinned.pop(claim.key, None)

    @hookimpl
    def pre_bind(self, state: CycleState) -> Status | None:
        for claim in state[OWN]:
            try:
                self.handle.cluster.update(claim)
            except ApiError as error:
                return Status.from_error(error)
            self.written(claim)
        return None

    def written(self, claim: PersistentVolumeClaim) -> None:
        self.pinned.pop(claim.key, None)


class PinsUntilDelivered(Pins):
    """Keeps a pinned claim until the informers have another version of it."""

    def claim(self, key: str) -> PersistentVolumeClaim | None:
        stored = self.handle.informers.get(PersistentVolumeClaim, key)
        pinned = self.pinned.get(key)
        if stored is None or pinned is None:
            return stored
        version = pinned.metadata.resource_version
        return pinned if stored.metadata.resource_version == version else stored

    def written(self, claim: PersistentVolumeClaim) -> None:
        """Keep it: its informer has not delivered the write yet."""


class KeepsAll(Pins):
    """Never forgets a pinned claim that it has written."""

    def written(self, claim: PersistentVolumeClaim) -> None:
        """Keep it."""


def check(plugin: type, *checks: str) -> None:
    others = dict.fromkeys(set(CHECKS) - set(checks), "not asked here")
    claiming = [{"claims": [claim.name]} for claim in CLAIMS]
    drawn = clusters(pods=pods(*claiming), objects=sampled_from(CLAIMS))
    check_plugin(plugin, clusters=drawn, opt_outs=others)


@pytest.mark.long
@pytest.mark.usefixtures("unshrunk_examples")
@pytest.mark.parametrize("plugin", [Pins, PinsUntilDelivered])
def test_plugin_may_forget_in_pre_bind_what_it_has_written(plugin: type) -> None:
    check(plugin, *KEPT)


@pytest.mark.long
@pytest.mark.usefixtures("unshrunk_examples")
def test_plugin_that_keeps_what_it_has_written_is_found() -> None:
    with pytest.raises(ContractError, match="keeps data of the earlier cluster"):
        check(KeepsAll, "staleness")
