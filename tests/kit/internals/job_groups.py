"""What tests see of the objects that the Job controller makes."""

from quaymaster._clusters.inmemory.controllers.job_group_objects import (
    group_of_template,
    workload_of,
)

__all__ = ["group_of_template", "workload_of"]
