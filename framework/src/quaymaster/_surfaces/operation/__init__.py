"""How a scheduler is operated: health, metrics, configuration, logs, what it holds."""
