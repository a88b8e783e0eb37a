"""At no moment may two processes write, whatever happens to them and the network."""

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from tests.kit.elections import Contender, ElectionWorld, Network

AHEAD = st.floats(-1e5, 1e5)
RATES = st.floats(0.9, 1.1)
"""Clocks may be set to anything, and go a little faster or slower than others."""
MOMENTS = st.sampled_from([0.0, 0.1, 1.9, 2.1, 4.9, 8.0, 11.0, 16.0, 25.0])
FATES = st.builds(
    Network,
    there=MOMENTS,
    back=MOMENTS,
    loses_requests=st.booleans(),
    loses_answers=st.booleans(),
)
LONG_ENOUGH = 120.0
"""Seconds until a contender has the lease, once all is well: twice its length, the
longest way of a late write, and two tries by slow clocks, with room."""


class Elections(RuleBasedStateMachine):
    """Three or more candidates; time passes after each event."""

    contenders = Bundle("contenders")

    @initialize(target=contenders, rates=st.tuples(RATES, RATES, RATES))
    def begin(self, rates: tuple[float, float, float]) -> object:
        self.count = 0
        self.world = ElectionWorld()
        self.world.after_each = self.at_most_one_contender_writes
        return multiple(*(self.start(0.0, rate, 1.0) for rate in rates))

    @rule(target=contenders, ahead=AHEAD, rate=RATES, then=MOMENTS)
    def start_another(self, ahead: float, rate: float, then: float) -> Contender:
        return self.start(ahead, rate, then)

    @rule(contender=contenders, fate=FATES, then=MOMENTS)
    def network_is_bad(self, contender: Contender, fate: Network, then: float) -> None:
        contender.network = fate
        self.world.elapse(then)

    @rule(contender=contenders, then=MOMENTS)
    def network_is_good(self, contender: Contender, then: float) -> None:
        contender.network = Network(there=0.01, back=0.01)
        self.world.elapse(then)

    @rule(contender=contenders, then=MOMENTS)
    def process_stops(self, contender: Contender, then: float) -> None:
        contender.stand_still()
        self.world.elapse(then)

    @rule(contender=contenders, then=MOMENTS)
    def process_wakes(self, contender: Contender, then: float) -> None:
        contender.wake()
        self.world.elapse(then)

    @rule(contender=contenders, is_alive=st.booleans(), then=MOMENTS)
    def engine_stops_or_wakes(
        self, contender: Contender, is_alive: bool, then: float
    ) -> None:
        contender.is_alive = is_alive
        self.world.elapse(then)

    @rule(contender=consumes(contenders), then=MOMENTS)
    def process_is_killed(self, contender: Contender, then: float) -> None:
        contender.kill()
        self.world.elapse(then)

    @rule(contender=contenders, then=MOMENTS)
    def process_ends_cleanly(self, contender: Contender, then: float) -> None:
        contender.stop()
        self.world.elapse(then)

    @rule(code=st.sampled_from([0, 0, 403, 429, 500]), then=MOMENTS)
    def server_refuses(self, code: int, then: float) -> None:
        self.world.server.refuses = code
        self.world.elapse(then)

    @rule(then=MOMENTS)
    def lease_is_deleted(self, then: float) -> None:
        if all(contender.has_seen_the_lease for contender in self.world.contenders):
            self.world.server.lease = None
        self.world.elapse(then)

    def start(self, ahead: float, rate: float, then: float) -> Contender:
        if self.count and self.world.server.lease is None:
            # As documented for new replicas: they have not seen the deleted lease.
            self.world.elapse(15.0)
        self.count += 1
        started = self.world.start(f"number {self.count}", ahead=ahead, rate=rate)
        self.world.elapse(then)
        return started

    @invariant()
    def at_most_one_contender_writes(self) -> None:
        assert len(self.world.writers()) <= 1

    @invariant()
    def loss_is_reported_once_and_is_final(self) -> None:
        for contender in self.world.contenders:
            assert len(contender.started) <= 1
            assert len(contender.lost) <= len(contender.started)
            assert not (contender.lost and contender.fence.may_write())

    def teardown(self) -> None:
        """Check that a contender leads once all is well again."""
        self.world.server.refuses = 0
        for contender in self.world.contenders:
            contender.network = Network(there=0.01, back=0.01)
            contender.is_alive = True
            contender.wake()
        self.start(0.0, 1.0, LONG_ENOUGH)
        assert len(self.world.writers()) == 1


TestElections = Elections.TestCase
