"""Plugins with the answers that a test in Go injects into its own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from quaymaster import (
    Code,
    Int64Array,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreFilterResult,
    Status,
    hookimpl,
)
from tests.kit.internals.testing import CallNotPlayedError, Json
from tests.upstream.queue_backoff import nanoseconds

__all__ = ["plugins_of", "weights_of"]

_CODES: Final = (
    Code.SUCCESS,
    Code.ERROR,
    Code.UNSCHEDULABLE,
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    Code.WAIT,
    Code.SKIP,
    Code.PENDING,
)
"""The codes by their numbers in Go."""

_REASON: Final = "injected status"
_REASONS: Final = {"Filter": "injected filter status"}
_REASON_OF_SCORES: Final = "injecting failure."
_REASONS_OF_SCORES: Final = frozenset({"Score", "Normalize"})

_Hooks = Mapping[str, Callable[..., object]]


def plugins_of(points: Mapping[str, Sequence[Json]]) -> list[type]:
    """Make the plugins of a profile, in its order.

    Args:
        points: Extension point -> its plugins with what they answer, as recorded.

    Raises:
        CallNotPlayedError: A plugin does more than the record says.
    """
    injected: dict[str, Json] = {}
    hooks: dict[str, dict[str, Callable[..., object]]] = {}
    for point, plugins in points.items():
        if point not in _HOOKS:
            continue
        for plugin in plugins:
            name = plugin["name"]
            own = {**_injected(plugin), "of": name}
            injected[name] = own
            hooks.setdefault(name, {}).update(_HOOKS[point](own))
    return [_plugin_class(name, own) for name, own in hooks.items()]


def weights_of(points: Mapping[str, Sequence[Json]]) -> dict[str, int]:
    """Return the weights of the Score plugins."""
    return {plugin["name"]: plugin["weight"] for plugin in points.get("score", ())}


def _injected(plugin: Json) -> Json:
    fields: Json = plugin["is"]
    if "inj" in fields or plugin["name"] == "bind-plugin":
        return dict(fields.get("inj", {}))
    raise CallNotPlayedError("a plugin of the test's own, whose code is not recorded")


class _Plugin:
    def __init__(self, args: object, handle: object) -> None:
        pass


def _plugin_class(name: str, hooks: _Hooks) -> type:
    marked = {hook: hookimpl(function) for hook, function in hooks.items()}
    return type(name, (_Plugin,), marked)


def _status(injected: Json, what: str) -> Status | None:
    code = _CODES[injected.get(f"{what}Status", 0)]
    if code is Code.SUCCESS:
        return None
    if code is Code.SKIP:
        return Status.skip()
    # One plugin of the tests has all hooks; others only rank nodes.
    is_score = what in _REASONS_OF_SCORES and injected["of"] != "test-plugin"
    reason = _REASON_OF_SCORES if is_score else _REASONS.get(what, _REASON)
    return Status(code, (reason,))


def _answering(hook: str, injected: Json, what: str) -> _Hooks:
    return {hook: lambda self: _status(injected, what)}


def _pre_filter(injected: Json) -> _Hooks:
    result = injected.get("PreFilterResult")

    def pre_filter(self: object) -> PreFilterResult | Status | None:
        status = _status(injected, "PreFilter")
        if status is None and result is not None:
            return PreFilterResult(frozenset(result["prefilter"]))
        return status

    return {
        "pre_filter": pre_filter,
        **_answering("add_pod", injected, "PreFilterAddPod"),
        **_answering("remove_pod", injected, "PreFilterRemovePod"),
    }


def _post_filter(injected: Json) -> _Hooks:
    def post_filter(self: object) -> PostFilterResult:
        return PostFilterResult(_status(injected, "PostFilter"))

    return {"post_filter": post_filter}


def _score(injected: Json) -> _Hooks:
    def score(self: object) -> int | Status:
        return _status(injected, "Score") or injected.get("ScoreRes", 0)

    def normalize_score(self: object, scores: Int64Array) -> Int64Array | Status:
        status = _status(injected, "Normalize")
        return status or np.full_like(scores, injected["NormalizeRes"])

    hooks: dict[str, Callable[..., object]] = {"score": score}
    if injected.get("NormalizeRes") or injected.get("NormalizeStatus"):
        hooks["normalize_score"] = normalize_score
    return hooks


def _permit(injected: Json) -> _Hooks:
    def permit(self: object) -> PermitWait | Status | None:
        status = _status(injected, "Permit")
        if status is not None and status.is_wait:
            return PermitWait(nanoseconds(injected["PermitTimeout"]) / 1e9)
        return status

    return {"permit": permit}


def _pre_bind(injected: Json) -> _Hooks:
    def pre_bind_pre_flight(self: object) -> PreBindPreFlightResult | Status | None:
        return _status(injected, "PreBindPreFlight")

    return {
        "pre_bind_pre_flight": pre_bind_pre_flight,
        **_answering("pre_bind", injected, "PreBind"),
    }


_HOOKS: Final[Mapping[str, Callable[[Any], _Hooks]]] = {
    "preFilter": _pre_filter,
    "filter": lambda injected: _answering("filter", injected, "Filter"),
    "postFilter": _post_filter,
    "preScore": lambda injected: _answering("pre_score", injected, "PreScore"),
    "score": _score,
    "reserve": lambda injected: _answering("reserve", injected, "Reserve"),
    "permit": _permit,
    "preBind": _pre_bind,
    "bind": lambda injected: _answering("bind", injected, "Bind"),
}
"""Extension point -> the hooks of a plugin, by what it answers."""
