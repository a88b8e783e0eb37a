"""Reads the objects of a record at its end."""

import os
from collections.abc import Iterable, Sequence

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._base.notices import Notice
from quaymaster._studies.recording.files import RecordFile
from quaymaster._studies.recording.notices import notices_of
from quaymaster._studies.recording.state import RecordState

__all__ = ["RecordedObjects", "read_objects"]


@attrs.frozen(kw_only=True)
class RecordedObjects:
    """The cluster of a record.

    Attributes:
        objects: The objects at the end.
        notices: What could not be read.
    """

    objects: Sequence[ApiObject]
    notices: tuple[Notice, ...]


def read_objects(
    record: str | os.PathLike[str], kinds: Iterable[type[ApiObject]] = ()
) -> RecordedObjects:
    """Read the cluster of a record at its end.

    Args:
        record: The file.
        kinds: Kinds that plugins and packages declare.

    Raises:
        RecordError: The file is unreadable, or not a record.
    """
    file, state = RecordFile(record), RecordState(KindSet(kinds))
    for _ in state.entries(file.lines()):
        pass
    return RecordedObjects(objects=state.all(), notices=notices_of(file, state))
