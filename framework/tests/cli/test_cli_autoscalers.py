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
