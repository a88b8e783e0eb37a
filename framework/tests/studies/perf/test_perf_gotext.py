"""Go's templates, as far as scheduler_perf uses them."""

import pytest

from tests.kit.internals.perf import GoTemplate, GoTemplateError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("pod-{{.Index}} of {{ .Count }}", "pod-13 of 40"),
        ("8{{ Mod .Index 12 }}", "81"),
        ("{{DivideInt .Index 5}}", "2"),
        ("{{ DivideInt 30000 .Count }}Mi", "750Mi"),
        ("{{ DivideFloat .Index 4 }}", "3.25"),
        ("{{ DivideFloat 12 4 }}", "3"),
        ("{{ AddInt .Index 1 2 }}", "16"),
        ("{{ AddFloat 0.5 0.25 }}", "0.75"),
        ("{{ SubtractInt 3 .Index }}", "-10"),
        ("{{ SubtractFloat 0.5 1 }}", "-0.5"),
        ("{{ MultiplyInt .Index 2 2 }}", "52"),
        ("{{ MultiplyFloat 0.001 0.01 }}", "1e-05"),
        ("{{ MultiplyFloat 1000000 1000000 1000000 }}", "1000000000000000000"),
        ("{{ Mod -7 3 }}", "-1"),
        ("{{ AddInt (Mod .Index 5) (MultiplyInt 2 2) }}", "7"),
        ("{{ .Index | Mod 100 }}", "9"),
        ('{{ "a text" }}', "a text"),
        ('{{ AddInt "3" 4 }}', "7"),
        ("a {{- .Index -}} b", "a13b"),
        ("a{{/* a comment */}}b", "ab"),
    ],
)
def test_actions_give_what_go_gives(text: str, expected: str) -> None:
    assert GoTemplate(text).render(13, 40) == expected


def test_only_a_template_with_an_index_differs_from_object_to_object() -> None:
    assert GoTemplate("{{ Mod .Index 2 }} {{ .Index }} {{ .Count }}").places == 2
    assert GoTemplate("{{ DivideInt 30000 .Count }}").places == 0


def test_what_differs_can_be_put_into_the_text() -> None:
    template = GoTemplate("a{{ .Index }} b{{ .Count }} c{{ Mod .Index 2 }}")
    assert template.values(13, 40) == ["13", "1"]
    assert template.fill(["x", "y"], 40) == "ax b40 cy"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n{{ Modulo .Index 2 }}", "line 2: unknown function 'Modulo'.*Mod"),
        ("{{ .Name }}", "line 1: unknown field '.Name'"),
        ("{{ Mod .Index }}", "line 1: Mod: expected 2 arguments, got 1"),
        ("{{ .Index", "line 1: expected }} after {{"),
        ("{{ }}", "line 1: expected a value or a function"),
        ("{{ Mod (AddInt 1 2 }}", "line 1: expected"),
        ("{{ .Index .Count }}", "line 1: unexpected '.Count'"),
        ("{{ 3 | .Index }}", "line 1: cannot pipe into .Index"),
        ("{{ & }}", "line 1: cannot read '&'"),
    ],
)
def test_what_is_not_understood_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(GoTemplateError, match=message):
        GoTemplate(text)


@pytest.mark.parametrize("text", ["{{ Mod 1 0 }}", "{{ AddInt 1 (AddFloat) "])
def test_a_broken_action_is_an_error(text: str) -> None:
    with pytest.raises(GoTemplateError):
        GoTemplate(text).render(0, 1)


def test_an_action_that_fails_is_told_with_its_line() -> None:
    template = GoTemplate("\n\n{{ DivideInt 1 .Index }}")
    with pytest.raises(GoTemplateError, match=r"line 3: {{ DivideInt 1 \.Index }}: "):
        template.render(0, 1)
