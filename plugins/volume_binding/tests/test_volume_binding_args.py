"""The arguments of VolumeBinding, as upstream defaults and validates them."""

import pytest

from quaymaster.config import ConfigErrors, Kubernetes
from quaymaster.testing import PluginHarness
from quaymaster_volume_binding import VolumeBinding, VolumeBindingArgs


def test_volumes_are_waited_for_ten_minutes_by_default() -> None:
    assert VolumeBindingArgs().bind_timeout_seconds == 600
    assert VolumeBindingArgs().shape is None


@pytest.mark.parametrize("seconds", [0, 1, 600])
def test_timeouts_from_0_on_are_fine(seconds: int) -> None:
    PluginHarness(VolumeBinding, args={"bindTimeoutSeconds": seconds})


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            {"bindTimeoutSeconds": -1},
            "bindTimeoutSeconds: expected an integer, 0 or more, got -1",
            id="negative timeout",
        ),
        pytest.param(
            {"bindTimeoutSeconds": "9"},
            "bindTimeoutSeconds: expected an integer",
            id="timeout as a text",
        ),
        pytest.param(
            {"shape": [{"utilization": 101}]}, "utilization: expected", id="bad shape"
        ),
        pytest.param({"timeout": 1}, "timeout: unknown field", id="unknown field"),
    ],
)
def test_wrong_arguments_are_refused(args: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigErrors, match=message):
        PluginHarness(VolumeBinding, args=args)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param([{"utilization": 0, "score": 1}], id="a shape"),
        pytest.param([], id="an empty shape"),
    ],
)
def test_a_shape_is_refused_where_storage_is_not_scored(shape: list[object]) -> None:
    gate = "StorageCapacityScoring"
    message = f"shape: expected nothing, since the feature gate {gate}"
    for kubernetes in Kubernetes("1.36"), Kubernetes("1.37", {gate: False}):
        with pytest.raises(ConfigErrors, match=message):
            PluginHarness(VolumeBinding, args={"shape": shape}, kubernetes=kubernetes)
