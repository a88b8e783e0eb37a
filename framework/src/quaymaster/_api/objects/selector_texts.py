"""Kubernetes' own error messages for selectors that cannot be evaluated.

Mirrors the errors of ``NewRequirement`` (``pkg/labels/selector.go``),
``LabelSelectorAsSelector`` (``pkg/apis/meta/v1/helpers.go``), ``IsLabelKey`` and
``IsLabelValue`` (``pkg/api/validate/content``; all k8s.io/apimachinery v0.37) and of
``newNodeSelectorTerm`` (``nodeaffinity.go``, k8s.io/component-helpers v0.37).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from quaymaster._api.objects import (
    LabelSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from quaymaster._api.objects.requirements import (
    LABEL_OPERATORS,
    NODE_OPERATORS,
    is_label_name,
    is_subdomain,
    parse_int64,
)

__all__ = ["aggregated", "label_selector_text", "node_term_texts"]

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SHAPE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character"
)
_NO_NAME: Final = (
    f"{_SHAPE} (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_NAME}')"
)
_NO_KEY: Final = (
    f"a valid label key {_NO_NAME} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
_NO_VALUE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', "
    "'_' or '.', and must start and end with an alphanumeric character (e.g. "
    "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_NAME})?')"
)
_NO_PREFIX: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'example.com', regex used for validation is "
    f"'{_LABEL}(\\.{_LABEL})*')"
)
_EMPTY: Final = "must be non-empty"
_TOO_LONG: Final = "must be no more than {} bytes"
_LONGEST_NAME: Final = 63
_LONGEST_PREFIX: Final = 253

_WRONG_COUNTS: Final = {
    "In": "for 'in', 'notin' operators, values set can't be empty",
    "Exists": "values set must be empty for exists and does not exist",
    "Gt": "for 'Gt', 'Lt' operators, exactly one value is required",
}
_COUNTED_AS: Final = {"NotIn": "In", "DoesNotExist": "Exists", "Lt": "Gt"}
_NO_INTEGER: Final = "for 'Gt', 'Lt' operators, the value must be an integer"
_OF_NODES: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_OF_FIELDS: Final = ("In", "NotIn")
_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def aggregated(texts: Iterable[str]) -> str:
    """Join errors as ``NewAggregate`` does: equal texts occur once."""
    different = list(dict.fromkeys(texts))
    return different[0] if len(different) == 1 else f"[{', '.join(different)}]"


def label_selector_text(selector: LabelSelector) -> str:
    """Return the error of the first invalid requirement; empty if all are valid.

    Upstream checks ``matchLabels`` in any order; here it is that of the keys.
    """
    for key, value in sorted(selector.match_labels.items()):
        texts = [*_key_texts(key, "key"), *_value_texts(key, [value], "values")]
        if texts:
            return aggregated(texts)
    for condition in selector.match_expressions:
        operator, values = condition.operator, condition.values
        if operator not in LABEL_OPERATORS:
            return f"{_quoted(operator)} is not a valid label selector operator"
        texts = list(_requirement_texts(condition.key, operator, values, ""))
        if texts:
            return aggregated(texts)
    return ""


def node_term_texts(term: NodeSelectorTerm, path: str) -> Iterator[str]:
    """Yield the errors of a term of a node selector.

    Args:
        term: The term.
        path: The path of the term.
    """
    for index, condition in enumerate(term.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        if condition.operator not in NODE_OPERATORS:
            yield _unsupported(condition.operator, where, _OF_NODES)
            continue
        key, values = condition.key, condition.values
        texts = _requirement_texts(key, condition.operator, values, f"{where}.")
        yield from dict.fromkeys(texts)
    for index, condition in enumerate(term.match_fields):
        yield from _field_texts(condition, f"{path}.matchFields[{index}]")


def _field_texts(condition: NodeSelectorRequirement, path: str) -> Iterator[str]:
    if condition.operator not in _OF_FIELDS:
        yield _unsupported(condition.operator, path, _OF_FIELDS)
    elif len(condition.values) != 1:
        yield _invalid_list(f"{path}.values", condition.values, "must have one element")


def _requirement_texts(
    key: str, operator: str, values: Sequence[str], path: str
) -> Iterator[str]:
    where = f"{path}values"
    yield from _key_texts(key, f"{path}key")
    kind = _COUNTED_AS.get(operator, operator)
    if not _is_count_right(kind, len(values)):
        yield _invalid_list(where, values, _WRONG_COUNTS[kind])
    if kind == "Gt":
        for index, value in enumerate(values):
            if parse_int64(value) is None:
                yield _invalid(f"{where}[{index}]", value, _NO_INTEGER)
    yield from _value_texts(key, values, where)


def _is_count_right(kind: str, count: int) -> bool:
    if kind == "In":
        return count > 0
    return count == 0 if kind == "Exists" else count == 1


def _key_texts(key: str, path: str) -> Iterator[str]:
    reasons = "; ".join(_key_reasons(key))
    if reasons:
        yield _invalid(path, key, reasons)


def _value_texts(key: str, values: Sequence[str], path: str) -> Iterator[str]:
    for index, value in enumerate(values):
        reasons = "; ".join(_value_reasons(value))
        if reasons:
            yield _invalid(f"{path}[{index}][{key}]", value, reasons)


def _key_reasons(key: str) -> Iterator[str]:
    prefix, slash, name = key.partition("/")
    if "/" in name:
        yield _NO_KEY
        return
    if not slash:
        name = prefix
    elif not prefix:
        yield f"prefix part {_EMPTY}"
    else:
        yield from (f"prefix part {reason}" for reason in _prefix_reasons(prefix))
    if not name:
        yield f"name part {_EMPTY}"
    elif _byte_count(name) > _LONGEST_NAME:
        yield f"name part {_TOO_LONG.format(_LONGEST_NAME)}"
    # As upstream, an empty name has this mistake as well.
    if not is_label_name(name):
        yield f"name part {_NO_NAME}"


def _prefix_reasons(prefix: str) -> Iterator[str]:
    if _byte_count(prefix) > _LONGEST_PREFIX:
        yield _TOO_LONG.format(_LONGEST_PREFIX)
    if not is_subdomain(prefix, any_length=True):
        yield _NO_PREFIX


def _value_reasons(value: str) -> Iterator[str]:
    if _byte_count(value) > _LONGEST_NAME:
        yield _TOO_LONG.format(_LONGEST_NAME)
    if value and not is_label_name(value):
        yield _NO_VALUE


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _invalid(path: str, value: str, reason: str) -> str:
    return f"{path}: Invalid value: {_quoted(value)}: {reason}"


def _invalid_list(path: str, values: Sequence[str], reason: str) -> str:
    return f"{path}: Invalid value: {_as_json(values)}: {reason}"


def _unsupported(operator: str, path: str, supported: Sequence[str]) -> str:
    names = ", ".join(map(_quoted, supported))
    quoted = _quoted(operator)
    return f"{path}.operator: Unsupported value: {quoted}: supported values: {names}"


def _as_json(values: Sequence[str]) -> str:
    """Write a list as Go's encoding/json does; an empty one is nil."""
    if not values:
        return "null"
    text = json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _quoted(text: str) -> str:
    """Write a text as Go's ``%q`` does."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    escape = _ESCAPES.get(character)
    if escape is not None:
        return escape
    if character.isprintable():
        return character
    number = ord(character)
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
