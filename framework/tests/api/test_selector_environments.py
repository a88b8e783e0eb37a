"""Which CEL environment compiles a selector, by version, feature gate and compiler."""

import pytest

from kubernetes_cel import VERSIONS, device_environment
from quaymaster.config import KUBERNETES_VERSIONS, Kubernetes
from tests.kit.internals.cel import of_new_selectors, of_stored_selectors


def test_every_version_of_kubernetes_has_its_environment() -> None:
    assert set(VERSIONS) == set(KUBERNETES_VERSIONS)


@pytest.mark.parametrize("version", VERSIONS)
def test_scheduler_compiles_stored_selectors_with_the_features_of_all_gates(
    version: str,
) -> None:
    environment = of_stored_selectors(Kubernetes(version))
    assert environment == device_environment(version)


@pytest.mark.parametrize("version", VERSIONS)
def test_api_server_compiles_new_selectors_without_lists(version: str) -> None:
    environment = of_new_selectors(Kubernetes(version))
    assert environment == device_environment(version, list_attributes=False)


def test_api_server_with_the_gate_compiles_as_a_scheduler() -> None:
    kubernetes = Kubernetes("1.37", {"DRAListTypeAttributes": True})
    assert of_new_selectors(kubernetes) == of_stored_selectors(kubernetes)


def test_scheduler_without_the_change_of_1_37_compiles_as_1_36() -> None:
    kubernetes = Kubernetes("1.37").without("selector-types")
    assert of_stored_selectors(kubernetes) == device_environment("1.36")
