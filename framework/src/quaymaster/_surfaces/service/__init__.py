"""An HTTP service that simulates scheduling on a warm cluster."""
