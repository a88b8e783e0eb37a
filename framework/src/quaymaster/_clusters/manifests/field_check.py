"""Checks the fields of all objects of a load, as strictly as requested."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from quaymaster._api.objects import ApiObject, Pod, SpecPool
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.openapi.dropping import without_disabled_fields
from quaymaster._api.openapi.table import FieldTable
from quaymaster._base.errors import Problem
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.manifests.fields import (
    FieldFinding,
    is_stored,
    odd_fields,
    odd_spec_fields,
    wrong_values,
)
from quaymaster._clusters.manifests.texts import ObjectText
from quaymaster._clusters.manifests.types import ObjectType
from quaymaster._clusters.manifests.validation import Validation

__all__ = ["CheckedFields", "FieldCheck"]

_INDEX: Final = re.compile(r"\[\d+\]")


class CheckedFields(NamedTuple):
    """The result of checking an object's fields.

    Attributes:
        problems: The errors.
        dropped: The feature gates whose fields an API server drops from the object.
        used: The disabled gates whose fields a stored object has.
    """

    problems: Sequence[Problem] = ()
    dropped: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


class FieldCheck:
    """Finds unknown and duplicate fields, as errors or as warnings, and wrong types.

    Fields whose feature gates are off are valid, but are dropped with a warning. An
    object from a server keeps them.

    Args:
        validation: How strict to be. None is strict with the objects that people write.
            Of an object from a server it then checks only the spec, and unknown fields
            there are warnings: a server stores no unknown fields, but it may be newer.
            A value of a wrong type is always an error, since a server cannot read it.
        pool: Shares parts of objects; of specs with the same text only one is checked.
        name: Returns the name of an object for messages.
        kinds: The kinds that have a class.
        table: The fields of Kubernetes' kinds.
    """

    def __init__(
        self,
        validation: Validation | None,
        pool: SpecPool,
        name: Callable[[ObjectText], str],
        kinds: KindSet,
        table: FieldTable,
    ) -> None:
        self._kinds = kinds
        self._table = table
        self._validation = validation
        self._pool = pool
        self._name = name
        self._notices: dict[tuple[ObjectType, str, str], Notice] = {}
        # Otherwise specs of an earlier load, which may have been less strict, would
        # count as checked.
        pool.forget_texts()
        self._texts_read = pool.texts_read

    def check(
        self,
        entry: ObjectText,
        obj: ApiObject | None = None,
        *,
        reported: Collection[str] = (),
        used: Collection[str] = (),
    ) -> CheckedFields:
        """Find the errors in an object's fields; warnings are kept for `notices`.

        Args:
            entry: The object's text.
            obj: The decoded object; None if it was not or could not be decoded.
            reported: The paths of values whose types have already been reported as
            wrong.
            used: The gates of which a stored object of its name has fields.

        Raises:
            ValueError: The text is not JSON.
            RecursionError: The text is nested too deeply.
        """
        texts_read, self._texts_read = self._texts_read, self._pool.texts_read
        # The pool reads equal texts of specs once: one that it did not read is that of
        # an earlier pod.
        spec_is_known = isinstance(obj, Pod) and texts_read == self._texts_read
        if self._validation in (None, Validation.IGNORE) and _is_stored(entry, obj):
            # A server has already checked its values.
            if self._validation is None and not spec_is_known:
                return self._checked_spec(entry)
            return CheckedFields()
        own = self._own_class(entry)
        odd = odd_fields(entry, self._table, spec_is_known=spec_is_known, kind=own)
        findings = [
            *self._errors(entry, odd.unknown),
            *(
                wrong
                for wrong in wrong_values(
                    entry, self._table, spec_is_known=spec_is_known
                )
                if wrong.path not in reported
            ),
        ]
        if findings or odd.dropped:
            # Then the next pod with this spec is checked again.
            self._pool.forget_texts()
        problems = self._problems(entry, findings)
        if _is_stored(entry, obj):
            return CheckedFields(problems, used=_gates(odd.dropped))
        dropped = [finding for finding in odd.dropped if finding.gate not in used]
        self._note(entry, dropped, NoticeReason.DROPPED_FIELDS)
        return CheckedFields(problems, dropped=_gates(dropped))

    def without_disabled(self, entry: ObjectText, used: Collection[str]) -> ObjectText:
        """Return an object as an API server stores it.

        Args:
            entry: The object.
            used: The gates of which a stored object of its name has fields.
        """
        structure = self._table.structure_of(*entry.typed)
        tree = without_disabled_fields(entry.tree, structure, self._table, used)
        text = msgspec.json.encode(tree)
        return ObjectText(text, entry.typed, entry.source, entry.duplicates)

    def notices(self) -> list[Notice]:
        """Return the warnings, one for each kind and field."""
        return list(self._notices.values())

    def _checked_spec(self, entry: ObjectText) -> CheckedFields:
        """Check the spec of an object from a server."""
        odd = odd_spec_fields(entry, self._table, self._own_class(entry))
        self._note(entry, odd.unknown)
        if odd.dropped:
            self._pool.forget_texts()
        return CheckedFields(used=_gates(odd.dropped))

    def _errors(
        self, entry: ObjectText, unknown: list[FieldFinding]
    ) -> list[FieldFinding]:
        """Return the unknown and duplicate fields that are errors; keep warnings."""
        if self._validation is Validation.IGNORE:
            return []
        if self._validation is Validation.WARN:
            self._note(entry, unknown)
            return []
        return unknown

    def _problems(
        self, entry: ObjectText, findings: list[FieldFinding]
    ) -> list[Problem]:
        where = self._name(entry) if findings else ""
        return [
            Problem(where=where, path=finding.path, message=finding.message)
            for finding in findings
        ]

    def _own_class(self, entry: ObjectText) -> type[ApiObject] | None:
        """Return the class of an object whose kind Kubernetes itself does not have."""
        return self._kinds.custom_class(*entry.typed)

    def _note(
        self,
        entry: ObjectText,
        findings: list[FieldFinding],
        reason: NoticeReason = NoticeReason.ODD_FIELDS,
    ) -> None:
        for path, message, _ in findings:
            # A mistake in all items of a list gets one notice.
            key = (entry.typed, _INDEX.sub("[]", path), message)
            if key not in self._notices:
                self._notices[key] = Notice(
                    reason=reason,
                    where=self._name(entry),
                    path=path,
                    message=message,
                )


def _gates(findings: Iterable[FieldFinding]) -> frozenset[str]:
    return frozenset(finding.gate for finding in findings)


def _is_stored(entry: ObjectText, obj: ApiObject | None) -> bool:
    if obj is None:
        return is_stored(entry.text)
    return bool(obj.metadata.uid or obj.metadata.resource_version)
