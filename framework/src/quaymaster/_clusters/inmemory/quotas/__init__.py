"""Resource quotas: counting and enforcement."""
