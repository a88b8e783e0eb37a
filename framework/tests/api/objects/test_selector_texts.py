"""Texts of selectors that cannot be evaluated, as Kubernetes has them.

Cases follow upstream's ``pkg/labels/selector_test.go`` (k8s.io/apimachinery v0.37) and
``nodeaffinity_test.go`` (k8s.io/component-helpers v0.37).
"""

import pytest

from quaymaster.errors import SelectorError
from quaymaster.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    compile_label_selector,
    compile_node_selector,
    compile_preferred_terms,
)

VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', "
    "'_' or '.', and must start and end with an alphanumeric character (e.g. "
    "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
PREFIX = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case "
    "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
    "character "
    "(e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NO_KEY = (
    f"a valid label key {NAME.removeprefix('name part ')} with an optional DNS "
    "subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def of_labels(labels: dict[str, str], *conditions: tuple[str, ...]) -> str:
    expressions = tuple(
        LabelSelectorRequirement(key=key, operator=operator, values=tuple(values))
        for key, operator, *values in conditions
    )
    selector = LabelSelector(match_labels=labels, match_expressions=expressions)
    with pytest.raises(SelectorError) as caught:
        compile_label_selector(selector)
    return str(caught.value)


def condition(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


@pytest.mark.parametrize(
    ("value", "reasons"),
    [
        ("{{.bad-value.}}", VALUE),
        ("x" * 64, "must be no more than 63 bytes"),
        ("-" * 64, f"must be no more than 63 bytes; {VALUE}"),
        ("\u00fc", VALUE),
    ],
)
def test_value_that_no_label_can_have(value: str, reasons: str) -> None:
    text = f'values[0][service]: Invalid value: "{value}": {reasons}'
    assert of_labels({"service": value}) == text
    assert of_labels({}, ("service", "In", value)) == text


@pytest.mark.parametrize(
    ("key", "reasons"),
    [
        ("invalid key", NAME),
        ("", f"name part must be non-empty; {NAME}"),
        ("a/", f"name part must be non-empty; {NAME}"),
        ("/a", "prefix part must be non-empty"),
        ("x" * 64, "name part must be no more than 63 bytes"),
        ("UPPER/a", PREFIX),
        (f"{'x' * 254}/a", "prefix part must be no more than 253 bytes"),
        ("a/b/c", NO_KEY),
    ],
)
def test_key_that_no_label_can_have(key: str, reasons: str) -> None:
    assert of_labels({}, (key, "Exists")) == f'key: Invalid value: "{key}": {reasons}'


def test_value_is_quoted_as_go_does() -> None:
    text = of_labels({"a": 'b"\\\t\x7f\u200b'})
    assert text.startswith('values[0][a]: Invalid value: "b\\"\\\\\\t\\x7f\\u200b": ')


def test_number_of_values_depends_on_the_operator() -> None:
    assert of_labels({}, ("a", "In")) == (
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
        "empty"
    )
    wrong_count = "values set must be empty for exists and does not exist"
    assert of_labels({}, ("a", "Exists", "b", "<c>")) == (
        f'[values: Invalid value: ["b","\\u003cc\\u003e"]: {wrong_count}, '
        f'values[1][a]: Invalid value: "<c>": {VALUE}]'
    )


def test_unknown_operator_of_a_label_selector() -> None:
    text = '"Gt" is not a valid label selector operator'
    assert of_labels({}, ("a", "Gt", "1")) == text


def test_only_the_first_wrong_requirement_counts() -> None:
    text = of_labels({"b": "!", "a": "?"}, ("c", "Foo"))
    assert text == f'values[0][a]: Invalid value: "?": {VALUE}'


def test_all_terms_of_a_node_selector_count() -> None:
    terms = (
        NodeSelectorTerm(
            match_fields=(condition("metadata.name", "In", "host_1", "host_2"),)
        ),
        NodeSelectorTerm(match_expressions=(condition("a", "Exists"),)),
        NodeSelectorTerm(match_expressions=(condition("invalid key", "Exists"),)),
    )
    with pytest.raises(SelectorError) as caught:
        compile_node_selector(NodeSelector(node_selector_terms=terms)).check()
    assert str(caught.value) == (
        "[nodeSelectorTerms[0].matchFields[0].values: Invalid value: "
        '["host_1","host_2"]: must have one element, '
        "nodeSelectorTerms[2].matchExpressions[0].key: "
        f'Invalid value: "invalid key": {NAME}]'
    )


def test_operators_of_node_selectors_are_listed() -> None:
    term = NodeSelectorTerm(
        match_expressions=(condition("a", "Foo"),),
        match_fields=(condition("metadata.name", "Exists"),),
    )
    weighted = PreferredSchedulingTerm(weight=1, preference=term)
    with pytest.raises(SelectorError) as caught:
        compile_preferred_terms([weighted])
    assert str(caught.value) == (
        '[[0].matchExpressions[0].operator: Unsupported value: "Foo": supported '
        'values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", '
        '[0].matchFields[0].operator: Unsupported value: "Exists": supported values: '
        '"In", "NotIn"]'
    )


def test_bounds_of_node_selectors_are_integers_and_labels() -> None:
    term = NodeSelectorTerm(match_expressions=(condition("a", "Gt", "-1", "x"),))
    with pytest.raises(SelectorError) as caught:
        compile_preferred_terms([PreferredSchedulingTerm(weight=1, preference=term)])
    path, operators = "[0].matchExpressions[0].values", "for 'Gt', 'Lt' operators"
    assert str(caught.value) == (
        f'[{path}: Invalid value: ["-1","x"]: {operators}, exactly one value is '
        f'required, {path}[1]: Invalid value: "x": {operators}, the value must be an '
        f'integer, {path}[0][a]: Invalid value: "-1": {VALUE}]'
    )
