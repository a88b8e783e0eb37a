"""Types and rules that plugin authors may use for arguments."""

import enum
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, ClassVar, Literal

import attrs
import pytest

from quaymaster import hookimpl
from quaymaster.config import (
    ZERO_MEANS_DEFAULT,
    ArgsError,
    ConfigErrors,
    Rule,
    dump_config,
    duration,
    each,
    integer,
    matching,
    non_empty,
    number,
    one_of,
    parse_config,
    qualified_name,
)
from quaymaster.objects import (
    LabelSelector,
    NodeAffinity,
    PreferredSchedulingTerm,
    Quantity,
    TopologySpreadConstraint,
)
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER


class Mood(enum.StrEnum):
    CALM = "Calm"
    ROUGH = "Rough"


class Knots(enum.Enum):
    SLOW = 5
    FAST = 30


@attrs.frozen(kw_only=True)
class Buoy:
    name: str
    depth: int = attrs.field(default=4, metadata=ZERO_MEANS_DEFAULT)


def is_even(_instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:
    if value % 2:
        raise ValueError(f"{attribute.name} is odd")


@attrs.frozen(kw_only=True)
class SeaArgs:
    """Arguments with a field of every supported type."""

    count: int = 0
    share: float = 0.0
    label: str = ""
    deep: bool = False
    wait: timedelta = timedelta(0)
    mood: Mood = Mood.CALM
    speed: Knots = Knots.SLOW
    side: Literal["port", "starboard"] = "port"
    key: bytes = b""
    limit: Quantity = Quantity(0)
    maybe: int | None = None
    either: int | str = 0
    buoys: tuple[Buoy, ...] = ()
    flags: frozenset[str] = frozenset()
    names: list[str] = attrs.field(factory=list)
    depths: Mapping[str, int] = attrs.field(factory=dict)
    selector: LabelSelector | None = None
    affinity: NodeAffinity | None = None
    spread: tuple[TopologySpreadConstraint, ...] = ()
    anything: object = None
    even: int = attrs.field(default=0, validator=is_even)
    url: str = attrs.field(default="", metadata={"key": "URL"})


def registry_for(args: type) -> PluginRegistry:
    class Sea:
        Args: ClassVar[type] = args

        @hookimpl
        def queue_sort(self) -> None: ...

        @hookimpl
        def bind(self) -> None: ...

    return PluginRegistry.of({"Sea": Sea})


def document_with(args: object) -> dict[str, object]:
    plugins = {"multiPoint": {"enabled": [{"name": "Sea"}]}}
    config = [{"name": "Sea", "args": args}]
    return HEADER | {"profiles": [{"plugins": plugins, "pluginConfig": config}]}


def read(args: object, kind: type = SeaArgs) -> object:
    """Read arguments from the values of a file."""
    document = document_with(args)
    config = parse_config(document, registry_for(kind), defaults=HEADER)
    return config.profiles[0].plugin_args["Sea"]


def wrong_in(args: object, kind: type = SeaArgs) -> list[str]:
    """Return the problems of such arguments."""
    with pytest.raises(ConfigErrors) as caught:
        read(args, kind)
    prefix = "profiles[0].pluginConfig[0].args."
    return [
        f"{problem.path.removeprefix(prefix)}: {problem.message}"
        for problem in caught.value.problems
    ]


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("count", 7, 7),
        ("share", 7, 7.0),
        ("share", 0.5, 0.5),
        ("label", "7", "7"),
        ("deep", True, True),
        ("wait", "1h2m3.5s", timedelta(hours=1, minutes=2, seconds=3.5)),
        ("mood", "Rough", Mood.ROUGH),
        ("speed", 30, Knots.FAST),
        ("side", "starboard", "starboard"),
        ("key", "AAE=", b"\x00\x01"),
        ("limit", "1.5Gi", Quantity("1.5Gi")),
        ("limit", 2, Quantity(2)),
        ("maybe", None, None),
        ("maybe", 3, 3),
        ("either", "three", "three"),
        ("buoys", [{"name": "a", "depth": 0}], (Buoy(name="a", depth=4),)),
        ("flags", ["b", "a", "b"], frozenset({"a", "b"})),
        ("names", ["b", "a"], ["b", "a"]),
        ("depths", {"here": 3}, {"here": 3}),
        (
            "selector",
            {"matchLabels": {"a": "b"}},
            LabelSelector(match_labels={"a": "b"}),
        ),
        ("anything", [1, {"a": None}], [1, {"a": None}]),
        ("URL", "http://sea", "http://sea"),
    ],
)
def test_a_field_accepts_values_of_its_type(
    key: str, written: object, value: object
) -> None:
    args = read({key: written})

    name = key.lower()
    assert getattr(args, name) == value
    assert type(getattr(args, name)) is type(value)


@pytest.mark.parametrize(
    ("key", "written", "message"),
    [
        ("count", "7", "expected an integer, got '7'"),
        ("count", 7.0, "expected an integer, got 7.0"),
        ("count", 2**63, "expected an integer, got 9223372036854775808"),
        ("share", float("nan"), "expected a number, got nan"),
        ("label", 7, "expected a text, got 7"),
        ("deep", "true", "expected true or false, got 'true'"),
        ("wait", "5", "expected a duration such as 15s or 1m30s, got '5'"),
        ("mood", "rough", "expected one of 'Calm', 'Rough', got 'rough'"),
        ("speed", "30", "expected one of 5, 30, got '30'"),
        ("side", "left", "expected one of 'port', 'starboard', got 'left'"),
        ("limit", "much", "expected a quantity such as 500m, 2 or 1.5Gi, got 'much'"),
        ("buoys", {"name": "a"}, "expected a list, got a mapping"),
        ("names", "ab", "expected a list, got 'ab'"),
        ("depths", [], "expected a mapping, got an empty list"),
        ("even", 3, "even is odd"),
    ],
)
def test_a_field_rejects_other_values(key: str, written: object, message: str) -> None:
    (line,) = wrong_in({key: written})

    assert line.startswith(f"{key}: {message}")


def test_embedded_api_objects_are_those_that_plugins_get_elsewhere() -> None:
    term = {
        "weight": 3,
        "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
    }
    args = read(
        {"affinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    )

    assert isinstance(args, SeaArgs)
    assert args.affinity is not None
    (wish,) = args.affinity.preferred_during_scheduling_ignored_during_execution
    assert isinstance(wish, PreferredSchedulingTerm)
    assert wish.weight == 3
    assert wish.preference.match_expressions[0].key == "a"


def test_arguments_of_every_type_can_be_dumped_and_read_again() -> None:
    written = {
        "share": 0.25,
        "wait": "1m0.5s",
        "mood": "Rough",
        "speed": 30,
        "key": "AAE=",
        "limit": "1500m",
        "either": "three",
        "buoys": [{"name": "a", "depth": 9}],
        "flags": ["a", "b"],
        "selector": {"matchLabels": {"a": "b"}},
        "spread": [{"maxSkew": 2, "topologyKey": "zone"}],
        "URL": "http://sea",
    }
    config = parse_config(
        document_with(written), registry_for(SeaArgs), defaults=HEADER
    )

    dumped = dump_config(config)
    again = parse_config(dumped, registry_for(SeaArgs), defaults=HEADER)

    assert again == config
    profiles: Any = dumped["profiles"]
    shown = profiles[0]["pluginConfig"][0]["args"]
    assert {key: shown[key] for key in written} == written


@attrs.frozen(kw_only=True)
class RuledArgs:
    weight: int = attrs.field(default=1, validator=integer(1, 100))
    least: int = attrs.field(default=0, validator=integer(0))
    most: int = attrs.field(default=0, validator=integer(maximum=5))
    share: float = attrs.field(default=0.5, validator=number(0, 1))
    wait: timedelta = attrs.field(
        default=timedelta(seconds=1), validator=duration(timedelta(seconds=1))
    )
    mode: str = attrs.field(default="fast", validator=one_of("fast", "slow"))
    title: str = attrs.field(default="x", validator=non_empty())
    host: str = attrs.field(
        default="sea", validator=matching("[a-z]+", "a name in small letters")
    )
    resource: str = attrs.field(default="cpu", validator=qualified_name())
    resources: tuple[str, ...] = attrs.field(
        default=("cpu",), validator=[non_empty(), each(qualified_name())]
    )
    scores: tuple[int, ...] = attrs.field(default=(), validator=each(integer(0, 10)))
    maybe: int | None = attrs.field(default=None, validator=integer(1, 2))


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"weight": 0}, "weight: expected an integer from 1 to 100, got 0"),
        ({"weight": "5"}, "weight: expected an integer from 1 to 100, got '5'"),
        ({"least": -1}, "least: expected an integer, 0 or more, got -1"),
        ({"most": 6}, "most: expected an integer, 5 or less, got 6"),
        ({"share": 1.5}, "share: expected a number from 0 to 1, got 1.5"),
        (
            {"wait": "10ms"},
            "wait: expected a duration such as 15s, 1s or more, got 10ms",
        ),
        (
            {"mode": "slwo"},
            "mode: expected one of 'fast', 'slow', got 'slwo'; did you mean 'slow'?",
        ),
        ({"title": ""}, "title: expected a text or list that is not empty, got ''"),
        ({"host": "Sea"}, "host: expected a name in small letters, got 'Sea'"),
        (
            {"resource": "a/b/c"},
            "resource: expected a name such as cpu or example.com/gpu, got 'a/b/c'",
        ),
        (
            {"resources": []},
            "resources: expected a text or list that is not empty, got an empty list",
        ),
        (
            {"resources": ["cpu", "-"]},
            "resources[1]: expected a name such as cpu or example.com/gpu, got '-'",
        ),
        ({"scores": [1, "2"]}, "scores[1]: expected an integer, got '2'"),
        ({"scores": [1, 11]}, "scores[1]: expected an integer from 0 to 10, got 11"),
        ({"maybe": 3}, "maybe: expected an integer from 1 to 2, got 3"),
    ],
)
def test_a_broken_rule_reports_what_it_expects(args: object, line: str) -> None:
    assert wrong_in(args, RuledArgs) == [line]


def test_all_broken_rules_are_reported_and_not_only_the_first() -> None:
    lines = wrong_in({"weight": 0, "scores": [11, 1, 12]}, RuledArgs)

    assert [line.split(":")[0] for line in lines] == [
        "weight",
        "scores[0]",
        "scores[2]",
    ]


def test_a_rule_checks_arguments_that_are_made_in_code_too() -> None:
    with pytest.raises(ArgsError, match="weight: expected an integer from 1 to 100"):
        RuledArgs(weight=0)
    with pytest.raises(ArgsError) as caught:
        RuledArgs(resources=("cpu", "-"))
    assert caught.value.path == "resources[1]"


@pytest.mark.parametrize(
    ("name", "is_name"),
    [
        ("cpu", True),
        ("a.b_c-d", True),
        ("A" * 63, True),
        ("A" * 64, False),
        ("example.com/gpu", True),
        ("a" * 253 + "/x", True),
        ("a" * 254 + "/x", False),
        ("Example.com/gpu", False),
        ("/gpu", False),
        ("example.com/", False),
        ("-cpu", False),
        ("cpu-", False),
        ("", False),
        ("cpu\n", False),
    ],
)
def test_a_qualified_name_is_what_kubernetes_takes_for_a_label_key(
    name: str, is_name: bool
) -> None:
    assert qualified_name().accepts(name) is is_name


def test_a_custom_rule_is_a_description_and_a_function() -> None:
    odd = Rule("an odd number", lambda value: value in (1, 3, 5), {"enum": [1, 3, 5]})

    @attrs.frozen(kw_only=True)
    class OddArgs:
        count: int = attrs.field(default=1, validator=odd)

    assert wrong_in({"count": 4}, OddArgs) == ["count: expected an odd number, got 4"]


def test_validate_may_report_several_mistakes_at_once() -> None:
    @attrs.frozen(kw_only=True)
    class RangeArgs:
        points: tuple[int, ...] = ()

        def validate(self) -> Iterator[ArgsError]:
            for index, (before, point) in enumerate(
                zip(self.points, self.points[1:], strict=False), start=1
            ):
                if before >= point:
                    message = f"expected more than {before}, got {point}"
                    yield ArgsError(f"points[{index}]", message)

    assert read({"points": [1, 2, 3]}, RangeArgs) == RangeArgs(points=(1, 2, 3))
    assert wrong_in({"points": [3, 2, 1]}, RangeArgs) == [
        "points[1]: expected more than 3, got 2",
        "points[2]: expected more than 2, got 1",
    ]


def test_a_type_that_no_file_can_hold_is_an_error_and_not_a_crash() -> None:
    class Ship: ...

    @attrs.frozen(kw_only=True)
    class ShipArgs:
        ship: Ship | None = None

    (line,) = wrong_in({"ship": "Queen"}, ShipArgs)

    assert line.startswith("ship: cannot be read as Ship")
