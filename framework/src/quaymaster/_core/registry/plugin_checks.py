"""Reports mistakes in a plugin's class before it is built.

pluggy reads only routines with the mark of `hookimpl`. Without an error, it would
ignore a property or a method without the mark, and call a coroutine to no effect. Here,
each of these mistakes is reported as one line.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Final
from weakref import WeakKeyDictionary

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.contract.declarations import PodUse, Scope
from quaymaster._core.contract.extension_points import EXTENSION_POINTS, ExtensionPoint
from quaymaster._core.contract.hook_marks import PROJECT

__all__ = ["hook_problems", "is_wrapper", "marked_hooks", "unmarked_hooks"]

_IMPL: Final = f"{PROJECT}_impl"
_SPEC: Final = f"{PROJECT}_spec"

_HOOKS: Final[Mapping[str, ExtensionPoint]] = {
    hook: point for point in EXTENSION_POINTS for hook in point.hooks
}

_ITERATED: Final = frozenset({"events_to_register"})
"""Hooks whose answer is a sequence, so that they may be generators."""

_METHODS: Final = (FunctionType, MethodType, staticmethod, classmethod)
"""The types of attributes whose marks pluggy reads."""

# Weak keys, so that the classes that tests and notebooks define again and again are not
# kept alive by their functions.
_PROBLEMS: Final[WeakKeyDictionary[FunctionType, dict[str, Sequence[str]]]] = (
    WeakKeyDictionary()
)
"""Function -> its name in a class -> its mistakes."""

_MISSING: Final = object()
_OTHER_SIGNATURE: Final = frozenset({"__wrapped__", "__signature__"})
_TAKES_ANY: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_PASSED_ON: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def marked_hooks(plugin: type) -> Iterator[str]:
    """Return the names of a class's methods that have the ``hookimpl`` mark."""
    for name, value in sorted(_static(plugin).items()):
        is_method = isinstance(value, FunctionType)
        if _mark(value if is_method else _class_attribute(plugin, name)) is not None:
            yield name


def is_wrapper(function: object) -> bool:
    """Whether a method is marked as a wrapper around the hooks of other plugins."""
    options = _mark(function)
    return isinstance(options, Mapping) and bool(
        options.get("wrapper") or options.get("hookwrapper")
    )


def hook_problems(plugin: type) -> Iterator[str]:
    """Return the mistakes in the hooks of a plugin's class, one line each.

    Args:
        plugin: The class.
    """
    wrong: set[str] = set()
    for name, value in sorted(_static(plugin).items()):
        for problem in _problems_with(plugin, name, value):
            wrong.add(name)
            yield problem
    yield from _missing_partners(plugin, wrong)
    yield from _wrong_attributes(plugin)


def unmarked_hooks(plugin: object) -> Iterator[str]:
    """Describe the functions of the instance itself that have the name of a hook."""
    for name, value in getattr(plugin, "__dict__", {}).items():
        if name in _HOOKS and inspect.isroutine(value) and _mark(value) is None:
            yield f"attribute {name!r} has the name of a hook, but no @hookimpl"


def _static(plugin: type) -> Mapping[str, object]:
    """Return the attributes of a class and its bases, without calling descriptors."""
    members: dict[str, object] = {}
    for base in reversed(plugin.__mro__):
        # From the oldest base to the class itself, so that the attribute that Python
        # would find wins.
        members.update(vars(base))
    return {name: members[name] for name in members if not name.startswith("__")}


def _problems_with(plugin: type, name: str, value: object) -> Iterator[str]:
    member = _class_attribute(plugin, name)
    if callable(member) and _mark(member) is not None and isinstance(value, _METHODS):
        if name in _HOOKS:
            yield from _problems_once(name, value, member)
        else:
            yield f"unknown hook {name!r}{did_you_mean(name, _HOOKS)}"
    elif _is_marked(value):
        yield _unusable(name, value)
    elif name in _HOOKS and _is_called(value) and not hasattr(member, _SPEC):
        yield _forgotten(plugin, name, value)


def _class_attribute(plugin: type, name: str) -> object:
    try:
        return getattr(plugin, name, None)
    except Exception:  # a descriptor that needs an instance
        return None


def _mark(value: object) -> object:
    return getattr(value, _IMPL, None)


def _is_marked(value: object) -> bool:
    """Whether a descriptor, or the function that it wraps, has the mark."""
    return any(_mark(item) is not None for item in (value, *_wrapped_by(value)))


def _wrapped_by(value: object) -> Sequence[object]:
    names = ("__func__", "fget", "func")
    return [getattr(value, name) for name in names if hasattr(value, name)]


def _is_called(value: object) -> bool:
    """Whether a value is called like a method; data may have any name."""
    if isinstance(value, type):
        return False
    return callable(value) or isinstance(
        value,
        (staticmethod, classmethod, functools.partialmethod),
    )


def _unusable(name: str, value: object) -> str:
    if isinstance(value, (staticmethod, classmethod)):
        kind = type(value).__name__
        return f"hook {name!r}: @{kind} must come above @hookimpl, which marks methods"
    if isinstance(value, (property, functools.cached_property)):
        return f"hook {name!r} is a {type(value).__name__}, expected a method"
    kind = type(value).__name__
    return f"hook {name!r} is a {kind}, expected a method; which decorator makes it?"


def _forgotten(plugin: type, name: str, value: object) -> str:
    if not isinstance(value, _METHODS):
        kind = type(value).__name__
        return f"{name!r} has the name of a hook, but is a {kind}, expected a method"
    text = f"method {name!r} has the name of a hook, but no @hookimpl"
    owners = [owner for owner in plugin.__mro__ if name in vars(owner)]
    if owners[0] != plugin:
        text += f" (it is inherited from {owners[0].__name__})"
    marked = [owner for owner in owners[1:] if _is_marked(vars(owner)[name])]
    if marked:
        text += f" (and overrides the hook of {marked[0].__name__})"
    return f"{text}; mark it, or rename it if it is not a hook"


def _problems_once(
    name: str, value: object, function: Callable[..., object]
) -> Sequence[str]:
    """Return the mistakes in a method; each function is checked only once.

    Each new scheduler, in a test or after a reload, has the same hooks (measured:
    0.7 ms for the default profile instead of 2).
    """
    if not isinstance(value, FunctionType):
        return tuple(_method_problems(name, value, function))
    problems = _PROBLEMS.setdefault(value, {})
    if name not in problems:
        problems[name] = tuple(_method_problems(name, value, function))
    return problems[name]


def _method_problems(
    name: str, value: object, function: Callable[..., object]
) -> Iterator[str]:
    wraps = is_wrapper(function)
    is_generator = inspect.isgeneratorfunction(function)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        yield f"hook {name!r} is async, but hooks are called without an event loop"
    elif wraps and not is_generator:
        yield f"hook {name!r} is marked as a wrapper, but has no yield"
    elif is_generator and not wraps and name not in _ITERATED:
        wrapper = "only hookimpl(wrapper=True) may have"
        yield f"hook {name!r} has a yield, which {wrapper}"
    yield from _argument_problems(name, value, function)


def _argument_problems(
    name: str, value: object, function: Callable[..., object]
) -> Iterator[str]:
    offered = _offered(name)
    # Almost all hooks end here. `inspect.signature` takes ten times as long, which
    # would be a fiftieth of a small simulation.
    if isinstance(value, FunctionType) and _takes_only(value, offered):
        return
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # not written in Python
        return
    if not isinstance(value, (staticmethod, classmethod, MethodType)):
        if not parameters or parameters[0].name in offered:
            yield f"hook {name!r} has no 'self' in front of its arguments"
            return
        parameters = parameters[1:]
    for parameter in parameters:
        problem = _parameter_problem(parameter, offered)
        if problem:
            yield f"hook {name!r}: {problem}"


def _takes_only(method: FunctionType, offered: Sequence[str]) -> bool:
    """Whether a method has, besides its object, only arguments that a hook offers.

    False does not mean that there is a mistake: the full signature decides.
    """
    code = method.__code__
    names = code.co_varnames[: code.co_argcount]
    return (
        len(names) > 0
        and names[0] not in offered
        and all(name in offered for name in names[1:])
        # Hooks are called with arguments by position.
        and not code.co_kwonlyargcount
        and not code.co_flags & _TAKES_ANY
        and not method.__defaults__
        # A decorated function has the signature of the function that it wraps.
        and not vars(method).keys() & _OTHER_SIGNATURE
    )


@functools.cache
def _offered(hook: str) -> Sequence[str]:
    spec = getattr(_HOOKS[hook].spec, hook)
    return list(inspect.signature(spec).parameters)[1:]


def _parameter_problem(parameter: inspect.Parameter, offered: Sequence[str]) -> str:
    name, is_offered = parameter.name, parameter.name in offered
    if parameter.kind in _PASSED_ON:
        return f"*{name} never gets a value; name the arguments that it needs"
    # Identity: a default may be equal to anything.
    has_default = parameter.default is not parameter.empty
    if has_default and is_offered:
        return f"argument {name!r} has a default value, so it would never get another"
    if has_default:
        return ""  # an argument of the plugin's own
    if not is_offered:
        hint = did_you_mean(name, offered)
        listed = ", ".join(offered) or "none"
        return f"unknown argument {name!r} (there are: {listed}){hint}"
    if parameter.kind is parameter.KEYWORD_ONLY:
        return f"argument {name!r} is passed by position, and must not follow a *"
    return ""


def _missing_partners(plugin: type, wrong: set[str]) -> Iterator[str]:
    """Return hooks that are never called without another hook of their point."""
    own = {
        name
        for name in marked_hooks(plugin)
        if name in _HOOKS and not is_wrapper(getattr(plugin, name))
    }
    for point in EXTENSION_POINTS:
        if point.key and point.hook not in own | wrong:
            for name in point.hooks:
                if name in own:
                    yield f"has {name!r} without {point.hook!r}"


def _wrong_attributes(plugin: type) -> Iterator[str]:
    kinds: Mapping[str, type] = {"scope": Scope, "pod_use": PodUse, "blocks": bool}
    members = _static(plugin)
    for name, kind in kinds.items():
        value = members.get(name, _MISSING)
        if isinstance(value, kind) or value is _MISSING or hasattr(value, "__get__"):
            continue  # missing, valid, or a property of each plugin
        yield f"{name}: expected a {kind.__name__}, got {value!r}"
