"""HTTPS servers: connections with deadlines, and certificates that are renewed."""
