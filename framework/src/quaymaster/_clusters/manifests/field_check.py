"""Checks the fields of all objects of a load, as strictly as was asked for."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from quaymaster._api.objects import ApiObject, Pod, SpecPool
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.openapi.dropping import without_disabled_fields
from quaymaster._api.openapi.table import FieldTable
from quaymaster._base.errors import Problem
from quaymaster._base.input.json_values import json_tree
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
    """What a check of an object's fields has found.

    Attributes:
        problems: The errors.
        dropped: The feature gates whose fields an API server drops from the object.
        used: The gates that are off, but of which a stored object has fields.
    """

    problems: Sequence[Problem] = ()
    dropped: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


class FieldCheck:
    """Finds unknown and duplicate fields, as errors or as warnings, and wrong types.

    Fields whose feature gates are off are known, but dropped, which is a warning. What
    a server has stored keeps them.

    Args:
        validation: How strict to be; None for strict with what people write. Of what a
            server has stored then only the spec is looked at, and what is unknown there
            is a warning: a server stores no unknown fields, but it may be newer. A
            value of a wrong type is an error in any case, as a server cannot read it.
        pool: What the objects share; of specs with the same text one is looked at.
        name: How to call an object in messages.
        kinds: The kinds that are known.
        table: The fields that Kubernetes has.
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
        pool.forget_texts()
        self._texts_read = pool.texts_read

    def check(
        self,
        one: ObjectText,
        made: ApiObject | None = None,
        *,
        told: Collection[str] = (),
        used: Collection[str] = (),
    ) -> CheckedFields:
        """Find the errors in an object's fields; warnings are noted for `notices`.

        Args:
            one: The object's text.
            made: What was made of it; None if it was not, or could not be.
            told: The paths of values whose types have been found wrong already.
            used: The gates of which a stored object of its name has fields.

        Raises:
            ValueError: It is no JSON.
            RecursionError: It is nested too deeply.
        """
        texts_read, self._texts_read = self._texts_read, self._pool.texts_read
        spec_is_known = isinstance(made, Pod) and texts_read == self._texts_read
        if self._validation in (None, Validation.IGNORE) and _is_stored(one, made):
            # A server has checked its values already.
            if self._validation is None and not spec_is_known:
                return self._checked_spec(one)
            return CheckedFields()
        own = self._own_class(one)
        odd = odd_fields(one, self._table, spec_is_known=spec_is_known, kind=own)
        findings = [
            *self._errors(one, odd.unknown),
            *(
                wrong
                for wrong in wrong_values(one, self._table, spec_is_known=spec_is_known)
                if wrong.path not in told
            ),
        ]
        if findings or odd.dropped:
            # So that the next pod with this spec is looked at again.
            self._pool.forget_texts()
        problems = self._problems(one, findings)
        if _is_stored(one, made):
            return CheckedFields(problems, used=_gates(odd.dropped))
        dropped = [finding for finding in odd.dropped if finding.gate not in used]
        self._note(one, dropped, NoticeReason.DROPPED_FIELDS)
        return CheckedFields(problems, dropped=_gates(dropped))

    def without_disabled(self, one: ObjectText, used: Collection[str]) -> ObjectText:
        """Return an object as an API server stores it.

        Args:
            one: The object.
            used: The gates of which a stored object of its name has fields.
        """
        structure = self._table.structure_of(*one.typed)
        tree = json_tree(one.text)
        tree = without_disabled_fields(tree, structure, self._table, used)
        return one._replace(text=msgspec.json.encode(tree))

    def notices(self) -> list[Notice]:
        """The warnings, one for each kind and field."""
        return list(self._notices.values())

    def _checked_spec(self, one: ObjectText) -> CheckedFields:
        """Look at the spec of what a server has stored."""
        odd = odd_spec_fields(one, self._table, self._own_class(one))
        self._note(one, odd.unknown)
        if odd.dropped:
            self._pool.forget_texts()
        return CheckedFields(used=_gates(odd.dropped))

    def _errors(
        self, one: ObjectText, unknown: list[FieldFinding]
    ) -> list[FieldFinding]:
        """The unknown and duplicate fields that are errors; or they are noted."""
        if self._validation is Validation.IGNORE:
            return []
        if self._validation is Validation.WARN:
            self._note(one, unknown)
            return []
        return unknown

    def _problems(self, one: ObjectText, findings: list[FieldFinding]) -> list[Problem]:
        where = self._name(one) if findings else ""
        return [
            Problem(where=where, path=finding.path, message=finding.message)
            for finding in findings
        ]

    def _own_class(self, one: ObjectText) -> type[ApiObject] | None:
        """The class of an object whose kind Kubernetes itself does not have."""
        kind = self._kinds.find(*one.typed) if self._kinds.own else None
        return kind if kind in self._kinds.own else None

    def _note(
        self,
        one: ObjectText,
        findings: list[FieldFinding],
        reason: NoticeReason = NoticeReason.ODD_FIELDS,
    ) -> None:
        for path, message, _ in findings:
            key = (one.typed, _INDEX.sub("[]", path), message)
            if key not in self._notices:
                self._notices[key] = Notice(
                    reason=reason,
                    where=self._name(one),
                    path=path,
                    message=message,
                )


def _gates(findings: Iterable[FieldFinding]) -> frozenset[str]:
    return frozenset(finding.gate for finding in findings)


def _is_stored(one: ObjectText, made: ApiObject | None) -> bool:
    if made is None:
        return is_stored(one.text)
    return bool(made.metadata.uid or made.metadata.resource_version)
