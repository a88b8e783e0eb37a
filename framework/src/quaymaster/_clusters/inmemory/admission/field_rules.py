"""Rules of fields as data, and the checks of these rules.

Mirrors the validation that Kubernetes generates from ``+k8s:`` tags, and
``pkg/api/validate`` (k8s.io/apimachinery v0.37).
"""

from collections.abc import Callable, Container, Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects.codec import enc_hook
from quaymaster._api.objects.meta import ApiValue
from quaymaster._api.objects.report import Report
from quaymaster._clusters.inmemory.admission.field_errors import (
    Names,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_many,
)

__all__ = ["Rule", "Rules", "Scope"]

# Go cannot distinguish an unset field from its zero value unless the field is a
# pointer. Generated code therefore treats both as unset.
_ZEROS: Final = ("", (), 0)
"""The values that count as unset in a field that is not a pointer upstream."""


@attrs.frozen(kw_only=True)
class Rule:
    """The rules of one field of a structure.

    Attributes:
        name: The field, as its class names it.
        gate: The feature gate without which it must not be set.
        is_required: Whether it must be set.
        is_immutable: Whether it stays as it was created; with a gate, only while that
            is on.
        is_frozen_while_gated: Whether it stays also while its gate is off.
        is_kept: Whether it can neither be set nor be cleared later.
        keeps_items: Whether items can neither be added nor be removed.
        form: The form of a text.
        least: The smallest number.
        most: The largest number.
        supported: The texts to choose from.
        most_items: The largest number of items of a list.
        has_unique_names: Whether the names of items must differ.
        inner: The rules of the structure in it, or of each item.
    """

    name: str
    gate: str = ""
    is_required: bool = False
    is_immutable: bool = False
    is_frozen_while_gated: bool = True
    is_kept: bool = False
    keeps_items: bool = False
    form: Names | None = None
    least: int | None = None
    most: int | None = None
    supported: Sequence[str] = ()
    most_items: int | None = None
    has_unique_names: bool = False
    inner: "Callable[[], Rules] | Rules | None" = None

    @property
    def wire_name(self) -> str:
        """The name of the field in the API."""
        first, *rest = self.name.split("_")
        return first + "".join(part.capitalize() for part in rest)

    @property
    def inner_rules(self) -> "Rules | None":
        """The rules of what is inside; a structure may contain itself."""
        inner = self.inner
        return inner if inner is None or isinstance(inner, Rules) else inner()


@attrs.frozen(kw_only=True)
class Rules:
    """The rules of a structure.

    Attributes:
        union: The fields of which exactly one must be set.
        fields: The rules of its fields.
    """

    union: Sequence[str] = ()
    fields: Sequence[Rule] = ()


class Scope:
    """One check of an object: it collects the errors.

    Args:
        report: Receives the errors.
        gates: The feature gates that are on.
        is_update: Whether an object is changed; new objects have no older values.
    """

    def __init__(
        self, report: Report, gates: Container[str], *, is_update: bool = False
    ) -> None:
        self._report = report
        self._gates = gates
        self._is_update = is_update

    def check(
        self, rules: Rules, new: ApiValue, old: ApiValue | None, path: str
    ) -> None:
        """Check a structure; an unchanged one is not checked again."""
        if rules.union:
            self._check_union(rules.union, new, old, path)
        for rule in rules.fields:
            before = None if old is None else getattr(old, rule.name)
            value = getattr(new, rule.name)
            # "Ratcheting": a rule that is tightened later must not block changes of
            # other fields of objects that were stored before it.
            if self._is_update and old is not None and value == before:
                continue
            where = f"{path}.{rule.wire_name}"
            is_set = _is_set(new, rule.name)
            if self._is_final(rule, value, before, where, is_set=is_set):
                continue
            self._check_value(rule, value, where)
            self._check_inside(rule, value, before, where)

    # A union is checked again only if another member is chosen, for the same reason.
    def _check_union(
        self, members: Sequence[str], new: ApiValue, old: ApiValue | None, path: str
    ) -> None:
        chosen = [name for name in members if _is_set(new, name)]
        before = old if self._is_update else None
        if before is not None and chosen == [
            name for name in members if _is_set(before, name)
        ]:
            return
        names = ", ".join(f"`{Rule(name=name).wire_name}`" for name in members)
        if not chosen:
            self._add(path, invalid("", f"must specify one of: {names}"))
        elif len(chosen) > 1:
            value = ", ".join(Rule(name=name).wire_name for name in chosen)
            detail = f"must specify exactly one of: {names}"
            self._add(path, invalid(f"{{{value}}}", detail))

    def _is_final(
        self, rule: Rule, value: object, before: object, path: str, *, is_set: bool
    ) -> bool:
        """Check what ends the check of a field, and return whether it has ended."""
        errors = [forbidden()] if is_set and self._is_off(rule) else []
        errors += self._change_errors(rule, value, before)
        most = rule.most_items
        if most is not None and isinstance(value, tuple) and len(value) > most:
            errors.append(too_many(len(value), most))
        if rule.is_required and not is_set:
            errors.append(required())
        for error in errors:
            self._add(path, error)
        has_other_items = self._has_other_items(rule, value, before, path)
        # An error here hides the errors inside: generated code returns early, so that
        # one mistake does not produce five messages.
        return bool(errors) or has_other_items or not is_set

    def _is_off(self, rule: Rule) -> bool:
        return bool(rule.gate) and rule.gate not in self._gates

    def _change_errors(self, rule: Rule, value: object, before: object) -> list[str]:
        if not self._is_update:
            return []
        if rule.is_immutable and (rule.is_frozen_while_gated or not self._is_off(rule)):
            return [immutable()]
        if rule.is_kept and before is None and value is not None:
            return [invalid(None, "field cannot be set once created")]
        if rule.is_kept and before is not None and value is None:
            return [invalid(None, "field cannot be cleared once set")]
        return []

    def _has_other_items(
        self, rule: Rule, value: object, before: object, path: str
    ) -> bool:
        """Report items that were added or removed, and return whether there are any."""
        if not (rule.keeps_items and self._is_update and isinstance(value, tuple)):
            return False
        older = before if isinstance(before, tuple) else ()
        # Upstream keys such lists by name (``listType=map``): an item that moves is not
        # a change.
        old_names = [item.name for item in older]
        new_names = [item.name for item in value]
        added = [i for i, name in enumerate(new_names) if name not in old_names]
        removed = [name for name in old_names if name not in new_names]
        for index in added:
            self._add(f"{path}[{index}]", forbidden("item may not be added"))
        for _ in removed:
            self._add(path, forbidden("item may not be removed"))
        return bool(added or removed)

    def _check_value(self, rule: Rule, value: object, path: str) -> None:
        if isinstance(value, str):
            self._check_text(rule, value, path)
        elif isinstance(value, int):
            if rule.least is not None and value < rule.least:
                detail = f"must be greater than or equal to {rule.least}"
                self._add(path, invalid(value, detail))
            if rule.most is not None and value > rule.most:
                detail = f"must be less than or equal to {rule.most}"
                self._add(path, invalid(value, detail))

    def _check_text(self, rule: Rule, value: str, path: str) -> None:
        for reason in rule.form(value) if rule.form else ():
            self._add(path, invalid(value, reason))
        if rule.supported and value not in rule.supported:
            self._add(path, not_supported(value, rule.supported))

    def _check_inside(
        self, rule: Rule, value: object, before: object, path: str
    ) -> None:
        rules = rule.inner_rules
        if rules is None:
            return
        if not isinstance(value, tuple):
            assert isinstance(value, ApiValue), "only structures have rules"
            assert before is None or isinstance(before, ApiValue)
            self.check(rules, value, before, path)
            return
        if rule.has_unique_names:
            self._check_names(value, path)
        older = before if isinstance(before, tuple) else ()
        for index, item in enumerate(value):
            old = None
            # Items of other lists have no identity, so each is compared with no older
            # one.
            if rule.has_unique_names:
                old = next((o for o in older if o.name == item.name), None)
            if not (self._is_update and old == item):
                self.check(rules, item, old, f"{path}[{index}]")

    def _check_names(self, items: tuple[ApiValue, ...], path: str) -> None:
        seen = set()
        for index, item in enumerate(items):
            name: str = getattr(item, "name")  # noqa: B009 - not a field of every value
            if name in seen:
                self._add(f"{path}[{index}]", duplicate(_as_json(item)))
            seen.add(name)

    def _add(self, path: str, message: str) -> None:
        self._report.add(path, message)


def _is_set(struct: ApiValue, name: str) -> bool:
    """Return whether a field has a value; a pointer may point to an empty one."""
    value = getattr(struct, name)
    if value is None or value not in _ZEROS:
        return value is not None
    place = struct.__struct_fields__.index(name)
    # A field whose default is None is a pointer upstream, where an explicit 0 is a
    # value.
    return struct.__struct_defaults__[place] is None


def _as_json(item: ApiValue) -> object:
    """Return an item as Go writes it: a template shows that it has no constraints."""
    tree: dict[str, object] = msgspec.to_builtins(item, enc_hook=enc_hook)
    if "scheduling_constraints" not in item.__struct_fields__:
        # Go writes structures in the order of their fields and does not omit these two,
        # although they are empty. The text is part of a message that clients see.
        return tree
    written = {"name": tree.pop("name"), "schedulingPolicy": {}}
    if not hasattr(item, "pod_group_templates"):
        written["schedulingConstraints"] = None
    return {**written, **tree} if tree else written
