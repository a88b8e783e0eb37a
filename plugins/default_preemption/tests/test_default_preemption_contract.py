"""DefaultPreemption fulfils the plugin contract."""

from typing import ClassVar

from quaymaster.testing import PluginContract
from quaymaster_default_preemption import DefaultPreemption


class TestContract(PluginContract):
    plugin = DefaultPreemption
    opt_outs: ClassVar[dict[str, str]] = {
        "effects": "its pre_enqueue rejects only while victims are being deleted"
    }
