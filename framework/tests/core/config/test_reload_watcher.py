"""A configuration file is watched while a scheduler runs."""

import json
import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.config import ConfigChanges, ConfigWatcher, ReloadError
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER, YAML_HEADER
from tests.kit.internals.config import PARSE_CONFIG


class Wall:
    """Rejects every pod; its constructor fails while the crane is broken."""

    is_broken: ClassVar[bool] = False

    def __init__(self, args: None, handle: Handle) -> None:
        if Wall.is_broken:
            raise RuntimeError("the crane fell over")

    @hookimpl
    def filter(self, pod: Pod) -> Status:
        return Status.unschedulable("node(s) stood behind a wall")


def text(*plugins: str, name: str = "default-scheduler", **settings: object) -> str:
    listed = json.dumps([{"name": plugin} for plugin in plugins])
    lines = [f"{key}: {json.dumps(value)}\n" for key, value in settings.items()]
    return (
        f"{YAML_HEADER}{''.join(lines)}profiles:\n"
        f"- schedulerName: {name}\n"
        f"  plugins: {{multiPoint: {{enabled: {listed}}}}}\n"
    )


class Diary:
    """Records the calls of the watcher."""

    def __init__(self) -> None:
        self.changes: list[ConfigChanges] = []
        self.errors: list[ReloadError] = []

    def reloaded(self, changes: ConfigChanges, /) -> None:
        self.changes.append(changes)

    def rejected(self, error: ReloadError, /) -> None:
        self.errors.append(error)


class Followed:
    """A scheduler that watches a file."""

    def __init__(self, path: Path) -> None:
        Wall.is_broken = False
        self.path = path
        self.harness = SchedulerHarness(
            [make_node(name="n")],
            plugins={"Wall": Wall},
            config={"profiles": None, **as_document()},
        )
        self.diary = Diary()
        self.watcher = ConfigWatcher(
            path,
            self.harness.registry,
            self.harness,
            self.harness.clock,
            interval_seconds=5.0,
            observer=self.diary,
        )
        self.watcher.start()
        self.harness.advance(5.0)

    def write(self, content: str) -> None:
        self.path.write_text(content, encoding="utf-8")

    def look(self) -> None:
        self.harness.advance(5.0)


def as_document() -> Mapping[str, Any]:
    return {**HEADER}


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    path = tmp_path / "scheduler.yaml"
    path.write_text(text(), encoding="utf-8")
    return Followed(path)


def test_a_changed_file_is_in_force_after_the_next_check(
    followed: Followed, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    followed.write(text("Wall"))
    followed.harness.cluster.create(make_pod(name="before"))
    followed.harness.settle()
    assert followed.harness.node_of("before") == "n"
    followed.look()
    followed.harness.cluster.create(make_pod(name="after"))
    followed.harness.settle()
    assert "behind a wall" in followed.harness.message("after")
    assert followed.diary.changes == [ConfigChanges(changed=("default-scheduler",))]
    (line,) = [record.message for record in caplog.records]
    assert line.startswith(f"{followed.path}: reloaded (sha256:")
    assert line.endswith("): profile 'default-scheduler' changed")


def test_a_file_that_has_not_changed_is_left_alone(followed: Followed) -> None:
    config = followed.harness.config
    followed.path.touch()
    followed.harness.advance(60.0)
    assert followed.harness.config is config
    assert followed.diary.changes == []


def test_a_file_that_means_the_same_is_not_applied(followed: Followed) -> None:
    config = followed.harness.config
    followed.write("# a comment\n" + text())
    followed.look()
    assert followed.harness.config is config
    assert followed.diary.changes == [ConfigChanges()]
    assert str(followed.diary.changes[0]) == "nothing changed"


def test_a_change_between_the_start_and_the_first_check_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(text("Wall"), encoding="utf-8")
    followed = Followed(path)
    assert followed.diary.changes == [ConfigChanges(changed=("default-scheduler",))]


# How files are exchanged ------------------------------------------------------------


def test_a_file_that_is_renamed_into_place_is_seen(
    followed: Followed, tmp_path: Path
) -> None:
    times = followed.path.stat()
    other = tmp_path / "other"
    other.write_text(text("Wall"), encoding="utf-8")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.rename(followed.path)
    followed.look()
    assert len(followed.diary.changes) == 1


def test_a_config_map_whose_directory_is_exchanged_is_seen(tmp_path: Path) -> None:
    """As kubelet does it: FILE -> ..data/FILE, ..data -> a directory per version."""
    for version, plugins in (("..1", []), ("..2", ["Wall"])):
        file = tmp_path / version / "scheduler.yaml"
        file.parent.mkdir()
        file.write_text(text(*plugins), encoding="utf-8")
        os.utime(file, (0, 0))
    (tmp_path / "..data").symlink_to("..1")
    path = tmp_path / "scheduler.yaml"
    path.symlink_to("..data/scheduler.yaml")
    followed = Followed(path)
    assert followed.diary.changes == []
    (tmp_path / "..data_tmp").symlink_to("..2")
    (tmp_path / "..data_tmp").rename(tmp_path / "..data")
    followed.look()
    assert len(followed.diary.changes) == 1


def test_a_file_that_is_missing_for_a_moment_does_no_harm(followed: Followed) -> None:
    followed.path.unlink()
    followed.look()
    (error,) = followed.diary.errors
    assert error.digest == "unreadable"
    assert error.problems == (f"{followed.path}: No such file or directory",)
    followed.write(text())
    followed.look()
    assert followed.watcher.error is None
    assert followed.diary.changes == [ConfigChanges()]


# Files that cannot be used ----------------------------------------------------------

BAD = {
    "half written": (text("Wall")[:-9], "line "),
    "empty": ("", "expected a KubeSchedulerConfiguration, got nothing"),
    "unknown plugin": (
        text("Walls"),
        "profiles[0].plugins.multiPoint.enabled[0].name: unknown plugin 'Walls'",
    ),
    "wrong setting": (
        text(podMaxBackoffSeconds="long"),
        "podMaxBackoffSeconds: expected ",
    ),
    "bad arguments": (
        text() + "  pluginConfig: [{name: NodeResourcesFit, args: {what: 1}}]\n",
        "profiles[0].pluginConfig[0].args.what: ",
    ),
    "extender": (
        text(extenders=[{"urlPrefix": "nowhere", "filterVerb": "filter"}]),
        "extenders: urlPrefix: expected a URL such as",
    ),
}


@pytest.mark.parametrize(("content", "problem"), BAD.values(), ids=BAD)
def test_a_bad_file_is_reported_once_and_the_old_stays_in_force(
    followed: Followed,
    content: str,
    problem: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    config = followed.harness.config
    followed.write(content)
    followed.harness.advance(60.0)
    assert followed.harness.config is config
    (error,) = followed.diary.errors
    assert error is followed.watcher.error
    assert all(line.startswith(f"{followed.path}") for line in error.problems)
    assert any(problem in line for line in error.problems)
    (record,) = [entry for entry in caplog.records if entry.levelno == logging.ERROR]
    assert record.message == str(error)
    first, *others = record.message.splitlines()
    assert first.startswith(f"{followed.path}: not applied ({error.digest}), the old")
    assert tuple(others) == error.problems
    followed.write(text("Wall"))
    followed.look()
    assert followed.watcher.error is None
    assert len(followed.diary.changes) == 1


def test_all_problems_of_a_file_are_reported_at_once(
    followed: Followed,
) -> None:
    followed.write(text("Walls", podMaxBackoffSeconds="long", parallelism=[]))
    followed.look()
    (error,) = followed.diary.errors
    assert len(error.problems) == 3


def test_a_plugin_that_cannot_be_built_leaves_the_old_in_force(
    followed: Followed,
) -> None:
    Wall.is_broken = True
    config = followed.harness.config
    followed.write(text("Wall"))
    followed.look()
    assert followed.harness.config is config
    (error,) = followed.diary.errors
    (problem,) = error.problems
    assert problem.startswith(f"{followed.path}: profile 'default-scheduler': ")
    assert "could not be built: RuntimeError: the crane fell over (" in problem


def test_a_failed_reload_is_retried_on_request_only(followed: Followed) -> None:
    Wall.is_broken = True
    followed.write(text("Wall"))
    followed.look()
    Wall.is_broken = False
    followed.harness.advance(60.0)
    assert followed.diary.changes == []
    followed.watcher.check()
    followed.harness.settle()
    assert len(followed.diary.errors) == 1
    assert len(followed.diary.changes) == 1


def test_an_unforeseen_error_is_logged_with_its_stack(
    followed: Followed,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LookupError("nobody thought of this")

    monkeypatch.setattr(PARSE_CONFIG, fail)
    followed.write(text("Wall"))
    followed.look()
    (error,) = followed.diary.errors
    assert error.problems == (f"{followed.path}: LookupError: nobody thought of this",)
    assert any(record.exc_info for record in caplog.records)


def test_going_back_before_a_change_is_in_force_counts(followed: Followed) -> None:
    followed.write(text("Wall"))
    followed.watcher.check()
    followed.write(text())
    followed.watcher.check()
    followed.harness.cluster.create(make_pod(name="p"))
    followed.harness.settle()
    assert followed.harness.node_of("p") == "n"
    assert len(followed.diary.changes) == 2


# Threads, the clock, the observer ---------------------------------------------------


def test_any_thread_may_request_a_check(followed: Followed) -> None:
    followed.write(text("Wall"))
    thread = threading.Thread(target=followed.watcher.check)
    thread.start()
    thread.join()
    assert followed.diary.changes == []  # not before the scheduler's next turn
    followed.harness.advance(0.0)
    assert len(followed.diary.changes) == 1


def test_a_stopped_watcher_does_not_check_the_file(followed: Followed) -> None:
    followed.watcher.stop()
    followed.write(text("Wall"))
    followed.harness.advance(60.0)
    assert followed.diary.changes == []


def test_checking_the_file_does_not_keep_a_simulation_running(
    followed: Followed,
) -> None:
    began = followed.harness.clock.now()
    followed.harness.settle()
    assert followed.harness.clock.now() == began


def test_an_observer_that_fails_does_no_harm(
    followed: Followed, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_changes: ConfigChanges, /) -> None:
        raise RuntimeError("out of ink")

    followed.diary.reloaded = fail  # type: ignore[method-assign]  # what else
    followed.write(text("Wall"))
    followed.look()
    assert followed.watcher.error is None
    assert "the observer failed" in caplog.text


def test_warnings_about_a_new_file_are_logged(
    followed: Followed, caplog: pytest.LogCaptureFixture
) -> None:
    disabled = "- schedulerName: b\n  plugins: {score: {disabled: [{name: Mon}]}}\n"
    followed.write(text() + disabled)
    followed.look()
    (warning,) = [record.message for record in caplog.records]
    assert warning.startswith(
        f"{followed.path}: profiles[1].plugins.score.disabled[0].name: no plugin 'Mon'"
    )
