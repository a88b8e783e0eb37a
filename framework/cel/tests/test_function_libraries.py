"""The functions of Kubernetes' and CEL's libraries."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    compile_selector,
    device_value,
)

DEVICE = device_value("gpu.example.com", {})
INTEGERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\"), max_size=12
)


def holds(text: str) -> bool:
    return compile_selector(text).matches(DEVICE)


def literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        'semver("1.0.0-alpha").isLessThan(semver("1.0.0"))',
        'semver("1.0.0+a") == semver("1.0.0+b")',
        'semver("v1.2", true) == semver("1.2.0")',
        '!isSemver("01.2.3") && isSemver("01.2.3", true)',
        'quantity("1.5Gi").asApproximateFloat() == 1610612736.0',
        'isQuantity("Ki") && !isQuantity("1e")',
        'sign(quantity("-1n")) == -1',
        '"a,b,,c".split(",") == ["a", "b", "", "c"]',
        '"a,b,c".split(",", 2) == ["a", "b,c"]',
        '"gums".replace("", "-") == "-g-u-m-s-"',
        '"TacoCat".lowerAscii() + "ÉA".lowerAscii() == "tacocatÉa"',
        '"hello".charAt(5) == ""',
        '["a", "b"].join("-") == "a-b"',
        '"abc 123".find("[0-9]+") == "123" && "a".find("b") == ""',
        '"a1b2c3".findAll("[0-9]", 2) == ["1", "2"]',
        '"A100".matches("(?i)a[0-9]+")',
        '"[:".matches("[[:]")',
        '"%s is %d, %.2f".format(["x", 7, 1234.5]) == "x is 7, 1,234.50"',
        '"%e".format([1.5]) == "1.500000\\u00d710⁰⁰"',
        '"%x %X %o %b".format([255, "k", 8, true]) == "ff 6B 10 1"',
        "[3, 1, 2].sort() == [1, 2, 3] && [1, 2].reverse() == [2, 1]",
        "[1, 2, 2].distinct() == [1, 2] && [1, 2, 2].isSorted()",
        "[1, 2, 3].sum() == 6 && [1.5].max() == 1.5",
        "[[[1]], [[2], [3]]].flatten(2) == [1, 2, 3]",
        "[dyn(1)].flatten() == [1] && lists.range(3) == [0, 1, 2]",
        "['b', 'a'].sortBy(x, x) == ['a', 'b'] && [1, 2, 3].slice(1, 2) == [2]",
        "sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 2])",
        "[1, 2].transformMap(i, v, v * 2) == {0: 2, 1: 4}",
        "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}",
        "optional.of(1).optMap(x, x + 1).orValue(0) == 2",
        "[?optional.none(), ?optional.of(1)] == [1]",
        '!optional.ofNonZeroValue("").hasValue()',
        'ip("::1").isLoopback() && ip("10.0.0.1").family() == 4',
        '!isIP("::ffff:1.2.3.4") && ip.isCanonical("2001:db8::1")',
        'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")',
        'string(cidr("10.1.2.3/16").masked()) == "10.1.0.0/16"',
        'url("https://a.example.com:80/p?x=1").getHost() == "a.example.com:80"',
        '!isURL("../relative") && !isURL("http://[::g]/")',
        'timestamp("2024-02-29T12:30:45Z").getDayOfYear() == 59',
        'timestamp("2024-07-01T00:00:00Z").getHours("America/New_York") == 20',
        'duration("90m").getHours() == 1 && string(duration("1.5s")) == "1.5s"',
        '-dyn(duration("1s")) == duration("-1s")',
        'format.dns1123Label().validate("A").hasValue()',
        '!format.datetime().validate("2024-01-01T00:00:00Z").hasValue()',
        'format.datetime().validate("2024-01-01 00:00:00Z").hasValue()',
        '!format.byte().validate("YQ==").hasValue()',
        "dyn(1) == 1.0 && dyn(1u) < dyn(1.5) && !(dyn(1) == dyn('1'))",
        "int(1.9) == 1 && uint('7') == 7u && string(1e21) == '1e+21'",
        "bytes('é') == b'\\303\\251' && string(b'abc') == 'abc'",
        "-7 / 2 == -3 && -7 % 2 == -1",
        "{[1]: 2}.size() == 1 && !([1] in {[1]: 2})",
    ],
)  # fmt: skip
def test_function_returns_the_result_of_upstream(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0 == 1",
        "9223372036854775807 + 1 == 0",
        "0u - 1u == 0u",
        'quantity("one") == quantity("1")',
        'quantity("1000000000000000000").asInteger() == 1',
        'semver("1.2") == semver("1.2.0")',
        "'abc'.substring(2, 1) == ''",
        "[1, 2].slice(0, 3) == []",
        "[].max() == 1",
        "optional.none().value() == 1",
        'ip("fe80::1%eth0").family() == 6',
        "{'a': 1}['b'] == 1",
        "[1][5] == 1",
        "'%d'.format(['x', 1].filter(x, x != 1)) == ''",
        "0.0 / 0.0 < 1.0",
    ],
)
def test_expression_without_a_value_is_an_error(text: str) -> None:
    try:
        selector = compile_selector(text)
    except CelCompilationError:
        return
    with pytest.raises(CelEvaluationError):
        selector.matches(DEVICE)


@given(INTEGERS, INTEGERS)
def test_arithmetic_is_exact_or_overflows(left: int, right: int) -> None:
    for sign, result in (("+", left + right), ("-", left - right), ("*", left * right)):
        selector = compile_selector(f"({left}) {sign} ({right}) == {result % 7 - 3}")
        if -(2**63) <= result < 2**63:
            assert selector.matches(DEVICE) is (result == result % 7 - 3)
        else:
            with pytest.raises(CelEvaluationError, match="overflow"):
                selector.matches(DEVICE)


@given(INTEGERS, INTEGERS.filter(bool))
def test_quotient_and_remainder_restore_the_dividend(left: int, right: int) -> None:
    if (left, right) != (-(2**63), -1):
        quotient, rest = f"({left}) / ({right})", f"({left}) % ({right})"
        assert holds(f"{quotient} * ({right}) + {rest} == {left}")


@given(TEXTS, TEXTS)
def test_strings_are_searched_as_python_searches_them(left: str, right: str) -> None:
    text, part = literal(left), literal(right)
    assert holds(f"{text}.contains({part})") is (right in left)
    assert holds(f"{text}.startsWith({part})") is left.startswith(right)
    assert holds(f"{text}.endsWith({part})") is left.endswith(right)
    assert holds(f"{text}.indexOf({part}) == {left.find(right)}")
    assert holds(f"{text}.size() == {len(left)}")
    assert holds(f"({text} + {part}).size() == {len(left + right)}")
    assert holds(f"({text} < {part}) == {str(left < right).lower()}")
    assert holds(f"{text}.replace({part}, 'z') == {literal(left.replace(right, 'z'))}")


@given(st.lists(INTEGERS, max_size=8))
def test_lists_are_sorted_and_searched_as_python_does_it(values: list[int]) -> None:
    assert holds(f"{values}.sort() == {sorted(values)}")
    assert holds(f"{values}.distinct() == {list(dict.fromkeys(values))}")
    assert holds(f"{values}.all(x, {values}.exists(y, x == y))")
    assert holds(f"sets.equivalent({values}, {values}.reverse())")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(a|ab)+(c|bcd)", "xabcd", ["abcd"]),
        ("(a*)+b", "aab ab", ["aab", "ab"]),
        ("(|a)*", "a", ["", ""]),
        ("(x{1,2})+?", "xxx", ["xx", "x"]),
        ("((?i:B)|^)+", "bB", ["bB"]),
    ],
)
def test_repetitions_within_repetitions_are_found_as_go_finds_them(
    pattern: str, text: str, found: list[str]
) -> None:
    assert holds(f"{literal(text)}.findAll({literal(pattern)}) == {json.dumps(found)}")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a?){40}a{40}$", "(a*)*$"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    assert not holds(f"{literal('a' * 60 + 'b')}.matches({literal(pattern + 'c')})")
