"""Random CEL selectors, and the devices that they are evaluated on."""

from typing import Any, Final

from tests.go_answers.grammar import Rules

__all__ = ["DEVICES", "DRIVER", "RULES"]

DRIVER: Final = "d.io"
DEVICES: Final[tuple[dict[str, Any], ...]] = (
    {
        "attributes": {
            "n": {"int": 5},
            "s": {"string": "Tesla-A100"},
            "b": {"bool": True},
            "v": {"version": "1.2.3-rc.1"},
            "o.io/x": {"string": "zone-a"},
        },
        "capacity": {"mem": {"value": "40Gi"}, "o.io/c": {"value": "7"}},
    },
    {
        "attributes": {
            "n": {"int": -(2**63)},
            "s": {"string": ""},
            "b": {"bool": False},
            "v": {"version": "0.0.0"},
        },
        "capacity": {"mem": {"value": "100m"}},
    },
    {
        "attributes": {"s": {"string": "\u00e9\u65e5\u672c a b"}, "n": {"int": 0}},
        "capacity": {},
    },
)
_OWN: Final = 'device.attributes["d.io"]'

RULES: Final[Rules] = {
    "int": (
        ("0", "1", "-1", "5", "100", str(2**63 - 1), str(-(2**63)), "0x1F")
        + (f"{_OWN}.n",) * 3,
        (
            *(f"(<int> {sign} <int>)" for sign in "+-*/%"),
            "-<int>",
            "size(<string>)",
            "size(<ints>)",
            "int(<string>)",
            "int(<double>)",
            "int(<uint>)",
            "(<bool> ? <int> : <int>)",
            "<ints>[<int>]",
            "<string>.indexOf(<string>)",
            "<quantity>.compareTo(<quantity>)",
            "<quantity>.sign()",
            "<quantity>.asInteger()",
            "<version>.major()",
            "<ints>.sum()",
            "<ints>.min()",
            "<ints>.max()",
            "<ints>.indexOf(<int>)",
            "<time>.getFullYear()",
            '<time>.getHours("02:30")',
            '<time>.getDayOfYear("America/New_York")',
            "<duration>.getMinutes()",
            "math.greatest(<int>, <int>)",
        ),
    ),
    "uint": (("1u", "0u", f"{2**64 - 1}u", "5u"), ("uint(<int>)",)),
    "double": (
        ("1.5", "0.0", "-0.0", "1e300", 'double("NaN")', "1.0/0.0"),
        ("double(<int>)", "double(<string>)"),
    ),
    "string": (
        (
            '"a"',
            '""',
            '"Tesla"',
            '"1"',
            '"1.5"',
            "'é'",
            '"日本"',
            'r"\\d+"',
            '"a,b,c"',
            '"true"',
            '"\\u00e9\\n"',
            '"10Gi"',
            '"1.2.3"',
            f"{_OWN}.s",
            "device.driver",
            'device.attributes["o.io"].x',
        ),
        (
            "(<string> + <string>)",
            "<string>.lowerAscii()",
            "<string>.upperAscii()",
            "<string>.trim()",
            "<string>.reverse()",
            "string(<int>)",
            "string(<double>)",
            "string(<bool>)",
            "string(<time>)",
            "string(<duration>)",
            "<string>.substring(<int>)",
            "<string>.replace(<string>, <string>)",
            "<string>.charAt(<int>)",
            "<strings>.join(<string>)",
            "<string>.find(<string>)",
            "<strings>[<int>]",
            "(<bool> ? <string> : <string>)",
            '"%s %d".format([<string>, <int>])',
        ),
    ),
    "ints": (
        ("[1,2,3]", "[]", "[5]", "[3,1,2]", "[0,-1]"),
        (
            "[<int>, <int>]",
            "(<ints> + <ints>)",
            "<ints>.filter(x, x > <int>)",
            "<ints>.map(x, x * <int>)",
            "<ints>.map(x, x > 1, x * 2)",
        ),
    ),
    "strings": (
        ('["a","b"]', "[]"),
        ("<string>.split(<string>)", "[<string>]", "<string>.findAll(<string>)"),
    ),
    "quantity": (
        ('quantity("1Gi")', 'device.capacity["d.io"].mem', 'device.capacity["o.io"].c'),
        ("quantity(<string>)", "<quantity>.add(<int>)", "<quantity>.sub(<quantity>)"),
    ),
    "version": (('semver("1.2.3")', f"{_OWN}.v"), ("semver(<string>)",)),
    "time": (
        ('timestamp("2024-02-29T23:59:59.5Z")', "timestamp(1700000000)"),
        ("(<time> + <duration>)",),
    ),
    "duration": (
        ('duration("1h30m")', 'duration("-1.5s")', 'duration("0")', 'duration("1us")'),
        ("(<time> - <time>)",),
    ),
    "bool": (
        (
            "true",
            "false",
            f"{_OWN}.b",
            f'"n" in {_OWN}',
            f"has({_OWN}.n)",
            'device.driver == "d.io"',
            'device.attributes["zz"].y == 1',
        ),
        (
            "(<bool> && <bool>)",
            "(<bool> || <bool>)",
            "!<bool>",
            *(f"<int> {sign} <int>" for sign in ("==", "!=", "<", ">=")),
            *(f"<string> {sign} <string>" for sign in ("==", "<", ">=")),
            "<double> < <double>",
            "<double> == <int>",
            "<uint> > <int>",
            "<ints> == <ints>",
            "<strings> == <strings>",
            "<int> in <ints>",
            "<string>.contains(<string>)",
            "<string>.startsWith(<string>)",
            "<string>.matches(<string>)",
            "<ints>.all(x, x > <int>)",
            "<ints>.exists(x, x == <int>)",
            "<ints>.exists_one(x, x < <int>)",
            "<quantity>.isGreaterThan(<quantity>)",
            "<version>.isLessThan(<version>)",
            "isQuantity(<string>)",
            "isSemver(<string>)",
            "<time> < <time>",
            "<duration> == <duration>",
            "cel.bind(t, <int>, t < <int>)",
            "sets.contains(<ints>, <ints>)",
            "isIP(<string>)",
            "device.attributes[?<string>].hasValue()",
            "optional.of(<int>).orValue(<int>) == <int>",
            "dyn(<int>) == dyn(<string>)",
            "<strings>.isSorted()",
        ),
    ),
}
