"""Loads the configuration that a command line names, with its warnings."""

from collections.abc import Iterable

from quaymaster._config.errors import ConfigErrors
from quaymaster._config.load import default_config, load_config
from quaymaster._config.model import SchedulerConfig
from quaymaster._errors import Problem
from quaymaster._extenders.checks import doubts, mistakes
from quaymaster._notices import Notice, NoticeReason
from quaymaster._registry.registry import PluginRegistry

__all__ = ["config_notices", "read_config"]


def read_config(
    file: str | None, registry: PluginRegistry, *, asks_extenders: bool = True
) -> tuple[SchedulerConfig, list[Notice]]:
    """Load a configuration, or the default one.

    Args:
        file: The file, or the name of a profile that is shipped; None: the default.
        registry: The installed plugins.
        asks_extenders: Whether its extenders are going to be asked.

    Returns:
        The configuration, and what is probably a mistake in it.

    Raises:
        ConfigErrors: Something is wrong with it.
    """
    if file is None:
        return default_config(registry), []
    config = load_config(file, registry)
    warnings = list(config.warnings)
    if asks_extenders:
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
