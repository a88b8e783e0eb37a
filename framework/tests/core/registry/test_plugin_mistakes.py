"""Mistakes in a plugin's class and the error line of each.

A specification: what is wrong with the class below each name, and what the user reads
when a profile that enables it is loaded.
"""

import functools
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, ClassVar

import attrs
import pytest

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    NodeInfo,
    Pod,
    PodUse,
    Status,
    hookimpl,
)
from quaymaster.config import ArgsError, ConfigErrors, parse_config
from quaymaster.errors import QuaymasterError
from quaymaster.hookspecs import FilterPlugin
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import PluginHarness
from tests.kit.documents import HEADER


class Plugin:
    """Base of the plugins here."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass


class Sound(Plugin):
    """A valid plugin."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return None


def untyped(function: object) -> Any:  # noqa: ANN401 - whatever a plugin marks
    """Mark a hook that no type checker would accept."""
    return hookimpl(function)  # type: ignore[call-overload]


FORGOTTEN = "has the name of a hook, but no @hookimpl"
MARK_IT = "mark it, or rename it if it is not a hook"


class Forgotten(Plugin):
    def filter(self, node: NodeInfo) -> None: ...


class Inherited(Forgotten):
    @hookimpl
    def score(self) -> int:
        return 0


class Overriding(Sound):
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return Status.unschedulable("no")


class ForgottenStatic(Plugin):
    @staticmethod
    def permit() -> None: ...


class ForgottenClassMethod(Plugin):
    @classmethod
    def permit(cls) -> None: ...


class AFunction(Plugin):
    reserve = lambda self: None  # noqa: E731 - that is what is tested


class APartial(Plugin):
    permit = functools.partial(print, "no")


class AProperty(Plugin):
    @property
    @untyped
    def filter(self) -> None: ...


class ACachedProperty(Plugin):
    @functools.cached_property
    @untyped
    def filter(self) -> None: ...


class Remembering(Plugin):
    filter = untyped(functools.lru_cache(print))


class MarkOnStatic(Plugin):
    @untyped
    @staticmethod
    def filter(node: NodeInfo) -> None: ...


class Misspelt(Plugin):
    @hookimpl
    def filtr(self) -> None: ...


class Async(Plugin):
    @hookimpl
    async def filter(self, node: NodeInfo) -> None: ...


class AsyncGenerator(Plugin):
    @hookimpl
    async def filter(self, node: NodeInfo) -> AsyncIterator[None]:
        yield


class Generator(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Iterator[None]:
        yield


class WrapperWithoutYield(Plugin):
    @hookimpl(wrapper=True)
    def filter(self) -> None: ...


class UnknownArgument(Plugin):
    @hookimpl
    def filter(self, nod: NodeInfo) -> None: ...


class ArgumentWithDefault(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo | None = None) -> None: ...


class AllArguments(Plugin):
    @hookimpl
    def filter(self, *args: object) -> None: ...


class KeywordArgument(Plugin):
    @hookimpl
    def filter(self, *, node: NodeInfo) -> None: ...


def without_self(pod: Pod, node: NodeInfo) -> None: ...


class NoSelf(Plugin):
    filter = untyped(without_self)


class TwinAlone(Plugin):
    @hookimpl
    def filter_nodes(self) -> None: ...


class HalfOfReserve(Plugin):
    @hookimpl
    def unreserve(self) -> None: ...


class PreFlightAlone(Plugin):
    @hookimpl
    def pre_bind_pre_flight(self) -> None: ...


class ExtensionsAlone(Plugin):
    @hookimpl
    def add_pod(self) -> None: ...


class WrongScope(Sound):
    scope = "node"


class WrongPodUse(Sound):
    pod_use = True


class NoHook(Plugin):
    """Does nothing at all."""


class OnlySigns(Plugin):
    @hookimpl
    def sign_pod(self, pod: Pod) -> str:
        return pod.name


class OwnFunction(Sound):
    def __init__(self, args: object, handle: Handle) -> None:
        vars(self)["score"] = lambda node: 3


class Unlicensed(Sound):
    def __init__(self, args: object, handle: Handle) -> None:
        raise LookupError("no licence")


def registering(*events: object) -> type:
    """Return a plugin that registers these events."""

    class Registering(Sound):
        @hookimpl
        def events_to_register(self) -> Sequence[Any]:
            return events

    return Registering


def no_arguments() -> None: ...


async def async_hint(*_args: object) -> None: ...


def untyped_event(*parts: object) -> object:
    make: Any = ClusterEvent
    return ClusterEventWithHint(make(*parts))


def hinted(hint: Any) -> ClusterEventWithHint:  # noqa: ANN401 - whatever a plugin gives
    return ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD), hint)


CASES: Sequence[tuple[str, type, str]] = [
    ("a hook without its mark", Forgotten, f"method 'filter' {FORGOTTEN}; {MARK_IT}"),
    (
        "an inherited hook without its mark",
        Inherited,
        f"method 'filter' {FORGOTTEN} (it is inherited from Forgotten); {MARK_IT}",
    ),
    (
        "a hook that loses its mark",
        Overriding,
        f"method 'filter' {FORGOTTEN} (and overrides the hook of Sound); {MARK_IT}",
    ),
    ("a static method without its mark", ForgottenStatic, f"'permit' {FORGOTTEN}"),
    ("a class method without its mark", ForgottenClassMethod, f"'permit' {FORGOTTEN}"),
    ("a function without its mark", AFunction, f"'reserve' {FORGOTTEN}"),
    (
        "a callable that is no method",
        APartial,
        "'permit' has the name of a hook, but is a partial, expected a method",
    ),
    ("a property", AProperty, "hook 'filter' is a property, expected a method"),
    (
        "a cached property",
        ACachedProperty,
        "hook 'filter' is a cached_property, expected a method",
    ),
    (
        "a hook behind lru_cache",
        Remembering,
        "hook 'filter' is a _lru_cache_wrapper, expected a method; which decorator",
    ),
    (
        "the mark above @staticmethod",
        MarkOnStatic,
        "hook 'filter': @staticmethod must come above @hookimpl",
    ),
    ("a misspelt hook", Misspelt, "unknown hook 'filtr'; did you mean 'filter'?"),
    (
        "an async hook",
        Async,
        "hook 'filter' is async, but hooks are called without an event loop",
    ),
    ("an async generator", AsyncGenerator, "hook 'filter' is async"),
    (
        "a generator",
        Generator,
        "hook 'filter' has a yield, which only hookimpl(wrapper=True) may have",
    ),
    (
        "a wrapper that does not wrap",
        WrapperWithoutYield,
        "hook 'filter' is marked as a wrapper, but has no yield",
    ),
    (
        "an unknown argument",
        UnknownArgument,
        "unknown argument 'nod' (there are: state, pod, node); did you mean 'node'?",
    ),
    (
        "an argument with a default",
        ArgumentWithDefault,
        "argument 'node' has a default value, so it would never get another",
    ),
    ("all arguments", AllArguments, "hook 'filter': *args never gets a value"),
    (
        "a keyword-only argument",
        KeywordArgument,
        "hook 'filter': argument 'node' is passed by position",
    ),
    ("no self", NoSelf, "hook 'filter' has no 'self' in front of its arguments"),
    ("a twin alone", TwinAlone, "has 'filter_nodes' without 'filter'"),
    ("unreserve alone", HalfOfReserve, "has 'unreserve' without 'reserve'"),
    (
        "a pre-flight alone",
        PreFlightAlone,
        "has 'pre_bind_pre_flight' without 'pre_bind'",
    ),
    ("add_pod alone", ExtensionsAlone, "has 'add_pod' without 'pre_filter'"),
    ("a scope that is none", WrongScope, "scope: expected a Scope, got 'node'"),
    ("a pod use that is none", WrongPodUse, "pod_use: expected a PodUse, got True"),
    ("no hook at all", NoHook, "has no hook of any extension point"),
    ("a hook of no extension point", OnlySigns, "has no hook of any extension point"),
    (
        "a function of its own without its mark",
        OwnFunction,
        "attribute 'score' has the name of a hook, but no @hookimpl",
    ),
    (
        "a constructor that fails",
        Unlicensed,
        "could not be built: LookupError: no licence (",
    ),
    (
        "events that are texts",
        registering("Node/Add"),
        "returned a str among its events, expected ClusterEventWithHint",
    ),
    (
        "a resource that is a text",
        registering(untyped_event("Node", ActionType.ADD)),
        "events_to_register returned an event of 'Node', expected an EventResource",
    ),
    (
        "an action that is a text",
        registering(untyped_event(EventResource.NODE, "Add")),
        "events_to_register returned an event with 'Add', expected an ActionType",
    ),
    (
        "a hint with other arguments",
        registering(hinted(no_arguments)),
        "returned a hint that cannot be called with (pod, old, new): too many",
    ),
    ("an async hint", registering(hinted(async_hint)), "returned a hint that is async"),
    (
        "a hint that is a value",
        registering(hinted(True)),
        "returned a hint that is a bool, expected a function",
    ),
]


@pytest.mark.parametrize(
    ("plugin", "said"), [pytest.param(*case[1:], id=case[0]) for case in CASES]
)
def test_a_mistake_in_the_class_keeps_the_profile_from_loading(
    plugin: type, said: str
) -> None:
    with pytest.raises(QuaymasterError) as caught:
        PluginHarness(plugin)
    message = str(caught.value)
    assert said in message
    assert f"plugin '{plugin.__name__}' ({__name__}:" in message
    assert "\n" not in message


class FromTheSpec(FilterPlugin):
    """Inherits the hooks that it does not implement from the specification."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, state: object, pod: Pod, node: NodeInfo) -> Status | None:
        return None


class WithData(Sound):
    """Has data under the names of hooks, and takes a hook of its base away."""

    score = 5
    permit: ClassVar[dict[str, int]] = {}
    pod_use = PodUse.NONE
    reserve = None

    @property
    def bind(self) -> str:
        return "data"


class WithOptions(Plugin):
    """Has an extra argument that only the plugin itself passes."""

    @hookimpl
    def filter(self, node: NodeInfo, tolerance: int = 3) -> None: ...


@pytest.mark.parametrize("plugin", [Sound, FromTheSpec, WithData, WithOptions])
def test_valid_classes_that_look_like_mistakes_load(plugin: type) -> None:
    assert PluginRegistry.of({"Plugin": plugin})["Plugin"].error is None
    PluginHarness(plugin)


def test_all_mistakes_of_a_class_are_reported_at_once() -> None:
    class Twice(Plugin):
        @hookimpl
        def filter(self, nod: NodeInfo) -> None: ...

        def permit(self) -> None: ...

    error = PluginRegistry.of({"Twice": Twice})["Twice"].error
    assert error is not None
    assert "unknown argument 'nod'" in error.problem
    assert "method 'permit'" in error.problem


# Arguments ----------------------------------------------------------------------------


def mistaken(_instance: object, _attribute: object, value: str) -> None:
    _ = {"low": 1}[value]


def picky(_instance: object, _attribute: object, value: str) -> None:
    if value != "low":
        raise ValueError("expected low")


def leaving(_instance: object, _attribute: object, value: str) -> None:
    sys.exit(f"cannot go on with {value}")


def not_called() -> object:
    return mistaken


def args_class(**fields: Any) -> type:
    return attrs.make_class("TideArgs", fields, frozen=True, kw_only=True)


@attrs.frozen(kw_only=True)
class Wrongly:
    height: str = ""

    def validate(self) -> Iterator[ArgsError]:
        raise KeyError(self.height)


@attrs.frozen(kw_only=True)
class Leaves:
    height: str = ""

    def validate(self) -> Iterator[ArgsError]:
        sys.exit(3)


def exits() -> str:
    sys.exit(4)


@attrs.frozen(kw_only=True)
class SaysTexts:
    height: str = ""

    def validate(self) -> Iterator[str]:
        yield "too high"


def field(validator: Any) -> Any:  # noqa: ANN401 - what attrs takes
    return attrs.field(default="", type=str, validator=validator)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param(
            args_class(height=field(not_called)),
            "TideArgs: a validator of 'height' failed: TypeError: not_called() takes 0 "
            "positional arguments but 3 were given (",
            id="a validator that is not called",
        ),
        pytest.param(
            args_class(height=field(mistaken)),
            "TideArgs: a validator of 'height' failed: KeyError: 'high' (",
            id="a validator that fails",
        ),
        pytest.param(
            Wrongly,
            "Wrongly: its validate failed: KeyError: 'high' (",
            id="a validate that fails",
        ),
        pytest.param(
            args_class(height=field(leaving)),
            "TideArgs: a validator of 'height' failed: SystemExit: cannot go on with "
            "high (",
            id="a validator that ends the process",
        ),
        pytest.param(
            Leaves,
            "Leaves: its validate failed: SystemExit: 3 (",
            id="a validate that ends the process",
        ),
        pytest.param(
            args_class(height=field(None), depth=attrs.field(factory=exits, type=str)),
            "TideArgs: it failed: SystemExit: 4 (",
            id="a default that ends the process",
        ),
        pytest.param(
            SaysTexts,
            "SaysTexts: its validate failed: TypeError: expected ArgsErrors, got str (",
            id="a validate that gives texts",
        ),
    ],
)
def test_error_in_the_arguments_class_is_reported_as_the_plugins_mistake(
    args: type, problem: str
) -> None:
    errors = config_errors(args)
    (found,) = errors.problems
    assert (found.where, found.path) == ("", "")
    assert found.message.startswith(f"plugin 'Tide' ({__name__}:Tide): {problem}")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        pytest.param(
            args_class(height=field(picky)), "expected low", id="a ValueError"
        ),
        pytest.param(
            args_class(
                height=attrs.field(
                    default=3,
                    type=object,
                    validator=attrs.validators.instance_of(int),
                )
            ),
            "'height' must be <class 'int'>",
            id="a TypeError of attrs' validators",
        ),
    ],
)
def test_error_of_a_validator_is_reported_as_the_users_mistake(
    args: type, said: str
) -> None:
    (found,) = config_errors(args).problems
    assert found.where == "tides.yaml"
    assert found.path == "profiles[0].pluginConfig[0].args.height"
    assert said in found.message


def config_errors(args: type) -> ConfigErrors:
    """Return the errors of a file that gives these arguments a height."""

    class Tide(Sound):
        Args: ClassVar = args

    Tide.__qualname__ = "Tide"
    multi_point = {"disabled": [{"name": "*"}], "enabled": [{"name": "Tide"}]}
    document = {
        **HEADER,
        "profiles": [
            {
                "plugins": {
                    "multiPoint": multi_point,
                    "queueSort": {"enabled": [{"name": "PrioritySort"}]},
                    "bind": {"enabled": [{"name": "DefaultBinder"}]},
                },
                "pluginConfig": [{"name": "Tide", "args": {"height": "high"}}],
            }
        ],
    }
    registry = PluginRegistry.discover().with_plugin(Tide)
    with pytest.raises(ConfigErrors) as caught:
        parse_config(document, registry, source="tides.yaml")
    return caught.value
