"""Selectors match what Kubernetes' selectors match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, Pod
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    EVERYTHING,
    NOTHING,
    LabelSelector,
    LabelSelectorRequirement,
    NodeMatcher,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    Operator,
    PodSpec,
    PreferredSchedulingTerm,
    Requirement,
    Selector,
    Taint,
    Toleration,
    compile_label_selector,
    compile_node_selector,
    compile_preferred_terms,
    find_untolerated_taint,
    is_tolerated,
    parse_int64,
    required_node_affinity,
    selector_from_labels,
    tolerates,
)
from quaymaster.testing import make_node, make_pod

SSD = Node(metadata=ObjectMeta(name="n1", labels={"disk": "ssd", "cores": "8"}))


def label_condition(key: str, operator: str, *values: str) -> LabelSelector:
    condition = LabelSelectorRequirement(key=key, operator=operator, values=values)
    return LabelSelector(match_expressions=(condition,))


def node_condition(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def label_term(*conditions: NodeSelectorRequirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=conditions)


def field_term(*conditions: NodeSelectorRequirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=conditions)


def matcher(*terms: NodeSelectorTerm) -> NodeMatcher:
    return compile_node_selector(NodeSelector(node_selector_terms=terms))


# Label selectors


def test_no_selector_matches_nothing() -> None:
    selector = compile_label_selector(None)
    assert selector == NOTHING
    assert selector.matches_nothing
    assert not selector.matches({})
    assert not selector.matches({"a": "1"})


def test_empty_selector_matches_everything() -> None:
    selector = compile_label_selector(LabelSelector())
    assert selector == EVERYTHING
    assert selector.matches_everything
    assert selector.matches({})
    assert selector.matches({"a": "1"})


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        (label_condition("a", "In", "1", "2"), {"a": "2"}, True),
        (label_condition("a", "In", "1", "2"), {"a": "3"}, False),
        (label_condition("a", "In", "1", "2"), {}, False),
        (label_condition("a", "In", ""), {"a": ""}, True),
        (label_condition("a", "In", ""), {}, False),
        (label_condition("a", "NotIn", "1"), {"a": "2"}, True),
        (label_condition("a", "NotIn", "1"), {"a": "1"}, False),
        (label_condition("a", "NotIn", "1"), {}, True),
        (label_condition("a", "Exists"), {"a": ""}, True),
        (label_condition("a", "Exists"), {"b": ""}, False),
        (label_condition("a", "DoesNotExist"), {"b": ""}, True),
        (label_condition("a", "DoesNotExist"), {"a": ""}, False),
        (LabelSelector(match_labels={"a": "1", "b": "2"}), {"a": "1", "b": "2"}, True),
        (LabelSelector(match_labels={"a": "1", "b": "2"}), {"a": "1"}, False),
    ],
)
def test_label_selector_matches_if_all_its_conditions_hold(
    selector: LabelSelector, labels: dict[str, str], matches: bool
) -> None:
    assert compile_label_selector(selector).matches(labels) is matches


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (label_condition("a", "In", "1"), "a=1"),
        (label_condition("a", "In", "2", "1"), "a in (1,2)"),
        (label_condition("a", "NotIn", "1"), "a!=1"),
        (label_condition("a", "NotIn", "1", "2"), "a notin (1,2)"),
        (label_condition("a", "Exists"), "a"),
        (label_condition("a", "DoesNotExist"), "!a"),
        (LabelSelector(match_labels={"b": "2", "a": "1"}), "a=1,b=2"),
        (LabelSelector(), "<all>"),
        (None, "<none>"),
    ],
)
def test_selector_reads_as_kubectl_writes_it(
    selector: LabelSelector | None, text: str
) -> None:
    assert str(compile_label_selector(selector)) == text


def test_term_of_a_node_selector_lists_its_conditions() -> None:
    term = NodeSelectorTerm(
        match_expressions=(
            node_condition("cores", "Gt", "4"),
            node_condition("age", "Lt", "9"),
        ),
        match_fields=(node_condition("metadata.name", "NotIn", "n1"),),
    )
    (compiled,) = matcher(term).terms
    assert str(compiled) == "age<9,cores>4,metadata.name!=n1"


def test_labels_and_conditions_of_a_selector_must_both_hold() -> None:
    selector = compile_label_selector(
        LabelSelector(
            match_labels={"a": "1"},
            match_expressions=label_condition("b", "Exists").match_expressions,
        )
    )
    assert selector.matches({"a": "1", "b": "x"})
    assert not selector.matches({"a": "1"})
    assert not selector.matches({"b": "x"})


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        (
            label_condition("a", "Gt", "1"),
            "[0].operator: expected one of DoesNotExist, Exists, In, NotIn, got 'Gt'",
        ),
        (
            label_condition("a", "In"),
            "[0].values: expected at least one value for In, got []",
        ),
        (
            label_condition("a", "Exists", "1"),
            "[0].values: expected no values for Exists, got ['1']",
        ),
        (label_condition("-a", "Exists"), "[0].key: expected a label key, got '-a'"),
        (
            label_condition("a", "In", "b c"),
            "[0].values[0]: expected a label value, got 'b c'",
        ),
        (
            LabelSelector(match_labels={"UPPER/a": "1"}),
            "matchLabels[UPPER/a]: expected a label key, got 'UPPER/a'",
        ),
        (
            LabelSelector(match_labels={"a": "x" * 64}),
            f"matchLabels[a]: expected a label value, got '{'x' * 64}'",
        ),
    ],
)
def test_impossible_label_selectors_are_errors(
    selector: LabelSelector, problem: str
) -> None:
    with pytest.raises(SelectorError) as caught:
        compile_label_selector(selector)
    (found,) = caught.value.problems
    assert found.removeprefix("matchExpressions") == problem


def test_all_problems_of_a_selector_are_reported_at_once() -> None:
    selector = LabelSelector(match_labels={"": "1", "a": "-"})
    with pytest.raises(SelectorError) as caught:
        compile_label_selector(selector)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        "matchLabels[]",
        "matchLabels[a]",
    ]


def test_selector_of_labels_matches_objects_with_all_of_them() -> None:
    selector = selector_from_labels({"a": "1", "b": "2"})
    assert selector.matches({"a": "1", "b": "2", "c": "3"})
    assert not selector.matches({"a": "1"})
    assert selector_from_labels({}) == EVERYTHING


def test_equal_selectors_are_the_same_key_of_a_dict() -> None:
    selector = compile_label_selector(LabelSelector(match_labels={"a": "1", "b": "2"}))
    other = selector_from_labels({"b": "2", "a": "1"})
    assert selector == other
    assert hash(selector) == hash(other)
    assert selector not in (EVERYTHING, NOTHING, selector_from_labels({"a": "1"}))


def test_selectors_can_be_combined() -> None:
    both = selector_from_labels({"a": "1"}) & selector_from_labels({"b": "2"})
    assert both == selector_from_labels({"a": "1", "b": "2"})
    assert both & EVERYTHING == both
    assert both & NOTHING == NOTHING


def test_selectors_show_what_they_select() -> None:
    selector = Selector(
        (
            Requirement("b", Operator.EXISTS),
            Requirement("a", Operator.IN, ("1", "2")),
        )
    )
    assert repr(selector) == "Selector(a In 1,2; b Exists)"
    assert repr(NOTHING) == "Selector(nothing)"
    assert repr(EVERYTHING) == "Selector(everything)"


words = st.sampled_from(["a", "b", "1", "2"])
requirements = st.builds(
    lambda key, operator, values: LabelSelectorRequirement(
        key=key,
        operator=operator,
        values=tuple(values) if operator.endswith("In") else (),
    ),
    words,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(words, min_size=1, max_size=3),
)


def holds(condition: LabelSelectorRequirement, labels: dict[str, str]) -> bool:
    """Evaluate a requirement as the API reference words it."""
    if condition.operator == "In":
        return condition.key in labels and labels[condition.key] in condition.values
    if condition.operator == "NotIn":
        return not (
            condition.key in labels and labels[condition.key] in condition.values
        )
    return (condition.key in labels) is (condition.operator == "Exists")


@given(
    st.dictionaries(words, words, max_size=2),
    st.lists(requirements, max_size=3),
    st.dictionaries(words, words),
)
def test_compiled_selector_agrees_with_the_rule(
    wanted: dict[str, str],
    conditions: list[LabelSelectorRequirement],
    labels: dict[str, str],
) -> None:
    selector = LabelSelector(match_labels=wanted, match_expressions=tuple(conditions))
    expected = wanted.items() <= labels.items() and all(
        holds(condition, labels) for condition in conditions
    )
    assert compile_label_selector(selector).matches(labels) is expected


# Node selectors


def test_node_matches_if_one_term_does() -> None:
    hdd = label_term(node_condition("disk", "In", "hdd"))
    ssd = label_term(node_condition("disk", "In", "ssd"))
    assert matcher(hdd, ssd).matches(SSD)
    assert not matcher(hdd).matches(SSD)


def test_all_conditions_of_a_term_must_hold() -> None:
    ssd = node_condition("disk", "In", "ssd")
    assert matcher(label_term(ssd, node_condition("cores", "Exists"))).matches(SSD)
    assert not matcher(label_term(ssd, node_condition("gpu", "Exists"))).matches(SSD)


def test_empty_terms_match_nothing() -> None:
    assert not matcher(NodeSelectorTerm()).matches(SSD)
    assert not matcher().matches(SSD)
    assert matcher(NodeSelectorTerm()).problems == ()


@pytest.mark.parametrize(
    ("operator", "value", "matches"),
    [("Gt", "7", True), ("Gt", "8", False), ("Lt", "9", True), ("Lt", "8", False)],
)
def test_gt_and_lt_compare_integers(operator: str, value: str, matches: bool) -> None:
    term = label_term(node_condition("cores", operator, value))
    assert matcher(term).matches(SSD) is matches


def test_negative_bound_is_a_problem_because_it_is_not_a_label_value() -> None:
    compiled = matcher(label_term(node_condition("cores", "Gt", "-1")))
    assert compiled.terms == ()
    assert "expected a label value, got '-1'" in compiled.problems[0]


@pytest.mark.parametrize("label", ["", "8a", "1.5", "0x8", "99999999999999999999"])
def test_label_that_is_not_an_integer_is_neither_greater_nor_less(label: str) -> None:
    node = make_node(labels={"cores": label})
    for operator in ("Gt", "Lt"):
        assert not matcher(label_term(node_condition("cores", operator, "5"))).matches(
            node
        )


def test_fields_select_nodes_by_name() -> None:
    assert matcher(field_term(node_condition("metadata.name", "In", "n1"))).matches(SSD)
    assert not matcher(field_term(node_condition("metadata.name", "In", "n2"))).matches(
        SSD
    )
    assert matcher(field_term(node_condition("metadata.name", "NotIn", "n2"))).matches(
        SSD
    )


def test_unknown_fields_are_empty() -> None:
    assert not matcher(field_term(node_condition("spec.x", "In", "y"))).matches(SSD)
    assert matcher(field_term(node_condition("spec.x", "NotIn", "y"))).matches(SSD)
    assert matcher(field_term(node_condition("spec.x", "In", ""))).matches(SSD)


@pytest.mark.parametrize(
    ("term", "problem"),
    [
        (
            label_term(node_condition("a", "Gt", "x")),
            "matchExpressions[0].values[0]: expected an integer, got 'x'",
        ),
        (
            label_term(node_condition("a", "Gt", "1", "2")),
            "matchExpressions[0].values: expected one value for Gt, got ['1', '2']",
        ),
        (
            field_term(node_condition("metadata.name", "Exists")),
            "matchFields[0].operator: expected In or NotIn, got 'Exists'",
        ),
        (
            field_term(node_condition("metadata.name", "In", "a", "b")),
            "matchFields[0].values: expected one value, got ['a', 'b']",
        ),
    ],
)
def test_terms_with_problems_are_skipped_and_reported(
    term: NodeSelectorTerm, problem: str
) -> None:
    good = label_term(node_condition("disk", "Exists"))
    compiled = matcher(term, good)
    assert compiled.matches(SSD)
    assert compiled.problems == (f"nodeSelectorTerms[0].{problem}",)
    with pytest.raises(SelectorError) as caught:
        compiled.check()
    assert caught.value.problems == compiled.problems
    matcher(good).check()


def test_path_of_a_problem_begins_where_the_selector_is() -> None:
    selector = NodeSelector(node_selector_terms=(label_term(node_condition("a", "x")),))
    problems = compile_node_selector(selector, path="addedAffinity").problems
    assert problems[0].startswith("addedAffinity.nodeSelectorTerms[0].")


def preference(
    weight: int, *conditions: NodeSelectorRequirement
) -> PreferredSchedulingTerm:
    return PreferredSchedulingTerm(weight=weight, preference=label_term(*conditions))


def test_preferences_score_the_sum_of_the_weights_that_match() -> None:
    terms = compile_preferred_terms(
        (
            preference(10, node_condition("disk", "In", "ssd")),
            preference(5, node_condition("cores", "Gt", "4")),
            preference(1, node_condition("disk", "In", "hdd")),
        )
    )
    assert terms.score(SSD) == 15


def test_empty_preferences_and_those_of_weight_0_count_nothing() -> None:
    terms = compile_preferred_terms(
        (preference(10), preference(0, node_condition("disk", "bogus")))
    )
    assert terms.terms == ()
    assert terms.score(SSD) == 0


def test_preferences_with_problems_are_errors() -> None:
    with pytest.raises(SelectorError, match=r"^preferred\[0\]\.matchExpressions"):
        compile_preferred_terms(
            (preference(1, node_condition("disk", "bogus")),), path="preferred"
        )


def test_pod_requires_node_selector_and_node_affinity() -> None:
    pod = make_pod(node_selector={"disk": "ssd"}, node_affinity={"cores": ["4", "8"]})
    required = required_node_affinity(pod)
    assert required.matches(SSD)
    assert not required.matches(make_node(labels={"disk": "ssd"}))
    assert not required.matches(make_node(labels={"cores": "8"}))


def test_pod_that_requires_nothing_may_run_anywhere() -> None:
    assert required_node_affinity(make_pod()).matches(SSD)


def test_required_affinity_without_terms_matches_no_node() -> None:
    pod = make_pod(node_affinity=NodeSelector())
    assert not required_node_affinity(pod).matches(SSD)


def test_requirements_are_compiled_once_per_template() -> None:
    spec = PodSpec(node_selector={"a": "1"})
    assert required_node_affinity(Pod(spec=spec)) is required_node_affinity(
        Pod(spec=spec)
    )


# Tolerations


@pytest.mark.parametrize(
    ("toleration", "is_match"),
    [
        (Toleration(key="a", operator="Exists", effect="NoSchedule"), True),
        (Toleration(key="a", operator="Equal", value="1", effect="NoSchedule"), True),
        (Toleration(key="a", value="1", effect="NoSchedule"), True),
        (Toleration(key="a", operator="Equal", value="2", effect="NoSchedule"), False),
        (Toleration(key="b", operator="Exists", effect="NoSchedule"), False),
        (Toleration(key="a", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="a", operator="Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(operator="Exists", effect="NoSchedule"), True),
        (Toleration(value="1"), True),
        (Toleration(), False),
        (Toleration(key="a", operator="Lt", value="2"), False),
        (Toleration(key="a", operator="Gt", value="0"), False),
        (Toleration(key="a", operator="bogus", value="1"), False),
    ],
)
def test_toleration_covers_the_taints_that_it_names(
    toleration: Toleration, is_match: bool
) -> None:
    taint = Taint(key="a", value="1", effect="NoSchedule")
    assert tolerates(toleration, taint) is is_match
    assert is_tolerated(taint, (Toleration(key="z"), toleration)) is is_match


def test_first_untolerated_taint_is_found() -> None:
    soft = Taint(key="soft", effect="PreferNoSchedule")
    hard, evicting = (
        Taint(key="a", effect="NoSchedule"),
        Taint(key="b", effect="NoExecute"),
    )
    taints = (soft, hard, evicting)
    assert find_untolerated_taint(taints, ()) is hard
    assert find_untolerated_taint(
        taints, (Toleration(key="a", operator="Exists"),)
    ) is (evicting)
    assert find_untolerated_taint(taints, (Toleration(operator="Exists"),)) is None
    assert find_untolerated_taint(taints, (), ("PreferNoSchedule",)) is soft


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("+7", 7),
        ("-007", -7),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)),
        ("", None),
        ("1_000", None),
        (" 7", None),
        ("\u0667", None),
        ("1" * 5000, None),
    ],
)
def test_integers_are_read_as_go_reads_them(text: str, number: int | None) -> None:
    assert parse_int64(text) == number
