"""The contract suite finds the mistakes that were planted in plugins of third parties.

The clusters are those of the plugins' authors, and there are as many as by default.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from _pytest.mark import ParameterSet
from hypothesis.strategies import SearchStrategy

from quaymaster.testing import (
    ContractError,
    SmallCluster,
    VacuousContractWarning,
    check_plugin,
)
from tests.kit.internals.testing import CHECKS
from tests.kit.nightly import with_rest_at_night
from tests.kit.planted.addresses import ADDRESS_MISTAKES, Addresses
from tests.kit.planted.addresses import OWN as ADDRESS_CLUSTERS
from tests.kit.planted.aisles import AISLE_MISTAKES, Aisles
from tests.kit.planted.aisles import OWN as AISLE_CLUSTERS
from tests.kit.planted.attachments import ATTACHMENT_MISTAKES, Attaches, Polls
from tests.kit.planted.attachments import OWN as ATTACHMENT_CLUSTERS
from tests.kit.planted.berths import (
    BERTH_MISTAKES,
    SHIPS_ON_NODES,
    Berths,
    FewBerths,
    OpensLate,
)
from tests.kit.planted.berths import OWN as BERTH_CLUSTERS
from tests.kit.planted.calls import (
    CALL_MISTAKES,
    Calls,
    DeletesCallsOfGonePods,
    DropsWithPauses,
    Notes,
)
from tests.kit.planted.calls import OWN as CALL_CLUSTERS
from tests.kit.planted.cargo import CARGO_MISTAKES, Cargo
from tests.kit.planted.cargo import OWN as CARGO_CLUSTERS
from tests.kit.planted.crates import CRATE_MISTAKES, Crates, QuickCrates
from tests.kit.planted.crates import OWN as CRATE_CLUSTERS
from tests.kit.planted.curfews import CURFEW_MISTAKES, Curfews
from tests.kit.planted.curfews import OWN as CURFEW_CLUSTERS
from tests.kit.planted.deadlines import DEADLINE_MISTAKES, Deadlines, SortsByATextAtLast
from tests.kit.planted.deadlines import OWN as DEADLINE_CLUSTERS
from tests.kit.planted.desks import DESK_MISTAKES, CountsDesks, Desks
from tests.kit.planted.desks import OWN as DESK_CLUSTERS
from tests.kit.planted.disks import DISK_MISTAKES, Disks
from tests.kit.planted.disks import OWN as DISK_CLUSTERS
from tests.kit.planted.evictors import (
    EVICTOR_MISTAKES,
    RANKED,
    Evictors,
    EvictsByItself,
    EvictsCheaper,
    EvictsLessImportant,
    EvictsLowRanks,
)
from tests.kit.planted.evictors import OWN as EVICTOR_CLUSTERS
from tests.kit.planted.feeds import FEED_MISTAKES, Feeds, ScoresByLoad, stubbed
from tests.kit.planted.feeds import OWN as FEED_CLUSTERS
from tests.kit.planted.forecasts import FORECAST_MISTAKES, ComparesAges, Forecasts
from tests.kit.planted.freights import FREIGHT_MISTAKES, Freights
from tests.kit.planted.freights import OWN as FREIGHT_CLUSTERS
from tests.kit.planted.gates import GATE_MISTAKES, GatesEachPod, GatesGroups
from tests.kit.planted.gates import OWN as GATE_CLUSTERS
from tests.kit.planted.gpus import GPU_MISTAKES, Gpus
from tests.kit.planted.gpus import OWN as GPU_CLUSTERS
from tests.kit.planted.gusts import (
    GUST_MISTAKES,
    CountsFailures,
    ForgetsAfterFailures,
    Gusts,
    KeepsTheLastGusts,
    read_by_a_test,
)
from tests.kit.planted.halls import HALL_MISTAKES, Halls
from tests.kit.planted.halls import OWN as HALL_CLUSTERS
from tests.kit.planted.holds import HOLD_MISTAKES, ClosesNodes, Holds
from tests.kit.planted.holds import NODES as HOLD_NODES
from tests.kit.planted.holds import OWN as HOLD_CLUSTERS
from tests.kit.planted.late_undos import (
    LATE_UNDO_MISTAKES,
    LocksInThreads,
    LocksShortly,
)
from tests.kit.planted.leases import LEASE_MISTAKES, CountsFriends, Leases, StartsLate
from tests.kit.planted.leases import OWN as LEASE_CLUSTERS
from tests.kit.planted.ledgers import LEDGER_MISTAKES, Ledgers
from tests.kit.planted.ledgers import OWN as LEDGER_CLUSTERS
from tests.kit.planted.licences import LICENCE_MISTAKES, Licences
from tests.kit.planted.licences import OWN as LICENCE_CLUSTERS
from tests.kit.planted.marks import MARK_MISTAKES, Marks, MarksWhenAsked
from tests.kit.planted.marks import OWN as MARK_CLUSTERS
from tests.kit.planted.meters import METER_MISTAKES, Meters, MetersAttempts
from tests.kit.planted.meters import OWN as METER_CLUSTERS
from tests.kit.planted.mistake import Mistake
from tests.kit.planted.modes import (
    MODE_MISTAKES,
    PrefersAName,
    PrefersModes,
    PrefersTeams,
)
from tests.kit.planted.modes import OWN as MODE_CLUSTERS
from tests.kit.planted.mounts import MOUNT_MISTAKES, Mounts, MountsWithoutAWait
from tests.kit.planted.mounts import OWN as MOUNT_CLUSTERS
from tests.kit.planted.noise import NOISE_MISTAKES, Noise, NoNeighbours, RareNeighbours
from tests.kit.planted.noise import OWN as NOISE_CLUSTERS
from tests.kit.planted.owners import OWN as OWNER_CLUSTERS
from tests.kit.planted.owners import OWNER_MISTAKES, Owners
from tests.kit.planted.passes import OWN as PASS_CLUSTERS
from tests.kit.planted.passes import PASS_MISTAKES, Passes, PassesUntilDeleted
from tests.kit.planted.peers import OWN as PEER_CLUSTERS
from tests.kit.planted.peers import PEER_MISTAKES, Peers, PeersWithTimers
from tests.kit.planted.pipes import OWN as PIPE_CLUSTERS
from tests.kit.planted.pipes import PIPE_MISTAKES, Pipes
from tests.kit.planted.prices import OWN as PRICE_CLUSTERS
from tests.kit.planted.prices import PRICE_MISTAKES, STOP, Prices, ReadsFloats
from tests.kit.planted.projects import OWN as PROJECT_CLUSTERS
from tests.kit.planted.projects import PROJECT_MISTAKES, Projects
from tests.kit.planted.queues import (
    FRIENDS,
    QUEUE_MISTAKES,
    TENANTS,
    Approves,
    DeletesTagsLate,
    DeletesTagsNowAndThen,
    Evicts,
    FairShare,
    HoldsBack,
    Neighbours,
)
from tests.kit.planted.quotas import OWN as QUOTA_CLUSTERS
from tests.kit.planted.quotas import QUOTA_MISTAKES, NodeLoads, TenantQuota, ZoneQuota
from tests.kit.planted.racks import (
    OFTEN_FULL,
    RACK_MISTAKES,
    Permits,
    Racks,
    Requeues,
)
from tests.kit.planted.racks import OWN as RACK_CLUSTERS
from tests.kit.planted.ranks import OWN as RANK_CLUSTERS
from tests.kit.planted.ranks import RANK_MISTAKES, CountsRanks, Ranks
from tests.kit.planted.relays import OWN as RELAY_CLUSTERS
from tests.kit.planted.relays import RELAY_MISTAKES, Relays
from tests.kit.planted.rescues import OWN as RESCUE_CLUSTERS
from tests.kit.planted.rescues import RESCUE_MISTAKES, Rescues
from tests.kit.planted.seats import OWN as SEAT_CLUSTERS
from tests.kit.planted.seats import SEAT_MISTAKES, LimitedSeats, Seats
from tests.kit.planted.signals import OWN as SIGNAL_CLUSTERS
from tests.kit.planted.signals import SIGNAL_MISTAKES, Signals
from tests.kit.planted.slots import OWN as SLOT_CLUSTERS
from tests.kit.planted.slots import SLOT_MISTAKES, Slots
from tests.kit.planted.starts import IN_LINES, START_MISTAKES, Lines, Starts
from tests.kit.planted.starts import OWN as START_CLUSTERS
from tests.kit.planted.tariffs import OWN as TARIFF_CLUSTERS
from tests.kit.planted.tariffs import TARIFF_MISTAKES, ReadsTariffs
from tests.kit.planted.tickets import OWN as TICKET_CLUSTERS
from tests.kit.planted.tickets import TICKET_MISTAKES, Tickets
from tests.kit.planted.tides import OWN as TIDE_CLUSTERS
from tests.kit.planted.tides import (
    TIDE_MISTAKES,
    Tides,
    TidesByTheMinute,
    TidesInATwin,
    TidesOfOldPods,
    TidesOfTheDay,
    TidesWithoutFilter,
)
from tests.kit.planted.troupes import LED, TROUPE_MISTAKES, Leads, Troupes
from tests.kit.planted.troupes import OWN as TROUPE_CLUSTERS
from tests.kit.planted.wards import OWN as WARD_CLUSTERS
from tests.kit.planted.wards import WARD_MISTAKES, Wards
from tests.kit.planted.weights import OWN as WEIGHT_CLUSTERS
from tests.kit.planted.weights import WEIGHT_MISTAKES, Weights
from tests.kit.planted.windows import OWN as WINDOW_CLUSTERS
from tests.kit.planted.windows import WINDOW_MISTAKES, Windows
from tests.kit.planted.zones import OWN as ZONE_CLUSTERS
from tests.kit.planted.zones import ZONE_MISTAKES, Zones

pytestmark = pytest.mark.filterwarnings(
    "error::quaymaster.testing.VacuousContractWarning"
)
MISTAKES = (
    *GPU_MISTAKES,
    *PRICE_MISTAKES,
    *ZONE_MISTAKES,
    *RACK_MISTAKES,
    *QUEUE_MISTAKES,
    *SLOT_MISTAKES,
    *TROUPE_MISTAKES,
    *LEDGER_MISTAKES,
    *LICENCE_MISTAKES,
    *AISLE_MISTAKES,
    *WINDOW_MISTAKES,
    *QUOTA_MISTAKES,
    *METER_MISTAKES,
    *SEAT_MISTAKES,
    *PROJECT_MISTAKES,
    *EVICTOR_MISTAKES,
    *FEED_MISTAKES,
    *FORECAST_MISTAKES,
    *FREIGHT_MISTAKES,
    *GATE_MISTAKES,
    *HALL_MISTAKES,
    *HOLD_MISTAKES,
    *RELAY_MISTAKES,
    *START_MISTAKES,
    *TARIFF_MISTAKES,
    *TICKET_MISTAKES,
    *TIDE_MISTAKES,
    *ATTACHMENT_MISTAKES,
    *PASS_MISTAKES,
    *CALL_MISTAKES,
    *CARGO_MISTAKES,
    *CRATE_MISTAKES,
    *CURFEW_MISTAKES,
    *DEADLINE_MISTAKES,
    *DISK_MISTAKES,
    *BERTH_MISTAKES,
    *DESK_MISTAKES,
    *MODE_MISTAKES,
    *MOUNT_MISTAKES,
    *PEER_MISTAKES,
    *WARD_MISTAKES,
    *RANK_MISTAKES,
    *PIPE_MISTAKES,
    *WEIGHT_MISTAKES,
    *RESCUE_MISTAKES,
    *LEASE_MISTAKES,
    *LATE_UNDO_MISTAKES,
    *NOISE_MISTAKES,
    *OWNER_MISTAKES,
    *MARK_MISTAKES,
    *GUST_MISTAKES,
    *SIGNAL_MISTAKES,
    *ADDRESS_MISTAKES,
)
CORRECT: Sequence[tuple[type, SearchStrategy[SmallCluster] | None]] = [
    (Gpus, GPU_CLUSTERS),
    (Prices, PRICE_CLUSTERS),
    (ReadsFloats, PRICE_CLUSTERS),
    (Zones, ZONE_CLUSTERS),
    (Racks, OFTEN_FULL),
    (Requeues, RACK_CLUSTERS),
    (Permits, RACK_CLUSTERS),
    (Slots, SLOT_CLUSTERS),
    (Troupes, TROUPE_CLUSTERS),
    (Leads, LED),
    (Ledgers, LEDGER_CLUSTERS),
    (Licences, LICENCE_CLUSTERS),
    (Aisles, AISLE_CLUSTERS),
    (Windows, WINDOW_CLUSTERS),
    (ZoneQuota, QUOTA_CLUSTERS),
    (TenantQuota, QUOTA_CLUSTERS),
    (NodeLoads, QUOTA_CLUSTERS),
    (Meters, METER_CLUSTERS),
    (MetersAttempts, METER_CLUSTERS),
    (Seats, SEAT_CLUSTERS),
    (LimitedSeats, SEAT_CLUSTERS),
    (Projects, PROJECT_CLUSTERS),
    (Evictors, EVICTOR_CLUSTERS),
    (EvictsCheaper, EVICTOR_CLUSTERS),
    (EvictsLessImportant, EVICTOR_CLUSTERS),
    (EvictsLowRanks, RANKED),
    (EvictsByItself, EVICTOR_CLUSTERS),
    (stubbed(Feeds), FEED_CLUSTERS),
    (stubbed(ScoresByLoad), FEED_CLUSTERS),
    (Forecasts, None),
    (ComparesAges, None),
    (ReadsTariffs, TARIFF_CLUSTERS),
    (Tickets, TICKET_CLUSTERS),
    (Tides, TIDE_CLUSTERS),
    (TidesByTheMinute, TIDE_CLUSTERS),
    (TidesInATwin, TIDE_CLUSTERS),
    (TidesOfOldPods, TIDE_CLUSTERS),
    (TidesOfTheDay, TIDE_CLUSTERS),
    (TidesWithoutFilter, TIDE_CLUSTERS),
    (Attaches, ATTACHMENT_CLUSTERS),
    (Polls, ATTACHMENT_CLUSTERS),
    (Passes, PASS_CLUSTERS),
    (PassesUntilDeleted, PASS_CLUSTERS),
    (LocksInThreads, PASS_CLUSTERS),
    (LocksShortly, PASS_CLUSTERS),
    (Calls, None),
    (Cargo, CARGO_CLUSTERS),
    (DeletesCallsOfGonePods, None),
    (DropsWithPauses, None),
    (Notes, CALL_CLUSTERS),
    (Berths, BERTH_CLUSTERS),
    (OpensLate, BERTH_CLUSTERS),
    (FewBerths, SHIPS_ON_NODES),
    (Approves, None),
    (FairShare, TENANTS),
    (DeletesTagsNowAndThen, TENANTS),
    (DeletesTagsLate, TENANTS),
    (Freights, FREIGHT_CLUSTERS),
    (GatesEachPod, GATE_CLUSTERS),
    (GatesGroups, GATE_CLUSTERS),
    (Halls, HALL_CLUSTERS),
    (Relays, RELAY_CLUSTERS),
    (Holds, HOLD_CLUSTERS),
    (ClosesNodes, HOLD_NODES),
    (Starts, START_CLUSTERS),
    (Lines, IN_LINES),
    (Crates, CRATE_CLUSTERS),
    (QuickCrates, CRATE_CLUSTERS),
    (Curfews, CURFEW_CLUSTERS),
    (Deadlines, DEADLINE_CLUSTERS),
    (SortsByATextAtLast, DEADLINE_CLUSTERS),
    (Disks, DISK_CLUSTERS),
    (Desks, DESK_CLUSTERS),
    (CountsDesks, DESK_CLUSTERS),
    (PrefersModes, MODE_CLUSTERS),
    (PrefersTeams, MODE_CLUSTERS),
    (PrefersAName, MODE_CLUSTERS),
    (Peers, PEER_CLUSTERS),
    (PeersWithTimers, PEER_CLUSTERS),
    (Mounts, MOUNT_CLUSTERS),
    (MountsWithoutAWait, MOUNT_CLUSTERS),
    (Wards, WARD_CLUSTERS),
    (Weights, WEIGHT_CLUSTERS),
    (Ranks, RANK_CLUSTERS),
    (Pipes, PIPE_CLUSTERS),
    (CountsRanks, RANK_CLUSTERS),
    (Rescues, RESCUE_CLUSTERS),
    (Leases, LEASE_CLUSTERS),
    (CountsFriends, LEASE_CLUSTERS),
    (StartsLate, LEASE_CLUSTERS),
    (Noise, NOISE_CLUSTERS),
    (NoNeighbours, NOISE_CLUSTERS),
    (RareNeighbours, NOISE_CLUSTERS),
    (Owners, OWNER_CLUSTERS),
    (read_by_a_test(Gusts), None),
    (read_by_a_test(KeepsTheLastGusts), None),
    (read_by_a_test(ForgetsAfterFailures), None),
    (read_by_a_test(CountsFailures), None),
    (Marks, MARK_CLUSTERS),
    (MarksWhenAsked, MARK_CLUSTERS),
    (Evicts, None),
    (HoldsBack, None),
    (Neighbours, FRIENDS),
    (Addresses, ADDRESS_CLUSTERS),
]
_FIRST = 2
"""The number of mistakes of each check in the long suite."""

COSTLY = (
    "DeletesTagsNowAndThen",
    "DeletesTagsLate",
    "GatesEachPod",
    "GatesGroups",
    "Halls",
    "Relays",
    "Holds",
    "ClosesNodes",
    "Starts",
    "Lines",
    "Gpus",
    "Prices",
    "ReadsFloats",
    "Evicts",
    "HoldsBack",
    "Requeues",
    "Permits",
    "Slots",
    "Troupes",
    "Leads",
    "Ledgers",
    "Licences",
    "Aisles",
    "Freights",
    "ZoneQuota",
    "Approves",
    "Neighbours",
    "Seats",
    "LimitedSeats",
    "Projects",
    "Evictors",
    "EvictsCheaper",
    "StubbedFeeds",
    "StubbedScoresByLoad",
    "Forecasts",
    "ComparesAges",
    "StubbedTariffs",
    "Tickets",
    "TidesByTheMinute",
    "TidesInATwin",
    "TidesOfOldPods",
    "TidesOfTheDay",
    "TidesWithoutFilter",
    "Attaches",
    "Polls",
    "Passes",
    "PassesUntilDeleted",
    "LocksInThreads",
    "LocksShortly",
    "Calls",
    "Cargo",
    "Crates",
    "QuickCrates",
    "DeletesCallsOfGonePods",
    "DropsWithPauses",
    "Deadlines",
    "Disks",
    "Berths",
    "OpensLate",
    "FewBerths",
    "EvictsLessImportant",
    "Desks",
    "CountsDesks",
    "Peers",
    "PeersWithTimers",
    "Mounts",
    "MountsWithoutAWait",
    "Wards",
    "Weights",
    "Ranks",
    "Pipes",
    "CountsRanks",
    "Rescues",
    "Leases",
    "CountsFriends",
    "StartsLate",
    "Noise",
    "NoNeighbours",
    "RareNeighbours",
    "Owners",
    "StubbedGusts",
    "StubbedKeepsTheLastGusts",
    "StubbedForgetsAfterFailures",
    "StubbedCountsFailures",
    "Marks",
    "MarksWhenAsked",
    "PrefersModes",
    "PrefersTeams",
    "PrefersAName",
    "Addresses",
)


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    STOP.clear()
    yield
    STOP.set()


def _mistakes() -> Iterator[ParameterSet]:
    """Yield the mistakes: the nightly suite plays all but the first of each check."""
    counts = Counter[str]()
    for mistake in MISTAKES:
        checks = "-".join(mistake.checks)
        counts[checks] += 1
        mark = "long" if counts[checks] <= _FIRST else "nightly"
        name = f"{mistake.plugin.__qualname__} {checks}"
        yield pytest.param(mistake, id=name, marks=getattr(pytest.mark, mark))


@pytest.mark.usefixtures("unshrunk_examples")
@pytest.mark.parametrize("mistake", [*_mistakes()])
def test_planted_mistake_is_found(mistake: Mistake) -> None:
    others = {name: "not asked here" for name in CHECKS if name not in mistake.checks}
    with pytest.raises((ContractError, VacuousContractWarning)):
        check_plugin(mistake.plugin, clusters=mistake.clusters, opt_outs=others)


@pytest.mark.long
@pytest.mark.usefixtures("unshrunk_examples")
def test_reports_of_nodes_and_waits_up_to_the_limit_get_no_warning() -> None:
    others = {name: "not asked here" for name in CHECKS if name != "effects"}
    check_plugin(Signals, clusters=SIGNAL_CLUSTERS, opt_outs=others)


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.parametrize(
    ("plugin", "clusters"),
    with_rest_at_night(
        CORRECT, [plugin.__name__ for plugin, _ in CORRECT], nightly=COSTLY
    ),
)
def test_plugin_without_the_mistake_passes(
    plugin: type, clusters: SearchStrategy[SmallCluster] | None
) -> None:
    check_plugin(plugin, clusters=clusters)
