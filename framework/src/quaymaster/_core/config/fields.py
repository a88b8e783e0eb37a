"""Validators for the fields of arguments classes.

Each has a description for error messages and for the JSON Schema. They get values of
the right type, since the types of the fields are checked first. They accept None, which
only an optional field can have. If the key is not the field's name in camel case, the
metadata has it: ``attrs.field(metadata={"key": "enableHTTPS"})``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sized
from datetime import timedelta
from typing import TypeAlias, TypeVar, cast

import attrs

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.duration import format_duration
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.findings import MISSING
from quaymaster._core.config.naming import attribute_key, join_path, show

__all__ = [
    "ZERO_MEANS_DEFAULT",
    "Rule",
    "duration",
    "each",
    "integer",
    "matching",
    "non_empty",
    "number",
    "one_of",
    "other_validators",
    "qualified_name",
    "rules_of",
]

T = TypeVar("T")

Schema: TypeAlias = Mapping[str, object]
Validator: TypeAlias = Callable[[object, "attrs.Attribute[object]", object], object]

ZERO_MEANS_DEFAULT: Mapping[str, object] = {"zero means default": True}
"""Metadata of a field for which an explicit 0, empty string or empty list in a file
means the default, as for many fields of upstream: ``attrs.field(metadata=...)``."""


@attrs.frozen
class Rule:
    """An attrs validator with a description of valid values.

    Attributes:
        expected: The text after "expected" in a message: ``an integer from 1 to 9``.
        accepts: Returns whether a value of the field's type is allowed.
        schema: The rule as JSON Schema keywords.
        hint: Returns a suffix for the message about a value, such as a correction.
    """

    expected: str
    accepts: Callable[[object], bool]
    schema: Schema = attrs.field(factory=dict)
    hint: Callable[[object], str] = lambda _value: ""

    def __call__(
        self, _instance: object, attribute: "attrs.Attribute[T]", value: T
    ) -> None:
        """Check a field's value, as a validator of attrs.

        Raises:
            ArgsError: The value is not allowed.
        """
        for path, message in self.complaints(value):
            raise ArgsError(join_path(attribute_key(attribute), path), message)

    def complaints(self, value: object) -> Iterable[tuple[str, str]]:
        """Return the mistakes of a value: the path within it, and the message."""
        if value is None or value is MISSING:
            return
        if not self.accepts(value):
            yield "", self.message(value)

    def message(self, value: object) -> str:
        """Return the message about a value that is not as expected."""
        return f"expected {self.expected}, got {show(value)}{self.hint(value)}"


@attrs.frozen
class _Each(Rule):
    item: Rule = attrs.field(kw_only=True)

    def complaints(self, value: object) -> Iterable[tuple[str, str]]:
        items = cast("Iterable[object]", value if value is not None else ())
        for index, item in enumerate(items):
            for path, message in self.item.complaints(item):
                yield join_path(f"[{index}]", path), message


def integer(minimum: int | None = None, maximum: int | None = None) -> Rule:
    """Accept an integer within limits, which are allowed themselves."""
    return _within("an integer", minimum, maximum)


def number(minimum: float | None = None, maximum: float | None = None) -> Rule:
    """Accept a number within limits, which are allowed themselves."""
    return _within("a number", minimum, maximum)


def duration(
    minimum: timedelta | None = None, maximum: timedelta | None = None
) -> Rule:
    """Accept a duration within limits, which are allowed themselves."""
    return Rule(
        "a duration such as 15s" + _limits(minimum, maximum, format_duration),
        lambda value: (
            (minimum is None or cast(timedelta, value) >= minimum)
            and (maximum is None or cast(timedelta, value) <= maximum)
        ),
    )


def one_of(*choices: str) -> Rule:
    """Accept one of some strings; a field whose type is an enum needs no such rule."""
    listed = ", ".join(map(repr, choices))
    return Rule(
        f"one of {listed}" if len(choices) > 1 else listed,
        lambda value: value in choices,
        {"enum": list(choices)},
        lambda value: did_you_mean(value, choices),
    )


def non_empty() -> Rule:
    """Accept a string or a sequence that is not empty."""
    return Rule(
        "a text or list that is not empty",
        lambda value: len(cast(Sized, value)) > 0,
        {"minLength": 1, "minItems": 1},
    )


def matching(pattern: str, expected: str) -> Rule:
    """Accept a string that matches a regular expression as a whole.

    Args:
        pattern: The expression, in the common subset of Python and JavaScript.
        expected: The name of such strings in messages: ``a host name``.
    """
    # In Python, \d and \w match digits and letters of all alphabets. In Go and in the
    # JavaScript of editors they are ASCII.
    compiled = re.compile(pattern, re.ASCII)
    return Rule(
        expected,
        # Not `match` with a ``$`` at the end, which would also accept a line break
        # after the text.
        lambda value: compiled.fullmatch(str(value)) is not None,
        {"pattern": f"^(?:{pattern})$"},
    )


def qualified_name() -> Rule:
    """Accept a name of labels and resources: ``cpu`` or ``example.com/gpu``."""
    return matching(
        # The lookaheads check the lengths that a pattern of parts cannot: 253
        # characters for the prefix and 63 for the name (``IsQualifiedName`` in
        # k8s.io/apimachinery, ``pkg/util/validation``).
        r"(?:(?=[^/]{1,253}/)" + _SUBDOMAIN + r"/)?(?=[^/]{1,63}$)" + _NAME,
        "a name such as cpu or example.com/gpu",
    )


def each(rule: Rule) -> Rule:
    """Accept a sequence whose items all follow a rule."""
    return _Each(
        f"a list, each item {rule.expected}",
        lambda _: True,
        {"items": rule.schema},
        item=rule,
    )


def rules_of(attribute: "attrs.Attribute[object]") -> tuple[Rule, ...]:
    """Return the rules among the validators of an attrs field."""
    return tuple(part for part in _validators(attribute) if isinstance(part, Rule))


def other_validators(attribute: "attrs.Attribute[object]") -> tuple[Validator, ...]:
    """Return the validators of an attrs field that are not rules."""
    return tuple(part for part in _validators(attribute) if not isinstance(part, Rule))


def _validators(attribute: "attrs.Attribute[object]") -> tuple[Validator, ...]:
    validator = attribute.validator
    if validator is None:
        return ()
    # `attrs.validators.and_`, which attrs also makes of a list of validators, has its
    # parts only in this private attribute.
    parts: tuple[Validator, ...] = getattr(validator, "_validators", (validator,))
    return parts


_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"


def _within(what: str, minimum: float | None, maximum: float | None) -> Rule:
    schema = {"minimum": minimum, "maximum": maximum}
    return Rule(
        what + _limits(minimum, maximum, str),
        lambda value: (
            (minimum is None or cast(float, value) >= minimum)
            and (maximum is None or cast(float, value) <= maximum)
        ),
        {key: limit for key, limit in schema.items() if limit is not None},
    )


def _limits(minimum: object, maximum: object, write: Callable[..., str]) -> str:
    if minimum is not None and maximum is not None:
        if minimum == maximum:
            return f" equal to {write(minimum)}"
        return f" from {write(minimum)} to {write(maximum)}"
    if minimum is not None:
        return f", {write(minimum)} or more"
    if maximum is not None:
        return f", {write(maximum)} or less"
    return ""
