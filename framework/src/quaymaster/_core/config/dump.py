"""Writes a configuration as a document."""

import base64
import enum
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._api.objects import Time
from quaymaster._api.objects.quantity import Quantity
from quaymaster._core.config.args import args_kind
from quaymaster._core.config.document import API_VERSION, KIND
from quaymaster._core.config.duration import format_duration
from quaymaster._core.config.model import (
    RANDOM,
    EnabledPlugin,
    ProfileConfig,
    SchedulerConfig,
)
from quaymaster._core.config.points import MULTI_POINT, POINTS, WILDCARD
from quaymaster._core.config.records import RecordField, is_record, record_fields

__all__ = ["dump_config", "plain"]

_NOT_FIELDS: Final = frozenset({"limits_requests", "own_gates", "profiles", "warnings"})
"""The attributes of a configuration that are not fields of a document."""


def dump_config(config: SchedulerConfig) -> dict[str, object]:
    """Return the effective configuration as a document that can be loaded again.

    Every default is written and ``multiPoint`` is expanded. So the document has the
    plugins of each extension point, in the order of their calls.

    Returns:
        Mappings, lists and scalars, ready for a YAML or JSON writer.
    """
    document: dict[str, object] = {"apiVersion": API_VERSION, "kind": KIND}
    for field in record_fields(SchedulerConfig):
        if field.name not in _NOT_FIELDS:
            document[field.key] = plain(getattr(config, field.name))
    if not config.limits_requests:
        # Written to the document, the defaults would become limits.
        unlimited = attrs.evolve(config.client_connection, qps=0, burst=0)
        document["clientConnection"] = plain(unlimited)
    gates = config.kubernetes.feature_gates
    if config.own_gates:  # kube-scheduler rejects the field
        document["featureGates"] = {key: gates[key] for key in sorted(config.own_gates)}
    document["profiles"] = [_profile(profile) for profile in config.profiles]
    return document


def _profile(profile: ProfileConfig) -> dict[str, object]:
    document: dict[str, object] = {"schedulerName": profile.scheduler_name}
    if profile.percentage_of_nodes_to_score is not None:
        document["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    if profile.tie_breaker != RANDOM:  # kube-scheduler rejects the field
        document["tieBreaker"] = profile.tie_breaker
    # Without this, loading would merge the default profile in again.
    plugins: dict[str, object] = {MULTI_POINT: {"disabled": [{"name": WILDCARD}]}}
    for key, enabled in profile.plugins.items():
        if enabled:
            plugins[key] = {"enabled": [_enabled(key, plugin) for plugin in enabled]}
    document["plugins"] = plugins
    document["pluginConfig"] = [
        {"name": name, "args": _args(name, args)}
        for name, args in profile.plugin_args.items()
    ]
    return document


def _enabled(key: str, plugin: EnabledPlugin) -> dict[str, object]:
    if POINTS[key].weighted:
        return {"name": plugin.name, "weight": plugin.weight}
    return {"name": plugin.name}


def _args(name: str, args: object) -> dict[str, object]:
    header = {"apiVersion": API_VERSION, "kind": args_kind(name)}
    return header | _record(args)


def plain(value: object) -> object:
    """Return a value as it is in a file: mappings, lists and scalars."""
    if is_record(type(value)):
        return _record(value)
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        # Strings have other hashes in each process, so the order of a set would change
        # the text although the configuration is the same.
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    for kind, write in _WRITERS.items():
        if isinstance(value, kind):
            return write(value)
    return value


_WRITERS: Mapping[type, Callable[..., object]] = {
    timedelta: format_duration,
    bytes: lambda data: base64.b64encode(data).decode("ascii"),
    Quantity: str,
    Time: str,
}


def _record(record: object) -> dict[str, object]:
    return {
        field.key: plain(getattr(record, field.name))
        for field in record_fields(type(record))
        if not _is_left_out(record, field)
    }


def _is_left_out(record: object, field: RecordField) -> bool:
    """Whether to leave out a field: a null, or the default of an API object's field."""
    value = getattr(record, field.name)
    if value is None:
        return True
    # Arguments are written with their defaults. Objects of the API, of which most
    # fields are empty, would become unreadable that way.
    return not attrs.has(type(record)) and value == field.default()
