"""Incremental counts equal a recount, whatever has happened."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import attrs
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from quaymaster import ApiObject, Node, Pod, Snapshot
from quaymaster.config import Kubernetes
from quaymaster.counting import (
    OUTSIDE,
    DomainCounts,
    ExistingPodTerm,
    ExistingPodTerms,
    Namespaces,
    NodeFilter,
    PerTemplate,
    PodCount,
    PodQuery,
    compile_pod_terms,
)
from quaymaster.objects import (
    EVERYTHING,
    NOTHING,
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    compile_label_selector,
)
from quaymaster.testing import make_affinity_term, make_namespace, make_node, make_pod
from tests.kit.informers import HeldObjects
from tests.kit.internals.state import MOST_DOMAINS, MOST_GROUPS, RowLog

ObjT = TypeVar("ObjT", bound=ApiObject)

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def expression(key: str, operator: str, *values: str) -> LabelSelector:
    condition = LabelSelectorRequirement(key=key, operator=operator, values=values)
    return LabelSelector(match_expressions=(condition,))


SELECTORS = [
    EVERYTHING,
    NOTHING,
    compile_label_selector(LabelSelector(match_labels={"app": "a"})),
    compile_label_selector(LabelSelector(match_labels={"app": "a", "tier": "x"})),
    compile_label_selector(expression("app", "In", "a", "b")),
    compile_label_selector(expression("app", "NotIn", "a")),
    compile_label_selector(expression("tier", "Exists")),
    compile_label_selector(expression("tier", "DoesNotExist")),
]
NAMESPACES = [
    None,
    frozenset({"one"}),
    frozenset({"one", "two"}),
    frozenset[str](),
]
QUERIES = st.builds(
    PodQuery,
    selector=st.sampled_from(SELECTORS),
    namespaces=st.sampled_from(NAMESPACES),
    terminating=st.booleans(),
)
TERMS = [
    make_affinity_term(selector={"app": "a"}, topology_key=ZONE),
    make_affinity_term(selector={"app": "b"}, namespaces=["two"]),
    make_affinity_term(
        selector=expression("tier", "Exists"), namespace_selector={"team": "blue"}
    ),
    make_affinity_term(selector=LabelSelector(), namespace_selector=LabelSelector()),
]
LABELS = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from("abc"), "tier": st.sampled_from("xy")}
)


@attrs.frozen
class Open:
    """Nodes without taints."""

    def matches(self, node: Node) -> bool:
        return not node.spec.taints


FILTERS: Sequence[NodeFilter | None] = [None, Open()]


def terms_of(pod: Pod) -> list[ExistingPodTerm]:
    affinity = pod.spec.affinity and pod.spec.affinity.pod_anti_affinity
    if not affinity:
        return []
    terms = affinity.required_during_scheduling_ignored_during_execution
    return [
        ExistingPodTerm(term, weight=1)
        for term in compile_pod_terms(terms, pod.metadata.namespace)
    ]


def recount(
    snapshot: Snapshot, query: PodQuery, key: str, where: NodeFilter | None
) -> Counter[str | None]:
    """Count the pods per value of a node label, without caches."""
    found: Counter[str | None] = Counter()
    for info in snapshot:
        if where is None or where.matches(info.node):
            pods = filter(query.matches, info.pods.values())
            found[info.labels.get(key)] += sum(1 for _ in pods)
    return found


class CountsMachine(RuleBasedStateMachine):
    """Pods and nodes come, change and go; counts are read in between."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = Snapshot()
        self.pods: dict[str, Pod] = {}
        self.queries: dict[PodQuery, None] = {}
        self.keys: dict[tuple[str, NodeFilter | None], None] = {}
        self.kept: dict[PodQuery, tuple[int, DomainCounts]] = {}
        self.terms: tuple[ExistingPodTerms, int, list[PodCount]] | None = None
        self.number = 0

    @rule(
        name=st.sampled_from("uvwxyz"),
        zone=st.sampled_from([None, "", "east", "west"]),
        tainted=st.booleans(),
        host=st.sampled_from([None, "shared"]),
    )
    def put_node(
        self, name: str, zone: str | None, tainted: bool, host: str | None
    ) -> None:
        taints = ["closed:NoSchedule"] if tainted else []
        labels = {} if host is None else {HOST: host}
        node = make_node(name=name, zone=zone, taints=taints, labels=labels)
        self.snapshot.add_node(node)

    @rule(name=st.sampled_from("uvwxyz"))
    def remove_node(self, name: str) -> None:
        self.snapshot.remove_node(name)

    @rule(
        node=st.sampled_from("uvwxyz"),
        namespace=st.sampled_from(["one", "two"]),
        labels=LABELS,
        terminating=st.booleans(),
        term=st.sampled_from([None, *TERMS]),
    )
    def add_pod(
        self,
        node: str,
        namespace: str,
        labels: dict[str, str],
        terminating: bool,
        term: object,
    ) -> None:
        self.number += 1
        pod = make_pod(
            name=f"p{self.number}",
            node=node,
            namespace=namespace,
            labels=labels,
            deletion_timestamp=1 if terminating else None,
            pod_anti_affinity=[t for t in TERMS if t is term],
        )
        self.pods[pod.uid] = pod
        self.snapshot.add_pod(pod)

    @rule(data=st.data())
    def remove_pod(self, data: st.DataObject) -> None:
        if self.pods:
            uid = data.draw(st.sampled_from(list(self.pods)))
            self.snapshot.remove_pod(self.pods.pop(uid))

    @rule(data=st.data(), labels=LABELS, terminating=st.booleans())
    def change_pod(
        self, data: st.DataObject, labels: dict[str, str], terminating: bool
    ) -> None:
        if self.pods:
            uid = data.draw(st.sampled_from(list(self.pods)))
            old = self.pods[uid]
            new = make_pod(
                name=old.name,
                node=old.node_name,
                namespace=old.namespace,
                labels=labels,
                deletion_timestamp=1 if terminating else None,
            )
            self.pods[uid] = new
            self.snapshot.replace_pod(old, new)

    @rule(
        query=QUERIES,
        key=st.sampled_from([ZONE, HOST]),
        where=st.sampled_from(FILTERS),
    )
    def ask(self, query: PodQuery, key: str, where: NodeFilter | None) -> None:
        self.queries[query] = None
        self.keys[key, where] = None
        domains = self.snapshot.counts.domains(key, where)
        counts = self.snapshot.counts.pods(query).by_domain(domains)
        self.snapshot.counts.existing_terms(terms_of)
        self.kept[query] = self.snapshot.counts.revision, counts

    @rule()
    def forget(self) -> None:
        self.snapshot.counts.forget()

    @invariant()
    def terms_are_the_same_while_their_revision_is(self) -> None:
        now = self.snapshot.counts.existing_terms(terms_of)
        if self.terms is not None:
            terms, revision, groups = self.terms
            if terms.revision == revision:
                assert now is terms
                assert [*now.groups()] == groups
        self.terms = now, now.revision, [*now.groups()]

    @invariant()
    def cached_counts_are_right_while_the_layout_is_the_same(self) -> None:
        revision = self.snapshot.counts.revision
        for query, (then, counts) in self.kept.items():
            if then != revision:
                continue
            domains = counts.domains
            want = recount(self.snapshot, query, domains.key, domains.where)
            want.pop(None, None)
            array = counts.array()
            got = {
                self.snapshot.nodes.label(domains.key).values[code]: int(array[code])
                for code in np.flatnonzero(array[:-1])
            }
            assert got == +want

    @invariant()
    def counts_are_what_a_recount_gives(self) -> None:
        counts, nodes = self.snapshot.counts, self.snapshot.nodes
        for query in self.queries:
            group = counts.pods(query)
            per_row = {
                info.row: number
                for info in self.snapshot
                if (number := sum(map(query.matches, info.pods.values())))
            }
            assert group.rows == per_row
            by_row = group.by_row()
            assert {row: by_row[row] for row in np.flatnonzero(by_row)} == per_row
            for key, where in self.keys:
                domains = counts.domains(key, where)
                got = group.by_domain(domains)
                want = recount(self.snapshot, query, key, where)
                array = got.array()
                assert array[-1] == want.pop(None, 0) == got.at(-1)
                assert got.total == want.total() == array[:-1].sum()
                for value, number in want.items():
                    assert value is not None
                    assert array[domains.number(value)] == number
                    assert got.at(domains.number(value)) == number
                assert got.at(OUTSIDE) == 0
                assert got.at(domains.number("never seen")) == 0
        for key, where in self.keys:
            domains = counts.domains(key, where)
            existing = {nodes.label(key).values[code] for code in domains.existing}
            admitted = [
                info for info in self.snapshot if not where or where.matches(info.node)
            ]
            assert existing == {
                info.labels[key] for info in admitted if key in info.labels
            }
            assert domains.unlabelled == sum(key not in i.labels for i in admitted)
            numbers = np.arange(domains.slots)
            spread = domains.spread(numbers, nodes.rows)
            codes = nodes.label(key).codes[nodes.rows]
            assert spread.tolist() == [code % domains.slots for code in codes]

    @invariant()
    def existing_terms_are_those_of_the_pods(self) -> None:
        if not self.keys:
            return
        pod = make_pod(namespace="one", labels={"app": "a", "tier": "y"})
        found = self.snapshot.counts.existing_terms(terms_of).about(
            pod, {"team": "blue"}
        )
        got = {existing: dict(group.rows) for existing, group in found}
        want: dict[ExistingPodTerm, dict[int, int]] = {}
        for info in self.snapshot:
            for other in info.pods.values():
                for existing in terms_of(other):
                    if existing.term.selects("one", {"team": "blue"}, pod.labels):
                        rows = want.setdefault(existing, {})
                        rows[info.row] = rows.get(info.row, 0) + 1
        assert got == want


TestCounts = CountsMachine.TestCase


def test_cached_counts_are_recomputed_only_when_they_may_be_stale() -> None:
    snapshot, template, other = Snapshot(), object(), object()
    snapshot.add_node(make_node(name="x", zone="east"))
    pod, same = make_pod(labels={"app": "a"}), make_pod(labels={"app": "a"})
    per_template: PerTemplate[int] = PerTemplate()
    made: list[int] = []

    def of(pod: Pod, subject: object = template, revision: int = 0) -> int:
        def make() -> int:
            made.append(len(made))
            return made[-1]

        return per_template.of(pod, subject, snapshot.counts, make, revision)

    assert [of(pod), of(same), of(pod)] == [0, 0, 0]
    assert of(make_pod(labels={"app": "b"})) == 1
    assert of(make_pod(labels={"app": "b"}, namespace="two")) == 2
    assert of(pod, other) == 3
    assert of(pod, other, revision=1) == 4
    snapshot.add_pod(make_pod(name="p", node="x", labels={"app": "a"}))
    assert of(pod, other, revision=1) == 4
    snapshot.counts.existing_terms(terms_of)
    assert of(pod, other, revision=1) == 5
    snapshot.add_pod(make_pod(name="q", node="x", pod_anti_affinity=TERMS[:1]))
    assert of(pod, other, revision=1) == 6
    snapshot.add_node(make_node(name="y"))
    assert of(pod, other, revision=1) == 7


@pytest.mark.long
def test_sparse_counts_become_dense_and_stay_the_same() -> None:
    snapshot = Snapshot()
    names = [f"node-{number}" for number in range(600)]
    for name in names:
        snapshot.add_node(make_node(name=name))
    query = PodQuery(selector=SELECTORS[2])
    hosts = snapshot.counts.domains(HOST)
    group = snapshot.counts.pods(query)
    counts = group.by_domain(hosts)
    for number, name in enumerate(names[:200], 1):
        snapshot.add_pod(make_pod(name=name, node=name, labels={"app": "a"}))
        array = counts.array()
        assert array.sum() == counts.total == group.by_row().sum() == number
        assert array[:number].tolist() == [1] * number


def test_domains_grow_with_new_values() -> None:
    snapshot = Snapshot()
    query = PodQuery(selector=EVERYTHING)
    for number in range(300):
        name = f"node-{number}"
        snapshot.add_node(make_node(name=name, zone=f"zone-{number}"))
        snapshot.add_pod(make_pod(name=name, node=name))
        zones = snapshot.counts.domains(ZONE)
        counts = snapshot.counts.pods(query).by_domain(zones)
        assert counts.array().sum() == len(zones.existing) == number + 1


@pytest.mark.parametrize("zones", [3, 200], ids=["few values", "many values"])
def test_values_of_domains_are_spread_over_rows(zones: int) -> None:
    snapshot = Snapshot()
    for number in range(400):
        zone = f"zone-{number % zones}" if number % 7 else None
        snapshot.add_node(make_node(name=f"node-{number}", zone=zone))
    domains = snapshot.counts.domains(ZONE)
    values = np.arange(domains.slots)
    values[-1] = -5
    expected = [
        domains.number(info.labels[ZONE]) if ZONE in info.labels else -5
        for info in snapshot
    ]
    nodes = snapshot.nodes
    for _ in range(2):
        assert domains.spread(values, nodes.rows).tolist() == expected
    some = nodes.rows_of(["node-3", "node-7", "node-350"])
    assert domains.spread(values, some).tolist() == [expected[r] for r in (3, 7, 350)]
    seen = np.flatnonzero(domains.seen_at(some)).tolist()
    assert seen == sorted({expected[3], domains.slots - 1})


def test_counts_that_were_long_unused_are_recounted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MOST_GROUPS, 2)
    monkeypatch.setattr(MOST_DOMAINS, 2)
    snapshot = Snapshot()
    for name in "xyz":
        snapshot.add_node(make_node(name=name, labels={"rack": name, "row": "1"}))
    for number, selector in enumerate(SELECTORS * 2):
        for key in ("rack", "row", HOST):
            query = PodQuery(selector=selector)
            domains = snapshot.counts.domains(key)
            counts = snapshot.counts.pods(query).by_domain(domains)
            want = recount(snapshot, query, key, None)
            assert counts.total == want.total()
        snapshot.add_pod(make_pod(name=f"p{number}", node="x", labels={"app": "a"}))


def test_domains_follow_more_changes_of_nodes_than_are_kept() -> None:
    snapshot = Snapshot()
    snapshot.nodes.node_changes = RowLog(limit=4)
    snapshot.add_node(make_node(name="x", zone="east"))
    snapshot.add_pod(make_pod(node="x"))
    snapshot.counts.domains(ZONE)
    group = snapshot.counts.pods(PodQuery(selector=EVERYTHING))
    for zone in ["west", "east"] * 20 + ["north"]:
        snapshot.add_node(make_node(name="x", zone=zone))
    zones = snapshot.counts.domains(ZONE)
    assert group.by_domain(zones).at(zones.number("north")) == 1
    assert group.by_domain(zones).total == 1


def test_relabelled_namespace_changes_what_a_term_is_about() -> None:
    informers = HeldObjects(
        [
            make_namespace(name="one", labels={"team": "blue"}),
            make_namespace(name="two"),
        ]
    )
    namespaces = Namespaces(informers)
    term = make_affinity_term(
        selector={"app": "a"}, namespaces=["own"], namespace_selector={"team": "blue"}
    )
    (compiled,) = compile_pod_terms([term], "own")
    assert namespaces.of(compiled) == frozenset({"own", "one"})
    informers.put(make_namespace(name="one"))
    informers.put(make_namespace(name="two", labels={"team": "blue"}))
    assert namespaces.of(compiled) == frozenset({"own", "two"})
    assert namespaces.labels_of("two")["team"] == "blue"
    assert namespaces.labels_of("three") == {}
    assert isinstance(informers.get(Namespace, "one"), Namespace)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        pytest.param("1.36", None, id="1.36: in all namespaces"),
        pytest.param("1.37", frozenset({"free"}), id="1.37: in those that match"),
    ],
)
def test_selector_that_matches_no_labels_either(
    version: str, expected: frozenset[str] | None
) -> None:
    informers = HeldObjects(
        [
            make_namespace(name="free"),
            make_namespace(name="taken", labels={"team": "blue"}),
        ]
    )
    absent = LabelSelectorRequirement(key="team", operator="DoesNotExist")
    selector = LabelSelector(match_expressions=(absent,))
    term = make_affinity_term(selector={}, namespace_selector=selector)
    (compiled,) = compile_pod_terms([term], "own")
    assert Namespaces(informers, Kubernetes(version)).of(compiled) == expected


@pytest.mark.parametrize(
    ("namespaces", "namespace_selector", "expected"),
    [
        pytest.param([], None, frozenset({"own"}), id="neither: the pod's own"),
        pytest.param(["a", "b"], None, frozenset({"a", "b"}), id="named"),
        pytest.param([], LabelSelector(), None, id="empty selector: everywhere"),
        pytest.param(["a"], LabelSelector(), None, id="named and everywhere"),
    ],
)
def test_namespaces_of_a_term(
    namespaces: list[str],
    namespace_selector: LabelSelector | None,
    expected: frozenset[str] | None,
) -> None:
    term = make_affinity_term(
        selector={}, namespaces=namespaces, namespace_selector=namespace_selector
    )
    (compiled,) = compile_pod_terms([term], "own")
    assert Namespaces(HeldObjects()).of(compiled) == expected
