"""Commands read a live cluster, for which a test server stands in."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner, Result

from quaymaster import ApiObject
from quaymaster.inmemory import make_nodes
from quaymaster.manifests import ManifestErrors
from quaymaster.objects import to_wire
from quaymaster.testing import (
    make_deployment,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from tests.kit.fake_api_server import (
    ApiRefusal,
    FakeApiServer,
    fake_api_server,
    kubeconfig_for,
)
from tests.kit.internals.cli import app

OBJECTS: list[ApiObject] = [
    *make_nodes(["2:cpu=4,memory=8Gi"]),
    make_pod(name="bound", node="node-000", requests={"cpu": "3"}),
    make_pod(name="waits", requests={"cpu": "2"}),
    make_deployment(name="web", replicas=2, pod=make_pod(requests={"cpu": "1"})),
]
NEW_POD = """
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {containers: [{name: main, image: nginx, resources: {requests: {cpu: "2"}}}]}
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApiServer]:
    monkeypatch.chdir(tmp_path)
    with fake_api_server(OBJECTS) as server:
        kubeconfig = kubeconfig_for(server, tmp_path)
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        yield server


def run(*arguments: str, stdin: str | None = None) -> Result:
    result = CliRunner().invoke(app, arguments, input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def dump(server: FakeApiServer) -> str:
    """Return all objects as ``kubectl get -A -o json`` prints them."""
    items = [item for items in server.items.values() for item in items]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.mark.parametrize("how", [["--context", "here"], ["--context", ""]])
def test_live_cluster_is_simulated_like_its_dump(
    server: FakeApiServer, how: list[str]
) -> None:
    live = run("simulate", *how)
    assert live.stdout == run("simulate", "-", stdin=dump(server)).stdout
    assert "default/waits" in live.stdout


def test_kubeconfig_alone_means_its_current_context(
    server: FakeApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG")
    assert run("simulate", "--kubeconfig", "kubeconfig").exit_code == 0


def test_manifests_are_added_to_the_cluster(server: FakeApiServer) -> None:
    arguments = ("simulate", "--context", "here", "-", "-o", "json")
    result = json.loads(run(*arguments, stdin=NEW_POD).stdout)
    placed = {placement["pod"]: placement["node"] for placement in result["placements"]}
    assert placed["default/new"] == "node-001"


def test_manifest_of_an_existing_object_is_applied_to_it(
    server: FakeApiServer, tmp_path: Path
) -> None:
    bound = make_pod(name="bound", requests={"cpu": "1"})
    more = make_deployment(name="web", replicas=3, pod=make_pod(requests={"cpu": "1"}))
    trees = [to_wire(obj) for obj in (bound, more)]
    for tree in trees:
        tree["metadata"].pop("uid", None)  # only a server sets it
    (tmp_path / "new.json").write_text("\n".join(map(json.dumps, trees)))
    result = run("simulate", "--context", "here", "new.json", "-o", "json")
    document = json.loads(result.stdout)
    # The pod stays on its node with its new requests: so all others have room.
    assert "default/bound" not in {
        placement["pod"] for placement in document["placements"]
    }
    assert len(document["placements"]) == 4
    assert document["unscheduled"] == []


def test_pod_of_a_live_cluster_is_explained(server: FakeApiServer) -> None:
    result = run("explain", "waits", "--context", "here")
    assert result.exit_code == 0
    assert "node-001" in result.stdout


def test_objects_go_to_the_namespace_of_the_context(
    server: FakeApiServer, tmp_path: Path
) -> None:
    kubeconfig_for(server, tmp_path, namespace="crew")
    result = run("simulate", "--context", "here", "-", stdin=NEW_POD)
    assert "crew/new" in result.stdout


def test_missing_right_is_reported(server: FakeApiServer) -> None:
    path = "/apis/policy/v1/poddisruptionbudgets"
    server.refusals[path] = [ApiRefusal(403, "Forbidden")]
    server.refusals["/apis/resource.k8s.io/v1/deviceclasses"] = [ApiRefusal(404)]
    result = run("simulate", "--context", "here")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        (
            "warning: context 'here': the server does not have the kind DeviceClass "
            "(resource.k8s.io/v1); it counts as having no objects"
        ),
        (
            "warning: context 'here': the right to list poddisruptionbudgets.policy of "
            "the cluster is missing; they are left out"
        ),
    ]


@pytest.mark.parametrize("resource", ["pods", "nodes"])
def test_nothing_is_simulated_without_pods_and_nodes(
    server: FakeApiServer, resource: str
) -> None:
    server.refusals[f"/api/v1/{resource}"] = [ApiRefusal(403, "Forbidden")]
    with pytest.raises(Exception, match=f"GET /api/v1/{resource}: 403 Forbidden"):
        run("simulate", "--context", "here")


def test_only_lists_are_requested(server: FakeApiServer) -> None:
    run("simulate", "--context", "here")
    paths = [request.path for request in server.requests]
    assert len(paths) == len(set(paths))
    assert not [path for path in paths if "/namespaces/" in path]


@pytest.mark.long
def test_operators_are_read_where_the_server_has_them(server: FakeApiServer) -> None:
    scaled = {
        "kind": "ScaledObject",
        "apiVersion": "keda.sh/v1alpha1",
        "metadata": {"name": "web", "namespace": "default", "uid": "1"},
        "spec": {
            "scaleTargetRef": {"name": "web"},
            "minReplicaCount": 3,
            "triggers": [{"type": "kafka"}],
        },
    }
    before = run("simulate", "--context", "here")
    assert "of 3 pods placed" in before.stdout
    assert before.stderr == ""
    server.items["/apis/keda.sh/v1alpha1/scaledobjects"] = [scaled]
    assert "of 4 pods placed" in run("simulate", "--context", "here").stdout
    run("snapshot", "-o", "all.json")
    assert "of 4 pods placed" in run("simulate", "all.json").stdout


@pytest.mark.long
@pytest.mark.parametrize("name", ["all.json", "all.json.gz"])
def test_snapshot_is_read_like_the_cluster_itself(
    server: FakeApiServer, tmp_path: Path, name: str
) -> None:
    result = run("snapshot", "-o", name)
    assert result.stderr == f"{name}: 2 nodes, 2 pods, 5 objects in all\n"
    assert (tmp_path / name).read_bytes().startswith(b"{") == (name == "all.json")
    live = run("simulate", "--context", "here")
    assert run("simulate", name).stdout == live.stdout


def test_snapshot_may_go_to_standard_output(server: FakeApiServer) -> None:
    result = run("snapshot", "--context", "here", "-o", "-")
    document = json.loads(result.stdout)
    assert document["kind"] == "List"
    assert {item["kind"] for item in document["items"]} == {"Node", "Pod", "Deployment"}


def test_snapshot_leaves_out_managed_fields(server: FakeApiServer) -> None:
    server.items["/api/v1/nodes"][0]["metadata"]["managedFields"] = [{"manager": "x"}]
    assert "managedFields" not in run("snapshot", "-o", "-").stdout


def test_snapshot_has_no_environment_unless_it_is_whole(server: FakeApiServer) -> None:
    [first, *_] = server.items["/api/v1/pods"]
    [container] = first["spec"]["containers"]
    container["env"] = [{"name": "PASSWORD", "value": "hunter2"}]
    container["command"] = ["serve", "--password=hunter2"]
    assert "hunter2" not in run("snapshot", "-o", "-").stdout
    assert "hunter2" in run("snapshot", "--whole", "-o", "-").stdout


def test_snapshot_names_the_object_that_cannot_be_read(server: FakeApiServer) -> None:
    server.items["/api/v1/pods"][0]["spec"]["priority"] = "high"
    with pytest.raises(ManifestErrors, match=r"'here': pods.*spec.priority: expected"):
        run("snapshot", "-o", "-")
    assert "high" in run("snapshot", "--whole", "-o", "-").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--anonymise",), "--whole and --anonymise do not go together"),
        (("--nodes", "1:cpu=1"), "--whole is for live clusters without files"),
    ],
)
def test_whole_snapshots_are_of_live_clusters(
    arguments: tuple[str, ...], message: str
) -> None:
    result = run("snapshot", "--whole", "-o", "-", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_anonymous_snapshot_decides_like_the_cluster(
    server: FakeApiServer, tmp_path: Path
) -> None:
    run("snapshot", "--anonymise", "-o", "secret.json")
    text = (tmp_path / "secret.json").read_text()
    assert "node-000" not in text
    assert "waits" not in text
    ends = [
        run("simulate", *how).stdout.splitlines()[-2:]
        for how in (["--context", "here"], ["secret.json"])
    ]
    assert ends[0] == ends[1]


def test_snapshot_of_one_namespace_asks_for_no_other(server: FakeApiServer) -> None:
    run("snapshot", "-n", "crew", "-o", "-")
    paths = {request.path for request in server.requests}
    assert "/api/v1/namespaces/crew/pods" in paths
    assert "/api/v1/nodes" in paths
    assert "/api/v1/pods" not in paths
    server.requests.clear()
    run("snapshot", "-n", "crew", "-A", "-o", "-")
    assert server.requests_for("/api/v1/pods")


def test_selector_is_for_pods_and_workloads(server: FakeApiServer) -> None:
    run("snapshot", "-l", "app=web", "-o", "-")
    selecting = {
        request.path for request in server.requests if "labelSelector" in request.query
    }
    assert "/api/v1/pods" in selecting
    assert "/apis/apps/v1/deployments" in selecting
    assert "/api/v1/nodes" not in selecting


def test_snapshot_that_cannot_be_written_is_an_error(server: FakeApiServer) -> None:
    with pytest.raises(Exception, match=r"^nowhere/x: no such file or directory$"):
        run("snapshot", "-o", "nowhere/x")


def test_contexts_are_completed(server: FakeApiServer, tmp_path: Path) -> None:
    command = app.get_command(Context(app), "simulate")
    assert command is not None
    [option] = [param for param in command.params if param.name == "context"]

    def proposed(text: str) -> list[str]:
        context = Context(command)
        return [completion.value for completion in option.shell_complete(context, text)]

    assert (proposed("h"), proposed("x")) == (["here"], [])
    (tmp_path / "kubeconfig").write_text("clusters: x")
    assert proposed("") == []


def test_some_input_is_needed() -> None:
    result = run("simulate")
    assert result.exit_code == 2
    assert "expected a PATH, or a live cluster (--context)" in result.stderr


@pytest.mark.long
def test_cron_jobs_are_read_where_they_are_to_run(server: FakeApiServer) -> None:
    path = "/apis/batch/v1/cronjobs"
    template = to_wire(make_pod(requests={"cpu": "1"}))["spec"]
    job = {"spec": {"template": {"spec": {**template, "restartPolicy": "Never"}}}}
    server.items[path] = [
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "nightly", "namespace": "default", "uid": "u"},
            "spec": {"schedule": "0 3 * * *", "jobTemplate": job},
        }
    ]
    assert "nightly" not in run("simulate", "--context", "here").stdout
    assert not server.requests_for(path)
    assert (
        "default/nightly-"
        in run("simulate", "--context", "here", "--run-cronjobs").stdout
    )


@pytest.mark.long
def test_explanation_takes_the_state_of_the_cluster_as_it_is(
    server: FakeApiServer,
) -> None:
    claim = to_wire(make_persistent_volume_claim())
    claim["metadata"] = {"name": "claim", "namespace": "default", "uid": "u"}
    claim["metadata"]["resourceVersion"] = "7"
    server.items["/api/v1/persistentvolumeclaims"] = [claim]
    storage_class = make_storage_class(volume_binding_mode="Immediate")
    server.items["/apis/storage.k8s.io/v1/storageclasses"] = [to_wire(storage_class)]
    pod = to_wire(make_pod(name="stateful", claims=["claim"]))
    pod["metadata"] = {"name": "stateful", "namespace": "default", "uid": "v"}
    server.items["/api/v1/pods"].append(pod)
    explained = run("explain", "stateful", "--context", "here").stdout
    assert "unbound immediate PersistentVolumeClaims" in explained
    simulated = json.loads(run("simulate", "--context", "here", "-o", "json").stdout)
    placed = {placement["pod"] for placement in simulated["placements"]}
    assert "default/stateful" in placed
