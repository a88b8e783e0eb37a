"""Warns of extension points without content in a configuration."""

from collections.abc import Iterator, Mapping, Sequence

from quaymaster._core.config.findings import Findings
from quaymaster._core.config.naming import join_path
from quaymaster._core.config.points import MULTI_POINT, PLUGIN_SETS

__all__ = ["warn_of_empty_points"]

_LISTS = ("enabled", "disabled")


def warn_of_empty_points(document: object, findings: Findings) -> None:
    """Warn of each extension point, and of each list of plugins, without a value.

    A YAML key without a value is null, and a null changes nothing. ``{}`` is accepted,
    because kube-scheduler writes it for points without plugins; but not for
    ``multiPoint``, where kube-scheduler always writes the default plugins.

    Args:
        document: The content of the file.
        findings: Collects warnings.
    """
    for index, profile in enumerate(_items(document, "profiles")):
        for path in _empty_paths(_field(profile, "plugins")):
            at = join_path(f"profiles[{index}].plugins", path)
            message = "is empty, so it neither enables nor disables a plugin"
            findings.warn(at, message)


def _empty_paths(plugins: object) -> Iterator[str]:
    if not isinstance(plugins, Mapping):
        return
    for key in PLUGIN_SETS:
        if key not in plugins:
            continue
        plugin_set = plugins[key]
        if plugin_set is None or (key == MULTI_POINT and plugin_set == {}):
            yield key
        elif isinstance(plugin_set, Mapping):
            for name in _LISTS:
                if name in plugin_set and plugin_set[name] is None:
                    yield f"{key}.{name}"


def _items(document: object, key: str) -> Sequence[object]:
    items = _field(document, key)
    return items if isinstance(items, list | tuple) else ()


def _field(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None
