"""InterPodAffinity: updated scores by host equal those of a new sum."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod, Rows, Snapshot
from quaymaster.counting import PodQuery
from quaymaster.objects import LabelSelector, compile_label_selector
from quaymaster.testing import make_node, make_pod
from quaymaster_inter_pod_affinity.hosts import HostVerdicts, Part
from quaymaster_inter_pod_affinity.scoring import ScoreSource, ScoreState

HOST = "kubernetes.io/hostname"
NAMES = [f"node-{number}" for number in range(40)]


def parts_of(snapshot: Snapshot, weights: Sequence[int]) -> list[Part]:
    """One part per weight; the pods of the first have the label app=0, and so on."""
    hosts = snapshot.counts.domains(HOST)
    queries = [
        PodQuery(
            selector=compile_label_selector(
                LabelSelector(match_labels={"app": str(number)})
            )
        )
        for number in range(len(weights))
    ]
    groups = [snapshot.counts.pods(query).by_domain(hosts) for query in queries]
    return list(zip(weights, groups, strict=True))


def scores_of(source: ScoreSource, snapshot: Snapshot, rows: Rows) -> list[list[int]]:
    """Return raw and normalised scores, in the framework's order of calls."""
    state = ScoreState(source)
    if state.is_idle:
        return []
    raw = state.score_rows(snapshot.nodes, rows).view()
    raw.flags.writeable = False
    return [raw.tolist(), state.normalize(raw).tolist()]


def summed_anew(
    parts: Sequence[Part], snapshot: Snapshot, rows: Rows
) -> list[list[int]]:
    """Compute the same with the formula, node by node."""
    raw = [
        sum(weight * counts.at(info.row) for weight, counts in parts)
        for info in snapshot.nodes.infos_at(rows)
    ]
    lowest, span = min(raw), max(raw) - min(raw)
    scaled = [int(100.0 * ((score - lowest) / span)) if span else 0 for score in raw]
    return [raw, scaled]


@given(
    weights=st.lists(st.sampled_from([1, 2, -3, 50, 9999]), min_size=1, max_size=3),
    steps=st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.integers(0, 2),
            st.integers(1, 30),
            st.sampled_from(["all", "some", "other"]),
        ),
        max_size=12,
    ),
)
def test_kept_scores_follow_the_pods(
    weights: list[int], steps: list[tuple[str, int, int, str]]
) -> None:
    snapshot = Snapshot()
    for name in NAMES:
        snapshot.add_node(make_node(name=name))
    parts = parts_of(snapshot, weights)
    source = ScoreSource(parts)
    rows: dict[str, Rows] = {
        "all": snapshot.nodes.rows,
        "some": np.arange(3, 40, 2),
        "other": np.arange(1, 30),
    }
    pods: list[Pod] = []
    for number, (name, app, count, required) in enumerate(steps):
        if number % 4 == 3:
            while pods:
                snapshot.remove_pod(pods.pop())
        first = NAMES.index(name)
        for host in range(first, min(first + count, len(NAMES))):
            pod = make_pod(
                name=f"p{number}-{host}", node=NAMES[host], labels={"app": str(app)}
            )
            snapshot.add_pod(pod)
            pods.append(pod)
        found = scores_of(source, snapshot, rows[required])
        if any(counts.total for _, counts in parts):
            assert found == summed_anew(parts, snapshot, rows[required])
        else:
            assert found == []


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.integers(0, 2),
            st.sampled_from([1, 2, 30]),
            st.booleans(),
        ),
        max_size=15,
    )
)
def test_kept_verdicts_follow_the_pods(
    steps: list[tuple[str, int, int, bool]],
) -> None:
    snapshot = Snapshot()
    for name in NAMES:
        snapshot.add_node(make_node(name=name))
    groups = parts_of(snapshot, [1, 1, 2])
    verdicts = HostVerdicts(groups)
    pods: list[Pod] = []
    for number, (name, app, count, is_some) in enumerate(steps):
        first = NAMES.index(name)
        for host in range(first, min(first + count, len(NAMES))):
            pod = make_pod(
                name=f"p{number}-{host}", node=NAMES[host], labels={"app": str(app)}
            )
            snapshot.add_pod(pod)
            pods.append(pod)
        for _ in range(len(pods) if number % 5 == 4 else min(number % 3, len(pods))):
            snapshot.remove_pod(pods.pop(0))
        rows = np.arange(2, 40, 3) if is_some else snapshot.nodes.rows
        expected = [
            max((code for code, counts in groups if counts.at(info.row)), default=0)
            for info in snapshot.nodes.infos_at(rows)
        ]
        assert verdicts.codes(rows).tolist() == expected


def test_scores_that_were_given_stay_as_they_were() -> None:
    snapshot = Snapshot()
    for name in NAMES:
        snapshot.add_node(make_node(name=name))
    source = ScoreSource(parts_of(snapshot, [1]))
    given = []
    for rows in (snapshot.nodes.rows, np.arange(0, 40, 2)):
        for number in range(3):
            pod = make_pod(name=f"p{number}", node=NAMES[2], labels={"app": "0"})
            snapshot.add_pod(pod)
            state = ScoreState(source)
            raw = state.score_rows(snapshot.nodes, rows)
            normalized = state.normalize(raw.view())
            given.append((raw, raw.tolist(), normalized, normalized.tolist()))
    for raw, was, normalized, it_was in given:
        assert (raw.tolist(), normalized.tolist()) == (was, it_was)


def test_raw_scores_that_somebody_has_changed_are_scaled_as_they_are() -> None:
    snapshot = Snapshot()
    for name in NAMES:
        snapshot.add_node(make_node(name=name))
    parts = parts_of(snapshot, [1])
    snapshot.add_pod(make_pod(node=NAMES[0], labels={"app": "0"}))
    state = ScoreState(ScoreSource(parts))
    changed = state.score_rows(snapshot.nodes, snapshot.nodes.rows) * 2
    changed[1] = 1
    assert state.normalize(changed).tolist()[:3] == [100, 50, 0]
