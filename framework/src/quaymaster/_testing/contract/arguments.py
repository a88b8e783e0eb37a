"""A check: arguments can be written to a file and read back."""

from collections.abc import Mapping
from typing import cast

import attrs

from quaymaster._config.dump import plain
from quaymaster._errors import QuaymasterError
from quaymaster._testing.contract.check import Check, fail
from quaymaster._testing.contract.small_cluster import SmallCluster
from quaymaster._testing.contract.subject import Subject

__all__ = ["ARGUMENTS"]


def _ask(subject: Subject, _cluster: SmallCluster, _other: SmallCluster) -> None:
    args = subject.config.plugin_args.get(subject.name)
    if args is None:
        return
    written = plain(args)
    try:
        again = attrs.evolve(subject, args=cast(Mapping[str, object], written))
        read = again.config.plugin_args.get(subject.name)
    except QuaymasterError as error:
        fail("", f"its arguments, written out as {written}, do not load: {error}")
    if plain(read) != written:
        fail("", f"arguments {written} come back from a file as {plain(read)}")
    if read != args:
        fail("", f"equal {type(args).__name__} do not compare as equal; keep attrs' eq")


ARGUMENTS = Check(
    name="arguments",
    promise="arguments that are written to a file and loaded again are the same",
    ask=_ask,
    needs_clusters=False,
)
