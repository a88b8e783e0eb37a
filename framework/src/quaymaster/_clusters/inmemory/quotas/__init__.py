"""Resource quotas: what they count, and what they refuse."""
