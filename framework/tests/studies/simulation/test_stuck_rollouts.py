"""Stuck rollouts are reported with what they wait for."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from quaymaster import ApiObject
from quaymaster.manifests import load
from quaymaster.planning import Apply, Cordon, Scale, WhatIfResult, what_if
from quaymaster.scenarios import ScenarioResult, load_scenario, run_scenario
from quaymaster.simulation import StuckRollout

NODES = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
"""


def workload(kind: str, cpu: str, **spec: object) -> str:
    """Return a manifest of a workload whose pods request some CPUs."""
    fields = {"selector": "{matchLabels: {app: web}}", **spec}
    lines = "".join(f"  {name}: {text}\n" for name, text in fields.items())
    container = f"{{name: c, image: i, resources: {{requests: {{cpu: {cpu!r}}}}}}}"
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec:\n{lines}"
        "  template:\n    metadata: {labels: {app: web}}\n"
        f"    spec: {{containers: [{container}]}}\n---\n"
    )


def objects(folder: Path, text: str) -> Sequence[ApiObject]:
    file = folder / "objects.yaml"
    file.write_text(text)
    return load([str(file)]).objects


def changed(folder: Path, before: str, *after: str) -> WhatIfResult:
    changes = [Apply(objects=objects(folder, text), name="new") for text in after]
    return what_if(objects(folder, NODES + before), changes)


def only(result: WhatIfResult) -> StuckRollout:
    [rollout] = result.stuck_rollouts
    return rollout


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_new_pods_that_fit_nowhere_block_a_rollout(tmp_path: Path, kind: str) -> None:
    old, new = workload(kind, "1"), workload(kind, "5")
    rollout = only(changed(tmp_path, old, new))
    assert rollout.workload == f"{kind.lower()}/web"
    assert rollout.pending == 1
    assert rollout.message.startswith("1 new pod pending: 0/2 nodes are available")
    assert not rollout.exceeded_deadline


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_a_rollout_with_room_is_not_stuck(tmp_path: Path, kind: str) -> None:
    old, new = workload(kind, "1"), workload(kind, "2")
    assert changed(tmp_path, old, new).stuck_rollouts == ()


def test_a_rollout_that_gets_room_is_stuck_only_before(tmp_path: Path) -> None:
    old, new = workload("Deployment", "1"), workload("Deployment", "5")
    first, _, _ = NODES.partition("---")
    node = first.replace("name: a", "name: c").replace('"4"', '"8"')
    stuck, unstuck = changed(tmp_path, old, new, node).steps
    assert len(stuck.stuck_rollouts) == 1
    assert unstuck.stuck_rollouts == ()


def test_pending_pods_of_a_scaled_or_drained_workload_are_not_a_rollout(
    tmp_path: Path,
) -> None:
    loaded = objects(tmp_path, NODES + workload("Deployment", "1", replicas=4))
    result = what_if(loaded, [Cordon(nodes="a"), Scale.parse("deploy/web=30")])
    assert result.after.pending
    assert result.stuck_rollouts == ()


def test_a_new_workload_that_does_not_fit_is_stuck(tmp_path: Path) -> None:
    rollout = only(changed(tmp_path, "", workload("Deployment", "3", replicas=3)))
    assert rollout.message.startswith("1 new pod pending")


def test_paused_workloads_and_updates_on_delete_are_not_stuck(tmp_path: Path) -> None:
    paused = workload("Deployment", "5", paused="true")
    assert changed(tmp_path, workload("Deployment", "1"), paused).stuck_rollouts == ()
    strategy = {"updateStrategy": "{type: OnDelete}"}
    old, new = (workload("StatefulSet", cpu, **strategy) for cpu in "15")
    assert changed(tmp_path, old, new).stuck_rollouts == ()


def test_pods_below_the_partition_keep_the_old_template(tmp_path: Path) -> None:
    spec = {"replicas": 2, "updateStrategy": "{rollingUpdate: {partition: 1}}"}
    old, new = (workload("StatefulSet", cpu, **spec) for cpu in "12")
    assert changed(tmp_path, old, new).stuck_rollouts == ()


def test_a_pod_that_never_becomes_ready_blocks_a_rollout(tmp_path: Path) -> None:
    old = workload("Deployment", "1")
    never = "{labels: {app: web}, annotations: {%s: never}}"
    never %= "simulation.quaymaster.io/startup-seconds"
    new = old.replace("metadata: {labels: {app: web}}", f"metadata: {never}")
    rollout = only(changed(tmp_path, old, new))
    assert (rollout.pending, rollout.message) == (0, "1 new pod not ready")


def test_pods_that_a_quota_refuses_block_a_rollout(tmp_path: Path) -> None:
    quota = (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: default}\n"
        'spec: {hard: {requests.cpu: "2"}}\n---\n'
    )
    old, new = workload("Deployment", "1"), workload("Deployment", "2")
    rollout = only(changed(tmp_path, quota + old, new))
    assert rollout.pending == 0
    assert rollout.message.startswith("1 pod was not created: ")


def play(folder: Path, new: str, *, more: str) -> ScenarioResult:
    (folder / "old.yaml").write_text(NODES + workload("Deployment", "1"))
    (folder / "new.yaml").write_text(new)
    (folder / "scenario.yaml").write_text(
        "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Scenario\n"
        "input: {files: [old.yaml]}\n"
        f"steps:\n- at: 10s\n  apply: {{files: [new.yaml]}}\n{more}"
    )
    return run_scenario(load_scenario(str(folder / "scenario.yaml")))


def test_a_scenario_reports_how_long_a_rollout_was_stuck(tmp_path: Path) -> None:
    more = "- after: 40s\n  cordon: {nodes: a}\n"
    result = play(tmp_path, workload("Deployment", "5"), more=more)
    [rollout] = result.steps[0].stuck_rollouts
    assert rollout.seconds == 40
    assert not rollout.exceeded_deadline
    assert len(result.stuck_rollouts) == 1


@pytest.mark.parametrize(("until", "exceeded"), [("609s", False), ("611s", True)])
def test_a_deployment_exceeds_its_progress_deadline(
    tmp_path: Path, until: str, exceeded: bool
) -> None:
    new = workload("Deployment", "5")
    [rollout] = play(tmp_path, new, more=f"until: {until}\n").stuck_rollouts
    assert rollout.exceeded_deadline is exceeded


def test_a_rollout_whose_pods_still_start_is_not_stuck(tmp_path: Path) -> None:
    new = workload("Deployment", "2")
    assert play(tmp_path, new, more="until: 12s\n").stuck_rollouts == ()
    ripening = workload("Deployment", "2", minReadySeconds=60)
    assert play(tmp_path, ripening, more="until: 30s\n").stuck_rollouts == ()
