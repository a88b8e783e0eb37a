"""The scheduling queue: selects the next pod, and requeues rejected pods on events."""
