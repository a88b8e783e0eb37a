"""Checks the fields of all objects of a load, as strictly as was asked for."""

import re
from collections.abc import Callable, Collection
from typing import Final

from quaymaster._api.objects import ApiObject, Pod, SpecPool
from quaymaster._api.objects.kind_set import KindSet
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

__all__ = ["FieldCheck"]

_INDEX: Final = re.compile(r"\[\d+\]")


class FieldCheck:
    """Finds unknown and duplicate fields, as errors or as warnings, and wrong types.

    Args:
        validation: How strict to be; None for strict with what people write. Of what a
            server has stored then only the spec is looked at, and what is unknown there
            is a warning: a server stores no unknown fields, but it may be newer. A
            value of a wrong type is an error in any case, as a server cannot read it.
        pool: What the objects share; of specs with the same text one is looked at.
        name: How to call an object in messages.
        kinds: The kinds that are known.
    """

    def __init__(
        self,
        validation: Validation | None,
        pool: SpecPool,
        name: Callable[[ObjectText], str],
        kinds: KindSet,
    ) -> None:
        self._kinds = kinds
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
    ) -> list[Problem]:
        """Find the errors in an object's fields; warnings are noted for `notices`.

        Args:
            one: The object's text.
            made: What was made of it; None if it was not, or could not be.
            told: The paths of values whose types have been found wrong already.

        Raises:
            ValueError: It is no JSON.
            RecursionError: It is nested too deeply.
        """
        texts_read, self._texts_read = self._texts_read, self._pool.texts_read
        spec_is_known = isinstance(made, Pod) and texts_read == self._texts_read
        if self._validation in (None, Validation.IGNORE) and _is_stored(one, made):
            # A server has checked its values already.
            if self._validation is None and not spec_is_known:
                self._note(one, odd_spec_fields(one, self._own_class(one)))
            return []
        findings = self._odd_fields(one, spec_is_known)
        findings += (
            wrong
            for wrong in wrong_values(one, spec_is_known=spec_is_known)
            if wrong.path not in told
        )
        if not findings:
            return []
        # Noted, so that the next pod with this spec is not checked again.
        self._pool.forget_texts()
        where = self._name(one)
        return [
            Problem(where=where, path=path, message=text) for path, text in findings
        ]

    def notices(self) -> list[Notice]:
        """The warnings, one for each kind and field."""
        return list(self._notices.values())

    def _odd_fields(self, one: ObjectText, spec_is_known: bool) -> list[FieldFinding]:
        """The unknown and duplicate fields that are errors; or they are noted."""
        if self._validation is Validation.IGNORE:
            return []
        kind = self._own_class(one)
        findings = odd_fields(one, spec_is_known=spec_is_known, kind=kind)
        if self._validation is Validation.WARN:
            self._note(one, findings)
            return []
        return findings

    def _own_class(self, one: ObjectText) -> type[ApiObject] | None:
        """The class of an object whose kind Kubernetes itself does not have."""
        kind = self._kinds.find(*one.typed) if self._kinds.own else None
        return kind if kind in self._kinds.own else None

    def _note(self, one: ObjectText, findings: list[FieldFinding]) -> None:
        for path, message in findings:
            key = (one.typed, _INDEX.sub("[]", path), message)
            if key not in self._notices:
                self._notices[key] = Notice(
                    reason=NoticeReason.ODD_FIELDS,
                    where=self._name(one),
                    path=path,
                    message=message,
                )


def _is_stored(one: ObjectText, made: ApiObject | None) -> bool:
    if made is None:
        return is_stored(one.text)
    return bool(made.metadata.uid or made.metadata.resource_version)
