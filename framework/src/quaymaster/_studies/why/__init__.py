"""Why a pod is where it is, and what would change that."""
