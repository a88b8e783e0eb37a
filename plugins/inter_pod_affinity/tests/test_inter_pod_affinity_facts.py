"""The facts of InterPodAffinity: the term, whose rule it is, and the pods."""

from hypothesis import given

from quaymaster import Pod
from quaymaster.objects import Namespace, ObjectMeta, PodAffinityTerm
from quaymaster.testing import (
    PluginHarness,
    SmallCluster,
    clusters,
    make_affinity_term,
    make_node,
    make_pod,
)
from quaymaster_inter_pod_affinity import InterPodAffinity

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
DB = {"app": "db"}
NODES = [
    make_node(name="a1", zone="a"),
    make_node(name="a2", zone="a"),
    make_node(name="b1", zone="b"),
]


def db(key: str = ZONE) -> PodAffinityTerm:
    return make_affinity_term(selector=DB, topology_key=key)


def facts_of(pod: Pod, *pods: Pod) -> dict[str, tuple[str, ...]]:
    return PluginHarness(InterPodAffinity, nodes=NODES, pods=pods).explain_filter(pod)


def test_missing_affinity_names_the_domains_with_such_pods() -> None:
    running = make_pod(name="db-0", node="b1", labels=DB)
    need = f"the pod's affinity needs a pod with app=db in the same {ZONE}"
    assert facts_of(make_pod(pod_affinity=[db()]), running) == {
        "a1": (f"{need}; such pods run in b 1", "the node is in a"),
        "a2": (f"{need}; such pods run in b 1", "the node is in a"),
    }


def test_affinity_to_pods_that_do_not_run_is_reported() -> None:
    first = facts_of(make_pod(pod_affinity=[db()]))["a1"][0]
    assert first.endswith("no such pod runs, and the pod itself does not match")


def test_missing_label_of_an_affinity_is_named() -> None:
    running = make_pod(name="db-0", node="b1", labels=DB)
    facts = facts_of(make_pod(pod_affinity=[db("rack")]), running)["b1"]
    need = "the pod's affinity needs a pod with app=db in the same rack"
    assert facts == (
        f"{need}; such pods run on nodes without labels",
        "the node has no label rack",
    )


def test_pods_that_an_anti_affinity_avoids_are_named() -> None:
    running = make_pod(name="db-0", node="a1", labels=DB)
    rule = f"the pod's anti-affinity forbids pods with app=db in the same {ZONE}"
    assert facts_of(make_pod(pod_anti_affinity=[db()]), running) == {
        "a1": (rule, "pod default/db-0 on this node"),
        "a2": (rule, "pod default/db-0 on a1 (also in a)"),
    }


def test_existing_pod_whose_anti_affinity_forbids_the_pod_is_named() -> None:
    owner = make_pod(name="lonely", node="b1", pod_anti_affinity=[db(HOST)])
    rule = "the anti-affinity of existing pods forbids pods with app=db in the same"
    assert facts_of(make_pod(labels=DB), owner) == {
        "b1": (f"{rule} {HOST}", "rule of pod default/lonely on this node")
    }


def test_other_namespaces_are_named() -> None:
    term = PodAffinityTerm(
        label_selector=db().label_selector, topology_key=ZONE, namespaces=("prod",)
    )
    namespace = Namespace(metadata=ObjectMeta(name="prod"))
    running = make_pod(name="db-0", namespace="prod", node="b1", labels=DB)
    harness = PluginHarness(
        InterPodAffinity, nodes=NODES, pods=[running], objects=[namespace]
    )
    facts = harness.explain_filter(make_pod(pod_anti_affinity=[term]))
    rule = "the pod's anti-affinity forbids pods with app=db in namespace prod"
    assert facts["b1"][0] == f"{rule} in the same {ZONE}"


@given(cluster=clusters())
def test_every_rejected_node_has_facts(cluster: SmallCluster) -> None:
    harness = PluginHarness(InterPodAffinity, nodes=cluster.nodes, pods=cluster.pods)
    for pod in cluster.pending:
        assert all(harness.explain_filter(pod).values())
