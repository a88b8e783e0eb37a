"""Prints the results of a record with our own decisions."""

from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.results import as_document, duration
from quaymaster._studies.recording.rerunning import RerunResult
from quaymaster._studies.recording.usage import Course

__all__ = ["print_rerun", "rerun_document", "rerun_rows"]


def rerun_document(result: RerunResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``; times are in seconds."""
    return {
        "ours": _course(result.ours),
        "theirs": _course(result.theirs),
        "seconds": result.seconds,
        **as_document(result.result),
    }


def print_rerun(result: RerunResult) -> None:
    """Print our results and the recorded ones side by side."""
    print_table(("", "OURS", "THEIRS"), rerun_rows(result))
    print_line()
    print_line(f"over {duration(result.seconds)} of recorded time")


def rerun_rows(result: RerunResult) -> list[tuple[str, str, str]]:
    """Return rows of texts: what is compared, our value and the recorded one."""
    ours, theirs = result.ours, result.theirs
    scaled = result.scaled
    return [
        ("pods placed", str(ours.placed), str(theirs.placed)),
        ("pods pending at the end", str(ours.waiting), str(theirs.waiting)),
        *(
            (name, duration(round(own, 3)), duration(round(other, 3)))
            for name, own, other in (
                ("time to a node, half of them", ours.pending_p50, theirs.pending_p50),
                ("time to a node, 99 of 100", ours.pending_p99, theirs.pending_p99),
                ("time to a node, the longest", ours.pending_most, theirs.pending_most),
            )
        ),
        *(
            (f"{name} requested", f"{share:.1%}", f"{theirs.utilisation[name]:.1%}")
            for name, share in ours.utilisation.items()
        ),
        *(
            ()
            if scaled is None
            else (
                (
                    "hours of nodes",
                    f"{scaled.our_hours:.2f}",
                    f"{scaled.their_hours:.2f}",
                ),
                ("pods evicted by the autoscaler", str(scaled.disruptions), "-"),
            )
        ),
    ]


def _course(course: Course) -> dict[str, object]:
    return {
        "placed": course.placed,
        "waiting": course.waiting,
        "pendingP50": course.pending_p50,
        "pendingP99": course.pending_p99,
        "pendingMost": course.pending_most,
        "utilisation": dict(course.utilisation),
    }
