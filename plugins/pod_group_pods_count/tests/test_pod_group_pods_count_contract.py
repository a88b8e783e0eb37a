"""PodGroupPodsCount fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_pod_group_pods_count import PodGroupPodsCount


class TestContract(PluginContract):
    plugin = PodGroupPodsCount
