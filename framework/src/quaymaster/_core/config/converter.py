"""The converter between documents and objects.

It is strict where cattrs is lenient by default: it converts no value to another type,
reads no string as a list, and ignores no unknown field. A null means that the field is
missing, as in upstream's decoder. All mistakes of a value are reported together.
"""

import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import attrs
import cattrs
from msgspec.structs import replace

from quaymaster._base.raised import is_from_outside
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import other_validators
from quaymaster._core.config.findings import (
    MISSING,
    BrokenClassError,
    Finding,
    FindingsError,
)
from quaymaster._core.config.records import RecordField, is_record, record_fields
from quaymaster._core.config.scalars import SCALARS, read_enum

__all__ = ["structure"]


def structure(value: object, kind: object) -> tuple[object, tuple[Finding, ...]]:
    """Convert the content of a file to an object.

    Args:
        value: Mappings, lists and scalars.
        kind: The type of the object.

    Returns:
        The object and the mistakes. With mistakes, the object lacks the wrong parts, or
        is `MISSING`.
    """
    try:
        return _structure(value, kind), ()
    except FindingsError as error:
        return error.partial, error.findings


def _structure(value: object, kind: object) -> object:
    try:
        result: object = _CONVERTER.structure(value, typing.cast(type, kind))
    except (cattrs.StructureHandlerNotFoundError, TypeError, ValueError) as error:
        # The constructor of the type may raise these, too.
        name = getattr(kind, "__name__", kind)
        finding = Finding("", f"cannot be read as {name}: {error}")
        raise FindingsError([finding]) from error
    return result


class _Parts:
    """Converts the parts of a value, and collects the mistakes in them."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def part(self, path: str, value: object, kind: object) -> object:
        """Convert a part; with mistakes, the result lacks the wrong parts."""
        result, findings = structure(value, kind)
        self.findings += [finding.below(path) for finding in findings]
        return result

    def checked(self, whole: object) -> object:
        """Return the whole; raise if any part has a mistake."""
        if self.findings:
            raise FindingsError(self.findings, whole)
        return whole


def _structure_record(value: object, record: type) -> object:
    if not isinstance(value, Mapping):
        raise FindingsError([Finding.wrong_type("a mapping", value)])
    parts = _Parts()
    fields = {field.key: field for field in record_fields(record)}
    parts.findings += _unknown_keys(value, fields)
    arguments: dict[str, object] = {}
    for field in fields.values():
        item = value.get(field.key)
        if item is None or _is_no_choice(item, field):
            if field.required:
                parts.findings.append(Finding(field.key, "required, but not given"))
            continue
        argument, findings = _structure_field(item, field)
        parts.findings += findings
        is_default = field.zero_means_default and not argument
        if argument is not MISSING and not is_default:
            arguments[field.parameter] = argument
    return parts.checked(_build(record, arguments, parts))


def _is_no_choice(value: object, field: RecordField) -> bool:
    """Whether a value is an empty string that means the default of an enum."""
    return (
        value == ""
        and field.zero_means_default
        and isinstance(field.type, type)
        and issubclass(field.type, enum.Enum)
    )


def _unknown_keys(
    value: Mapping[object, object], fields: Collection[object]
) -> Iterator[Finding]:
    for key in value:
        if key not in fields:
            names = list(map(str, fields))
            hint = did_you_mean(key, names) or f" (known: {', '.join(names) or 'none'})"
            yield Finding(str(key), f"unknown field{hint}")


def _structure_field(
    value: object, field: RecordField
) -> tuple[object, Sequence[Finding]]:
    result, findings = structure(value, field.type)
    findings = tuple(_with_rule(field, finding) for finding in findings)
    return result, [finding.below(field.key) for finding in findings]


def _with_rule(field: RecordField, finding: Finding) -> Finding:
    """Return a finding that names the field's own rule, not just its type."""
    if finding.path or not finding.got or not field.rules:
        return finding
    return replace(finding, message=field.rules[0].message(finding.got[0]))


def _build(record: type, arguments: Mapping[str, object], parts: _Parts) -> object:
    required = {field.parameter for field in record_fields(record) if field.required}
    if not required <= arguments.keys():
        return MISSING
    try:
        # Validators run below, one by one, so that the first does not hide the others.
        with attrs.validators.disabled():
            result: object = record(**arguments)
    except BaseException as error:
        # BaseException, because the constructor belongs to a plugin and may call
        # `sys.exit`. What comes from outside, such as Ctrl-C, is raised again.
        _raise_unless_complaint(error, record, "it")
        if not parts.findings:
            parts.findings.append(_finding("", error))
        return MISSING
    if attrs.has(record):
        parts.findings += _check_fields(result)
        # A rule across fields would read fields that are already known to be wrong, and
        # report the same mistake in other words.
        if not parts.findings:
            parts.findings += _check_whole(result)
    return result


def _check_fields(instance: object) -> Iterator[Finding]:
    for field in record_fields(type(instance)):
        if field.attribute is None:
            continue
        value = getattr(instance, field.name)
        part = f"a validator of {field.name!r}"
        for rule in field.rules:
            try:
                complaints = list(rule.complaints(value))
            except BaseException as error:
                if is_from_outside(error):
                    raise
                raise BrokenClassError(type(instance), part, error) from error
            for path, message in complaints:
                yield Finding(path, message).below(field.key)
        for validator in other_validators(field.attribute):
            try:
                validator(instance, field.attribute, value)
            except BaseException as error:
                _raise_unless_complaint(error, type(instance), part)
                yield _finding(field.key, error)


def _check_whole(instance: object) -> Iterator[Finding]:
    validate: Callable[[], Iterable[ArgsError]] | None
    validate = getattr(instance, "validate", None)
    if validate is None:
        return
    part = "its validate"
    try:
        errors: Sequence[object] = tuple(validate() or ())
    except BaseException as error:
        _raise_unless_complaint(error, type(instance), part)
        errors = (error,)
    for problem in errors:
        if not isinstance(problem, Exception):
            wrong = TypeError(f"expected ArgsErrors, got {type(problem).__name__}")
            raise BrokenClassError(type(instance), part, wrong)
        yield _finding("", problem)


def _raise_unless_complaint(error: BaseException, kind: type, part: str) -> None:
    """Raise unless an error is a complaint about the value.

    Complaints are ValueErrors, and the TypeErrors of attrs' own validators.

    Raises:
        BrokenClassError: It is another error, which the class itself has caused.
    """
    if isinstance(error, (ArgsError, ValueError)) or _is_from_attrs(error):
        return
    if is_from_outside(error):
        raise error
    raise BrokenClassError(kind, part, error) from error


def _is_from_attrs(error: BaseException) -> bool:
    traceback = error.__traceback__
    # Only the innermost frame counts: a TypeError that a plugin's own code raises below
    # an attrs validator is a defect of the class, not a complaint about the value.
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    module: object = traceback.tb_frame.f_globals.get("__name__")
    theirs = attrs.validators.instance_of.__module__
    return isinstance(error, TypeError) and module == theirs


def _finding(path: str, error: BaseException) -> Finding:
    if isinstance(error, ArgsError):
        return Finding(error.path, error.message)
    return Finding(path, str(error.args[0] if error.args else error))


def _structure_items(value: object, kind: object) -> object:
    if not isinstance(value, list | tuple):
        raise FindingsError([Finding.wrong_type("a list", value)])
    item_type, collect = _item_type(kind)
    parts = _Parts()
    items = [
        parts.part(f"[{index}]", item, item_type) for index, item in enumerate(value)
    ]
    return parts.checked(collect(items))


def _item_type(kind: object) -> tuple[object, Callable[[Iterable[object]], object]]:
    origin = typing.get_origin(kind) or kind
    arguments = typing.get_args(kind) or (object,)
    if isinstance(origin, type) and issubclass(origin, frozenset | set):
        return arguments[0], frozenset
    return arguments[0], list if origin is list else tuple


def _structure_mapping(value: object, kind: object) -> object:
    if not isinstance(value, Mapping):
        raise FindingsError([Finding.wrong_type("a mapping", value)])
    arguments = typing.get_args(kind) or (str, object)
    parts = _Parts()
    items: dict[object, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            parts.findings.append(Finding(str(key), "expected a text as the key"))
        elif item is not None:
            items[key] = parts.part(key, item, arguments[1])
    return parts.checked(items)


def _structure_union(value: object, kind: object) -> object:
    members = [member for member in typing.get_args(kind) if member is not type(None)]
    if len(members) == 1 or value is None:
        return _structure(value, members[0]) if value is not None else None
    attempts = [structure(value, member) for member in members]
    for result, findings in attempts:
        if not findings:
            return result
    raise FindingsError(attempts[0][1])


def _structure_choice(value: object, kind: object) -> object:
    choices = typing.get_args(kind)
    for choice in choices:
        # In Python, 1 == True == 1.0; without the types, ``true`` in a file would
        # select the choice 1.
        if choice == value and type(choice) is type(value):
            return choice
    expected = "one of " + ", ".join(map(repr, choices))
    raise FindingsError([Finding.wrong_type(expected, value)])


def _origin_in(*origins: object) -> Callable[[object], bool]:
    return lambda kind: (typing.get_origin(kind) or kind) in origins


def _make_converter() -> cattrs.Converter:
    # Without cattrs' own detailed validation, which wraps exceptions into groups:
    # FindingsError collects all mistakes already, with paths in the form of the file.
    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=False)
    hooks: Sequence[tuple[Callable[[object], bool], Callable[..., object]]] = (
        (is_record, _structure_record),
        (lambda kind: kind in (object, typing.Any), lambda value, _: value),
        (lambda kind: inspect.isclass(kind) and issubclass(kind, enum.Enum), read_enum),
        (_origin_in(tuple, list, frozenset, set, Sequence), _structure_items),
        (_origin_in(dict, Mapping), _structure_mapping),
        (_origin_in(typing.Union, types.UnionType), _structure_union),
        (_origin_in(typing.Literal), _structure_choice),
    )
    for matches, hook in hooks:
        converter.register_structure_hook_func(matches, hook)
    for kind, scalar in SCALARS.items():
        converter.register_structure_hook(kind, scalar.structure)
    return converter


_CONVERTER = _make_converter()
