"""Judges how a command ends on a mutant."""

from typing import Final

from tests.fuzz.endings import CommandEnding, end_of
from tests.fuzz.losses import lost_objects
from tests.fuzz.mutants import Mutant

__all__ = ["judge", "judge_valid"]

_LONGEST_LINE: Final = 4000


def judge(mutant: Mutant) -> str | None:
    """Run the command on a mutant; say what is wrong with how it ended, or None."""
    return _problem(end_of(mutant))


def judge_valid(mutant: Mutant) -> tuple[CommandEnding, str | None]:
    """Run the command on a mutant that may be valid.

    Beside `judge`, cached and plain decisions are the same, each object is in the
    answer or in a warning, and a file that is read in pieces gives the same answer.

    Returns:
        How it ended, and what is wrong with that.
    """
    ending = end_of(mutant)
    problem = _problem(ending)
    if problem is not None:
        return ending, problem
    if ending.code == 1 and "--verify" in mutant.arguments:
        return ending, f"a verified decision differs\n{ending.out[:2000]}{ending.err}"
    if lost := lost_objects(mutant, ending):
        return ending, f"neither in the answer nor in a warning: {', '.join(lost)}"
    if not mutant.is_config and mutant.text.startswith(b"api"):
        other = end_of(mutant.read_otherwise())
        if (other.code, other.out) != (ending.code, ending.out):
            return ending, f"read in pieces, it differs\n{other.out[:2000]}{other.err}"
    return ending, None


def _problem(ending: CommandEnding) -> str | None:
    code, out, err = ending.code, ending.out, ending.err
    if ending.failure:
        return ending.failure
    if code not in (0, 1, 2, None):
        return f"exit code {code}\n{err}"
    if "Traceback" in err or "Traceback" in out:
        return f"a traceback is printed\n{err}"
    if code == 2 and not err.strip():
        return "exit code 2 without a word"
    longest = max(map(len, err.splitlines()), default=0)
    return f"a line of {longest} characters" if longest > _LONGEST_LINE else None
