"""Trials are left out, and facts about nodes are kept, and nothing differs."""

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from quaymaster.autoscaling import AutoscaledNode
from quaymaster.objects import (
    Deployment,
    Event,
    LabelSelector,
    PodAffinityTerm,
    TopologySpreadConstraint,
    from_wire,
)
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod
from tests.kit.internals.karpenter import ClusterState, NodePool
from tests.kit.internals.karpenter_control import KarpenterSetup, StateReader
from tests.kit.internals.karpenter_disruption import Candidate, Survey, recorder
from tests.kit.karpenter import (
    CAPACITY_TYPE,
    HOSTNAME,
    OPTIONS,
    ZONE,
    make_type,
)

STEP: Final = 200.0
STEPS: Final = 6
SIZES: Final = (("s", 2), ("m", 4), ("l", 8))


def pool(chance: random.Random, name: str) -> NodePool:
    tree = {
        "metadata": {"name": name},
        "spec": {
            "weight": chance.randint(1, 3),
            "limits": chance.choice(({}, {"cpu": 30})),
            "disruption": {
                "consolidateAfter": chance.choice(("0s", "20s")),
                "budgets": [{"nodes": "3"}],
            },
            "template": {"spec": {"expireAfter": "Never"}},
        },
    }
    return from_wire(tree, NodePool)


def workload(chance: random.Random, number: int) -> Deployment:
    app = f"w{number}"
    own = LabelSelector(match_labels={"app": app})
    spread = TopologySpreadConstraint(
        max_skew=1,
        topology_key=ZONE,
        when_unsatisfiable="DoNotSchedule",
        label_selector=own,
    )
    away = PodAffinityTerm(topology_key=HOSTNAME, label_selector=own)
    kinds: Sequence[dict[str, str]] = ({}, {}, {CAPACITY_TYPE: "on-demand"})
    return make_deployment(
        name=app,
        replicas=chance.randint(1, 6),
        pod=make_pod(
            requests={"cpu": f"{chance.randint(2, 30)}00m"},
            labels={"app": app},
            node_selector=chance.choice(kinds),
            spread=[spread] * (chance.random() < 0.3),
            pod_anti_affinity=[away] * (chance.random() < 0.2),
        ),
    )


def course(seed: int) -> tuple[Sequence[AutoscaledNode], Sequence[Event]]:
    """Return the nodes and events of a while in which workloads shrink and grow."""
    chance = random.Random(seed)
    types = [make_type(name, cpu, cpu / 10 + 0.05) for name, cpu in SIZES]
    pools = [pool(chance, name) for name in "ab"[: chance.randint(1, 2)]]
    setup = KarpenterSetup(types=types, pools=pools, options=OPTIONS)
    workloads = [workload(chance, number) for number in range(chance.randint(2, 5))]
    with Simulation(workloads, autoscaler=setup) as simulation:
        for _ in range(STEPS):
            simulation.run_until(simulation.now + STEP)
            for owner in simulation.cluster.list(Deployment).items:
                spec = replace(owner.spec, replicas=chance.randint(0, 6))
                simulation.cluster.update(replace(owner, spec=spec))
        assert simulation.autoscaler is not None
        return simulation.autoscaler.nodes(), simulation.cluster.events()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_a_course_is_the_same_if_every_trial_is_made(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = 0
    surely_stay, surely_staying = Survey.surely_stay, Survey.surely_staying

    def counted(survey: Survey, candidates: Sequence[Candidate]) -> bool:
        nonlocal left_out
        stay = surely_stay(survey, candidates)
        left_out += stay
        return stay

    def counted_alone(
        survey: Survey, candidates: Sequence[Candidate]
    ) -> Collection[Candidate]:
        nonlocal left_out
        staying = {*surely_staying(survey, candidates)} & {*candidates}
        assert staying == {c for c in candidates if surely_stay(survey, [c])}
        left_out += len(staying)
        return staying

    monkeypatch.setattr(recorder, "KEPT_LOOKS", 10**6)
    monkeypatch.setattr(Survey, "surely_stay", counted)
    monkeypatch.setattr(Survey, "surely_staying", counted_alone)
    ours = course(seed)
    monkeypatch.setattr(Survey, "surely_stay", lambda *_: False)
    monkeypatch.setattr(Survey, "surely_fails", lambda *_: False)
    monkeypatch.setattr(Survey, "surely_staying", lambda *_: [])
    assert ours == course(seed)
    assert left_out


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_a_course_is_the_same_if_nothing_is_kept_between_states(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = course(seed)
    read, states = StateReader.state, 0

    def fresh(
        reader: StateReader, marked: Collection[str], nominated: Mapping[str, float]
    ) -> ClusterState:
        nonlocal states
        states += 1
        state = read(reader, marked, nominated)
        objects = [obj for kind in state.objects.values() for obj in kind.values()]
        return ClusterState.from_objects(
            objects,
            state.instance_types,
            now=state.now,
            marked=marked,
            nominated=nominated,
        )

    monkeypatch.setattr(StateReader, "state", fresh)
    assert ours == course(seed)
    assert states > 50
