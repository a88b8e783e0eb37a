"""Patterns return the same trees as parsing each text."""

import pytest

from tests.kit.internals.input import YamlError, documents
from tests.kit.internals.perf import GoTemplate, make_pattern


@pytest.mark.parametrize(
    "text",
    [
        "name: pod-{{ .Index }}\nlist: [a, {{ .Index }}, '{{ .Index }}']",
        "port: 8{{ Mod .Index 12 }}\nlabels: {app-{{ .Index }}: yes, 'x': null}",
        "half: {{ DivideFloat .Index 2 }}\nsame: {{ .Count }}\nname: {{ .Index }}Mi",
        'quoted: "{{ .Index }}"\nboth: {{ .Index }}.{{ Mod .Index 3 }}',
        "plain: text",
        "list:{{ range 3 }}\n- {{ . }}-{{ $.Index }}-{{ Mod $.Index 5 }}{{ end }}",
    ],
)
def test_a_pattern_agrees_with_the_parser(text: str) -> None:
    texts = GoTemplate(text).texts(40)
    pattern = make_pattern(texts)
    assert pattern is not None
    for index in (0, 1, 7, 13, 39):
        values = texts.values(index)
        read = list(documents(texts.fill(values).encode()))
        assert pattern.tree(values) == read


@pytest.mark.parametrize(
    "text",
    [
        "a: &x{{ .Index }} b\nc: *x{{ .Index }}",
        'a: "\\x0{{ .Index }}"',
        "a: 1\n{{ if eq .Index 1 }}b: 2{{ end }}",
        "a: {{ print .Index }}",
    ],
    ids=["an anchor's name", "a part of an escape", "a condition", "a text"],
)
def test_what_changes_more_than_texts_has_no_pattern(text: str) -> None:
    assert make_pattern(GoTemplate(text).texts(2)) is None


def test_invalid_yaml_is_an_error() -> None:
    with pytest.raises(YamlError, match="line 1, column 5"):
        make_pattern(GoTemplate("a: {{ .Index }}: b").texts(2))


@pytest.mark.parametrize(
    ("text", "has_fixed_keys"),
    [
        ("a: {{ .Index }}\nb: [{c: x}]", True),
        ("a: 1\n'{{ .Index }}': x", False),
        ("a: [{b: {'k{{ .Index }}': x}}]", False),
    ],
)
def test_a_pattern_reports_whether_its_keys_change(
    text: str, has_fixed_keys: bool
) -> None:
    pattern = make_pattern(GoTemplate(text).texts(4))
    assert pattern is not None
    assert pattern.has_fixed_keys is has_fixed_keys
