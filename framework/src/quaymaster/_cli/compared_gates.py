"""Compares each configuration without and with more feature gates."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs
import click

from quaymaster._base.versions.kubernetes import (
    DEFAULT_KUBERNETES,
    Kubernetes,
    KubernetesError,
)
from quaymaster._cli.configuration import ConfigSource
from quaymaster._cli.kubernetes import read_gates

__all__ = ["compare_gates_option", "gates_suffix", "of_same_gates", "with_more_gates"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTION = "--compare-gates"


def compare_gates_option() -> Callable[[F], F]:
    """The option ``--compare-gates``."""
    return click.option(
        _OPTION,
        "more_gates",
        metavar="GATE=true,...",
        multiple=True,
        help="Compare each configuration without and with these feature gates. May be "
        "repeated.",
    )


def with_more_gates(configured: ConfigSource, texts: Sequence[str]) -> ConfigSource:
    """Add a version with more feature gates beside each version.

    Args:
        configured: The options about the configuration.
        texts: The values of the option.

    Raises:
        BadParameter: A gate is unknown, or depends on gates that are off.
    """
    gates = read_gates(texts, _OPTION)
    if not gates:
        return configured
    versions = (configured.chosen or DEFAULT_KUBERNETES, *configured.beside)
    try:
        more = [
            Kubernetes(version.version, {**version.feature_gates, **gates})
            for version in versions
        ]
    except KubernetesError as error:
        raise click.BadParameter(error.problem, param_hint=_OPTION) from error
    return attrs.evolve(configured, chosen=versions[0], beside=(*versions[1:], *more))


def gates_suffix(version: Kubernetes, configured: ConfigSource) -> str:
    """Return what distinguishes the name of a variant with more gates."""
    chosen = configured.chosen or DEFAULT_KUBERNETES
    return "" if version.feature_gates == chosen.feature_gates else " with gates"


def of_same_gates(versions: Sequence[Kubernetes]) -> list[Kubernetes]:
    """Return the versions with the gates of the first one.

    Only their decisions can be made again on the same state: gates change which fields
    of objects exist.
    """
    return [
        version
        for version in versions
        if version.feature_gates == versions[0].feature_gates
    ]
