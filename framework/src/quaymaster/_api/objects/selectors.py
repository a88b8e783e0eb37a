"""Label selectors and node selectors, compiled and evaluated.

Mirrors ``pkg/labels`` (k8s.io/apimachinery v0.36) and ``nodeaffinity.go``
(k8s.io/component-helpers v0.36). A selector is compiled once and evaluated often;
compiled selectors can be compared and can be keys of dicts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from quaymaster._api.objects import (
    LabelSelector,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    PreferredSchedulingTerm,
    SpecKey,
)
from quaymaster._api.objects.requirements import (
    LABEL_OPERATORS,
    NODE_OPERATORS,
    Operator,
    Requirement,
    check_key,
    check_value,
    compile_requirements,
    parse_int64,
)
from quaymaster._api.objects.selector_texts import (
    aggregated,
    label_selector_text,
    node_term_texts,
)
from quaymaster._base.errors import SelectorError

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "FieldRequirement",
    "NodeMatcher",
    "NodeTerm",
    "Operator",
    "PreferredTerms",
    "RequiredNodeAffinity",
    "Requirement",
    "Selector",
    "SelectorError",
    "compile_label_selector",
    "compile_node_selector",
    "compile_preferred_terms",
    "parse_int64",
    "required_node_affinity",
    "selector_from_labels",
]


class Selector:
    """Requirements on labels, all of which must hold.

    Attributes:
        requirements: Sorted, so that equal selectors compare equal; empty, too, if the
            selector matches nothing.
        matches_nothing: Whether no labels match at all.
    """

    __slots__ = ("_equal", "_others", "matches_nothing", "requirements")

    def __init__(
        self, requirements: Iterable[Requirement] = (), *, matches_nothing: bool = False
    ) -> None:
        self.matches_nothing = matches_nothing
        self.requirements: tuple[Requirement, ...] = (
            # Sorted, so that selectors with equal requirements are equal whatever the
            # order of the input.
            () if matches_nothing else tuple(sorted(set(requirements)))
        )
        # Most requirements have one value: these use the fast path.
        self._equal = tuple(
            (r.key, r.values[0])
            for r in self.requirements
            if r.operator is Operator.IN and len(r.values) == 1
        )
        self._others = tuple(
            r
            for r in self.requirements
            if r.operator is not Operator.IN or len(r.values) != 1
        )

    @property
    def required_labels(self) -> tuple[tuple[str, str], ...]:
        """The labels, as key and value, that every selected object has."""
        return self._equal

    @property
    def matches_everything(self) -> bool:
        """Whether all labels match, since there are no requirements."""
        return not self.requirements and not self.matches_nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether an object with these labels is selected."""
        for key, value in self._equal:
            if labels.get(key) != value:
                return False
        for requirement in self._others:
            if not requirement.matches(labels):
                return False
        return not self.matches_nothing

    def __and__(self, other: "Selector") -> "Selector":
        """Return the selector of the objects that both select."""
        return Selector(
            self.requirements + other.requirements,
            matches_nothing=self.matches_nothing or other.matches_nothing,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selector):
            return NotImplemented
        return (
            self.requirements == other.requirements
            and self.matches_nothing == other.matches_nothing
        )

    def __hash__(self) -> int:
        return hash((self.requirements, self.matches_nothing))

    def __str__(self) -> str:
        """Return the selector as kubectl writes it, such as ``app=web,!canary``."""
        if self.matches_nothing:
            return "<none>"
        return ",".join(map(str, self.requirements)) or "<all>"

    def __repr__(self) -> str:
        if self.matches_nothing:
            return "Selector(nothing)"
        texts = (
            f"{r.key} {r.operator} {','.join(r.values)}" for r in self.requirements
        )
        return f"Selector({'; '.join(text.strip() for text in texts) or 'everything'})"


EVERYTHING: Final = Selector()
"""Selects all objects."""

NOTHING: Final = Selector(matches_nothing=True)
"""Selects no object."""


class FieldRequirement(NamedTuple):
    """One condition on a field of a node.

    Attributes:
        key: The field; only ``metadata.name`` is supported, others are empty.
        value: The value to compare with.
        equal: Whether it must be equal (``In``) or must not (``NotIn``).
    """

    key: str
    value: str
    equal: bool

    def __str__(self) -> str:
        """Return the condition, such as ``metadata.name=node-1``."""
        return f"{self.key}{'=' if self.equal else '!='}{self.value}"


class NodeTerm(NamedTuple):
    """A compiled `NodeSelectorTerm`: conditions that must all hold.

    Attributes:
        labels: Conditions on the node's labels.
        fields: Conditions on the node's fields.
    """

    labels: Selector
    fields: tuple[FieldRequirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node of that name with these labels meets the term."""
        return self.labels.matches(labels) and self.matches_name(name)

    def matches_name(self, name: str) -> bool:
        """Return whether the conditions on fields hold for a node of that name."""
        for field in self.fields:
            value = name if field.key == "metadata.name" else ""
            # Upstream: a node without a name has no fields to match.
            if name and (value == field.value) is not field.equal:
                return False
        return True

    def __str__(self) -> str:
        """Return the conditions, such as ``zone=a,metadata.name!=node-1``."""
        texts = [str(requirement) for requirement in self.labels.requirements]
        return ",".join((*texts, *map(str, self.fields)))


class NodeMatcher:
    """A compiled `NodeSelector`: terms, one of which must match.

    Attributes:
        terms: The valid ones; empty ones match nothing and are left out.
        problems: What is wrong with the others, which match nothing either.
    """

    __slots__ = ("_text", "problems", "terms")

    def __init__(
        self,
        terms: Iterable[NodeTerm],
        problems: Iterable[str] = (),
        text: str = "",
    ) -> None:
        self.terms = tuple(terms)
        self.problems = tuple(problems)
        self._text = text

    def matches(self, node: Node) -> bool:
        """Return whether some term matches a node."""
        name, labels = node.metadata.name, node.metadata.labels
        return any(term.matches(name, labels) for term in self.terms)

    def check(self) -> None:
        """Raise unless every term can be evaluated.

        Raises:
            SelectorError: Some terms are invalid.
        """
        if self.problems:
            raise SelectorError(self.problems, self._text)


class PreferredTerms:
    """Compiled `PreferredSchedulingTerm` values.

    Attributes:
        terms: Weight and term; those of weight 0 and empty ones are left out.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Iterable[tuple[int, NodeTerm]]) -> None:
        self.terms = tuple(terms)

    def score(self, node: Node) -> int:
        """Return the sum of the weights of the terms that match a node."""
        name, labels = node.metadata.name, node.metadata.labels
        return sum(w for w, term in self.terms if term.matches(name, labels))


class RequiredNodeAffinity:
    """The node selector and the required node affinity of a pod, compiled.

    Attributes:
        selector: From ``nodeSelector``.
        affinity: From the required node affinity; None if the pod has none.
    """

    __slots__ = ("affinity", "selector")

    def __init__(self, selector: Selector, affinity: NodeMatcher | None) -> None:
        self.selector = selector
        self.affinity = affinity

    def matches(self, node: Node) -> bool:
        """Return whether the pod may run on a node; terms with problems are skipped."""
        if not self.selector.matches(node.metadata.labels):
            return False
        return self.affinity is None or self.affinity.matches(node)


def compile_label_selector(selector: LabelSelector | None) -> Selector:
    """Compile a label selector: None selects nothing, an empty one everything.

    Raises:
        SelectorError: It has unknown operators, or invalid keys or values.
    """
    if selector is None:
        return NOTHING
    problems: list[str] = []
    requirements = compile_requirements(
        selector.match_expressions, LABEL_OPERATORS, "matchExpressions", problems
    )
    for key, value in selector.match_labels.items():
        check_key(key, f"matchLabels[{key}]", problems)
        check_value(value, f"matchLabels[{key}]", problems)
        requirements.append(Requirement(key, Operator.IN, (value,)))
    if problems:
        raise SelectorError(problems, label_selector_text(selector))
    return Selector(requirements)


def selector_from_labels(labels: Mapping[str, str]) -> Selector:
    """Return the selector of objects with these labels; nothing is validated."""
    return Selector(Requirement(k, Operator.IN, (v,)) for k, v in labels.items())


def compile_node_selector(selector: NodeSelector, *, path: str = "") -> NodeMatcher:
    """Compile a node selector; invalid terms become its problems.

    Args:
        selector: The node selector.
        path: Its path, for the texts of the problems.
    """
    terms: list[NodeTerm] = []
    problems: list[str] = []
    texts: list[str] = []
    for index, term in enumerate(selector.node_selector_terms):
        if _is_empty(term):
            continue
        where = _join(path, f"nodeSelectorTerms[{index}]")
        compiled, wrong = _compile_term(term, where)
        if wrong:
            problems += wrong
            texts += node_term_texts(term, where)
        else:
            terms.append(compiled)
    return NodeMatcher(terms, problems, aggregated(texts) if texts else "")


def compile_preferred_terms(
    terms: Sequence[PreferredSchedulingTerm], *, path: str = ""
) -> PreferredTerms:
    """Compile preferences for nodes.

    Args:
        terms: The preferences.
        path: Their path, for the text of the error.

    Raises:
        SelectorError: Some of them are invalid.
    """
    compiled: list[tuple[int, NodeTerm]] = []
    problems: list[str] = []
    texts: list[str] = []
    for index, term in enumerate(terms):
        if term.weight and not _is_empty(term.preference):
            where = f"{path}[{index}]"
            node_term, wrong = _compile_term(term.preference, where)
            if wrong:
                problems += wrong
                texts += node_term_texts(term.preference, where)
            compiled.append((term.weight, node_term))
    if problems:
        raise SelectorError(problems, aggregated(texts))
    return PreferredTerms(compiled)


def required_node_affinity(pod: Pod) -> RequiredNodeAffinity:
    """Return the required node affinity of a pod; computed once per template."""
    return _REQUIRED.of(pod)


def _compile_required(spec: PodSpec) -> RequiredNodeAffinity:
    affinity = spec.affinity and spec.affinity.node_affinity
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    return RequiredNodeAffinity(
        selector_from_labels(spec.node_selector),
        None if required is None else compile_node_selector(required),
    )


_REQUIRED: Final = SpecKey(_compile_required)


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _compile_term(term: NodeSelectorTerm, path: str) -> tuple[NodeTerm, list[str]]:
    problems: list[str] = []
    requirements = compile_requirements(
        term.match_expressions, NODE_OPERATORS, f"{path}.matchExpressions", problems
    )
    fields = []
    for index, condition in enumerate(term.match_fields):
        field = _field(condition, f"{path}.matchFields[{index}]", problems)
        if field is not None:
            fields.append(field)
    return NodeTerm(Selector(requirements), tuple(fields)), problems


def _field(
    condition: NodeSelectorRequirement, path: str, problems: list[str]
) -> FieldRequirement | None:
    if condition.operator not in ("In", "NotIn"):
        problems.append(
            f"{path}.operator: expected In or NotIn, got {condition.operator!r}"
        )
    elif len(condition.values) != 1:
        problems.append(
            f"{path}.values: expected one value, got {list(condition.values)}"
        )
    else:
        return FieldRequirement(
            condition.key, condition.values[0], condition.operator == "In"
        )
    return None


def _join(path: str, rest: str) -> str:
    return f"{path}.{rest}" if path else rest
