"""Place pods where their volumes exist or can be provisioned, and bind them.

Mirrors ``VolumeBinding`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/volumebinding``).
"""

from quaymaster_volume_binding.args import UtilizationShapePoint, VolumeBindingArgs
from quaymaster_volume_binding.plans import StaticBinding, VolumePlan
from quaymaster_volume_binding.volume_binding import VolumeBinding

__all__ = [
    "StaticBinding",
    "UtilizationShapePoint",
    "VolumeBinding",
    "VolumeBindingArgs",
    "VolumePlan",
]
