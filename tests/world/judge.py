"""Answers a case of either kind, and compares the answer with the recording."""

from tests.world.cases import Tree, is_course
from tests.world.compare_courses import course_differences
from tests.world.compare_objects import object_differences
from tests.world.course import play
from tests.world.posted import post

__all__ = ["answer_to", "differences"]


def answer_to(case: Tree) -> Tree:
    """Our answer to a case, in the form of the recordings."""
    return play(case) if is_course(case) else post(case)


def differences(case: Tree) -> list[str]:
    """The differences between a recording and our answer."""
    compare = course_differences if is_course(case) else object_differences
    return list(compare(case, answer_to(case)))
