"""Small scenarios."""

from collections.abc import Mapping, Sequence

import msgspec

from quaymaster.scenarios import Scenario, ScenarioResult, parse_scenario, run_scenario
from quaymaster.scheduler import PluginRegistry

__all__ = ["deployment", "one_pod", "parsed", "ran"]

REGISTRY = PluginRegistry.discover()


def one_pod(
    name: str, cpu: str = "1", labels: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return a pod as manifests have it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": _spec(cpu),
    }


def deployment(name: str, replicas: int, cpu: str = "1") -> dict[str, object]:
    """Return a Deployment as manifests have it; its pods have the label ``app``."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _spec(cpu)},
        },
    }


def _spec(cpu: str) -> dict[str, object]:
    requests = {"cpu": cpu}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {"containers": [container]}


def parsed(
    *steps: Mapping[str, object],
    nodes: Sequence[str] = ("2:cpu=4,memory=16Gi",),
    objects: Sequence[Mapping[str, object]] = (),
    assertions: Sequence[Mapping[str, object]] = (),
    file: str = "scenario.yaml",
    **others: object,
) -> Scenario:
    """Make a scenario from its parts."""
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Scenario",
        "input": {"nodes": list(nodes), "objects": list(objects)},
        "steps": list(steps),
        "assertions": list(assertions),
        **others,
    }
    text = msgspec.json.encode(document)
    return parse_scenario(text, registry=REGISTRY, file=file)


def ran(scenario: Scenario, seed: int | None = None) -> ScenarioResult:
    """Run a scenario, and return its result."""
    return run_scenario(scenario, registry=REGISTRY, seed=seed)
