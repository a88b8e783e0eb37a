"""What commands assume about workloads whose size depends on metrics."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 5
"""
METRICS = """
status:
  currentMetrics:
  - {type: Resource, resource: {name: cpu, current: {averageUtilization: 80}}}
"""
DISABLED = (
    "{selectPolicy: Disabled, policies: [{type: Pods, value: 1, periodSeconds: 9}]}"
)
BOTH = f"{{scaleUp: {DISABLED}, scaleDown: {DISABLED}}}"
NODES = ("--nodes", "2:cpu=4,memory=8Gi")


def simulate(folder: Path, text: str, *options: str) -> Result:
    file = folder / "web.yaml"
    file.write_text(text)
    return CliRunner().invoke(app, ["simulate", str(file), *NODES, *options])


def test_sizes_that_depend_on_metrics_get_a_warning(tmp_path: Path) -> None:
    result = simulate(tmp_path, WEB + METRICS, "--strict")
    assert result.exit_code == 1
    assert "1 HorizontalPodAutoscaler follows metrics in the cluster" in result.stderr
    assert "assumed to stay" in result.stderr
    assert "default/web" in result.stderr


@pytest.mark.parametrize("size", ["min", "max", "as-it-is"])
def test_a_chosen_size_gets_none(tmp_path: Path, size: str) -> None:
    result = simulate(tmp_path, WEB + METRICS, "--strict", "--hpa", size)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    "certain",
    [
        pytest.param(("", ""), id="no metrics"),
        pytest.param(("maxReplicas: 5", "maxReplicas: 2"), id="equal limits"),
        pytest.param(
            (
                "  currentMetrics",
                (
                    '  conditions: [{type: ScalingActive, status: "False"}]\n'
                    "  currentMetrics"
                ),
            ),
            id="not active",
        ),
        pytest.param(
            (
                "spec:\n  scaleTargetRef",
                f"spec:\n  behavior: {BOTH}\n  scaleTargetRef",
            ),
            id="disabled",
        ),
    ],
)
def test_a_size_that_is_certain_gets_none(
    tmp_path: Path, certain: tuple[str, str]
) -> None:
    text = WEB + METRICS if certain[0] else WEB
    result = simulate(tmp_path, text.replace(*certain, 1), "--strict")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("direction", "size", "count"),
    [
        ("scaleDown", "min", 3),
        ("scaleDown", "max", 5),
        ("scaleUp", "min", 2),
        ("scaleUp", "max", 3),
    ],
)
def test_metrics_never_scale_in_a_disabled_direction(
    tmp_path: Path, direction: str, size: str, count: int
) -> None:
    behavior = f"spec:\n  behavior: {{{direction}: {DISABLED}}}\n  scaleTargetRef"
    text = WEB.replace("spec:\n  scaleTargetRef", behavior)
    result = simulate(tmp_path, text, "--hpa", size)
    assert f"{count} of {count} pods placed" in result.stdout


def test_an_autoscaler_without_its_workload_gets_a_warning(tmp_path: Path) -> None:
    other = WEB.replace("kind: Deployment, name: web}", "kind: Deployment, name: api}")
    result = simulate(tmp_path, other, "--strict")
    assert result.exit_code == 1
    assert "HorizontalPodAutoscaler default/web of Deployment api" in result.stderr
    rollout = WEB.replace(
        "{apiVersion: apps/v1, kind: Deployment, name: web}",
        "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web}",
    )
    assert "of Rollout web" in simulate(tmp_path, rollout).stderr


QUEUE = WEB.replace(
    "  minReplicas: 2\n",
    "  minReplicas: 0\n"
    "  metrics:\n"
    "  - type: External\n"
    "    external: {metric: {name: q}, target: {type: Value, value: '9'}}\n",
)
SCALED_TO_ZERO = """
status:
  conditions: [{type: ScaledToZero, status: "True"}]
"""


@pytest.mark.parametrize(("size", "count"), [("min", 0), ("max", 5), ("as-it-is", 3)])
def test_an_autoscaler_with_external_metrics_may_take_the_last_pod(
    tmp_path: Path, size: str, count: int
) -> None:
    result = simulate(tmp_path, QUEUE, "--hpa", size)
    assert f"{count} of {count} pods placed" in result.stdout


@pytest.mark.parametrize(
    ("status", "size", "count"),
    [(SCALED_TO_ZERO, "max", 5), (SCALED_TO_ZERO, "min", 0), ("", "max", 0)],
)
def test_only_what_an_autoscaler_has_scaled_to_zero_comes_back(
    tmp_path: Path, status: str, size: str, count: int
) -> None:
    text = QUEUE.replace("replicas: 3", "replicas: 0") + status
    result = simulate(tmp_path, text, "--hpa", size)
    assert f"{count} of {count} pods placed" in result.stdout


def test_autoscalers_with_opposite_limits_end_with_a_warning(tmp_path: Path) -> None:
    _, _, scaler = WEB.partition("---")
    other = scaler.replace("name: web}\nspec", "name: other}\nspec")
    other = other.replace("minReplicas: 2", "minReplicas: 7").replace(": 5", ": 9")
    result = simulate(tmp_path, f"{WEB}---{other}", "--strict")
    assert result.exit_code == 1
    assert "2 autoscalers size Deployment default/web" in result.stderr


CONSUMER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: consumer}
spec:
  selector: {matchLabels: {app: consumer}}
  template:
    metadata: {labels: {app: consumer}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: consumer}
spec:
  scaleTargetRef: {name: consumer}
  minReplicaCount: 2
  maxReplicaCount: 6
  triggers:
  - type: cron
    metadata:
      {timezone: UTC, start: "0 6 * * *", end: "0 20 * * *", desiredReplicas: "5"}
"""


@pytest.mark.long
def test_a_cron_trigger_of_keda_gets_a_warning(tmp_path: Path) -> None:
    result = simulate(tmp_path, CONSUMER, "--strict")
    assert result.exit_code == 1
    assert "1 autoscaler of KEDA has a cron trigger" in result.stderr
    assert "ScaledObject default/consumer" in result.stderr


@pytest.mark.parametrize("size", ["min", "max", "as-it-is"])
def test_a_cron_trigger_gets_none_if_the_size_is_chosen(
    tmp_path: Path, size: str
) -> None:
    result = simulate(tmp_path, CONSUMER, "--strict", "--hpa", size)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('Replicas: "5"', 'Replicas: "2"', id="no more pods than without"),
        pytest.param("ReplicaCount: 6", "ReplicaCount: 2", id="equal limits"),
        pytest.param("type: cron", "type: kafka", id="another trigger"),
        pytest.param(
            "kind: ScaledObject\nmetadata: {name: consumer}",
            "kind: ScaledObject\nmetadata: {name: consumer, annotations: "
            '{autoscaling.keda.sh/paused-replicas: "2"}}',
            id="paused",
        ),
    ],
)
def test_a_cron_trigger_that_adds_no_pods_gets_none(
    tmp_path: Path, old: str, new: str
) -> None:
    assert old in CONSUMER
    result = simulate(tmp_path, CONSUMER.replace(old, new), "--strict")
    assert (result.exit_code, result.stderr) == (0, "")
