"""Marks of single hooks: ``@hookimpl.filter``."""

import pytest

from quaymaster import Handle, NodeInfo, Pod, Status, hookimpl


class Lonely:
    """Rejects all nodes."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl.filter
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return Status.unschedulable("lonely")


def test_mark_of_a_hook_is_a_mark() -> None:
    assert Lonely.filter.quaymaster_impl["trylast"] is False  # type: ignore[attr-defined]  # pluggy's


def test_mark_of_another_hook_is_refused_when_the_class_is_defined() -> None:
    with pytest.raises(TypeError, match="marks a method named 'rate'"):

        class Rater:
            @hookimpl.score
            def rate(self) -> int:
                return 1


def test_mark_that_does_not_exist_is_an_attribute_error_with_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="'filtr'; did you mean 'filter'"):
        hookimpl.filtr  # type: ignore[attr-defined]  # noqa: B018 - the mistake
    assert not hasattr(hookimpl, "__wrapped__")


def test_options_of_marks_are_those_of_pluggy() -> None:
    @hookimpl(trylast=True)
    def score(self: object) -> int:
        return 1

    assert score.quaymaster_impl["trylast"] is True  # type: ignore[attr-defined]  # pluggy's
    with pytest.raises(TypeError, match="unexpected keyword argument 'last'"):
        hookimpl(last=True)  # type: ignore[call-overload]  # the mistake
