"""Resource quotas: what they count, and what they refuse."""

from quaymaster._inmemory.quotas.ledger import QuotaLedger

__all__ = ["QuotaLedger"]
