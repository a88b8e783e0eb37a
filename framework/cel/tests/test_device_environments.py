"""Which selectors a scheduler and an API server accept, by version.

Confirmed with kube-apiserver 1.37.2, and with the calls of upstream's ``TestCEL``
(k8s.io/dynamic-resource-allocation v0.37, ``cel/compile_test.go``).
"""

from typing import Final

import pytest

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    DeviceEnvironment,
    compile_selector,
    device_environment,
    device_value,
)

OLD: Final = device_environment("1.36")
SCHEDULER: Final = device_environment("1.37")
SERVERS: Final = [
    device_environment(version, list_attributes=False) for version in ("1.36", "1.37")
]
DEVICE: Final = device_value(
    "d",
    {
        "attributes": {
            "model": {"string": "T4"},
            "a": {"int": 0},
            "b": {"bool": True},
            "names": {"strings": ("fish", "bird")},
            "sizes": {"ints": (1, 2)},
            "flags": {"bools": (True,)},
            "versions": {"versions": ("1.0.0", "2.0.0")},
        }
    },
)

DYNAMIC: Final = [
    '"gpu-%s".format([device.attributes["d"].model]) == "gpu-T4"',
    '"%d".format([device.attributes["d"].a]) == "0"',
    '[device.attributes["d"].a, -device.attributes["d"].a] == [0, 0]',
    '{"x": device.attributes["d"].a, "y": dyn(1)}.size() == 2',
    'device.attributes["d"].names.exists(x, x == "fish")',
    "dyn(true)",
]
"""Selectors that compile only if attributes are dynamic."""


@pytest.mark.parametrize("text", DYNAMIC)
def test_attributes_are_dynamic_for_a_scheduler_of_1_37(text: str) -> None:
    assert compile_selector(text, SCHEDULER).matches(DEVICE)


@pytest.mark.parametrize("text", DYNAMIC)
@pytest.mark.parametrize("environment", [OLD, *SERVERS])
def test_attributes_have_the_type_any_in_other_environments(
    text: str, environment: DeviceEnvironment
) -> None:
    with pytest.raises(CelCompilationError):
        compile_selector(text, environment)


@pytest.mark.parametrize("environment", [OLD, SCHEDULER, *SERVERS])
@pytest.mark.parametrize(
    "text",
    [
        '[device.attributes["d"].a, 1] == []',
        '{"x": device.attributes["d"].a, "y": 1} == {}',
        '"%d".format([1.5]) == ""',
    ],
)
def test_members_of_a_literal_have_one_type(
    text: str, environment: DeviceEnvironment
) -> None:
    with pytest.raises(CelCompilationError):
        compile_selector(text, environment)


@pytest.mark.parametrize(
    "text",
    [
        '"fish" in device.attributes["d"].names',
        '2 in device.attributes["d"].sizes',
        'device.attributes["d"].flags[0]',
        'semver("2.0.0") in device.attributes["d"].versions',
        'device.attributes["d"].names.includes("bird")',
        'device.attributes["d"].model.includes("T4")',
        f"{list(range(49))}.includes(48)",
    ],
)
def test_scheduler_of_1_37_reads_lists(text: str) -> None:
    assert compile_selector(text, SCHEDULER).matches(DEVICE)


def test_list_has_no_value_for_a_scheduler_of_1_36() -> None:
    with pytest.raises(CelEvaluationError, match="attribute names: unsupported"):
        device_value(
            "d",
            {"attributes": {"names": {"strings": ("fish",)}}},
            list_attributes=False,
        )


def test_scheduler_of_1_36_limits_the_lists_of_includes() -> None:
    selector = compile_selector(f"{list(range(49))}.includes(48)", OLD)
    with pytest.raises(CelEvaluationError, match="lists longer than 48"):
        selector.matches(DEVICE)


@pytest.mark.parametrize("environment", SERVERS)
def test_new_selectors_have_no_includes(environment: DeviceEnvironment) -> None:
    with pytest.raises(CelCompilationError, match="undeclared reference to 'includes'"):
        compile_selector("[1].includes(1)", environment)


def test_list_with_an_invalid_version_fails() -> None:
    with pytest.raises(CelEvaluationError, match="attribute x: parse semantic"):
        device_value("d", {"attributes": {"x": {"versions": ("1.0.0", "one")}}})
