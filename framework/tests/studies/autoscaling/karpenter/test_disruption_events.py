"""Events about nodes are written as seldom as upstream, with their newest text."""

from quaymaster.objects import Event
from quaymaster.simulation import Simulation
from quaymaster.testing import make_pod
from tests.kit.internals.karpenter_control import KarpenterSetup
from tests.kit.karpenter import OPTIONS, make_pool, make_type

MINUTE = 60.0


def events_after(minutes: float) -> dict[str, Event]:
    """Return the events about a node that is full, by reason."""
    types = [make_type("small", 2, 0.1)]
    setup = KarpenterSetup(types=types, pools=[make_pool()], options=OPTIONS)
    with Simulation([make_pod(requests={"cpu": "1500m"})], autoscaler=setup) as run:
        # Pods that come and go make it look again.
        for number in range(round(minutes)):
            run.cluster.create(make_pod(name=f"p{number}", node="elsewhere"))
            run.run_until(run.now + MINUTE)
        events = run.cluster.events()
    return {e.reason: e for e in events if e.regarding.kind == "Node"}


def count(event: Event) -> int:
    return 1 if event.series is None else event.series.count


def test_a_refusal_is_repeated_after_15_minutes() -> None:
    assert count(events_after(10)["Unconsolidatable"]) == 1
    assert count(events_after(20)["Unconsolidatable"]) == 2


def test_a_refusal_has_the_text_of_a_trial() -> None:
    note = events_after(3)["Unconsolidatable"].note
    assert note.startswith("SpotToSpotConsolidation is disabled")
