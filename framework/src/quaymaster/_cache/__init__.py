"""The engine's own view of what runs where, assumed pods included."""
