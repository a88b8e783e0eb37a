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
        ("{{ MultiplyFloat 1000000 1000000 1000000 }}", "1e+18"),
        ("{{ Mod -7 3 }}", "-1"),
        ("{{ AddInt (Mod .Index 5) (MultiplyInt 2 2) }}", "7"),
        ("{{ .Index | Mod 100 }}", "9"),
        ('{{ "a text" }}', "a text"),
        ('{{ AddInt "3" 4 }}', "7"),
        ("a {{- .Index -}} b", "a13b"),
        ("a{{/* a comment */}}b", "ab"),
    ],
)
def test_actions_render_like_go(text: str, expected: str) -> None:
    assert GoTemplate(text).render(13, 40) == expected


PARAMETERS = {
    "ten": 10,
    "million": 1_000_000,
    "text": "value",
    "list": ["a", 1],
    "l": [{"k": "w"}],
    "map": {"k": "v"},
    "nothing": None,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ .million }} {{ AddInt 0 .million }}", "1e+06 1000000"),
        (
            "{{ MultiplyFloat 1234567 }} {{ MultiplyFloat 123456 }}",
            "1.234567e+06 123456",
        ),
        ("{{ .list }} {{ .map }} {{ .map.k }}", "[a 1] map[k:v] v"),
        ('{{ index .list 0 }}{{ index .map "k" }}{{ len .list }}', "av2"),
        ("{{ or .missing 5 }} {{ or .ten .missing.x }}", "5 10"),
        ("{{ and 1 0 }}{{ and 1 2 }} {{ not .ten }}", "02 false"),
        ("{{ .missing | JSON }} {{ (or .nothing nil) | JSON }}", "null null"),
        ("{{ JSON .list }} {{ .map | JSON }}", '["a",1] {"k":"v"}'),
        ('{{ Int 2.9 }} {{ Int .ten }} {{ Int "7" }}', "2 10 7"),
        ("{{ eq .ten 10.0 }} {{ eq .Index 3 13 }} {{ ne 1 2 }}", "true true true"),
        ('{{ eq .missing nil }} {{ eq .text "value" }}', "true true"),
        (
            '{{ lt 1 2 }} {{ le .ten 9.5 }} {{ ge "b" "a" }} {{ gt 1 1 }}',
            "true false true false",
        ),
        ('{{ print 1 2 "a" "b" 3 }}', "1 2ab3"),
        (
            "{{ true }} {{ 1.0 }} {{ 1e3 }} {{ 'a' }} {{ 0x10 }} {{ `}}` }}",
            "true 1 1000 97 16 }}",
        ),
        ("{{ if .missing }}a{{ else if .ten }}b{{ else }}c{{ end }}", "b"),
        ("{{ if not .ten }}a{{ else if .nothing }}b{{ else }}c{{ end }}", "c"),
        ("{{ with .map }}{{ .k }}{{ $.Index }}{{ end }}", "v13"),
        ("{{ with .nothing }}a{{ else with .text }}{{ . }}{{ end }}", "value"),
        ("{{ range 3 }}{{ . }}{{ end }}", "012"),
        ("{{ range (.ten | Int) }}{{ Mod . 3 }}{{ end }}", "0120120120"),
        ("{{ range $item := .list }}[{{ $item }}]{{ end }}", "[a][1]"),
        ("{{ range $key, $value := .map }}{{ $key }}={{ $value }}{{ end }}", "k=v"),
        ("{{ range .nothing }}a{{ else }}b{{ end }}", "b"),
        (
            "{{range $i := 4}}{{if eq $i 1}}{{continue}}{{end}}{{ $i }}{{end}}",
            "023",
        ),
        (
            "{{ range $i := 4 }}{{ if eq $i 2 }}{{ break }}{{ end }}{{ $i }}{{ end }}",
            "01",
        ),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"),
        ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}", "1"),
        ("{{ if $x := .text }}{{ $x }}{{ end }}", "value"),
        ("{{ $m := .map }}{{ $m.k }}{{ (index .list 0) }}{{ (index .l 0).k }}", "vaw"),
    ],
)
def test_control_flow_and_parameters_render_like_go(text: str, expected: str) -> None:
    """The expected texts were printed by Go's text/template."""
    assert GoTemplate(text, PARAMETERS).render(13, 40) == expected


def test_only_a_template_with_an_index_differs_from_object_to_object() -> None:
    text = "{{ Mod .Index 2 }} {{ .Index }} {{ .Count }}"
    assert GoTemplate(text).texts(40).places == 2
    assert GoTemplate("{{ DivideInt 30000 .Count }}").texts(40).places == 0


def test_placeholders_can_be_filled_into_the_text() -> None:
    texts = GoTemplate("a{{ .Index }} b{{ .Count }} c{{ Mod .Index 2 }}").texts(40)
    assert texts.values(13) == ["13", "1"]
    assert texts.fill(["x", "y"]) == "ax b40 cy"


def test_a_loop_has_a_place_for_each_turn_that_differs() -> None:
    texts = GoTemplate("{{ range $i := 3 }}{{ AddInt $i $.Index }},{{ end }}").texts(1)
    assert texts.places == 3
    assert texts.values(10) == ["10", "11", "12"]
    assert texts.fill(texts.values(4)) == "4,5,6,"


@pytest.mark.parametrize(
    "text",
    [
        "{{ if eq .Index 1 }}a{{ end }}b",
        "{{ range .Index }}a{{ end }}b",
        "{{ $i := .Index }}{{ if eq $i 1 }}a{{ end }}b",
        "{{ $i := 0 }}{{ $i = .Index }}{{ if $i }}a{{ end }}b",
    ],
)
def test_a_condition_on_the_index_is_decided_for_each_object(text: str) -> None:
    texts = GoTemplate(text).texts(4)
    assert not texts.is_regular
    assert [texts.fill(texts.values(index)) for index in (0, 1)] == ["b", "ab"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n{{ Modulo .Index 2 }}", "line 2: unknown function 'Modulo'.*Mod"),
        ("{{ Mod .Index }}", "line 1: Mod: expected 2 arguments, got 1"),
        ("{{ .Index", "line 1: expected }} after {{"),
        ("{{ }}", "line 1: expected a value or a function"),
        ("{{ Mod (AddInt 1 2 }}", "line 1: expected"),
        ("{{ .Index .Count }}", "line 1: unexpected '.Count'"),
        ("{{ 3 | .Index }}", "line 1: cannot pipe into .Index"),
        ("{{ & }}", "line 1: cannot read '&'"),
        ("{{ $x }}", r"line 1: undefined variable '\$x'"),
        ("{{ nil }}", "line 1: nil is not a value"),
        ("{{ if true }}", "line 1: {{if true}} has no end"),
        ("{{ end }}", "line 1: unexpected {{end}}"),
        ("{{ if 1 }}{{ else for }}{{ end }}", "line 1: unexpected 'else for'"),
        ("{{ break }}", "line 1: unexpected 'break'"),
        ('{{ template "x" }}', "line 1: 'template' is not supported"),
        ("{{ $x, $y := 1 }}", "line 1: expected one variable"),
        ("{{ range $a, $b, $c := 1 }}{{ end }}", "line 1: expected at most two"),
        ("{{ 3 := 1 }}", "line 1: cannot read '3 := 1'"),
        ("{{ not }}", "line 1: not: expected 1 argument, got 0"),
    ],
)
def test_unsupported_action_is_an_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(GoTemplateError, match=message):
        GoTemplate(text)


@pytest.mark.parametrize("text", ["{{ Mod 1 0 }}", "{{ AddInt 1 (AddFloat) "])
def test_a_broken_action_is_an_error(text: str) -> None:
    with pytest.raises(GoTemplateError):
        GoTemplate(text).render(0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n{{ DivideInt 1 .Index }}", r"line 3: {{ DivideInt 1 \.Index }}: "),
        ("{{ .Name }}", r"line 1: unknown field '\.Name' \(known: \.ten"),
        ("{{ or .Name .Names }}", r"or \.Name \.Names }}: expected a value, got nil"),
        (
            "{{ range .ten }}{{ end }}",
            "range .ten }}: range cannot go through a float64",
        ),
        ("{{ eq .ten 10 }}", "incompatible types for comparison: float64 and int"),
        ("{{ lt .Index 4.0 }}", "incompatible types for comparison: int and float64"),
        ("{{ eq .map .map }}", "a map cannot be compared"),
        ("{{ lt .nothing 4 }}", "<nil> has no order"),
        ("{{ .ten.x }}", "float64 has no field 'x'"),
        ("{{ index .list 2 }}", "expected an index below 2, got 2"),
        ("{{ index .ten 2 }}", "expected a list or a map to look into, got 10"),
        ("{{ index .map 2 }}", "expected a name to look up in a map, got 2"),
        ("{{ len .ten }}", "10 has no length"),
        ("{{ Int .text }}", "expected an integer, got 'value'"),
        ("{{ AddInt 1 .nothing }}", "expected a number, got <nil>"),
    ],
)
def test_a_failing_action_is_an_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(GoTemplateError, match=message):
        GoTemplate(text, PARAMETERS).render(0, 1)
