"""Each mutation of the allocation breaks an invariant: the checks can fail."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from quaymaster import Handle, Pod, QueueingHint
from quaymaster.cluster import Cluster
from quaymaster.devices import AllocatedDevices, Inventory
from quaymaster.objects import ResourceClaim
from quaymaster_dynamic_resources import dynamic_resources, writes
from quaymaster_dynamic_resources.binding import ClaimBinder
from quaymaster_dynamic_resources.cached_verdicts import CachedVerdicts
from quaymaster_dynamic_resources.filtering import NodeJudge
from quaymaster_dynamic_resources.group_claims import GroupClaims
from quaymaster_dynamic_resources.settlements import Settlements, UnsettledClaim
from quaymaster_dynamic_resources.tracker import ClaimTracker
from tests.chaos.devices.device_history import draw_device_steps
from tests.chaos.run import replay
from tests.kit.internals.inmemory import DeviceClaimController
from tests.kit.nightly import with_rest_at_night

Function: TypeAlias = Callable[..., Any]
Mutation: TypeAlias = Callable[[Function], Function]


def nothing(_original: Function) -> Function:
    return lambda *_args, **_keywords: None


def no(_original: Function) -> Function:
    return lambda *_args, **_keywords: False


def yes(_original: Function) -> Function:
    return lambda *_args, **_keywords: True


def none(_original: Function) -> Function:
    return lambda *_args, **_keywords: ()


def ignoring(_original: Function) -> Function:
    return lambda *_args: QueueingHint.SKIP


def early(original: Function) -> Function:
    """Free the allocated devices when a binding fails, though they may be written."""

    def begin(
        self: Settlements, handle: Handle, pod: Pod, unsettled: Sequence[UnsettledClaim]
    ) -> None:
        for claim in unsettled:
            self._tracker.release(claim.uid)
        original(self, handle, pod, unsettled)

    return begin


def unread(_original: Function) -> Function:
    """Do not read an object after a write without a response."""

    def given(
        cluster: Cluster,
        claim: ResourceClaim,
        changes: Mapping[str, object],
        *_rest: object,
    ) -> ResourceClaim:
        return cluster.patch_status(claim, changes)

    return given


def once(original: Function) -> Function:
    """Keep verdicts for ever."""

    def catch_up(self: CachedVerdicts, *args: object) -> None:
        if not len(self.codes):
            original(self, *args)

    return catch_up


TWICE = r"given twice|\d+ of \d+ (memory )?was given"
STALE = "waits, but|the decision is not|reservation of DynamicResources is wrong"
MUTATIONS: Sequence[tuple[type | ModuleType, str, Mutation, str]] = [
    (ClaimTracker, "reserve", nothing, f"{TWICE}|devices again"),
    (ClaimTracker, "release", nothing, "in flight for ever|waits, but"),
    (ClaimTracker, "written", nothing, "in flight for ever"),
    (ClaimTracker, "forget", nothing, "in flight for ever|are lost"),
    (ClaimTracker, "is_in_flight", no, "was given devices again"),
    (ClaimTracker, "_drop_unobserved", nothing, "are lost"),
    (ClaimTracker, "_note", nothing, STALE),
    (ClaimTracker, "_recount", nothing, f"{TWICE}|missed"),
    (AllocatedDevices, "add", nothing, f"{TWICE}|or missed"),
    (AllocatedDevices, "remove", nothing, "are lost|is lost|waits, but"),
    (Inventory, "remove", nothing, "which is not there|reservation of .* is wrong"),
    (Settlements, "holds_up", no, "not reserved|has no devices"),
    (ClaimBinder, "wait", nothing, "is not ready"),
    (ClaimBinder, "write", nothing, "has no devices|in flight for ever"),
    (NodeJudge, "_unavailable", none, "is elsewhere|is not ready|failed"),
    (CachedVerdicts, "catch_up", once, STALE),
    (GroupClaims, "is_reserved", yes, "not reserved|has no devices"),
    (dynamic_resources, "after_claim_change", ignoring, "waits, but"),
    (DeviceClaimController, "_is_there", yes, "reserved for nobody"),
    (DeviceClaimController, "_has_outlived_owner", no, "has outlived"),
]

STATUS_WRITE = "_change_status"
"""The function that writes an allocation."""
HISTORIES = 500


@pytest.mark.parametrize(
    ("owner", "name", "mutation", "found"),
    with_rest_at_night(
        MUTATIONS,
        (
            f"{owner.__name__}.{name}-{mutation.__name__}"
            for owner, name, mutation, _ in MUTATIONS
        ),
        # It needs hundreds of histories until a device is lost.
        nightly=["ClaimTracker._drop_unobserved-nothing"],
    ),
)
def test_devices_that_are_given_out_wrongly_are_found_out(
    owner: type | ModuleType,
    name: str,
    mutation: Mutation,
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, mutation(getattr(owner, name)))
    assert re.search(found, first_violation())


def first_violation() -> str:
    """Return the first violation of an invariant in the histories."""
    violations = (
        replay(seed, draw_device_steps(seed), kind="devices").violation
        for seed in range(HISTORIES)
    )
    return next(filter(None, violations), "nothing was found")


@pytest.mark.long
def test_devices_that_are_free_before_it_is_known_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writes, STATUS_WRITE, unread(getattr(writes, STATUS_WRITE)))
    monkeypatch.setattr(Settlements, "begin", early(Settlements.begin))
    assert re.search(TWICE, first_violation())
