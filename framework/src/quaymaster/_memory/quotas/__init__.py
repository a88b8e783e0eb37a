"""Resource quotas: what they count, and what they keep out."""

from quaymaster._memory.quotas.ledger import QuotaLedger

__all__ = ["QuotaLedger"]
