"""Short configurations of one profile."""

from collections.abc import Iterable, Mapping

__all__ = ["profile_config"]


def profile_config(
    *,
    enable: Iterable[str | type] = (),
    disable: Iterable[str | type] = (),
    args: Mapping[str | type, Mapping[str, object]] | None = None,
    weights: Mapping[str | type, int] | None = None,
    scheduler_name: str = "default-scheduler",
    tie_breaker: str | type | None = None,
) -> dict[str, object]:
    """Make a configuration of one profile: the default one with some changes.

    Plugins are given by name, or by a class of that name.

    Args:
        enable: Plugins to add, at every extension point that they have hooks for.
        disable: Plugins to leave out; ``"*"`` leaves out all that are not enabled here.
        args: Plugin -> its arguments, as in a configuration file.
        weights: Plugin -> the weight of its scores.
        scheduler_name: The profile's name.
        tie_breaker: Who chooses among the nodes with the highest total: ``"random"``,
            which is the default, ``"name"``, or a plugin.

    Returns:
        The document, for `SchedulerHarness` or `quaymaster.config.parse_config`.
    """
    heavy = {_name(plugin): weight for plugin, weight in (weights or {}).items()}
    enabled = [_name(plugin) for plugin in enable]
    # A plugin with a weight is removed and added again with the weight.
    disabled = [_name(plugin) for plugin in disable]
    again = [name for name in heavy if name not in enabled]
    multi_point = {
        "disabled": [{"name": name} for name in (*disabled, *again)],
        "enabled": [
            {"name": name, "weight": heavy[name]} if name in heavy else {"name": name}
            for name in (*enabled, *again)
        ],
    }
    profile: dict[str, object] = {
        "schedulerName": scheduler_name,
        "plugins": {"multiPoint": multi_point},
    }
    if tie_breaker is not None:
        profile["tieBreaker"] = _name(tie_breaker)
    if args:
        profile["pluginConfig"] = [
            {"name": _name(plugin), "args": dict(values)}
            for plugin, values in args.items()
        ]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


def _name(plugin: str | type) -> str:
    return plugin if isinstance(plugin, str) else plugin.__name__
