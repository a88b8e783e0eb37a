"""The policies of "Beware of Fragmentation" (USENIX ATC '23), and its experiments."""

from quaymaster_openb.best_fit import BestFitScore
from quaymaster_openb.decisions import Decisions
from quaymaster_openb.dot_product import DotProductScore
from quaymaster_openb.fgd import FGDScore
from quaymaster_openb.fgd_gpu_share import FGDGpuShare
from quaymaster_openb.figures import Figures
from quaymaster_openb.gpu_clustering import GpuClusteringScore
from quaymaster_openb.gpu_packing import GpuPackingScore
from quaymaster_openb.gpu_share import GpuShare
from quaymaster_openb.power import Power
from quaymaster_openb.pwr import PWRGpuShare, PWRScore
from quaymaster_openb.random_score import RandomGpuShare, RandomScore
from quaymaster_openb.study import OpenB
from quaymaster_openb.typical_pods import TypicalPod, TypicalPods

__all__ = [
    "BestFitScore",
    "Decisions",
    "DotProductScore",
    "FGDGpuShare",
    "FGDScore",
    "Figures",
    "GpuClusteringScore",
    "GpuPackingScore",
    "GpuShare",
    "OpenB",
    "PWRGpuShare",
    "PWRScore",
    "Power",
    "RandomGpuShare",
    "RandomScore",
    "TypicalPod",
    "TypicalPods",
]
