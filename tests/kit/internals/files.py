"""What tests see of ``quaymaster._base.files``."""

from quaymaster._base.files import OWNER, write_whole

__all__ = ["OWNER", "write_whole"]
