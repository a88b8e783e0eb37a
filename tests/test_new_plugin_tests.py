"""The tests in packages of ``plugins new`` pass, and fail without the plugin."""

import importlib
import inspect
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from tests.kit.internals.packages import POINTS, PluginNames, package_files
from tests.kit.nightly import sampled
from tests.kit.packages import install

STEP = 12
"""The long suite checks one of so many packages; the nightly one checks the rest."""
SINGLE = list(itertools.combinations(POINTS, 1))
TWO_OR_THREE = [
    points for size in (2, 3) for points in itertools.combinations(POINTS, size)
]
PARTS = [
    [*SINGLE, *TWO_OR_THREE[::STEP]],
    *(TWO_OR_THREE[start::STEP] for start in range(1, STEP)),
]
FEW = [("queueSort",), ("filter", "score"), ("preEnqueue", "permit", "bind")]
ENABLES = "test_profile_enables_the_plugin_at_its_extension_points"
NOTICES_BY_PLACING = {
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "score",
    "permit",
    "preBind",
}
"""The points at which the generated rule decides where a pod goes, or when."""


class Package:
    """A generated package that seems to be installed, and the module of its tests."""

    def __init__(
        self, points: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = PluginNames("Gate" + "".join(points).title())
        for path, text in package_files(names, points).items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        install(folder, folder / "site")
        monkeypatch.syspath_prepend(folder / "site")
        importlib.import_module(names.package)
        self.points = points
        self.tests = ModuleType(f"test_{names.words}")
        module = folder / f"tests/test_{names.words}.py"
        vars(self.tests)["__file__"] = str(module)
        code = compile(module.read_text(encoding="utf-8"), module, "exec")
        exec(code, vars(self.tests))
        self.profile = folder / "profile.yaml"

    def failures(self, request: pytest.FixtureRequest) -> Iterator[str]:
        """Yield the names of the tests that fail."""
        for name, test in vars(self.tests).items():
            if not name.startswith("test_"):
                continue
            fixtures = {
                fixture: request.getfixturevalue(fixture)
                for fixture in inspect.signature(test).parameters
            }
            try:
                test(**fixtures)
            except AssertionError:
                yield name


def check(
    points: Sequence[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    package = Package(points, folder, monkeypatch)
    assert list(package.failures(request)) == []
    text = package.profile.read_text(encoding="utf-8")
    without = text[: text.index("    plugins:")]
    package.profile.write_text(without, encoding="utf-8")
    missed = set(package.failures(request))
    assert ENABLES in missed
    if NOTICES_BY_PLACING.intersection(points):
        assert len(missed) > 1, "no test of a placement notices"


@pytest.mark.long
@pytest.mark.parametrize("points", FEW, ids="-".join)
def test_generated_tests_notice_a_profile_without_the_plugin(
    points: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    check(points, tmp_path, monkeypatch, request)


@pytest.mark.long
def test_generated_tests_notice_a_profile_that_leaves_out_a_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    package = Package(("filter", "score"), tmp_path, monkeypatch)
    text = package.profile.read_text(encoding="utf-8")
    package.profile.write_text(text.replace("multiPoint:", "filter:"), encoding="utf-8")
    assert ENABLES in set(package.failures(request))


@pytest.mark.parametrize("part", sampled(PARTS, step=STEP))
def test_generated_tests_of_up_to_three_points_notice_a_profile_without_the_plugin(
    part: Sequence[Sequence[str]],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for points in part:
        caplog.clear()
        with pytest.MonkeyPatch.context() as monkeypatch:
            check(points, tmp_path / "-".join(points), monkeypatch, request)
