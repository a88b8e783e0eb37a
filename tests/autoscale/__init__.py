"""The autoscalers of this project against recordings of the real ones."""
