"""What tests see of ``quaymaster._studies.experiments``."""

import functools

from quaymaster._studies.experiments import used_code
from quaymaster._studies.experiments.claims import Claims
from quaymaster._studies.experiments.driving import drive
from quaymaster._studies.experiments.fingerprints import Fingerprints, code_of
from quaymaster._studies.experiments.student import t_quantile, two_sided_p
from quaymaster._studies.experiments.summary import Summary, summarise
from quaymaster._studies.experiments.summary_files import write_summary
from quaymaster._studies.experiments.swf_input import SwfInput
from quaymaster._studies.experiments.tables import results_table
from quaymaster._studies.experiments.watching import watch_files

__all__ = [
    "Claims",
    "Fingerprints",
    "Summary",
    "SwfInput",
    "drive",
    "forget_code",
    "results_table",
    "summarise",
    "t_quantile",
    "two_sided_p",
    "watch_files",
    "write_summary",
]


def forget_code() -> None:
    """Forget the hashes of code and the versions of distributions, as a new process."""
    for function in (code_of, used_code._distribution):
        assert isinstance(function, functools._lru_cache_wrapper)
        function.cache_clear()
