"""Loads the configuration that a command line names, with its warnings."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import click

from quaymaster._base.errors import Problem
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._cli.kubernetes import kubernetes_options
from quaymaster._cli.values import complete_config
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.load import default_config, load_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry

__all__ = [
    "ConfigSource",
    "config_notices",
    "config_options",
    "missing_option",
    "read_config",
]


@attrs.frozen(kw_only=True)
class ConfigSource:
    """The options of a command line about the configuration.

    Attributes:
        file: The file, or the name of a shipped profile; None: the default.
        chosen: The version that the options choose, or None.
        beside: Other versions to compare it with.
        without_missing: Whether plugins that are not installed are left out.
    """

    file: str | None = None
    chosen: Kubernetes | None = None
    beside: tuple[Kubernetes, ...] = ()
    without_missing: bool = False

    @property
    def kubernetes(self) -> Kubernetes:
        """The Kubernetes to complete the configuration for."""
        return self.chosen or DEFAULT_KUBERNETES


def config_options(
    *,
    required: bool = False,
    several: bool = False,
    is_simulated: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options for the configuration and its Kubernetes version to a command.

    The command gets their values as ``configured``, a `ConfigSource`.

    Args:
        required: Whether a file must be named.
        several: Whether there may be several versions of Kubernetes.
        is_simulated: Whether nothing real is scheduled, so that plugins may be missing.
    """

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def gathered(
            config_file: str | None,
            versions: tuple[Kubernetes, ...],
            without_missing: bool = False,
            **arguments: Any,
        ) -> None:
            configured = ConfigSource(
                file=config_file,
                chosen=versions[0] if versions else None,
                beside=versions[1:],
                without_missing=without_missing,
            )
            command(configured=configured, **arguments)

        option = click.option(
            "--config",
            "config_file",
            metavar="FILE",
            required=required,
            shell_complete=complete_config,
            help="A KubeSchedulerConfiguration, or the name of a shipped profile.",
        )
        with_versions = kubernetes_options(several=several)(gathered)
        return option(missing_option(with_versions) if is_simulated else with_versions)

    return give


def missing_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option to leave out plugins that are not installed."""
    return click.option(
        "--without-missing-plugins",
        "without_missing",
        is_flag=True,
        help="Leave out plugins of the configuration that are not installed, with a "
        "warning for each.",
    )(command)


def read_config(
    configured: ConfigSource, registry: PluginRegistry, *, asks_extenders: bool = True
) -> tuple[SchedulerConfig, list[Notice]]:
    """Load a configuration, or the default one.

    Args:
        configured: The file and the Kubernetes version.
        registry: The installed plugins.
        asks_extenders: Whether its extenders will be called.

    Returns:
        The configuration, and notices about probable mistakes in it.

    Raises:
        ConfigErrors: Something is wrong with it.
    """
    file, kubernetes = configured.file, configured.kubernetes
    if file is None:
        return default_config(registry, kubernetes=kubernetes), []
    config = load_config(
        file,
        registry,
        kubernetes=kubernetes,
        without_missing=configured.without_missing,
    )
    warnings = list(config.warnings)
    if asks_extenders and config.extenders:
        # Imports TLS, which few configurations need.
        from quaymaster._core.extenders.checks import (  # noqa: PLC0415 - above
            doubts,
            mistakes,
        )

        wrong = mistakes(config.extenders, file)
        if wrong:
            raise ConfigErrors(wrong)
        warnings += doubts(config.extenders, file)
    return config, config_notices(warnings)


def config_notices(warnings: Iterable[Problem]) -> list[Notice]:
    """Warnings of a configuration as notices."""
    return [
        Notice(
            reason=NoticeReason.CONFIGURATION,
            where=warning.where,
            path=warning.path,
            message=warning.message,
        )
        for warning in warnings
    ]
